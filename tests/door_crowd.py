"""A crowd that signs up at once over HTTP: each has a connection and the form open, then all send it."""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

CSRF = re.compile(r'name="csrf" value="([^"]+)"')
ANSWER_SECONDS_MAX = 120
ATTEMPTS_MAX = 20


@dataclass(frozen=True, kw_only=True)
class SentForm:
    """The answer to a form, and how long it took."""

    name: str
    status: int
    seconds: float
    page: str


class Person:
    """Somebody with the form open on a connection of their own."""

    def __init__(self, port: int, path: str, name: str, number: int) -> None:
        self._port, self._path, self._name = port, path, name
        # Each comes from an address of their own, as over the networks of phones.
        self._own_address = f"127.1.{number // 250}.{number % 250 + 1}"

    async def open_form(self) -> None:
        """Load the page, which gives a cookie and the token of the form."""
        await self._connect()
        _status, headers, page = await self._exchange("GET", self._path)
        found = CSRF.search(page)
        assert found is not None, page
        self._csrf = found[1]
        self._cookie = headers["set-cookie"].partition(";")[0]

    async def send_form(self) -> SentForm:
        """Send the name with the code of the link."""
        path, _, code = self._path.partition("?code=")
        body = urlencode({"csrf": self._csrf, "name": self._name, "code": code})
        began = time.perf_counter()
        for _ in range(ATTEMPTS_MAX):
            status, headers, page = await self._exchange("POST", path, body)
            if status != 503:
                break
            # The page says that nothing was changed, and when to try again.
            await asyncio.sleep(float(headers["retry-after"]))
        seconds = time.perf_counter() - began
        self._writer.close()
        await self._writer.wait_closed()
        return SentForm(name=self._name, status=status, seconds=seconds, page=page)

    async def _connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(self._own_address, 0)
        )

    async def _exchange(self, method: str, path: str, body: str = "") -> tuple[int, dict[str, str], str]:
        own = f"127.0.0.1:{self._port}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {own}"]
        if body:
            lines += [
                "Content-Type: application/x-www-form-urlencoded",
                f"Content-Length: {len(body)}",
                f"Origin: http://{own}",
                f"Cookie: {self._cookie}",
            ]
        request = ("\r\n".join(lines) + "\r\n\r\n" + body).encode()
        try:
            head = await self._send(request)
        except (asyncio.IncompleteReadError, ConnectionError):
            # The server has closed a connection that nobody used for seconds; a browser opens another one.
            self._writer.close()
            await self._connect()
            head = await self._send(request)
        first, *rest = head.rstrip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        page = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return int(first.split()[1]), headers, page.decode()

    async def _send(self, request: bytes) -> str:
        """Send the request, and return the head of the answer."""
        self._writer.write(request)
        return (await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), ANSWER_SECONDS_MAX)).decode()


def sign_up_at_once(
    ports: Sequence[int], path: str, names: Sequence[str], when_open: Callable[[], object] = lambda: None
) -> list[SentForm]:
    """The answers of a crowd that is spread over these ports and sends its forms at the same time.

    `when_open` is called once, when everybody has the form open.
    """
    people = [Person(ports[n % len(ports)], path, name, n) for n, name in enumerate(names)]

    async def arrive() -> list[SentForm]:
        for person in people:
            await person.open_form()
        when_open()
        return list(await asyncio.gather(*(person.send_form() for person in people)))

    return asyncio.run(arrive())
