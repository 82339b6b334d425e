"""The bulk files are written once a day."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import build
from silverball.exchange import nightly
from silverball.jobs import nightly_exports, schedule
from silverball.settings import Settings
from silverball.store.engine import Store


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
    assert "nightly_exports" not in [job.name for job in schedule.configured_jobs(Settings())]
    *_, job = schedule.configured_jobs(Settings(exports_folder=str(tmp_path)))
    assert job.name == "nightly_exports"
    job.run(store, at(5, 20))
    assert written_times(tmp_path) == {at(5, 20)}
