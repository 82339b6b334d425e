"""T6 and T7: the disk is full or broken, or descriptors run out. Writes are a 503, and all goes on after it.

The n-th call that reaches the database's files fails, for each n of a trial; SQLite, as PostgreSQL's
disk is not ours.
"""

import contextlib
import http.client
import json
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selection import IS_SOAK, LARGE_IN_SOAK, repetitions
from servers import Servers
from silverball.store.database.engine import Store
from trials.figures import Figures
from trials.injected_faults import failing_calls, need_strace
from trials.ledger import Clients, Ledger, Work, compare

pytestmark = LARGE_IN_SOAK

CALLS = repetitions(8, in_soak=300)
LIMITS = repetitions(20, in_soak=100)
# A fault that no write met by then is given up: not every kind of call happens that often.
FAULT_SECONDS_MAX = 0.5
OPEN_FILES_MAX = 64
CONNECTIONS = 100


class Desk:
    """A server on an SQLite file, and clients that write to it until the trial is over."""

    def __init__(self, file: Path) -> None:
        self.url = f"sqlite:///{file}"
        self.files = [file, file.with_name(f"{file.name}-wal")]
        self._store = Store(self.url)
        self.work, self.ledger = Work(self._store, rounds=3), Ledger()
        # This process would keep the file from being checked.
        self._store.disconnect()
        self.servers = Servers.without_limits(self.url)
        self.recoveries: list[float] = []
        self.noticed = 0

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Serve, and write all the time."""
        try:
            self.servers.start()
            clients = Clients(self.work, self.ledger, lambda _client: self.servers.port, count=4)
            with clients:
                self.ledger.await_count(4)
                yield
            clients.resend(self.servers.port)
        finally:
            self.servers.close()

    def await_fault(self) -> None:
        """Wait until a write is refused; reads are answered meanwhile."""
        before, until = self.ledger.busy, time.monotonic() + FAULT_SECONDS_MAX
        while self.ledger.busy == before and time.monotonic() < until:
            time.sleep(0.01)
        self.noticed += self.ledger.busy > before

    def read(self) -> tuple[int, Any]:
        """Status and body of a tournament's standings."""
        connection = http.client.HTTPConnection("127.0.0.1", self.servers.port, timeout=30)
        headers = {"Authorization": f"Bearer {self.work.token}"}
        with contextlib.closing(connection):
            path = f"/api/tournaments/{self.work.tournament_ids[1]}/standings"
            connection.request("GET", path, None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def await_recovery(self) -> None:
        """Wait until a write is acknowledged again."""
        self.recoveries.append(self.ledger.await_recovery(time.monotonic()))

    def figures(self, trial: str, repetitions: int) -> Figures:
        assert self.ledger.unknown == []
        figures = compare(trial, "sqlite", repetitions, self.work, self.ledger, self._store)
        self._store.close()
        figures.add_recoveries(self.recoveries)
        return figures


@pytest.fixture
def desk(tmp_path: Path, empty_sqlite: Path) -> Desk:
    file = tmp_path / "silverball.db"
    file.write_bytes(empty_sqlite.read_bytes())
    return Desk(file)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("trial", "calls", "error", "lasts"),
    [
        ("T6 disk full from write n on", "pwrite64", "ENOSPC", True),
        ("T7 write n fails", "pwrite64", "EIO", False),
        ("T7 sync n fails", "fdatasync,fsync", "EIO", False),
        ("T7 read n fails", "pread64", "EIO", False),
    ],
    ids=["full", "write", "sync", "read"],
)
def test_a_call_that_fails_is_a_503_and_nothing_is_lost(
    desk: Desk, trial: str, calls: str, error: str, lasts: bool
) -> None:
    need_strace()
    with desk.open():
        for number in range(1, CALLS + 1):
            when = f"{number}+" if lasts else f"{number}"
            process_id = desk.servers.process_id
            with failing_calls(process_id, calls, error, when, desk.files):
                desk.await_fault()
                status, answer = desk.read()
                # A read that cannot be done says so, and a full disk keeps nobody from reading.
                assert status == 200 or (status == 503 and not lasts and answer["message"]), (status, answer)
            desk.await_recovery()
    if calls == "pwrite64":
        assert desk.noticed, "no write was refused"
    figures = desk.figures(trial, CALLS)
    figures.publish()
    figures.assert_nothing_wrong()


def test_a_file_that_may_not_grow_refuses_writes_until_it_may(desk: Desk) -> None:
    with desk.open():
        for _ in range(LIMITS):
            process_id = desk.servers.process_id
            sizes = [file.stat().st_size for file in desk.files]
            before = resource.prlimit(process_id, resource.RLIMIT_FSIZE, (min(sizes), resource.RLIM_INFINITY))
            desk.await_fault()
            assert desk.read()[0] == 200
            resource.prlimit(process_id, resource.RLIMIT_FSIZE, before)
            desk.await_recovery()
    assert desk.noticed, "no write was refused"
    figures = desk.figures("T6 files may not grow", LIMITS)
    figures.publish()
    figures.assert_nothing_wrong()


def test_a_server_without_descriptors_answers_again_when_there_are_some(desk: Desk) -> None:
    repetitions = 20 if IS_SOAK else 2
    with desk.open():
        for _ in range(repetitions):
            process_id = desk.servers.process_id
            _, hard = before = resource.prlimit(process_id, resource.RLIMIT_NOFILE)
            resource.prlimit(process_id, resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, hard))
            with contextlib.ExitStack() as stack:
                for _ in range(CONNECTIONS):
                    with contextlib.suppress(OSError):
                        opened = socket.create_connection(("127.0.0.1", desk.servers.port), 1)
                        stack.enter_context(opened)
                time.sleep(0.2)
            resource.prlimit(process_id, resource.RLIMIT_NOFILE, before)
            desk.await_recovery()
    figures = desk.figures("T7 no descriptors", repetitions)
    figures.publish()
    figures.assert_nothing_wrong()
