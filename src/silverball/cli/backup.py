"""silverball backup: a checked copy of the database, made while servers write."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from silverball import settings
from silverball.cli import database, verify
from silverball.settings import SettingError, Settings
from silverball.store.database import backups, faults, migrate
from silverball.store.database import files as database_files
from silverball.store.database.backups import AGE_DAYS_MAX, Encryption, Source
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed
from silverball.store.database.migrate import UnusableSchema
from silverball.store.people import encryption

DAYS = click.IntRange(1, 3650)
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("destination", metavar="[DEST]", type=PATH, required=False)
@click.option("--keep", type=click.IntRange(1, 10_000), metavar="N", help="Remove all but the newest N.")
@click.option("--max-age", type=DAYS, metavar="DAYS", help="Remove those that are older.")
@click.option("--recipient", "recipients", multiple=True, help="Encrypt for this public key of age.")
@click.option(
    "--passphrase-file", type=FILE, help="Encrypt with the passphrase in the first line of this file."
)
@click.option("--without-secret", is_flag=True, help="Leave the key for secrets out, and keep it elsewhere.")
@click.option("--no-verify", is_flag=True, help="Read every page, but do not recompute the results.")
# Lines of cron from 0.2.0 have it.
@click.option("--with-secret", is_flag=True, hidden=True, expose_value=False)
def backup(
    destination: Path | None,
    keep: int | None,
    max_age: int | None,
    recipients: tuple[str, ...],
    passphrase_file: Path | None,
    *,
    without_secret: bool,
    no_verify: bool,
) -> None:
    """Write a checked copy of the database and the key for its secrets to DEST, while servers run.

    DEST is a new file or a folder, by default the one of the settings, where the copy is named after the
    moment. --keep and --max-age remove only files that are named so, and other copies than the newest are
    never removed when this one is faulty.
    """
    with _sentences():
        loaded = settings.load()
        encrypted = _encryption(loaded, recipients, passphrase_file)
        source = database.backup_source()
        now = datetime.now(UTC)
        if destination is None:
            destination = Path(loaded.backup_folder)
            backups.make_folder(destination)
        is_one_of_many = keep is not None or max_age is not None
        target = _target(destination, now, encrypted, is_one_of_many=is_one_of_many)
        backups.remove_stale_parts(target.parent, backups.OWN_NAMES, now)
        if source.file is not None:
            backups.remove_stale_parts(source.file.parent, f"{source.file.name}.", now)
        check = None if no_verify else verify_copy
        differences = backups.write_backup(
            source, target, encrypted, with_key=not without_secret, verify=check
        )
        click.echo(f"{target}: {target.stat().st_size:,} bytes")
        if differences:
            raise CopyFailed(
                f"The backup is complete, but {differences} `silverball verify` lists the differences."
            )
        _finish(source, target.parent, with_key=not without_secret)
        if encrypted is None and sys.stderr.isatty():
            click.echo(NOT_ENCRYPTED, err=True)
        _remove_surplus(target, now, keep, max_age)


NOT_ENCRYPTED = (
    "It is not encrypted: whoever has the file can read everything in it. SILVERBALL_BACKUP_PASSPHRASE_FILE"
    " names a file with a passphrase."
)


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what can go wrong into one sentence on stderr."""
    try:
        yield
    except (CopyFailed, SettingError) as error:
        raise click.ClickException(str(error)) from error
    except DatabaseFault as error:
        raise click.ClickException(f"The database cannot be used: {faults.short_message(error)}") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'The backup'}: {error.strerror}.") from error


def _encryption(
    loaded: Settings, recipients: tuple[str, ...], passphrase_file: Path | None
) -> Encryption | None:
    if recipients and passphrase_file is not None:
        raise click.UsageError("Give --recipient or --passphrase-file, not both.")
    if recipients:
        if shutil.which("age") is None:
            raise CopyFailed("age is not installed here; --passphrase-file needs no other program.")
        return Encryption(recipients=recipients)
    if passphrase_file is not None:
        return Encryption(passphrase=backups.read_passphrase(passphrase_file))
    return database.backup_encryption(loaded)


def _target(destination: Path, now: datetime, encrypted: Encryption | None, *, is_one_of_many: bool) -> Path:
    ending = backups.ENDING if encrypted is None else backups.ENCRYPTED_ENDING
    target = destination / backups.backup_name(now, ending) if destination.is_dir() else destination
    if target.exists():
        raise CopyFailed(f"There is a file at {target} already.")
    if is_one_of_many and target == destination:
        raise CopyFailed(f"There is no folder at {destination}, and --keep and --max-age need one.")
    if not target.parent.is_dir():
        raise CopyFailed(f"There is no folder at {target.parent}.")
    return target


def verify_copy(file: Path) -> str:
    """Verify a copy; returns an empty text, or a clause for a sentence.

    A copy of an older schema is not verified: that would change it.
    """
    store = Store(f"sqlite:///{file}", limits=COPIES)
    try:
        if not _has_known_schema(store):
            click.echo("It has the schema of another version and was not verified.", err=True)
            return ""
        different = [report.tournament_id for report in verify.verdicts(store) if report.faults]
    finally:
        store.close()
        database_files.make_single_file(file)
    return f"{len(different)} tournaments in it differ from their journals." if different else ""


def _has_known_schema(store: Store) -> bool:
    try:
        return migrate.is_current(store)
    except UnusableSchema:
        return False


def _finish(source: Source, folder: Path, *, with_key: bool) -> None:
    """Note the end, and say where the backup is without the key for its secrets."""
    store = Store(source.url, source.key_file, limits=COPIES)
    try:
        backups.note_end(store, folder, datetime.now(UTC))
        with store.read() as db:
            missing = encryption.missing_key(db)
    finally:
        store.close()
    if missing and with_key:
        click.echo(
            f"The key {missing} for the secrets in the database is not in the backup: it is not in"
            f" {source.key_file or 'SILVERBALL_SECRET_FILE'}.",
            err=True,
        )


def _remove_surplus(target: Path, now: datetime, keep: int | None, max_age: int | None) -> None:
    surplus = backups.surplus_backups(target.parent, now, keep=keep, age_days=max_age, newest=target)
    for file in surplus:
        file.unlink()
    for file in [*surplus, *backups.remove_expired(target.parent, now)]:
        click.echo(f"Removed {file}.", err=True)
    promised = now - timedelta(days=AGE_DAYS_MAX)
    old = [file for at, file in backups.own_backups(target.parent) if at < promised]
    if old:
        click.echo(
            f"{len(old)} backups in {target.parent} are older than {AGE_DAYS_MAX} days: people who have been"
            " deleted since are in them. `--max-age 35` removes them.",
            err=True,
        )
