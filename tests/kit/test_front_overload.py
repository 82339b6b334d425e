"""The front door under overload: refusals at once, in order, and free of charge."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

import asgi
import build
from kit.stub_backend import PER_USER, RESULT, STANDINGS, Clock, StubBackend, front_door
from silverball.kit.edge.front import FrontDoor
from silverball.kit.edge.work_queue import AHEAD, WAITING_MAX, Importance

THREADS = 8
BUSY = (503, {"message": "The server is busy. Try again in a moment.", "code": "overloaded"})
_numbers = count()


class Crowd:
    """Requests that wait for an answer, none of which is finished before all are there."""

    def __init__(self, app: FrontDoor, backend: StubBackend) -> None:
        self.app = app
        self.backend = backend
        backend.released.clear()
        self.waiting: list[asyncio.Task[asgi.Reply]] = []

    async def join(self, number: int, **values: Any) -> None:
        """Send so many requests more, no two alike."""
        for _ in range(number):
            await self.send(f"{STANDINGS}?n={next(_numbers)}", **values)

    async def send(self, path: str, **values: Any) -> None:
        """Send one request, which goes as far as it can."""
        self.waiting.append(asyncio.create_task(asgi.send(self.app, path, **values)))
        for _ in range(3):
            await asyncio.sleep(0)

    async def statuses(self) -> list[int]:
        """Let the backend go on; return the statuses of all answers."""
        self.backend.released.set()
        return [reply.status for reply in await asyncio.gather(*self.waiting)]


def _run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def _full(importance: Importance) -> int:
    """The number of requests beyond which no more of this importance are taken."""
    return THREADS + AHEAD + WAITING_MAX[importance]


def test_visitors_are_refused_first_and_whoever_runs_the_tournament_is_not(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=0)
    backend.running_tournaments.add((7, 42))

    async def scenario() -> None:
        await asgi.send(app, STANDINGS, token="bo")
        crowd = Crowd(app, backend)
        await crowd.join(_full(Importance.VISITOR))
        refused = await asgi.send(app, f"{STANDINGS}?late")
        assert (refused.status, refused.json) == BUSY
        assert refused.headers["retry-after"] == "1"
        assert refused.headers["access-control-allow-origin"] == "*"
        await crowd.join(WAITING_MAX[Importance.READER] - WAITING_MAX[Importance.VISITOR], token="bo")
        assert (await asgi.send(app, f"{STANDINGS}?late", token="bo")).status == 503
        await crowd.join(1, token="ada")
        await crowd.send(RESULT, method="PUT", token="ada")
        statuses = await crowd.statuses()
        visitors = _full(Importance.VISITOR)
        assert statuses == [401] * visitors + [200] * (len(statuses) - visitors)

    _run(scenario)


def test_a_refusal_costs_nothing_and_computes_nothing(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=300)
    backend.accounts[b"Bearer cy"] = build.caller(10)

    async def scenario() -> None:
        await asgi.send(app, STANDINGS, token="bo")
        # Known from here on: else all of the crowd would wait for one lookup, and none for a thread.
        await asgi.send(app, f"{STANDINGS}?known", token="ada")
        crowd = Crowd(app, backend)
        await crowd.join(_full(Importance.READER), token="ada")
        for _ in range(5):
            assert (await asgi.send(app, f"{STANDINGS}?late", token="bo")).status == 503
        await crowd.statuses()
        reply = await asgi.send(app, STANDINGS, token="bo")
        assert reply.headers["x-ratelimit-remaining"] == "298"
        assert backend.computed[STANDINGS] == 2 + _full(Importance.READER)

    _run(scenario)


def test_cached_answers_and_answers_that_others_wait_for_are_never_refused(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=0)

    async def scenario() -> None:
        assert (await asgi.send(app, PER_USER, token="bo")).status == 200
        await asgi.send(app, STANDINGS, token="bo")
        crowd = Crowd(app, backend)
        await crowd.send(f"{STANDINGS}?same", token="bo")
        await crowd.join(_full(Importance.READER), token="bo")
        assert (await asgi.send(app, f"{STANDINGS}?late", token="bo")).status == 503
        for _ in range(300):
            await crowd.send(f"{STANDINGS}?same", token="bo")
        assert (await asgi.send(app, PER_USER, token="bo")).status == 200
        statuses = await crowd.statuses()
        assert statuses.count(200) == 301 + _full(Importance.READER) - 1
        assert statuses.count(503) == 1

    _run(scenario)
