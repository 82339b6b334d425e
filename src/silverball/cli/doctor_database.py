"""Findings of `silverball doctor` in the database: reachable, schema, clock, key for secrets."""

from datetime import UTC, datetime
from pathlib import Path

from silverball.cli import database
from silverball.cli.doctor_machine import Finding
from silverball.kit.encryption import KeyFile
from silverball.kit.errors import Refusal
from silverball.settings import SettingError
from silverball.store import encryption, faults, health, migrate, name_indexes
from silverball.store.engine import Store
from silverball.store.faults import DatabaseFault
from silverball.store.migrate import UnusableSchema
from silverball.store.time_limits import COMMANDS

# Nodes and their database may differ by this before times look wrong to people.
CLOCK_SECONDS_MAX = 2.0
FUTURE_SECONDS_MAX = 60.0


def database_findings(url: str, key_file: Path | None) -> list[Finding]:
    """Look at what only the database knows; returns the findings."""
    try:
        database.require_file(url)
        store = Store(url, key_file, limits=COMMANDS)
    except SettingError as error:
        return [Finding("database", "error", str(error))]
    try:
        return _open_database_findings(store, key_file)
    except DatabaseFault as error:
        return [Finding("database", "error", f"It cannot be used: {faults.short_message(error)}")]
    finally:
        store.close()


def _open_database_findings(store: Store, key_file: Path | None) -> list[Finding]:
    address = store.url.render_as_string(hide_password=True)
    findings = [Finding("database", "ok", f"{address} answers."), _schema_finding(store)]
    if findings[-1].status != "ok":
        return findings
    return [*findings, _search_finding(store), _clock_finding(store), _key_finding(store, key_file)]


def _schema_finding(store: Store) -> Finding:
    stored, newest = migrate.database_schema(store), migrate.newest_schema()
    try:
        if migrate.is_current(store):
            return Finding("schema", "ok", f"{newest}.")
    except UnusableSchema as error:
        return Finding("schema", "error", str(error))
    sentence = f"The database has schema {stored.newest if stored else 'none'}, this program {newest}."
    return Finding("schema", "warning", f"{sentence} Make a backup, then run: silverball migrate")


def _search_finding(store: Store) -> Finding:
    with store.read() as db:
        problem = name_indexes.problem(db)
    if problem is not None:
        return Finding("searches", "warning", problem)
    return Finding("searches", "ok", "Names have their indexes.")


def _clock_finding(store: Store) -> Finding:
    with store.read() as db:
        theirs, newest = health.database_clock(db), health.newest_action_at(db)
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
        return Finding("key for secrets", "error", f"{sentence} Set SILVERBALL_SECRET_FILE.")
    if known:
        return Finding("key for secrets", "ok", f"{key_file} has {len(known)}. Keep a copy elsewhere.")
    if store.is_sqlite:
        return Finding("key for secrets", "ok", f"{key_file} is made at the first start.")
    sentence = "There is none: no webhooks and printed codes can be made. Run: silverball secret"
    return Finding("key for secrets", "warning", sentence)
