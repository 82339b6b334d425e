"""An SQLite file that is removed or replaced under the server is noticed, and not written to."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import build
from silverball.store.database.engine import Store
from silverball.store.database.files import DatabaseFileGone
from silverball.store.database.migrate import Readiness


def remove(file: Path) -> None:
    file.rename(file.with_name("elsewhere.db"))


def replace(file: Path) -> None:
    copy = file.with_name("copy.db")
    shutil.copy(file, copy)
    remove(file)
    copy.rename(file)


@pytest.mark.parametrize("change", [remove, replace])
def test_a_file_that_is_gone_is_noticed_at_once_and_logged_once(
    change: Callable[[Path], None], empty_sqlite: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "watched.db"
    shutil.copy(empty_sqlite, file)
    store = Store(f"sqlite:///{file}")
    build.a_user(store)
    times = [0.0]
    readiness = Readiness(store, clock=lambda: times[0])
    assert readiness.check(seconds_max=10)
    change(file)
    times[0] += 2
    with store.change_probe() as has_changed, caplog.at_level(logging.WARNING, "silverball.store"):
        has_changed()
        for _ in range(3):
            with pytest.raises(DatabaseFileGone):
                build.a_user(store)
        assert not readiness.check(seconds_max=10)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    file.with_name("elsewhere.db").replace(file)
    times[0] += 2
    build.a_user(store)
    assert readiness.check(seconds_max=10)
    store.close()
