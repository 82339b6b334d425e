"""The cells that the workers of one machine share."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from silverball.kit.shared_cells import (
    ACCOUNTS_BUCKET,
    TOURNAMENT_BUCKETS,
    WORLD_BUCKET,
    CellsUnusable,
    SharedCells,
    bucket_of,
    buckets_of,
)

WORKERS = 2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "site.db.workers"


@pytest.fixture
def supervisor(path: Path) -> Iterator[SharedCells]:
    made = SharedCells.create(path, WORKERS)
    yield made
    made.close()


@pytest.fixture
def workers(path: Path, supervisor: SharedCells) -> Iterator[list[SharedCells]]:
    opened = [SharedCells(_opened(path), column) for column in supervisor.worker_columns[:WORKERS]]
    yield opened
    for cells in opened:
        cells.close()


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR)


def test_only_the_server_s_account_may_read_the_file(path: Path, supervisor: SharedCells) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert supervisor.workers == WORKERS


def test_a_file_of_something_else_is_no_cells(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"something else")
    with pytest.raises(CellsUnusable):
        SharedCells(_opened(other), 0)


def test_a_commit_ends_a_moment_for_all_when_it_begins_and_again_when_it_ends(
    workers: list[SharedCells],
) -> None:
    writer, reader = workers
    before = reader.moment(7)
    assert reader.is_quiet(before)
    writer.begin({7, WORLD_BUCKET})
    during = reader.moment(7)
    assert during != before
    assert not reader.is_quiet(during)
    writer.end({7, WORLD_BUCKET})
    after = reader.moment(7)
    assert after not in (before, during)
    assert reader.is_quiet(after)
    assert reader.moment(8) == writer.moment(8)
    assert reader.is_quiet(reader.moment(8))


def test_a_bucket_is_quiet_only_when_all_commits_have_ended(workers: list[SharedCells]) -> None:
    first, second = workers
    first.begin([3])
    first.begin([3])
    second.begin([3])
    for cells in (first, second):
        cells.end([3])
        assert not first.is_quiet(first.moment(3))
    first.end([3])
    assert first.is_quiet(first.moment(3))


def test_the_marks_of_a_process_that_died_are_ended(
    supervisor: SharedCells, workers: list[SharedCells]
) -> None:
    dead, reader = workers
    dead.begin({5, WORLD_BUCKET})
    dead.note_sockets(40)
    before = reader.moment(5)
    assert supervisor.is_under_way(dead.column)
    supervisor.settle(dead.column)
    assert not supervisor.is_under_way(dead.column)
    assert reader.moment(5) != before
    assert reader.is_quiet(reader.moment(5))
    assert reader.sockets_elsewhere() == 0


def test_touching_everything_ends_each_moment(workers: list[SharedCells]) -> None:
    writer, reader = workers
    buckets = (0, 1, TOURNAMENT_BUCKETS - 1, WORLD_BUCKET, ACCOUNTS_BUCKET)
    before = [reader.moment(bucket) for bucket in buckets]
    writer.touch_all()
    assert all(reader.moment(bucket) != moment for bucket, moment in zip(buckets, before, strict=True))


def test_each_scope_has_a_bucket() -> None:
    assert bucket_of(0) == WORLD_BUCKET
    assert bucket_of(TOURNAMENT_BUCKETS + 9) == bucket_of(9) == 9
    assert bucket_of(TOURNAMENT_BUCKETS) == 0
    assert buckets_of([9, 4], has_accounts=False) == {9, 4, WORLD_BUCKET}
    assert buckets_of([], has_accounts=True) == {WORLD_BUCKET, ACCOUNTS_BUCKET}


def test_sockets_are_counted_over_all_workers(workers: list[SharedCells]) -> None:
    workers[0].note_sockets(12)
    workers[1].note_sockets(30)
    assert [cells.sockets_elsewhere() for cells in workers] == [30, 12]


def test_an_interval_is_forgotten_when_another_key_takes_its_cell(workers: list[SharedCells]) -> None:
    cells = workers[0]
    key, other = 7 | 1 << 40, 7 | 1 << 41
    cells.note(key, 200.0)
    assert cells.free_at(key, 190.0) == 200.0
    assert cells.free_at(other, 190.0) == 0.0
    cells.note(other, 210.5)
    assert cells.free_at(key, 190.0) == 0.0
    assert cells.free_at(other, 190.0) == 210.5


def test_a_lock_ends_with_the_process_that_holds_it(path: Path, supervisor: SharedCells) -> None:
    program = (
        "import os, sys; from silverball.kit.shared_cells import SharedCells;"
        "cells = SharedCells(os.open(sys.argv[1], os.O_RDWR), 1);"
        "print(cells.try_jobs(), flush=True); sys.stdin.read(1)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not supervisor.try_jobs()
        holder.kill()
        holder.wait()
        assert supervisor.try_jobs()
        supervisor.release_jobs()
