"""silverball doctor: look for what is wrong with an installation, and change nothing."""

import os
import shutil
import socket
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import click
import msgspec
from msgspec import Struct

from silverball import settings
from silverball.cli import database
from silverball.exchange import nightly
from silverball.jobs.rating_period import DELAY_DAYS
from silverball.kit.errors import Refusal
from silverball.kit.mail import MailFailed, MailTalk
from silverball.kit.security.encryption import KeyFile
from silverball.service.accounts import mails
from silverball.settings import SettingError, Settings
from silverball.store.database import faults, health, migrate
from silverball.store.database.backups import BACKED_UP_AT
from silverball.store.database.deadlines import COMMANDS
from silverball.store.database.engine import SQLITE_FILES_BESIDE, Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed
from silverball.store.database.health import ForeignLog
from silverball.store.database.migrate import UnusableSchema
from silverball.store.database.postgresql import SessionNotKept
from silverball.store.people import encryption, erased_accounts, rating_days, site_values

# Findings of `silverball doctor` on the machine: files, disk, addresses, Redis.


MEGABYTE = 1_000_000
FREE_BYTES_NEEDED = 100 * MEGABYTE
FREE_BYTES_WANTED = 1_000 * MEGABYTE
REDIS_SECONDS = 3.0
# Of each check that asks another machine.
CHECK_SECONDS = 5.0
CERTIFICATE_DAYS_MIN = 14
EXPORT_HOURS_MAX = 36
BACKUP_HOURS_MAX = 48
# The job rates a day within hours.
RATING_DAYS_LATE_MAX = 2
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
Status = Literal["ok", "warning", "error"]


class Finding(Struct, frozen=True):
    """A finding: its subject, its state, and a sentence about it."""

    check: str
    status: Status
    sentence: str


def base_url_findings(loaded: Settings) -> list[Finding]:
    """Whether links lead here, and whether the proxy that they lead to is believed."""
    if not loaded.base_url:
        sentence = "SILVERBALL_BASE_URL is not set: links begin with the address that the server listens on."
        return [Finding("base URL", "warning", sentence)]
    parts = urlsplit(loaded.base_url)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        sentence = f"{loaded.base_url} is without TLS: passwords and tokens can be read on the way."
        return [Finding("base URL", "warning", sentence)]
    return [Finding("base URL", "ok", f"{loaded.base_url}."), _proxy_finding(loaded, parts.scheme)]


def _proxy_finding(loaded: Settings, scheme: str) -> Finding:
    if scheme == "https" and not loaded.trusted_proxies:
        sentence = (
            "TLS comes from a proxy, and SILVERBALL_TRUSTED_PROXIES names none: its headers are not believed,"
            " and all visitors share one allowance."
        )
        return Finding("proxies", "warning", sentence)
    trusted = loaded.trusted_proxies or "none"
    sentence = f"Headers are believed from: {trusted}. The proxy must be among them."
    return Finding("proxies", "ok", sentence)


def permission_findings(file: Path | None, key_file: Path | None) -> list[Finding]:
    """Whether the server can use its files, and others cannot."""
    files: list[Path] = []
    if file is not None:
        files += [file, *(Path(f"{file}{ending}") for ending in SQLITE_FILES_BESIDE)]
        files.append(erased_accounts.file_beside(file))
    files += [key_file] if key_file is not None else []
    findings = [finding for path in files if path.exists() for finding in _file_findings(path)]
    if file is not None and file.parent.is_dir() and not os.access(file.parent, os.W_OK):
        # SQLite writes files beside its database.
        sentence = f"{file.parent} cannot be written by this user."
        findings.append(Finding("permissions", "error", sentence))
    return findings or [Finding("permissions", "ok", "Files are readable by their owner alone.")]


def _file_findings(path: Path) -> list[Finding]:
    findings = []
    if not os.access(path, os.R_OK | os.W_OK):
        sentence = f"{path} cannot be read and written by this user. Run this as the server's user."
        findings.append(Finding("permissions", "error", sentence))
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        sentence = f"{path} is open to others (mode {mode:04o}): chmod 600 {path}"
        findings.append(Finding("permissions", "warning", sentence))
    return findings


def disk_findings(file: Path) -> list[Finding]:
    """Whether there is room for the database to grow."""
    if not file.parent.is_dir():
        return [Finding("disk", "error", f"There is no folder at {file.parent}.")]
    free = shutil.disk_usage(file.parent).free
    size = file.stat().st_size if file.exists() else 0
    sentence = f"{free // MEGABYTE:,} MB are free, the database has {size // MEGABYTE:,} MB."
    if free < FREE_BYTES_NEEDED:
        return [Finding("disk", "error", sentence)]
    if free < max(FREE_BYTES_WANTED, size):
        return [Finding("disk", "warning", f"{sentence} A migration or a backup may need as much again.")]
    return [Finding("disk", "ok", sentence)]


def redis_findings(loaded: Settings) -> list[Finding]:
    """Whether Redis answers, where it is used."""
    if not loaded.redis_url:
        return [Finding("Redis", "ok", "Not used.")]
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(
            loaded.redis_url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        ) as redis:
            redis.ping()
    except (RedisError, ValueError, OSError) as error:
        return [Finding("Redis", "error", f"It does not answer: {type(error).__name__}.")]
    return [Finding("Redis", "ok", "It answers.")]


def exports_findings(loaded: Settings) -> list[Finding]:
    """Whether the bulk files can be written, where they are wanted."""
    if not loaded.exports_folder:
        return [Finding("exports folder", "ok", "Not used.")]
    folder = Path(loaded.exports_folder)
    # The server makes the folder if its parent can be written.
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return [Finding("exports folder", "error", f"{nearest} cannot be written by this user.")]
    written = [nightly.written_at(export, folder) for export in nightly.BULK_FILES]
    newest = max(filter(None, written), default=None)
    if newest is None or datetime.now(UTC) - newest > timedelta(hours=EXPORT_HOURS_MAX):
        when = "never" if newest is None else f"{newest:%Y-%m-%d %H:%M} UTC"
        return [Finding("exports folder", "warning", f"{folder}: files were written last: {when}.")]
    return [Finding("exports folder", "ok", f"{folder}: written {newest:%Y-%m-%d %H:%M} UTC.")]


def mail_findings(loaded: Settings) -> list[Finding]:
    """Whether the mail server lets us in; nothing is sent."""
    if loaded.mail is None:
        return [Finding("mail", "ok", "Not used: links to new passwords are handed out by an administrator.")]
    try:
        MailTalk(mails.mail_server(loaded)).run_within(CHECK_SECONDS)
    except MailFailed as error:
        return [Finding("mail", "error", f"{error.step}: {error}")]
    return [Finding("mail", "ok", f"{loaded.mail.host} lets us in. Try it: silverball mail test ADDRESS")]


def certificate_findings(loaded: Settings) -> list[Finding]:
    """Whether the certificate of the base URL is valid, and for how long."""
    parts = urlsplit(loaded.base_url)
    if parts.scheme != "https" or not parts.hostname:
        return []
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or 443), CHECK_SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname) as encrypted,
        ):
            ends_at = ssl.cert_time_to_seconds(str((encrypted.getpeercert() or {})["notAfter"]))
    except ssl.SSLCertVerificationError as error:
        return [Finding("certificate", "error", f"{parts.hostname}: {error.verify_message}.")]
    except (OSError, KeyError, ValueError) as error:
        sentence = f"{parts.hostname} cannot be asked from here: {type(error).__name__}."
        return [Finding("certificate", "warning", sentence)]
    days = int((ends_at - datetime.now(UTC).timestamp()) // 86_400)
    status: Status = "ok" if days >= CERTIFICATE_DAYS_MIN else "warning"
    return [Finding("certificate", status, f"It ends in {days} days.")]


# Findings of `silverball doctor` in the database: reachable, schema, clock, key for secrets.


# Nodes and their database may differ by this before times look wrong to people.
CLOCK_SECONDS_MAX = 2.0
FUTURE_SECONDS_MAX = 60.0


def database_findings(loaded: Settings, url: str, key_file: Path | None) -> list[Finding]:
    """Look at what only the database knows; returns the findings."""
    try:
        database.require_file(url)
        file = database.sqlite_file(url)
        if file is not None:
            health.require_own_log(file)
        store = Store(url, key_file, limits=COMMANDS)
    except (ForeignLog, SettingError) as error:
        return [Finding("database", "error", str(error))]
    try:
        found = [] if file is None else _damage_findings(file)
        if any(finding.status == "error" for finding in found):
            return found
        return [*found, *_open_database_findings(store, key_file, loaded)]
    except DatabaseFault as error:
        return [Finding("database", "error", f"It cannot be used: {faults.short_message(error)}")]
    finally:
        store.close()


def _damage_findings(file: Path) -> list[Finding]:
    """Whether SQLite finds the file to be whole, as far as it comes in the time."""
    note = health.load_note(file)
    fault = health.quick_fault(file, CHECK_SECONDS)
    if fault is None and note is not None:
        fault = note.fault or None
    if fault:
        sentence = f"It is damaged: {fault}. {health.HOW_TO_MEND}."
        return [Finding("database", "error", sentence)]
    if fault is None:
        sentence = "It is too large, or too busy, for a check here: `silverball backup` reads all of it."
        return [Finding("database file", "ok", sentence)]
    return [Finding("database file", "ok", "SQLite finds it to be whole.")]


def _open_database_findings(store: Store, key_file: Path | None, loaded: Settings) -> list[Finding]:
    address = store.url.render_as_string(hide_password=True)
    try:
        store.require_session()
    except SessionNotKept as error:
        return [Finding("database", "error", str(error))]
    findings = [Finding("database", "ok", f"{address} answers."), _schema_finding(store)]
    if findings[-1].status != "ok":
        return findings
    findings += [_search_finding(store), _clock_finding(store), _key_finding(store, key_file)]
    findings += _backup_findings(store, loaded)
    return [*findings, _ratings_finding(store)]


def _schema_finding(store: Store) -> Finding:
    stored, newest = migrate.database_schema(store), migrate.newest_schema()
    try:
        if migrate.is_current(store):
            return Finding("schema", "ok", f"{newest}.")
    except UnusableSchema as error:
        return Finding("schema", "error", str(error))
    sentence = f"The database has schema {stored.newest if stored else 'none'}, this program {newest}."
    return Finding("schema", "warning", f"{sentence} Make a backup, then run: silverball migrate")


def _backup_findings(store: Store, loaded: Settings) -> list[Finding]:
    """Whether there is a new backup, and whether others could read it."""
    if loaded.backup_by:
        return [Finding("backup", "ok", f"{loaded.backup_by} makes them.")]
    subject = "backup passphrase"
    try:
        encrypted = database.backup_encryption(loaded)
    except CopyFailed as error:
        return [_backup_finding(store), Finding(subject, "error", str(error))]
    if encrypted is None:
        sentence = (
            "Backups are not encrypted, and have the key for secrets in them:"
            " SILVERBALL_BACKUP_PASSPHRASE_FILE names a file with a passphrase."
        )
        return [_backup_finding(store), Finding(subject, "warning", sentence)]
    return [_backup_finding(store), Finding(subject, "ok", "There is one. Keep a copy elsewhere.")]


def _backup_finding(store: Store) -> Finding:
    with store.read() as db:
        noted = site_values.find_site_value(db, BACKED_UP_AT)
    if noted is None:
        return Finding("backup", "warning", "None was ever made by `silverball backup`: see docs/backup.md.")
    hours = int((datetime.now(UTC) - datetime.fromisoformat(noted)).total_seconds() // 3600)
    status: Status = "ok" if hours <= BACKUP_HOURS_MAX else "warning"
    return Finding("backup", status, f"The newest is {hours} hours old.")


def _ratings_finding(store: Store) -> Finding:
    oldest = DELAY_DAYS + RATING_DAYS_LATE_MAX
    last_day = (datetime.now(UTC) - timedelta(days=oldest)).date().isoformat()
    with store.read() as db:
        waits_since = rating_days.oldest_waiting_day(db)
    if waits_since is not None and waits_since < last_day:
        sentence = f"The day {waits_since} is not rated yet: is a server running, and what does its log say?"
        return Finding("ratings", "warning", sentence)
    return Finding("ratings", "ok", "No day waits that is due.")


def _search_finding(store: Store) -> Finding:
    with store.read() as db:
        problem = migrate.problem(db)
    if problem is not None:
        return Finding("searches", "warning", problem)
    return Finding("searches", "ok", "Names have their indexes.")


def _clock_finding(store: Store) -> Finding:
    with store.read() as db:
        theirs, newest = faults.database_clock(db), faults.newest_action_at(db)
    now = datetime.now(UTC)
    difference = 0.0 if theirs is None else (now - theirs).total_seconds()
    if abs(difference) > CLOCK_SECONDS_MAX:
        sentence = f"This machine's clock is {difference:+.0f} s from the database's. Use NTP on both."
        return Finding("clock", "warning", sentence)
    if newest is not None and (newest - now).total_seconds() > FUTURE_SECONDS_MAX:
        sentence = f"The newest line of the journal is from the future ({newest:%Y-%m-%d %H:%M} UTC)."
        return Finding("clock", "warning", f"{sentence} Was the clock set back?")
    return Finding("clock", "ok", f"{now:%Y-%m-%d %H:%M:%S} UTC.")


def _key_finding(store: Store, key_file: Path | None) -> Finding:
    with store.read() as db:
        is_needed, fingerprint = encryption.is_anything_encrypted(db), encryption.fingerprint_in_use(db)
    try:
        known = [key.fingerprint for key in KeyFile(key_file).keys()]  # noqa: SIM118  # a method, not a mapping
    except Refusal as error:
        return Finding("key for secrets", "error", str(error))
    if is_needed and fingerprint not in known:
        sentence = f"The database needs the key {fingerprint}, which is not in {key_file or 'any file'}."
        sentence = f"{sentence} {encryption.OFF_WITHOUT_KEY}."
        return Finding("key for secrets", "error", f"{sentence} Or give it up: silverball secret forget")
    if known:
        return Finding("key for secrets", "ok", f"{key_file} has {len(known)}. Keep a copy elsewhere.")
    if store.is_sqlite:
        return Finding("key for secrets", "ok", f"{key_file} is made at the first start.")
    sentence = "There is none: no webhooks and printed codes can be made. Run: silverball secret"
    return Finding("key for secrets", "warning", sentence)


# The exit code is that of the worst finding.
EXIT_CODES = {"ok": 0, "warning": 1, "error": 2}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON for programs.")
def doctor(*, as_json: bool) -> None:
    """Look for what is wrong with the installation, as the user and with the settings of the server.

    Looks at settings, database, clock, files and their permissions, disk, key for secrets, the newest
    backup, ratings, Redis, the folder of bulk files, mail, base URL, certificate and proxies. Each check
    takes five seconds at most, and nothing is sent. The exit code is 0 when all is well, 1 for warnings and
    2 for errors.
    """
    findings = examine()
    if as_json:
        database.print_json([msgspec.structs.asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{finding.status.upper():8} {finding.check}: {finding.sentence}")
    raise SystemExit(max(EXIT_CODES[finding.status] for finding in findings))


def examine() -> list[Finding]:
    """Look at everything; returns the findings in the order of the causes."""
    findings = [Finding("settings", "warning", sentence) for sentence in settings.warnings()]
    try:
        loaded, url = settings.load(), database.database_url()
    except SettingError as error:
        return [*findings, Finding("settings", "error", str(error))]
    if not findings:
        findings.append(Finding("settings", "ok", "All are known and valid."))
    return [*findings, *_examine_installation(loaded, url)]


def _examine_installation(loaded: Settings, url: str) -> list[Finding]:
    file = database.sqlite_file(url)
    key_file = database.key_file(file)
    findings = base_url_findings(loaded)
    # Before the database is opened, which takes its files away from others.
    findings += permission_findings(file, key_file)
    if file is not None:
        findings += disk_findings(file)
    findings += database_findings(loaded, url, key_file)
    findings += redis_findings(loaded)
    findings += exports_findings(loaded)
    return [*findings, *mail_findings(loaded), *certificate_findings(loaded)]
