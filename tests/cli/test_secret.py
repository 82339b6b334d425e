"""`silverball secret`, and how `serve` finds its key."""

import json
import shutil
import sqlite3
from pathlib import Path

from click.testing import CliRunner, Result

import build
from cli.test_serve import Serving, serving
from conftest import PostgreSQL
from silverball.cli.main import silverball_group
from silverball.kit.security.encryption import KeyFile
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import encryption


def run(words: str, **settings: str) -> Result:
    return CliRunner(env=environment(**settings)).invoke(silverball_group, words.split())


def ask_ready(server: Serving) -> tuple[int, dict[str, str]]:
    status, body = server.get("/ready")
    return status, json.loads(body)


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


def test_serving_makes_a_key_beside_an_sqlite_file_and_goes_on_without_it(tmp_path: Path) -> None:
    database, file = tmp_path / "site.db", tmp_path / "site.db.secret"
    url = f"sqlite:///{database}"
    with serving(url):
        assert file.stat().st_mode & 0o777 == 0o600
        (key,) = KeyFile(file).keys()
    store_a_secret(url)
    file.rename(tmp_path / "elsewhere")
    with serving(url) as server:
        status, body = ask_ready(server)
        assert (status, body["status"]) == (200, "degraded")
        assert "webhooks (their messages wait)" in body["message"]
        asked = run(f"ready --port {server.port}")
        assert (asked.exit_code, asked.stdout) == (0, f"{body['message']}\n")
        assert not file.exists()
        # No restart is needed.
        shutil.copy(tmp_path / "elsewhere", file)
        assert ask_ready(server)[1]["status"] == "ready"
        server.process.terminate()
        _out, log = server.process.communicate(timeout=60)
    sentence = f"encrypted with the key {key.fingerprint}, which is not in this server's key file"
    assert sentence in log


def test_a_lost_key_is_given_up_by_the_sites_name_and_another_is_made(
    tmp_path: Path, sqlite_url: str
) -> None:
    file = Path(f"{sqlite_url.removeprefix('sqlite:///')}.secret")
    old = KeyFile(file).make()
    store_a_secret(sqlite_url)
    there = run("secret forget --yes", database_url=sqlite_url)
    assert (there.exit_code, "Nothing is lost" in there.stderr) == (1, True)
    file.unlink()
    site = {"database_url": sqlite_url, "base_url": "https://pinball.example.org"}
    other = CliRunner(env=environment(**site)).invoke(
        silverball_group, ["secret", "forget"], input="another.example.org\n"
    )
    assert (other.exit_code, file.exists()) == (1, False)
    assert "the secrets of 0 webhooks, 1 sets of printed codes, 0 two-step" in other.stdout
    assert "Nothing was changed" in other.stderr
    done = CliRunner(env=environment(**site)).invoke(
        silverball_group, ["secret", "forget"], input="pinball.example.org\n"
    )
    assert done.exit_code == 0, done.output
    (new,) = KeyFile(file).keys()
    assert (new != old, new.fingerprint in done.stdout) == (True, True)
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as db:
        assert db.execute("SELECT secret, revoked_at IS NULL FROM device").fetchall() == [(None, 0)]
        entries = db.execute("SELECT detail FROM audit_entry WHERE event LIKE '%forgotten'").fetchall()
    assert entries == [("webhooks 0, printed_codes 1, two_step 0, pulls 0",)]
    with serving(sqlite_url) as server:
        assert ask_ready(server)[1]["status"] == "ready"


def test_of_two_servers_on_one_postgresql_the_one_without_the_key_is_degraded(
    postgresql: PostgreSQL, tmp_path: Path
) -> None:
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
        build_codes(url, files[0])
        with serving(url, SILVERBALL_SECRET_FILE=str(files[2])) as wrong:
            assert ask_ready(wrong)[1]["status"] == "degraded"
            assert ask_ready(here)[1]["status"] == "ready"


def build_codes(url: str, key_file: Path) -> None:
    """Store printed codes that are encrypted with a key."""
    store = Store(url, key_file)
    night = build.a_tournament(store)
    with store.write() as transaction:
        stored = encryption.encrypt(transaction.connection, "secret")
    values = {"tournament_id": night.tournament_id, "kind": "codes", "name": "Codes"}
    build.row(store, tables.device, **values, secret=stored, created_at=build.NOW)
    store.close()


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
