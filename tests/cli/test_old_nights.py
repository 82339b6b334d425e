"""The demo's old nights in a file: what its first start need not play, without a secret in it."""

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from house.scripts import load_script
from silverball.cli import demo as command
from silverball.demo import nights as demo_nights
from silverball.store.database.engine import Store
from silverball.store.people import encryption

SECRETS = ("token", "session", "two_step", "webhook", "device", "history_pull")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file, with one old night in the place of all."""
    folder = tmp_path_factory.mktemp("old")
    with pytest.MonkeyPatch.context() as patch:
        oldest = demo_nights.FINISHED[: demo_nights.OLD_AFTER_DAYS + 1]
        patch.setattr(demo_nights, "FINISHED", oldest)
        load_script("demo_data").write_old_nights(folder / "old_nights.db.xz")
    (file,) = folder.iterdir()
    return file


def count(file: Path, query: str) -> int:
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute(query).fetchone()[0])


def test_a_demo_begins_with_the_old_nights_and_loads_nothing_again(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_nights, "OLD_NIGHTS", packed)
    file = tmp_path / "silverball.db"
    demo_nights.unpack_old_nights(file)
    assert file.stat().st_mode & 0o777 == 0o600
    oldest = demo_nights.FINISHED[0].name
    assert count(file, f"SELECT count(*) FROM tournament WHERE name = '{oldest}'") == 1  # our own
    assert count(file, "SELECT tournament_id FROM tournament ORDER BY tournament_id LIMIT 1") == 1
    before = count(file, "SELECT count(*) FROM tournament")
    store = Store(f"sqlite:///{file}")
    owner = command.load_demo(store, tmp_path / "token")
    store.close()
    assert owner.user_id == 1
    assert "Loading" not in capsys.readouterr().err
    assert count(file, "SELECT count(*) FROM tournament") == before
    # A demo that is there stays as it is.
    demo_nights.unpack_old_nights(file)
    assert count(file, "SELECT count(*) FROM token") == 1


def test_the_file_has_no_secret_in_it(packed: Path, tmp_path: Path) -> None:
    file = tmp_path / "plain.db"
    file.write_bytes(lzma.decompress(packed.read_bytes()))
    for table in SECRETS:
        assert count(file, f"SELECT count(*) FROM {table}") == 0, table  # our own names
    assert count(file, "SELECT count(*) FROM user WHERE password_hash IS NOT NULL") == 0
    store = Store(f"sqlite:///{file}")
    with store.read() as db:
        assert not encryption.is_anything_encrypted(db)
    store.close()
    assert packed.stat().st_size < 2_000_000


def test_without_the_file_a_demo_begins_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_nights, "OLD_NIGHTS", tmp_path / "none")
    demo_nights.unpack_old_nights(tmp_path / "silverball.db")
    assert list(tmp_path.iterdir()) == []
