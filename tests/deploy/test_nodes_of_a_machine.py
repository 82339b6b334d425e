"""Two nodes of one machine on PostgreSQL behind a proxy, as docs/several-nodes.md sets them up."""

import asyncio
import contextlib
import http.cookiejar
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

import build
from cli.test_serve import free_port, serving
from conftest import PostgreSQL
from deploy import proxies
from house import doc_blocks
from silverball.store.database.engine import Store
from tcp_proxy import TcpProxy
from web import page_forms
from web.visitor import EMAIL, PASSWORD, an_account

WRITES = 12
ANSWERED = re.compile(r'^silverball_http_requests_total\{.*route="/t/\{', re.MULTILINE)


class TakingTurns(TcpProxy):
    """A proxy that gives each new connection to the next node."""

    def __init__(self, ports: list[int]) -> None:
        super().__init__(("127.0.0.1", ports[0]))
        self._next_port = cycle(ports)

    async def open_target(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", next(self._next_port))


def caddy_block() -> str:
    """Return the part of a Caddyfile in docs/several-nodes.md."""
    found = doc_blocks.blocks(doc_blocks.ROOT / "docs" / "several-nodes.md")
    (block,) = [block for block in found if block.language == "caddy"]
    assert len(block.text.splitlines()) <= 10
    return block.text


@contextlib.contextmanager
def caddy(folder: Path, ports: list[int]) -> Iterator[int]:
    """Run Caddy before the nodes with the lines of the document; yield its port."""
    port = free_port()
    replacements = {
        f"{proxies.NAME} {{": f"http://127.0.0.1:{port} {{",
        "127.0.0.1:8001": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8002": f"127.0.0.1:{ports[1]}",
        # One after the other, so that both are met whichever is less busy.
        "least_conn": "round_robin",
    }
    file = folder / "Caddyfile"
    file.write_text("{\n\tadmin off\n}\n" + proxies.replaced(caddy_block(), replacements))
    with (folder / "messages").open("wb") as messages:
        # Caddy keeps its state below these.
        home = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        process = subprocess.Popen(proxies.run_command("caddy", file), env=home, stderr=messages)
    try:
        proxies.wait_for_port(port, process, folder)
        yield port
    finally:
        process.terminate()
        process.wait(proxies.START_SECONDS_MAX)


@contextlib.contextmanager
def proxy_before(kind: str, folder: Path, ports: list[int]) -> Iterator[int]:
    if kind == "caddy":
        if shutil.which("caddy") is None:
            pytest.skip("caddy is not installed here")
        with caddy(folder, ports) as port:
            yield port
        return
    proxy = TakingTurns(ports).start()
    try:
        yield proxy.port
    finally:
        proxy.close()


class Browser:
    """A browser with cookies, and a new connection for each request."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )

    def get(self, path: str) -> str:
        return self._ask(path, None)

    def send(self, path: str, form_id: str, **fields: object) -> None:
        """Fill in a form and follow where it leads."""
        form = page_forms.forms_on(self.get(path))[form_id]
        self._ask(form.action, urllib.parse.urlencode(form.filled(**fields)).encode())

    def _ask(self, path: str, sent: bytes | None) -> str:
        while True:
            try:
                with self._opener.open(self._base_url + path, sent, timeout=60) as answer:
                    text: str = answer.read().decode()
                    return text
            except urllib.error.HTTPError as error:
                # The machine was too busy, and nothing was done.
                if error.code != 503:
                    raise


@pytest.mark.parametrize("kind", ["small", "caddy"])
def test_a_director_behind_the_proxy_sees_each_form_at_once_whichever_node_answers(
    postgresql: PostgreSQL, tmp_path: Path, kind: str
) -> None:
    url = postgresql.new_database()
    store = Store(url)
    user_id = an_account(store, name="Olga Ramp", role="organizer")
    # A page of this format awaits no simulated number, so nodes remember it.
    night = build.a_tournament(store, organizer_id=user_id, type="frenzy")
    page = f"/t/{night.tournament_id}"
    store.close()
    metrics_ports = [free_port(), free_port()]
    with contextlib.ExitStack() as stack:
        nodes = [
            stack.enter_context(serving(url, SILVERBALL_METRICS_ADDRESS=f"127.0.0.1:{port}"))
            for port in metrics_ports
        ]
        port = stack.enter_context(proxy_before(kind, tmp_path, [node.port for node in nodes]))
        browser = Browser(f"http://127.0.0.1:{port}")
        browser.send("/account/sign-in", "/account/sign-in", email=EMAIL, password=PASSWORD)
        for number in range(WRITES):
            browser.send(f"{page}/run/settings", "edit", name=f"Night {number}")
            for _ in nodes:
                assert f"<bdi>Night {number}</bdi>" in browser.get(page)
        for metrics_port in metrics_ports:
            with urllib.request.urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60) as answer:
                assert ANSWERED.search(answer.read().decode())
