"""`silverball secret`, and how `serve` finds its key."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from cli.test_serve import serving
from conftest import PostgreSQL
from silverball.cli.main import silverball_group
from silverball.kit.security.encryption import KeyFile
from silverball.store.database.engine import Store
from silverball.store.people import encryption


def run(words: str, **settings: str) -> Result:
    return CliRunner(env=environment(**settings)).invoke(silverball_group, words.split())


def environment(**settings: str) -> dict[str, str]:
    return {f"SILVERBALL_{name.upper()}": value for name, value in settings.items()}


def test_the_key_file_is_made_once_and_its_keys_are_replaced(tmp_path: Path, sqlite_url: str) -> None:
    file = tmp_path / "site.secret"
    settings = {"database_url": sqlite_url, "secret_file": str(file)}
    assert run("secret", **settings).exit_code == 0
    (first,) = KeyFile(file).keys()
    again = run("secret", **settings)
    assert (again.exit_code, KeyFile(file).keys()) == (1, (first,))
    assert f"There is a key file at {file} already." in again.stderr
    for words in ("secret add", "secret rotate", "secret drop-old"):
        done = run(words, **settings)
        assert (done.exit_code, done.stderr) == (0, "")
    (second,) = KeyFile(file).keys()
    assert second != first


def test_without_the_setting_no_file_is_made() -> None:
    done = run("secret")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "Set SILVERBALL_SECRET_FILE" in done.stderr


def test_serving_makes_a_key_beside_an_sqlite_file_and_without_it_stops(tmp_path: Path) -> None:
    database, file = tmp_path / "site.db", tmp_path / "site.db.secret"
    url = f"sqlite:///{database}"
    with serving(url):
        assert file.stat().st_mode & 0o777 == 0o600
        (key,) = KeyFile(file).keys()
    store_a_secret(url)
    file.rename(tmp_path / "elsewhere")
    sentence = f"encrypted with the key {key.fingerprint}, which is not in this server's key file"
    assert sentence in failed_start(url)
    assert not file.exists()
    with serving(url, SILVERBALL_SECRET_FILE=str(tmp_path / "elsewhere")) as server:
        assert server.get("/ready")[0] == 200


def test_two_servers_on_one_postgresql_need_the_same_key(postgresql: PostgreSQL, tmp_path: Path) -> None:
    url, files = postgresql.new_database(), [tmp_path / name for name in ("here", "there", "wrong")]
    for file in (files[0], files[2]):
        KeyFile(file).make()
    shutil.copy(files[0], files[1])
    same = [str(file) for file in files[:2]]
    with (
        serving(url, SILVERBALL_SECRET_FILE=same[0]) as here,
        serving(url, SILVERBALL_SECRET_FILE=same[1]) as there,
    ):
        assert here.get("/ready")[0] == there.get("/ready")[0] == 200
        assert "not in this server's key file" in failed_start(url, secret_file=str(files[2]))


def failed_start(url: str, **settings: str) -> str:
    """Try to serve, and return the sentence on standard error."""
    command = [sys.executable, "-m", "silverball.cli.main", "serve", "--port", "0"]
    given = {**os.environ, **environment(database_url=url, **settings)}
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def store_a_secret(url: str) -> None:
    store = Store(url)
    with store.write() as transaction:
        stored = encryption.encrypt(transaction.connection, "secret")
    store.close()
    with sqlite3.connect(url.removeprefix("sqlite:///")) as db:
        db.execute("PRAGMA foreign_keys=OFF")
        row = (1, "codes", "Codes", stored, "2026-03-05T19:30:00.000000Z")
        db.execute(
            "INSERT INTO device (tournament_id, kind, name, secret, created_at) VALUES (?, ?, ?, ?, ?)", row
        )
