"""The service manager hears that a server is ready and lives, and ends one whose writes do not come back."""

import asyncio
import shutil
import signal
import socket
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import build
from cli.test_serve import serving
from silverball.kit.watchdog import ANSWER_SECONDS, ServiceManager, Watchdog
from silverball.store.database.engine import Store


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket of a service manager."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as opened:
        opened.bind(str(tmp_path / "notify"))
        opened.settimeout(60)
        yield opened


def heard(listener: socket.socket) -> list[str]:
    """The messages that wait."""
    messages = []
    listener.setblocking(False)
    try:
        while True:
            messages.append(listener.recv(100).decode())
    except BlockingIOError:
        return messages


async def refuse() -> None:
    raise sqlite3.OperationalError("database is locked")


async def hang() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(("ask", "lives"), [(refuse, True), (hang, False)], ids=["an error", "nothing"])
def test_an_error_is_an_answer_and_nothing_is_none(
    listener: socket.socket, ask: Callable[[], Awaitable[None]], lives: bool
) -> None:
    now = [100.0]

    async def scenario() -> None:
        watchdog = Watchdog(ServiceManager(listener.getsockname()), ask, lambda: now[0])
        watchdog.start()
        for _ in range(int(2 * ANSWER_SECONDS)):
            watchdog.tick()
            # The answer comes in another step of the loop.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            now[0] += 1
        assert set(heard(listener)) == {"READY=1", "WATCHDOG=1"}
        watchdog.tick()
        assert heard(listener) == (["WATCHDOG=1"] if lives else [])
        watchdog.stop()
        assert heard(listener) == ["STOPPING=1"]

    asyncio.run(scenario())


@pytest.mark.both_databases
def test_asking_stores_nothing(store: Store) -> None:
    before = store.world_state()
    store.try_to_write()
    assert store.world_state() == before


def test_a_locked_read_only_or_missing_database_answers(tmp_path: Path, empty_sqlite: Path) -> None:
    file = tmp_path / "club.db"
    shutil.copy(empty_sqlite, file)
    store = Store(f"sqlite:///{file}")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Exception, match="locked"):
            store.try_to_write()
        other.execute("ROLLBACK")
    file.rename(tmp_path / "elsewhere.db")
    with pytest.raises(Exception, match="removed or replaced"):
        store.try_to_write()
    (tmp_path / "elsewhere.db").rename(file)
    build.a_user(store)
    store.close()


def await_message(listener: socket.socket, message: str) -> None:
    listener.settimeout(60)
    until = time.monotonic() + 60
    while listener.recv(100).decode() != message:
        assert time.monotonic() < until


def test_a_server_says_that_it_is_ready_lives_and_stops(tmp_path: Path, listener: socket.socket) -> None:
    with serving(f"sqlite:///{tmp_path / 'new.db'}", NOTIFY_SOCKET=listener.getsockname()) as server:
        await_message(listener, "READY=1")
        await_message(listener, "WATCHDOG=1")
        server.process.send_signal(signal.SIGTERM)
        await_message(listener, "STOPPING=1")
