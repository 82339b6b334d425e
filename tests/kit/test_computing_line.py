"""Costly answers: two at a time in processes of their own, a bounded line, and nobody held up by them."""

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import asgi
import build
from kit.stub_backend import RESULT, Clock, StubBackend, front_door
from silverball.kit.edge.computing_line import AT_ONCE, WAITING_MAX, ComputedAnswer, Computing, Cost
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http.endpoints import HttpResponse
from silverball.kit.processes import SpawnedProcess

TESTS = Path(__file__).parent.parent
COSTLY = "/api/costly/"
PLAIN = Cost(is_by_second=False)


class Desk:
    """Where the processes ask what to answer; a test takes their questions and answers them."""

    def __init__(self) -> None:
        self.questions: asyncio.Queue[tuple[str, asyncio.StreamReader, asyncio.StreamWriter]] = (
            asyncio.Queue()
        )

        self.writers: list[asyncio.StreamWriter] = []

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        await self.questions.put(((await reader.readline()).decode().strip(), reader, writer))

    async def answer(self, version: int = 1, seconds: float = 0.1) -> str:
        """Answer the next question; returns its path."""
        path, _, writer = await self.questions.get()
        await self.send(writer, path, version, seconds)
        return path

    async def close(self) -> None:
        for writer in self.writers:
            writer.close()
            # Its process may have ended before.
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def send(
        self, writer: asyncio.StreamWriter, path: str, version: int = 1, seconds: float = 0.1
    ) -> None:
        response = HttpResponse(200, b'{"answered":"%s"}' % path.encode())
        answer = ComputedAnswer(response=response, version=str(version), seconds=seconds)
        writer.write(msgspec.msgpack.encode(answer))
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def desk_and_door(
    folder: Path, module: str = "kit.blocked_computer", **limits: Any
) -> AsyncIterator[tuple[Desk, FrontDoor]]:
    desk, backend = Desk(), StubBackend()
    backend.accounts |= {b"Bearer guest%d" % number: build.caller(100 + number) for number in range(30)}
    address = str(folder / "desk")
    computing = Computing(
        module=module,
        setup=address.encode,
        cost_of=lambda _method, path, query, _body: (
            (Cost() if query == b"ours" else PLAIN) if path.startswith((COSTLY, "/sheet")) else None
        ),
    )
    door = front_door(backend, Clock(), computing=computing, **limits)
    async with await asyncio.start_unix_server(desk.take, address):
        try:
            yield desk, door
        finally:
            door.close()
            await desk.close()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a trial with a desk and a front door of its own."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))

    def run_trial(trial: Callable[[Desk, FrontDoor], Coroutine[Any, Any, None]], **options: Any) -> None:
        async def run_with_door() -> None:
            async with desk_and_door(tmp_path, **options) as (desk, door):
                await trial(desk, door)

        asyncio.run(run_with_door())

    return run_trial


def ask(door: FrontDoor, path: str, token: str | None = "ada", **options: Any) -> asyncio.Task[asgi.Reply]:
    return asyncio.create_task(asgi.send(door, path, token=token, **options))


async def until_waiting(door: FrontDoor, count: int) -> None:
    while door.waiting["costly"] != count:
        await asyncio.sleep(0)


async def fill_places(desk: Desk, door: FrontDoor) -> list[asyncio.Task[asgi.Reply]]:
    """Costly answers in all places, which stay there until the desk answers them."""
    asked = [ask(door, f"{COSTLY}place{number}", f"guest{number}") for number in range(AT_ONCE)]
    blocked = [await desk.questions.get() for _ in asked]
    for question in blocked:
        desk.questions.put_nowait(question)
    return asked


def test_a_result_is_answered_while_all_costly_places_are_blocked(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        blocked = await fill_places(desk, door)
        result = await asgi.send(door, RESULT, method="PUT", token="ada", body=b"{}")
        read = await asgi.send(door, "/api/tournaments/42/standings", token="ada")
        assert (result.status, read.status) == (200, 200)
        assert not any(asked.done() for asked in blocked)
        for _ in blocked:
            await desk.answer()
        assert [(await asked).status for asked in blocked] == [200, 200]

    run(trial)


def test_the_line_is_bounded(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        blocked = await fill_places(desk, door)
        waiting = [
            ask(door, f"{COSTLY}{number}", f"guest{AT_ONCE + number}") for number in range(WAITING_MAX)
        ]
        await until_waiting(door, WAITING_MAX)
        refused = await asgi.send(door, f"{COSTLY}more", token="ada")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert refused.json["code"] == "overloaded"
        for _ in range(AT_ONCE + WAITING_MAX):
            await desk.answer()
        assert {(await asked).status for asked in blocked + waiting} == {200}

    run(trial)


def test_an_account_has_one_answer_computed_and_another_one_waiting(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        first = ask(door, f"{COSTLY}1")
        question = await desk.questions.get()
        # The second place is free, and yet it waits.
        second = ask(door, f"{COSTLY}2")
        await until_waiting(door, 1)
        refused = await asgi.send(door, f"{COSTLY}3", token="ada")
        assert (refused.status, refused.json["code"]) == (429, "answer-in-progress")
        assert refused.headers["retry-after"] == "1"
        # Somebody else is served meanwhile.
        other = ask(door, f"{COSTLY}4", "bo")
        assert await desk.answer() == f"{COSTLY}4"
        assert (await other).status == 200
        await desk.send(question[2], question[0])
        assert await desk.answer() == f"{COSTLY}2"
        assert [(await asked).status for asked in (first, second)] == [200, 200]

    run(trial)


def test_strangers_share_the_places_of_their_address(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        asked = [ask(door, f"/sheet/{number}", None) for number in range(2)]
        await until_waiting(door, 1)
        refused = await asgi.send(door, "/sheet/3", client="203.0.113.7")
        assert (refused.status, refused.headers["content-type"]) == (429, "text/plain; charset=utf-8")
        elsewhere = ask(door, "/sheet/4", None, client="203.0.113.8")
        for _ in range(3):
            await desk.answer()
        assert [(await each).status for each in (*asked, elsewhere)] == [200] * 3

    run(trial)


def test_a_task_ends_when_its_last_client_has_gone(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        leaving = [asyncio.Event(), asyncio.Event()]
        clients = [
            ask(door, f"{COSTLY}1", token, leaves=leaves)
            for token, leaves in zip(("ada", "bo"), leaving, strict=True)
        ]
        _, reader, _ = await desk.questions.get()
        waiting = ask(door, f"{COSTLY}2")
        await until_waiting(door, 1)
        leaving[0].set()
        with pytest.raises(ConnectionAbortedError):
            await clients[0]
        # The other client waits for the same answer.
        assert not reader.at_eof()
        leaving[1].set()
        with pytest.raises(ConnectionAbortedError):
            await clients[1]
        # The process has ended in the middle of its work, and the next in line is served.
        assert await reader.read() == b""
        assert await desk.answer() == f"{COSTLY}2"
        assert (await waiting).status == 200

    run(trial)


def test_who_leaves_the_line_is_never_computed(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        blocked = await fill_places(desk, door)
        leaves = asyncio.Event()
        gone, stays = ask(door, f"{COSTLY}gone", leaves=leaves), ask(door, f"{COSTLY}stays", "bo")
        await until_waiting(door, 2)
        leaves.set()
        with pytest.raises(ConnectionAbortedError):
            await gone
        assert door.waiting["costly"] == 1
        answered = {await desk.answer() for _ in range(AT_ONCE + 1)}
        assert f"{COSTLY}gone" not in answered
        assert {(await asked).status for asked in (*blocked, stays)} == {200}

    run(trial)


def test_a_process_that_dies_is_a_503_and_the_next_answer_comes(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        asked = ask(door, f"{COSTLY}1")
        await desk.questions.get()
        (process_id,) = door.computing_process_ids
        os.kill(process_id, signal.SIGKILL)
        died = await asked
        assert (died.status, died.json["code"], died.headers["retry-after"]) == (503, "process-ended", "1")
        again = ask(door, f"{COSTLY}1")
        await desk.answer()
        assert (await again).status == 200

    run(trial)


def test_a_process_that_cannot_start_is_a_503(run: Callable[..., None]) -> None:
    async def trial(_desk: Desk, door: FrontDoor) -> None:
        for _ in range(3):
            failed = await asgi.send(door, f"{COSTLY}1", token="ada")
            assert (failed.status, failed.json["code"]) == (503, "process-ended")

    run(trial, module="kit.no_such_module")


def test_a_stop_waits_for_no_costly_answer(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        blocked = await fill_places(desk, door)
        waiting = ask(door, f"{COSTLY}1")
        await until_waiting(door, 1)
        door.end_costly()
        replies = [await asked for asked in (*blocked, waiting)]
        assert {(reply.status, reply.json["code"]) for reply in replies} == {(503, "server-stops")}
        refused = await asgi.send(door, f"{COSTLY}2", token="ada")
        assert (refused.status, refused.json["code"]) == (503, "server-stops")

    run(trial)


def test_our_routes_cost_a_request_per_second_and_those_of_the_specification_one(
    run: Callable[..., None],
) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        remaining = []
        for query in ("", "?ours"):
            asked = ask(door, f"{COSTLY}1{query}")
            await desk.answer(seconds=3.2)
            remaining.append(int((await asked).headers["x-ratelimit-remaining"]))
        # Four seconds were started.
        assert remaining == [59, 55]

    run(trial, rate_per_minute=60)


def test_an_answer_is_kept_under_the_version_that_it_was_made_of(run: Callable[..., None]) -> None:
    async def trial(desk: Desk, door: FrontDoor) -> None:
        # The world of the stub is at version 1.
        for version, is_kept in ((7, False), (0, False), (1, True)):
            asked = ask(door, f"{COSTLY}1")
            await desk.answer(version)
            assert (await asked).status == 200
            again = ask(door, f"{COSTLY}1")
            if not is_kept:
                await desk.answer(version)
            reply = await again
            assert reply.json == {"answered": f"{COSTLY}1"}
        known = await asgi.send(
            door, f"{COSTLY}1", token="ada", headers={"if-none-match": reply.headers["etag"]}
        )
        assert known.status == 304

    run(trial)


def test_a_process_that_nobody_needs_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("silverball.kit.edge.computing_line.IDLE_SECONDS", 0.0)
    monkeypatch.setenv("PYTHONPATH", str(TESTS))

    async def trial() -> None:
        async with desk_and_door(tmp_path) as (desk, door):
            for _ in range(2):
                asked = ask(door, f"{COSTLY}1")
                await desk.answer(0)
                assert (await asked).status == 200
                while door.computing_process_ids:
                    await asyncio.sleep(0)

    asyncio.run(trial())


def test_a_process_that_ended_while_nobody_asked_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    process = SpawnedProcess("kit.echo_process", lambda: b"said: ")
    assert process.ask(b"one") == b"said: one"
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert process.ask(b"two") == b"said: two"
    assert process.pid != first
    process.close()
    assert process.pid is None


def test_a_process_that_nobody_has_any_more_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    process = SpawnedProcess("kit.echo_process", lambda: b"repeated: ")
    assert process.ask(b"one") == b"repeated: one"
    process_id = process.pid
    assert process_id is not None
    del process
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)
