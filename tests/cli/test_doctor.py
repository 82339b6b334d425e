"""`silverball doctor`, and the settings that a start warns of. Source: issue 14, item 8."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import delete

import build
from cli.test_serve import free_port, serving
from conftest import PostgreSQL
from exchange.outgoing import hosts
from silverball import settings
from silverball.cli import doctor
from silverball.cli.main import silverball_group
from silverball.kit.security.encryption import KeyFile
from silverball.store import tables
from silverball.store.database.backups import BACKED_UP_AT
from silverball.store.database.engine import Store
from silverball.store.people import encryption, rating_days, site_values
from smtp_server import SmtpServer

WELL = {
    "SILVERBALL_BASE_URL": "http://127.0.0.1:8000",
    "SILVERBALL_BACKUP_PASSPHRASE": "seven brass bumpers",
}


@pytest.fixture
def file(sqlite_url: str) -> Path:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    path.chmod(0o600)
    store = Store(sqlite_url)
    with store.write(quiet=True) as transaction:
        site_values.note_site_value(transaction.connection, BACKED_UP_AT, datetime.now(UTC).isoformat())
    store.close()
    return path


def run(file: Path | str, *words: str, **given: str) -> Result:
    url = file if isinstance(file, str) else f"sqlite:///{file}"
    environment = {"SILVERBALL_DATABASE_URL": url, **WELL, **given}
    return CliRunner(env=environment).invoke(silverball_group, ["doctor", *words])


def worse(file: Path | str, **given: str) -> list[tuple[str, str, str]]:
    """The findings that are not ok: check, status, sentence."""
    done = run(file, "--json", **given)
    findings = json.loads(done.stdout)
    listed = [tuple(finding.values()) for finding in findings if finding["status"] != "ok"]
    worst = max(["ok", *(status for _, status, _ in listed)], key=["ok", "warning", "error"].index)
    assert done.exit_code == {"ok": 0, "warning": 1, "error": 2}[worst]
    return [(str(check), str(status), str(sentence)) for check, status, sentence in listed]


def test_a_good_installation_has_nothing_to_complain_of(file: Path) -> None:
    done = run(file)
    assert done.exit_code == 0, done.stdout
    checks = [line.split(":")[0].split(maxsplit=1) for line in done.stdout.splitlines()]
    assert {status for status, _ in checks} == {"OK"}
    looked_at = {"settings", "base URL", "proxies", "permissions", "disk", "database", "schema", "searches"}
    assert {check for _, check in checks} == looked_at | {
        "clock",
        "database file",
        "key for secrets",
        "backup",
        "backup passphrase",
        "ratings",
        "Redis",
        "exports folder",
        "mail",
    }


@pytest.mark.parametrize(
    ("given", "check", "status", "words"),
    [
        ({"SILVERBALL_BASE_ULR": "x"}, "settings", "warning", "did you mean SILVERBALL_BASE_URL?"),
        ({"silverball_base_url": "x"}, "settings", "warning", "did you mean SILVERBALL_BASE_URL?"),
        ({"SILVERBALL_COFFEE": "x"}, "settings", "warning", "SILVERBALL_COFFEE is no setting of"),
        ({"SILVERBALL_WEBHOOK_LAN": "x"}, "settings", "error", "SILVERBALL_WEBHOOK_LAN must be"),
        ({"SILVERBALL_SMTP_HOST": "x"}, "settings", "warning", "any more: `mail_server` has it"),
        ({"SILVERBALL_BACKUP_PASSPHRASE": ""}, "backup passphrase", "warning", "not encrypted"),
        ({"SILVERBALL_BACKUP_PASSPHRASE": "short"}, "backup passphrase", "error", "12 characters"),
        ({"SILVERBALL_BASE_URL": ""}, "base URL", "warning", "is not set"),
        ({"SILVERBALL_BASE_URL": "pinball"}, "settings", "error", "must be like https://"),
        ({"SILVERBALL_BASE_URL": "http://pinball.example"}, "base URL", "warning", "without TLS"),
        ({"SILVERBALL_EXPORTS_FOLDER": "/dev/null/x"}, "exports folder", "error", "cannot be written"),
        ({"SILVERBALL_REDIS_URL": "nonsense"}, "Redis", "error", "does not answer"),
    ],
)
def test_a_faulty_setting_is_named(
    file: Path, given: dict[str, str], check: str, status: str, words: str
) -> None:
    (found,) = worse(file, **given)
    assert found[:2] == (check, status)
    assert words in found[2]


def test_backups_ratings_and_exports_that_are_late_are_named(file: Path, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{file}")
    with store.write(quiet=True) as transaction:
        old = datetime.now(UTC) - timedelta(days=3)
        site_values.note_site_value(transaction.connection, BACKED_UP_AT, old.isoformat())
        rating_days.mark_days(transaction.connection, [date(2026, 3, 5)])
    store.close()
    found = worse(file, SILVERBALL_EXPORTS_FOLDER=str(tmp_path))
    assert [(check, status) for check, status, _ in found] == [
        ("backup", "warning"),
        ("ratings", "warning"),
        ("exports folder", "warning"),
    ]
    assert "72 hours old" in found[0][2]
    assert "2026-03-05" in found[1][2]
    assert "never" in found[2][2]


def test_a_backup_notes_its_end(file: Path, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{file}")
    with store.write(quiet=True) as transaction:
        transaction.connection.execute(delete(tables.site_value))
    store.close()
    (found,) = worse(file)
    assert found[:2] == ("backup", "warning")
    assert worse(file, SILVERBALL_BACKUP_BY="litestream") == []
    runner = CliRunner(env={"SILVERBALL_DATABASE_URL": f"sqlite:///{file}"})
    assert runner.invoke(silverball_group, ["backup", str(tmp_path / "copy.db")]).exit_code == 0
    assert worse(file) == []
    refused = runner.invoke(silverball_group, ["backup", str(tmp_path / "nowhere"), "--keep", "3"])
    assert (refused.exit_code, "need one" in refused.output) == (1, True)


def test_a_certificate_that_nobody_trusts_is_an_error(file: Path, tmp_path: Path) -> None:
    authority = hosts.an_authority(tmp_path)
    host = hosts.answering({}, authority.server_context("localhost"))
    address = {"SILVERBALL_BASE_URL": f"https://localhost:{host.port}"}
    (found,) = worse(file, **address)
    assert found[:2] == ("certificate", "error")
    (found,) = worse(file, **address, SSL_CERT_FILE=str(tmp_path / "root.pem"))
    assert found == ("certificate", "warning", "It ends in 1 days.")
    host.close()
    (found,) = worse(file, SILVERBALL_BASE_URL=f"https://localhost:{free_port()}")
    assert found[:2] == ("certificate", "warning")


def test_a_mail_server_that_does_not_let_us_in_is_an_error_and_gets_no_mail(file: Path) -> None:
    with SmtpServer() as server:
        given = {
            "SILVERBALL_MAIL_SERVER": f"smtp://127.0.0.1:{server.port}?tls=off",
            "SILVERBALL_MAIL_SENDER": "night@pinball.example",
        }
        assert worse(file, **given) == []
        assert server.mails == []
    (found,) = worse(file, **given)
    assert found[:2] == ("mail", "error")
    assert found[2].startswith("connect: ")


def test_a_site_with_tls_and_no_trusted_proxy_is_warned(file: Path) -> None:
    address = {"SILVERBALL_BASE_URL": f"https://localhost:{free_port()}"}
    found = worse(file, **address, SILVERBALL_TRUSTED_PROXIES="")
    assert [check for check, _, _ in found] == ["proxies", "certificate"]
    assert "share one allowance" in found[0][2]


def test_a_redis_that_is_gone_is_an_error(file: Path) -> None:
    (found,) = worse(file, SILVERBALL_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
    assert found[:2] == ("Redis", "error")


def test_a_missing_database_is_an_error_and_stays_missing(tmp_path: Path) -> None:
    (found,) = worse(tmp_path / "site.db")
    assert found[:2] == ("database", "error")
    assert f"There is no database at {tmp_path / 'site.db'}." in found[2]
    assert list(tmp_path.iterdir()) == []


def test_something_else_than_a_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "site.db").write_text("no database " * 500)
    (tmp_path / "site.db").chmod(0o600)
    (found,) = worse(tmp_path / "site.db")
    assert found[:2] == ("database", "error")


def test_files_that_others_can_read_are_named(file: Path) -> None:
    file.chmod(0o644)
    key_file = Path(f"{file}.secret")
    KeyFile(key_file).make()
    key_file.chmod(0o640)
    found = worse(file)
    assert [(check, status) for check, status, _ in found] == [("permissions", "warning")] * 2
    assert "mode 0644" in found[0][2]
    assert str(key_file) in found[1][2]


@pytest.mark.parametrize(
    ("schema", "status", "words"),
    [("0012", "error", "migrate --contract` of 0.2.0"), ("9999", "error", "newer version")],
)
def test_another_schema_is_named_and_not_changed(file: Path, schema: str, status: str, words: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE alembic_version SET version_num = ?", (schema,))
        db.commit()
    (found,) = worse(file)
    assert found[:2] == ("schema", status)
    assert words in found[2]


def test_a_clock_that_was_set_back_is_noticed(file: Path) -> None:
    store = Store(f"sqlite:///{file}")
    night = build.a_tournament(store)
    store.close()
    with closing(sqlite3.connect(file)) as db:
        described = db.execute("PRAGMA table_info(journal)").fetchall()
        columns = [column[1] for column in described if column[3] and column[1] != "journal_id"]
        values = {"tournament_id": night.tournament_id, "at": "2099-01-01T00:00:00.000000Z"}
        row = [values.get(column, 1) for column in columns]
        db.execute("PRAGMA foreign_keys=OFF")
        db.execute(f"INSERT INTO journal ({', '.join(columns)}) VALUES ({', '.join('?' * len(row))})", row)
        db.commit()
    (found,) = worse(file)
    assert found[:2] == ("clock", "warning")
    assert "2099" in found[2]


def test_a_key_that_the_database_needs_and_has_not_is_an_error(file: Path) -> None:
    store = Store(f"sqlite:///{file}")
    night = build.a_tournament(store)
    with store.write() as transaction:
        stored = encryption.encrypt(transaction.connection, "secret")
    values = {"kind": "codes", "name": "Codes", "secret": stored, "created_at": build.NOW}
    build.row(store, tables.device, tournament_id=night.tournament_id, **values)
    store.close()
    assert worse(file) == []
    Path(f"{file}.secret").unlink()
    (found,) = worse(file)
    assert found[:2] == ("key for secrets", "error")


def test_a_disk_that_is_nearly_full_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "FREE_BYTES_NEEDED", 10**18)
    (found,) = worse(file)
    assert found[:2] == ("disk", "error")


def test_postgresql_without_a_key_file_is_a_warning(postgresql: PostgreSQL) -> None:
    found = worse(postgresql.new_database())
    states = [(check, status) for check, status, _ in found]
    assert states == [("key for secrets", "warning"), ("backup", "warning")]
    (gone,) = worse(postgresql.url("nowhere"))
    assert gone[:2] == ("database", "error")


def test_a_start_warns_of_names_that_are_no_settings(sqlite_url: str) -> None:
    with serving(sqlite_url, SILVERBALL_PUBLIC_RAED="1") as server:
        server.process.terminate()
        _out, log = server.process.communicate(timeout=60)
    warned = [json.loads(line) for line in log.splitlines() if '"silverball.settings"' in line]
    messages = [line["message"] for line in warned if "RAED" in line["message"]]
    assert messages == ["SILVERBALL_PUBLIC_RAED is no setting; did you mean SILVERBALL_PUBLIC_READ?"]


def test_the_names_of_settings_are_known() -> None:
    assert settings.warnings({f"SILVERBALL_{name.upper()}": "" for name in settings.KNOWN}) == []
    assert settings.warnings({"SILVER": "", "_SILVERBALL_COMPLETE": ""}) == []
