"""silverball restore: put a backup in the place of the database, and what has to follow from that."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from silverball import settings
from silverball.cli import database
from silverball.cli.backup import verify_copy
from silverball.kit import files
from silverball.kit.errors import Refusal
from silverball.kit.security.encryption import KeyFile
from silverball.service.accounts import erasing
from silverball.settings import SettingError
from silverball.store.database import backups, faults, health, migrate
from silverball.store.database import files as database_files
from silverball.store.database.backups import DATABASE, DUMP, MOMENT, SECRET, Unlocking
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import SQLITE_FILES_BESIDE, Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed, DatabaseInUse
from silverball.store.database.health import ForeignLog
from silverball.store.database.migrate import UnusableSchema
from silverball.store.people import encryption, erased_accounts
from silverball.store.people.erased_accounts import ErasedAccount
from silverball.store.revisions import stamps

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("file", metavar="[FILE]", required=False, type=FILE)
@click.option("--check", "is_check", is_flag=True, help="Only read, decrypt and verify the backup.")
@click.option("--here", "is_here", is_flag=True, help="Another tool has put the database in its place.")
@click.option("--before", "before_url", metavar="URL", help="Erase the accounts erased in this database.")
@click.option("--discard", is_flag=True, help="Delete the present database instead of keeping it aside.")
@click.option("--passphrase-file", type=FILE, help="The passphrase that the backup is encrypted with.")
@click.option("--identity", type=FILE, help="The private key of age that the backup is encrypted for.")
def restore(
    file: Path | None,
    before_url: str | None,
    passphrase_file: Path | None,
    identity: Path | None,
    *,
    is_check: bool,
    is_here: bool,
    discard: bool,
) -> None:
    """Put the backup FILE in the place of the database. Stop the server first.

    Accounts that were erased since the backup are erased again, everybody who follows a tournament reads it
    again, and the present database is kept aside. With --here the database is already in its place, and
    only the rest is done.
    """
    if (file is None) != is_here:
        raise click.UsageError("Give either FILE or --here.")
    started = time.monotonic()
    with _sentences():
        url = database.database_url()
        passphrase = settings.load().backup_passphrase.strip()
        if passphrase_file is not None:
            passphrase = backups.read_passphrase(passphrase_file)
        unlocking = Unlocking(passphrase=passphrase, identity=identity)
        listed = _listed_in(before_url) if before_url else set()
        target = database.sqlite_file(url)
        if is_here:
            _finish_here(url, target, listed)
        elif target is None and url.startswith("sqlite:"):
            raise CopyFailed("A database in memory cannot be restored.")
        elif target is None:
            _restore_postgresql(Path(file or ""), url, unlocking, listed, is_check=is_check)
        else:
            _restore_sqlite(
                Path(file or ""), target, unlocking, listed, is_check=is_check, is_kept=not discard
            )
    done = "The backup is whole" if is_check else "Restored"
    click.echo(f"{done}, in {time.monotonic() - started:.1f} s.")


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what can go wrong into one sentence on stderr."""
    try:
        yield
    except (CopyFailed, ForeignLog, SettingError, UnusableSchema, Refusal) as error:
        raise click.ClickException(str(error)) from error
    except DatabaseInUse as error:
        raise click.ClickException(
            "A server or another program has the database open. Stop it first, on every node."
        ) from error
    except DatabaseFault as error:
        raise click.ClickException(f"The database cannot be used: {faults.short_message(error)}") from error
    except OSError as error:
        raise click.ClickException(f"{error.filename or 'The backup'}: {error.strerror}.") from error


def _restore_sqlite(
    file: Path,
    target: Path,
    unlocking: Unlocking,
    listed: set[ErasedAccount],
    *,
    is_check: bool,
    is_kept: bool,
) -> None:
    if target.exists() and not is_check:
        health.require_own_log(target)
    listed |= erased_accounts.read_list(file.with_name(backups.ERASED_LIST))
    listed |= erased_accounts.read_list(erased_accounts.file_beside(target))
    with backups.private_part(target) as part, backups.private_part(target) as secret:
        members = backups.extract(file, {DATABASE: part, SECRET: secret}, unlocking)
        database_files.check_sqlite(part)
        if is_check:
            _verify(part)
            return
        with suppress(DatabaseFault, SettingError):
            listed |= _listed_in(f"sqlite:///{target}")
        with _held(target) as is_readable:
            _bring_up_to_date(f"sqlite:///{part}", listed)
            _verify(part)
            _copy_owner(target, part)
            backups.sync_file(part)
            if SECRET in members:
                _place_secret(secret, target)
            _replace(part, target, is_kept=is_kept, is_readable=is_readable)
    _tell_about_secret(f"sqlite:///{target}", target)


def _restore_postgresql(
    file: Path, url: str, unlocking: Unlocking, listed: set[ErasedAccount], *, is_check: bool
) -> None:
    listed |= erased_accounts.read_list(file.with_name(backups.ERASED_LIST))
    with tempfile.TemporaryDirectory(prefix="silverball-") as folder:
        places = {name: Path(folder) / name for name in (DUMP, SECRET)}
        members = backups.extract(file, places, unlocking)
        database_files.check_dump(places[DUMP])
        if is_check:
            return
        database_files.require_unused_postgresql(url, must_be_empty=True)
        database_files.load_dump(url, places[DUMP])
        if SECRET in members:
            _place_secret(places[SECRET], None)
    _bring_up_to_date(url, listed)
    _tell_about_secret(url, None)


def _finish_here(url: str, target: Path | None, listed: set[ErasedAccount]) -> None:
    database.require_file(url)
    if target is None:
        database_files.require_unused_postgresql(url, must_be_empty=False)
    else:
        listed |= erased_accounts.read_list(erased_accounts.file_beside(target))
        health.require_own_log(target)
        with database_files.exclusive_sqlite(target):
            pass
    _bring_up_to_date(url, listed)
    _tell_about_secret(url, target)


def _bring_up_to_date(url: str, listed: set[ErasedAccount]) -> None:
    """Migrate a restored database, erase again who was erased since, and begin a new generation."""
    store = Store(url, limits=COPIES)
    try:
        migrate.migrate(store)
        with store.read() as db:
            user_ids = erased_accounts.not_erased(db, listed)
        for user_id in user_ids:
            erasing.erase_again(store, user_id)
        erasing.finish_changes(store)
        with store.write() as transaction:
            stamps.draw_new_generation(transaction.connection)
    finally:
        store.close()
    if user_ids:
        click.echo(f"Erased again, because they were erased since the backup: {len(user_ids)} accounts.")


def _verify(part: Path) -> None:
    if faults_found := verify_copy(part):
        click.echo(f"Warning: {faults_found} `silverball verify` lists the differences.", err=True)


@contextmanager
def _held(target: Path) -> Iterator[bool]:
    """Hold the present database; yields whether it can be read. Raises DatabaseInUse."""
    with ExitStack() as stack:
        is_readable = True
        if target.exists():
            try:
                stack.enter_context(database_files.exclusive_sqlite(target))
            except CopyFailed as error:
                is_readable = False
                click.echo(f"The present database is damaged. {error}", err=True)
        yield is_readable


def _listed_in(url: str) -> set[ErasedAccount]:
    """The accounts that were erased in another database."""
    database.require_file(url)
    store = Store(url, limits=COPIES)
    try:
        with store.read() as db:
            return erased_accounts.erased_accounts(db)
    finally:
        store.close()


def _copy_owner(target: Path, part: Path) -> None:
    """Give the restored file the owner and mode of the present one, or the owner of its folder."""
    status = target.stat() if target.exists() else target.parent.stat()
    if target.exists():
        part.chmod(status.st_mode & 0o700)
    if (part.stat().st_uid, part.stat().st_gid) != (status.st_uid, status.st_gid):
        os.chown(part, status.st_uid, status.st_gid)


def _replace(part: Path, target: Path, *, is_kept: bool, is_readable: bool) -> None:
    ending = f"before-{datetime.now(UTC).strftime(MOMENT)}"
    while target.with_name(f"{target.name}.{ending}").exists():
        # Two restores in one second.
        ending += "+"
    kept_as = target.with_name(f"{target.name}.{ending}") if is_kept and target.exists() else None
    if not is_readable:
        # What is in the files beside a damaged database may save some of it, and would damage another one.
        for beside in (Path(f"{target}{name}") for name in SQLITE_FILES_BESIDE):
            if beside.exists():
                beside.rename(f"{beside}.{ending}") if is_kept else beside.unlink()
    database_files.replace_file(part, target, kept_as=kept_as)
    if kept_as is not None:
        click.echo(f"The database before is {kept_as}. Delete it when you no longer need it.")


def _place_secret(secret: Path, target: Path | None) -> None:
    """Put the key file of the backup in its place, or beside it where there is another."""
    place = database.key_file(target)
    if place is None:
        raise CopyFailed("The backup has a key file: set SILVERBALL_SECRET_FILE to where it is to be.")
    keys = set(KeyFile(secret).keys())
    if place.exists() and keys <= set(KeyFile(place).keys()):
        return
    if place.exists():
        place = place.with_name(f"{place.name}.from-backup")
    with backups.private_part(place) as part:
        shutil.copyfile(secret, part)
        _copy_owner(place, part)
        backups.sync_file(part)
        part.rename(place)
    files.sync_folder(place.parent)
    click.echo(f"The key for secrets is in {place}.")


def _tell_about_secret(url: str, target: Path | None) -> None:
    """Say which key the restored database needs, where it is not there."""
    place = database.key_file(target)
    store = Store(url, place, limits=COPIES)
    try:
        with store.read() as db:
            is_needed, fingerprint = encryption.is_anything_encrypted(db), encryption.fingerprint_in_use(db)
    finally:
        store.close()
    key_file = KeyFile(place)
    known = [key.fingerprint for key in key_file.keys()]  # noqa: SIM118  # a method, not a mapping
    if not is_needed or fingerprint in known:
        return
    there = f"has other keys ({', '.join(known)})" if known else "is missing"
    click.echo(
        f"Warning: the database has secrets that are encrypted with the key {fingerprint}, and the key file"
        f" {place or 'of SILVERBALL_SECRET_FILE'} {there}. {encryption.OFF_WITHOUT_KEY}.",
        err=True,
    )
