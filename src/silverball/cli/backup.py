"""silverball backup: a checked copy of the database, made while servers write."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from msgspec import Struct

from silverball.cli import backup_files, database, verify
from silverball.cli.backup_files import AGE_DAYS_MAX, Encryption
from silverball.kit import private_files
from silverball.settings import SettingError
from silverball.store import copies, erased_accounts, faults, migrate
from silverball.store.copies import CopyFailed
from silverball.store.engine import SECRET_FILE_ENDING, Store
from silverball.store.faults import DatabaseFault
from silverball.store.migrate import UnusableSchema
from silverball.store.time_limits import COPIES

PASSPHRASE_CHARACTERS_MIN = 12
DAYS = click.IntRange(1, 3650)


class Source(Struct, frozen=True, kw_only=True):
    """The database to copy: its address, its file where it is SQLite, its key file where there is one."""

    url: str
    file: Path | None
    key_file: Path | None

    @property
    def member(self) -> str:
        return backup_files.DUMP if self.file is None else backup_files.DATABASE


@click.command()
@click.argument("destination", metavar="DEST", type=click.Path(path_type=Path))
@click.option("--keep", type=click.IntRange(1, 10_000), metavar="N", help="Remove all but the newest N.")
@click.option("--max-age", type=DAYS, metavar="DAYS", help="Remove those that are older.")
@click.option("--recipient", "recipients", multiple=True, help="Encrypt for this public key of age.")
@click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Encrypt with the passphrase in the first line of this file.",
)
@click.option("--with-secret", is_flag=True, help="Put the key for secrets into the encrypted backup.")
@click.option("--no-verify", is_flag=True, help="Read every page, but do not recompute the results.")
def backup(
    destination: Path,
    keep: int | None,
    max_age: int | None,
    recipients: tuple[str, ...],
    passphrase_file: Path | None,
    *,
    with_secret: bool,
    no_verify: bool,
) -> None:
    """Write a checked copy of the database to DEST, a new file or a folder, while servers run.

    In a folder the copy is named after the moment, and --keep and --max-age remove only files that are
    named so. Other copies than the newest are never removed when this one is faulty.
    """
    with _sentences():
        encryption = _encryption(recipients, passphrase_file)
        if with_secret and encryption is None:
            raise click.UsageError("--with-secret needs --recipient or --passphrase-file.")
        source = _source()
        now = datetime.now(UTC)
        target = _target(destination, now, source, encryption)
        backup_files.remove_stale_parts(target.parent, backup_files.OWN_NAMES, now)
        if source.file is not None:
            backup_files.remove_stale_parts(source.file.parent, f"{source.file.name}.", now)
        differences = _write(source, target, encryption, with_secret=with_secret, is_verified=not no_verify)
        click.echo(f"{target}: {target.stat().st_size:,} bytes")
        if differences:
            raise CopyFailed(
                f"The backup is complete, but {differences} `silverball verify` lists the differences."
            )
        _note_erased(source, target.parent)
        _remove_surplus(target, now, keep, max_age)


def read_passphrase(file: Path) -> str:
    """The first line of a file. Raises CopyFailed for a short one."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CopyFailed(f"{file} cannot be read: {error}.") from error
    passphrase = lines[0].strip() if lines else ""
    if len(passphrase) < PASSPHRASE_CHARACTERS_MIN:
        raise CopyFailed(
            f"The passphrase in {file} must have {PASSPHRASE_CHARACTERS_MIN} characters or more."
        )
    return passphrase


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


def _encryption(recipients: tuple[str, ...], passphrase_file: Path | None) -> Encryption | None:
    if recipients and passphrase_file is not None:
        raise click.UsageError("Give --recipient or --passphrase-file, not both.")
    if recipients:
        if shutil.which("age") is None:
            raise CopyFailed("age is not installed here; --passphrase-file needs no other program.")
        return Encryption(recipients=recipients)
    return None if passphrase_file is None else Encryption(passphrase=read_passphrase(passphrase_file))


def _source() -> Source:
    url = database.database_url()
    database.require_file(url)
    file = database.sqlite_file(url)
    if file is None and url.startswith("sqlite:"):
        raise CopyFailed("A database in memory cannot be copied.")
    beside = None if file is None else file.with_name(f"{file.name}{SECRET_FILE_ENDING}")
    return Source(url=url, file=file, key_file=database.secret_file() or beside)


def _target(destination: Path, now: datetime, source: Source, encryption: Encryption | None) -> Path:
    plain_ending = "dump" if source.file is None else "db"
    ending = plain_ending if encryption is None else backup_files.ENCRYPTED_ENDING
    target = destination / backup_files.backup_name(now, ending) if destination.is_dir() else destination
    if target.exists():
        raise CopyFailed(f"There is a file at {target} already.")
    if not target.parent.is_dir():
        raise CopyFailed(f"There is no folder at {target.parent}.")
    return target


def _write(
    source: Source, target: Path, encryption: Encryption | None, *, with_secret: bool, is_verified: bool
) -> str:
    """Write the backup under its name once it is complete; returns what verifying has found."""
    if encryption is None:
        with backup_files.private_part(target) as part:
            differences = _copy_and_check(source, part, is_verified=is_verified)
            _publish(part, target)
        return differences
    members: dict[str, Path] = {}
    # Nothing leaves the folder of the database, or the private one of the system, unencrypted.
    with _private_place(source) as plain, backup_files.private_part(target) as part:
        differences = _copy_and_check(source, plain, is_verified=is_verified)
        members[source.member] = plain
        if with_secret:
            members[backup_files.SECRET] = _present_key_file(source)
        backup_files.encrypt(members, part, encryption)
        _publish(part, target)
    return differences


@contextmanager
def _private_place(source: Source) -> Iterator[Path]:
    if source.file is not None:
        with backup_files.private_part(source.file) as part:
            yield part
        return
    with tempfile.TemporaryDirectory(prefix="silverball-") as folder:
        yield Path(folder) / "dump"


def _present_key_file(source: Source) -> Path:
    if source.key_file is None or not source.key_file.exists():
        raise CopyFailed(f"There is no key for secrets at {source.key_file or '(SILVERBALL_SECRET_FILE)'}.")
    return source.key_file


def _copy_and_check(source: Source, part: Path, *, is_verified: bool) -> str:
    """Copy the database and read the copy; returns what verifying has found."""
    if source.file is None:
        part.touch(private_files.PRIVATE_MODE)
        copies.dump_postgresql(source.url, part)
        copies.check_dump(part)
        return ""
    copies.copy_sqlite(source.file, part)
    copies.check_sqlite(part)
    return verify_copy(part) if is_verified else ""


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
        copies.make_single_file(file)
    return f"{len(different)} tournaments in it differ from their journals." if different else ""


def _has_known_schema(store: Store) -> bool:
    try:
        return migrate.is_current(store)
    except UnusableSchema:
        return False


def _publish(part: Path, target: Path) -> None:
    backup_files.sync_file(part)
    part.rename(target)
    private_files.sync_folder(target.parent)


def _note_erased(source: Source, folder: Path) -> None:
    """Keep the list of erased accounts beside the backups, for a restore of an older one."""
    store = Store(source.url, limits=COPIES)
    try:
        with store.read() as db:
            accounts = erased_accounts.erased_accounts(db)
    finally:
        store.close()
    erased_accounts.add_to_list(folder / backup_files.ERASED_LIST, accounts)


def _remove_surplus(target: Path, now: datetime, keep: int | None, max_age: int | None) -> None:
    for file in backup_files.surplus_backups(target.parent, now, keep=keep, age_days=max_age, newest=target):
        file.unlink()
        click.echo(f"Removed {file}.", err=True)
    promised = now - timedelta(days=AGE_DAYS_MAX)
    old = [file for at, file in backup_files.own_backups(target.parent) if at < promised]
    if old:
        click.echo(
            f"{len(old)} backups in {target.parent} are older than {AGE_DAYS_MAX} days: people who have been"
            " deleted since are in them. `--max-age 35` removes them.",
            err=True,
        )
