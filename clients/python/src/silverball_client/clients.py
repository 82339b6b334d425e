"""The two clients: a blocking one and an awaited one over the same descriptions and rules."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from random import Random
from types import TracebackType
from typing import Self, TypeVar

import httpx2

from silverball_client.calling import Awaited, Blocking, Request
from silverball_client.etags import StoredAnswers
from silverball_client.events import Event, Missed, State
from silverball_client.exchange import VERSION, Loss, Reply, Send, Session, Steps, Wait
from silverball_client.following import Emit, Follower, Listen, Say
from silverball_client.operations import Operations
from silverball_client.sockets import AsyncFeedSocket, FeedSocket

T = TypeVar("T")
TIMEOUT_SECONDS = 30.0
# A whole minute of a rate limit, and what is added to it.
WAIT_BUDGET_SECONDS = 61.0
STORED_BYTES_MAX = 16_000_000
APP_KEY = "silverball"
# What fails before a request is sent, and all that fails on the way. A broken compression is a lost answer.
NOTHING_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL)
FAULTS = (httpx2.TransportError, httpx2.DecodingError, httpx2.InvalidURL)
AGENT = f"silverball-client/{VERSION}"


def _new_session(
    base_url: str, token: str, wait_budget: float, stored_bytes: int, log: Callable[[str], None] | None
) -> Session:
    # Of a token from a file, the end of its line.
    token = token.strip()
    if not (token.isascii() and token.isprintable()):
        raise ValueError("The token has characters that no token has.")
    return Session(
        base_url=base_url.rstrip("/").removesuffix("/api"),
        token=token,
        wait_seconds_max=wait_budget,
        answers=StoredAnswers(stored_bytes),
        now=time.time,
        log=log,
    )


def _new_follower(
    session: Session, tournament_id: int, feed_url: str, place: tuple[str, int], *, is_compact: bool
) -> Follower:
    epoch, seq = place
    return Follower(
        session=session,
        tournament_id=tournament_id,
        feed_url=feed_url,
        clock=time.monotonic,
        dice=Random(),  # noqa: S311  # spreads reconnects; no secret
        epoch=epoch,
        seq=seq,
        is_compact=is_compact,
    )


def _loss(error: Exception) -> Loss:
    return Loss(str(error) or type(error).__name__, isinstance(error, NOTHING_SENT))


def _reply(response: httpx2.Response) -> Reply:
    return Reply(response.status_code, response.headers, response.content)


class Client(Operations[Blocking]):
    """A client whose methods return answers. Several threads may share it.

    `wait_budget` is the time in seconds that one call may spend waiting for a service that is over its limit
    or busy. `log` is called with a line for each answer, lost connection and wait. `stored_bytes` bounds the
    memory for answers that are kept with their ETags. `feed_url` is the address of the feed where it is not
    below `base_url`, such as "wss://feed.example/app/KEY".
    """

    def __init__(
        self,
        base_url: str,
        token: str = "",
        *,
        wait_budget: float = WAIT_BUDGET_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        stored_bytes: int = STORED_BYTES_MAX,
        user_agent: str = AGENT,
        app_key: str = APP_KEY,
        feed_url: str = "",
        log: Callable[[str], None] | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._session = _new_session(base_url, token, wait_budget, stored_bytes, log)
        self._http = httpx2.Client(timeout=timeout, transport=transport, headers={"user-agent": user_agent})
        self._feed_url = feed_url or f"{self._session.base_url}/app/{app_key}"
        super().__init__(self)

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return self._session.base_url

    def __repr__(self) -> str:
        return f"Client({self._session.base_url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def send(self, request: Request[T]) -> T:
        """Send a described request and return the typed answer. Raises SilverballError."""
        return self._run(self._session.steps(request))

    def iterate(self, request: Request[T]) -> Iterator[T]:
        """Iterate over the items of all pages. Raises SilverballError."""
        page, has_next = int(request.query.get("page") or 1), True
        while has_next:
            read = self._run(self._session.page_steps(request, page))
            yield from read.items
            page, has_next = page + 1, read.has_next

    def follow(
        self, tournament_id: int, *, epoch: str = "", seq: int = 0, compact: bool = False
    ) -> Iterator[Event | Missed]:
        """Iterate over the changes of a tournament as they happen, without end. Raises SilverballError.

        Begins now, or after the event with this epoch and number. Comes back by itself after a cut and
        brings what was missed; `Missed` says that it could not. Closing the client ends it. `compact`: of
        hundreds of missed events, only the newest of each thing that changed.
        """
        for item in self.follow_states(tournament_id, epoch=epoch, seq=seq, compact=compact):
            if isinstance(item, Event | Missed):
                yield item

    def follow_states(
        self, tournament_id: int, *, epoch: str = "", seq: int = 0, compact: bool = False
    ) -> Iterator[Event | Missed | State]:
        """Iterate like `follow`, and over the states of the connection: connected, lost, quiet."""
        follower = _new_follower(
            self._session, tournament_id, self._feed_url, (epoch, seq), is_compact=compact
        )
        socket = FeedSocket(self._http)
        steps = follower.steps()
        outcome: Reply | Loss | str | None = None
        try:
            while not self._http.is_closed:
                step = steps.send(outcome)
                outcome = None
                if isinstance(step, Emit):
                    yield step.item
                elif isinstance(step, Wait):
                    time.sleep(step.seconds)
                elif isinstance(step, Send):
                    outcome = self._exchange(step)
                elif isinstance(step, Listen):
                    outcome = socket.listen(step.seconds)
                elif isinstance(step, Say):
                    outcome = socket.say(step.text)
                else:
                    outcome = socket.open(step.url)
        finally:
            socket.close()

    def _run(self, steps: Steps[T]) -> T:
        """Do what the steps ask for until they are done."""
        outcome: Reply | Loss | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                answer: T = done.value
                return answer
            if isinstance(step, Wait):
                time.sleep(step.seconds)
                outcome = None
            else:
                outcome = self._exchange(step)

    def _exchange(self, step: Send) -> Reply | Loss:
        url = self._session.base_url + step.target
        try:
            return _reply(
                self._http.request(step.method, url, headers=dict(step.headers), content=step.content)
            )
        except FAULTS as error:
            return _loss(error)


class AsyncClient(Operations[Awaited]):
    """A client whose methods return coroutines, and whose lists are iterated with `async for`.

    The arguments are those of `Client`.
    """

    def __init__(
        self,
        base_url: str,
        token: str = "",
        *,
        wait_budget: float = WAIT_BUDGET_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        stored_bytes: int = STORED_BYTES_MAX,
        user_agent: str = AGENT,
        app_key: str = APP_KEY,
        feed_url: str = "",
        log: Callable[[str], None] | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._session = _new_session(base_url, token, wait_budget, stored_bytes, log)
        self._http = httpx2.AsyncClient(
            timeout=timeout, transport=transport, headers={"user-agent": user_agent}
        )
        self._feed_url = feed_url or f"{self._session.base_url}/app/{app_key}"
        super().__init__(self)

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return self._session.base_url

    def __repr__(self) -> str:
        return f"AsyncClient({self._session.base_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def send(self, request: Request[T]) -> T:
        """Send a described request and return the typed answer. Raises SilverballError."""
        return await self._run(self._session.steps(request))

    async def iterate(self, request: Request[T]) -> AsyncIterator[T]:
        """Iterate over the items of all pages. Raises SilverballError."""
        page, has_next = int(request.query.get("page") or 1), True
        while has_next:
            read = await self._run(self._session.page_steps(request, page))
            for item in read.items:
                yield item
            page, has_next = page + 1, read.has_next

    async def follow(
        self, tournament_id: int, *, epoch: str = "", seq: int = 0, compact: bool = False
    ) -> AsyncIterator[Event | Missed]:
        """Iterate over the changes of a tournament as they happen, as `Client.follow` does."""
        async with contextlib.aclosing(
            self.follow_states(tournament_id, epoch=epoch, seq=seq, compact=compact)
        ) as items:
            async for item in items:
                if isinstance(item, Event | Missed):
                    yield item

    async def follow_states(
        self, tournament_id: int, *, epoch: str = "", seq: int = 0, compact: bool = False
    ) -> AsyncGenerator[Event | Missed | State, None]:
        """Iterate like `follow`, and over the states of the connection: connected, lost, quiet."""
        follower = _new_follower(
            self._session, tournament_id, self._feed_url, (epoch, seq), is_compact=compact
        )
        socket = AsyncFeedSocket(self._http)
        steps = follower.steps()
        outcome: Reply | Loss | str | None = None
        try:
            while not self._http.is_closed:
                step = steps.send(outcome)
                outcome = None
                if isinstance(step, Emit):
                    yield step.item
                elif isinstance(step, Wait):
                    await asyncio.sleep(step.seconds)
                elif isinstance(step, Send):
                    outcome = await self._exchange(step)
                elif isinstance(step, Listen):
                    outcome = await socket.listen(step.seconds)
                elif isinstance(step, Say):
                    outcome = await socket.say(step.text)
                else:
                    outcome = await socket.open(step.url)
        finally:
            await socket.close()

    async def _run(self, steps: Steps[T]) -> T:
        """Do what the steps ask for until they are done."""
        outcome: Reply | Loss | None = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                answer: T = done.value
                return answer
            if isinstance(step, Wait):
                await asyncio.sleep(step.seconds)
                outcome = None
            else:
                outcome = await self._exchange(step)

    async def _exchange(self, step: Send) -> Reply | Loss:
        url = self._session.base_url + step.target
        try:
            return _reply(
                await self._http.request(step.method, url, headers=dict(step.headers), content=step.content)
            )
        except FAULTS as error:
            return _loss(error)
