"""The bulk files are written once a day."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import update

import build
from exchange import bulk_world
from silverball.exchange import bulk, files, nightly
from silverball.jobs import background, nightly_exports
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def written_times(folder: Path) -> set[datetime | None]:
    return {nightly.written_at(bulk_file, folder) for bulk_file in nightly.BULK_FILES}


@pytest.fixture(autouse=True)
def rate_a_player(store: Store) -> None:
    """Rate a player, because the ratings files are not written without any rating."""
    build.a_rating(store)


def test_missing_files_are_written_at_any_hour(store: Store, tmp_path: Path) -> None:
    nightly_exports.run(tmp_path / "exports", store, at(5, 20))
    assert written_times(tmp_path / "exports") == {at(5, 20)}


@pytest.mark.parametrize(
    ("now", "is_due"),
    [(at(5, 21), False), (at(6, 5, 59), False), (at(6, 6), True), (at(6, 9), True), (at(9, 1), True)],
)
def test_files_are_rewritten_once_every_morning(
    store: Store, tmp_path: Path, now: datetime, is_due: bool
) -> None:
    nightly_exports.run(tmp_path, store, at(5, 20))
    nightly_exports.run(tmp_path, store, now)
    assert written_times(tmp_path) == {now if is_due else at(5, 20)}
    nightly_exports.run(tmp_path, store, now.replace(minute=59))
    assert written_times(tmp_path) == {now if is_due else at(5, 20)}


def test_the_clock_writes_them_only_where_a_folder_is_set(store: Store, tmp_path: Path) -> None:
    assert "nightly_exports" not in [job.name for job in background.configured_jobs(Settings())]
    *_, job = background.configured_jobs(Settings(exports_folder=str(tmp_path)))
    assert job.name == "nightly_exports"
    job.run(store, at(5, 20))
    assert written_times(tmp_path) == {at(5, 20)}


def test_nodes_with_one_folder_leave_the_files_to_the_one_that_writes_them(
    store: Store, tmp_path: Path
) -> None:
    with files.try_lock(tmp_path) as is_locked:
        assert is_locked
        nightly_exports.run(tmp_path, store, at(5, 20))
        assert written_times(tmp_path) == {None}
    nightly_exports.run(tmp_path, store, at(5, 20))
    assert written_times(tmp_path) == {at(5, 20)}


def test_a_run_that_is_stopped_goes_on_with_the_next_month(store: Store, tmp_path: Path) -> None:
    for start in (bulk_world.MARCH, bulk_world.APRIL):
        bulk_world.a_night(store, start)
    bulk.write_part(store, "2026-03", tmp_path, bulk_world.NOW)
    (tmp_path / "results-2026-04.csv").mkdir()
    later = bulk_world.NOW.replace(hour=10)
    with pytest.raises(OSError, match="irectory"):
        nightly_exports.run(tmp_path, store, later)
    (tmp_path / "results-2026-04.csv").rmdir()
    nightly_exports.run(tmp_path, store, later.replace(hour=11))
    records = {part: bulk.read_record(tmp_path, part) for part in ("2026-03", "2026-04", "all")}
    written = {part: record.written_at[11:13] for part, record in records.items() if record is not None}
    assert written == {"2026-03": "09", "2026-04": "11", "all": "11"}
    assert (tmp_path / bulk.MANIFEST).exists()


@pytest.mark.both_databases
def test_a_month_whose_tournaments_are_gone_has_no_files(store: Store, tmp_path: Path) -> None:
    night = bulk_world.a_night(store)
    nightly_exports.run(tmp_path, store, bulk_world.NOW)
    assert bulk.written_parts(tmp_path) == ["2026-03", "all"]
    with store.write() as transaction:
        own = tables.tournament.c.tournament_id == night.tournament_id
        transaction.connection.execute(update(tables.tournament).where(own).values(test=True))
    nightly_exports.run(tmp_path, store, bulk_world.NOW)
    assert bulk.written_parts(tmp_path) == ["all"]
    assert list(tmp_path.glob("*2026-03*")) == []
