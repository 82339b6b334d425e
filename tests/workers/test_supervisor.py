"""The supervisor keeps its workers: crashes, restarts, stops, limits and metrics."""

import os
import re
import signal
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from silverball.store.engine import Store
from workers.worker_server import WorkerServer, wait_until

UP = re.compile(r'silverball_http_requests_total\{method="GET",route="/up",status="2xx"\} (\S+)')


@pytest.fixture
def sqlite_store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A fresh SQLite database with the schema."""
    path = tmp_path / "silverball.db"
    path.write_bytes(Path(request.getfixturevalue("empty_sqlite")).read_bytes())
    opened = Store(f"sqlite:///{path}")
    yield opened
    opened.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def test_a_graceful_restart_replaces_every_worker_and_refuses_nobody(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url), workers=2) as server:
        before = server.process_ids
        is_over, answered, refused = threading.Event(), [], []

        def ask_on() -> None:
            while not is_over.is_set():
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/up", timeout=30) as answer:
                        answered.append(answer.status)
                except OSError as error:
                    refused.append(error)

        asking = threading.Thread(target=ask_on)
        asking.start()
        server.signal(signal.SIGHUP)
        server.wait_for_log("all workers are new")
        asked_before_the_end = len(answered)
        wait_until(lambda: len(answered) > asked_before_the_end)
        is_over.set()
        asking.join()
        assert refused == []
        assert len(server.process_ids) == 2
        assert not set(server.process_ids) & set(before)


def test_all_workers_end_with_the_server_and_nothing_of_them_is_left(
    sqlite_store: Store, tmp_path: Path
) -> None:
    with WorkerServer(str(sqlite_store.url), workers=2) as server:
        cells = tmp_path / "silverball.db.workers"
        assert cells.stat().st_mode & 0o777 == 0o600
        assert server.stop() == 0
        assert server.process_ids == []
        assert not cells.exists()


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux schedules threads as a batch.")
def test_no_thread_of_a_worker_interrupts_another_worker_when_it_wakes_up(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url), workers=2) as server:
        threads = [
            int(thread.name)
            for process in server.process_ids
            for thread in Path(f"/proc/{process}/task").iterdir()
        ]
        assert len(threads) > 2
        assert {os.sched_getscheduler(thread) for thread in threads} == {os.SCHED_BATCH}


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux schedules threads as a batch.")
def test_workers_keep_the_scheduling_that_an_operator_has_chosen(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url), workers=2, through=("chrt", "--idle", "0")) as server:
        assert {os.sched_getscheduler(process) for process in server.process_ids} == {os.SCHED_IDLE}


def test_workers_end_when_their_supervisor_is_killed(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url), workers=2) as server:
        assert len(server.process_ids) == 2
        server.signal(signal.SIGKILL)
        wait_until(lambda: server.process_ids == [])


def test_a_server_whose_workers_cannot_start_ends_with_their_sentence(sqlite_store: Store) -> None:
    with (
        pytest.raises(AssertionError) as failed,
        WorkerServer(str(sqlite_store.url), workers=2, SILVERBALL_APPS="no app"),
    ):
        pass
    assert "SILVERBALL_APPS" in str(failed.value)


def test_counters_of_a_killed_worker_stay_in_the_sums_and_another_takes_its_place(
    sqlite_store: Store,
) -> None:
    port = free_port()
    with WorkerServer(str(sqlite_store.url), workers=2, SILVERBALL_METRICS_PORT=str(port)) as server:

        def counted() -> float:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                found = UP.search(answer.read().decode())
            return float(found[1]) if found else 0.0

        by_worker = server.connections()
        for connection in by_worker.values():
            for _ in range(20):
                connection.get("/up")
        seen = counted()
        assert seen >= 42
        victim = next(iter(by_worker))
        os.kill(victim, signal.SIGKILL)
        server.wait_for_log("a worker starts", 3)
        wait_until(lambda: len(server.process_ids) == 2 and victim not in server.process_ids)
        assert counted() >= seen


def test_jobs_move_to_another_worker_when_theirs_is_killed(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url), workers=2) as server:
        wait_until(lambda: _holder_of_jobs(server) is not None)
        first = _holder_of_jobs(server)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: _holder_of_jobs(server) not in (None, first))


def _holder_of_jobs(server: WorkerServer) -> int | None:
    """The worker that holds the first byte of the cells' file, as the system lists its locks."""
    workers = set(server.process_ids)
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if words[1] == "POSIX" and words[-2:] == ["0", "0"] and int(words[4]) in workers:
            return int(words[4])
    return None
