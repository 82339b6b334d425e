"""T6, T7, T10 and T11 where a federation runs: two nodes on PostgreSQL.

PostgreSQL's own disk is full or broken, a node has little memory, or their clocks differ by what
libfaketime says.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selection import LARGE_IN_SOAK, repetitions
from servers import Servers
from silverball.store.database.engine import Store
from trials.injected_faults import failing_calls, need_strace
from trials.ledger import Clients, Ledger, Work, compare

pytestmark = LARGE_IN_SOAK

CALLS = repetitions(6, in_soak=100)
JUMPS = repetitions(4, in_soak=60)
KILLS = repetitions(4, in_soak=60)
FAULT_SECONDS_MAX = 0.5
MEMORY_BYTES = 192 * 1024 * 1024
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")
FAKE_CLOCKS = (
    Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"),
    Path("/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"),
)
# A node in each of these, beside one with the right time: days back and ahead, and what NTP lets pass.
CLOCKS = ("+90s", "-90s", "+3d", "-3d", "+400d", "-1h")


class TwoNodes:
    """Two nodes on a database of their own, and clients that write to both until the trial is over."""

    def __init__(self, url: str, second: dict[str, str] | None = None) -> None:
        self._store = Store(url)
        self.work, self.ledger = Work(self._store, rounds=3), Ledger()
        self.nodes = [Servers.without_limits(url), Servers.without_limits(url, **(second or {}))]
        self.recoveries: list[float] = []

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Serve, and write to both nodes in turns all the time."""
        try:
            for node in self.nodes:
                node.start()
            with Clients(self.work, self.ledger, self._a_port, count=4) as clients:
                self.ledger.await_count(4)
                yield
            clients.resend(self.nodes[0].port)
        finally:
            for node in self.nodes:
                node.close()

    def _a_port(self, client: int) -> int:
        open_ports = [node.port for node in self.nodes if node.port]
        return open_ports[client % len(open_ports)] if open_ports else 0

    def await_recovery(self, began: float | None = None) -> None:
        """Wait until a write is acknowledged again."""
        self.recoveries.append(self.ledger.await_recovery(time.monotonic() if began is None else began))

    def assert_nothing_wrong(self, trial: str, count: int) -> None:
        """Compare what was acknowledged with what is stored, and add the figures to those of the run."""
        self._store.disconnect()
        assert self.ledger.unknown == []
        figures = compare(trial, "postgresql, two nodes", count, self.work, self.ledger, self._store)
        self._store.close()
        figures.add_recoveries(self.recoveries)
        figures.publish()
        figures.assert_nothing_wrong()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("trial", "calls", "error", "lasts"),
    [
        ("T6 disk full from write n on", "pwrite64,pwritev", "ENOSPC", True),
        ("T7 write n fails", "pwrite64,pwritev", "EIO", False),
        ("T7 read n fails", "pread64,preadv", "EIO", False),
    ],
    ids=["full", "write", "read"],
)
def test_a_broken_disk_of_postgresql_loses_nothing(
    own_postgresql: Any, trial: str, calls: str, error: str, lasts: bool
) -> None:
    need_strace()
    trials, noticed = TwoNodes(own_postgresql.new_database()), 0
    with trials.open():
        for number in range(1, CALLS + 1):
            when = f"{number}+" if lasts else f"{number}"
            before = trials.ledger.busy
            with failing_calls(own_postgresql.process_ids(), calls, error, when):
                until = time.monotonic() + FAULT_SECONDS_MAX
                while trials.ledger.busy == before and time.monotonic() < until:
                    time.sleep(0.01)
                noticed += trials.ledger.busy > before
            # A write of its log that fails ends PostgreSQL; where its recovery met the fault too, for good.
            own_postgresql.start_again()
            trials.await_recovery()
    # All that is read is in memory, so that a read may never reach the disk.
    assert noticed or calls.startswith("pread"), "no write was refused"
    trials.assert_nothing_wrong(trial, CALLS)


@contextlib.contextmanager
def memory_group(name: str) -> Iterator[Path]:
    """A control group with little memory, or a skip that says why there is none."""
    group = MEMORY_GROUPS / name
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(MEMORY_BYTES))
    except OSError as problem:
        pytest.skip(f"no control group for memory can be made here: {problem}")
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def test_a_node_with_little_memory_is_not_ended_and_loses_nothing(own_postgresql: Any) -> None:
    with memory_group(f"silverball-{os.getpid()}") as group:
        trials = TwoNodes(own_postgresql.new_database())
        with trials.open():
            node = trials.nodes[0]
            (group / "cgroup.procs").write_text(str(node.process_id))
            for _ in range(KILLS):
                trials.ledger.await_count(len(trials.ledger.acknowledged_at) + 100)
                trials.nodes[1].kill()
                began = time.monotonic()
                trials.nodes[1].start()
                trials.await_recovery(began)
            ended = [
                line
                for line in (group / "memory.oom_control").read_text().splitlines()
                if "oom_kill " in line
            ]
            assert node.process_id
            assert ended == ["oom_kill 0"]
        trials.assert_nothing_wrong("T7 192 MB of memory", KILLS)


def fake_clock() -> Path:
    """The library that gives a program another time; skips where it is not installed."""
    found = next(filter(Path.exists, FAKE_CLOCKS), None)
    if found is None:
        pytest.skip("libfaketime is not installed here")
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize("clock", CLOCKS)
def test_nodes_of_different_clocks_lose_nothing_and_act_once(own_postgresql: Any, clock: str) -> None:
    faked = {"LD_PRELOAD": str(fake_clock()), "FAKETIME": clock, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    trials = TwoNodes(own_postgresql.new_database(), faked)
    with trials.open():
        for number in range(JUMPS):
            trials.ledger.await_count(len(trials.ledger.acknowledged_at) + 20)
            # What was under way is sent again to the node with the other clock.
            node = trials.nodes[number % 2]
            node.kill()
            began = time.monotonic()
            node.start()
            trials.await_recovery(began)
    trials.assert_nothing_wrong(f"T10 a node at {clock}", JUMPS)
