"""silverball backup: a checked copy of the database, made while servers write."""

import os
import re
import secrets
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, cast

import click
from msgspec import Struct

from silverball.cli import database, verify
from silverball.kit import files
from silverball.kit.security import sealed_files
from silverball.kit.security.sealed_files import SealBroken, SealedReader, SealingWriter
from silverball.settings import SettingError
from silverball.store.database import faults, migrate
from silverball.store.database import files as database_files
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import SECRET_FILE_ENDING, Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed
from silverball.store.database.migrate import UnusableSchema
from silverball.store.people import erased_accounts, site_values

# The names of backups, which of them are old, and what is in an encrypted one.


NAME = re.compile(r"silverball-(\d{8}T\d{6}Z)\.(?:db|dump|tar\.sealed|tar\.age)", re.ASCII)
OWN_NAMES = "silverball-"
MOMENT = "%Y%m%dT%H%M%SZ"
ERASED_LIST = "silverball-erased.txt"
# The site's value with the moment at which the newest backup was complete.
BACKED_UP_AT = "backed-up-at"
# Erased people are in backups until these are deleted; docs/accounts.md promises it.
AGE_DAYS_MAX = 35
STALE_PART = re.compile(r"\..+\.[0-9a-f]{8}\.part(?:-wal|-shm|-journal)?", re.ASCII)
STALE_AFTER = timedelta(days=1)
# Members of an encrypted backup.
DATABASE, DUMP, SECRET = "database.db", "database.dump", "secret"
ENCRYPTED_ENDING = "tar.age"
AGE_HEADER = b"age-encryption.org/"
BLOCK_BYTES = 1 << 20


class Encryption(Struct, frozen=True, kw_only=True):
    """How a backup is encrypted: for recipients of age, or with a passphrase."""

    recipients: tuple[str, ...] = ()
    passphrase: str = ""


def backup_name(now: datetime, ending: str) -> str:
    """The name of a backup of this moment."""
    return f"silverball-{now.astimezone(UTC).strftime(MOMENT)}.{ending}"


def own_backups(folder: Path) -> list[tuple[datetime, Path]]:
    """The files in a folder that are named as backups are, newest first."""
    found = []
    for file in folder.iterdir():
        if match := NAME.fullmatch(file.name):
            with suppress(ValueError):
                found.append((datetime.strptime(match[1], MOMENT).replace(tzinfo=UTC), file))
    return sorted(found, reverse=True)


def surplus_backups(
    folder: Path, now: datetime, *, keep: int | None, age_days: int | None, newest: Path
) -> list[Path]:
    """The backups beyond the newest `keep`, and those older than so many days; never the newest one."""
    others = [(at, file) for at, file in own_backups(folder) if file != newest]
    kept_count = len(others) if keep is None else keep - 1
    too_old = now - timedelta(days=age_days) if age_days is not None else datetime.min.replace(tzinfo=UTC)
    return [file for index, (at, file) in enumerate(others) if index >= kept_count or at < too_old]


@contextmanager
def private_part(file: Path) -> Iterator[Path]:
    """A new empty file beside `file` that only its owner may read; whatever is left of it is deleted."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_MODE))
        yield part
    finally:
        for name in (part, *(Path(f"{part}{ending}") for ending in ("-wal", "-shm", "-journal"))):
            with suppress(OSError):
                name.unlink()


def remove_stale_parts(folder: Path, beginning: str, now: datetime) -> None:
    """Delete what backups and restores of files named so have left when they were killed: whole copies."""
    for part in folder.iterdir():
        if part.name.startswith(f".{beginning}") and STALE_PART.fullmatch(part.name):
            with suppress(OSError):
                if part.stat().st_mtime < (now - STALE_AFTER).timestamp():
                    part.unlink()


def sync_file(file: Path) -> None:
    """Wait until the content of a file is on the disk."""
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def encrypt(members: Mapping[str, Path], target: Path, encryption: Encryption) -> None:
    """Write files, as members of a tar archive, encrypted into a file that exists. Raises CopyFailed."""
    with target.open("wb") as stream:
        if encryption.recipients:
            _encrypt_with_age(members, stream, encryption.recipients)
            return
        sealing = SealingWriter(stream, encryption.passphrase)
        _write_archive(members, cast(IO[bytes], sealing))
        sealing.close()


def _encrypt_with_age(members: Mapping[str, Path], stream: IO[bytes], recipients: tuple[str, ...]) -> None:
    words = [word for recipient in recipients for word in ("-r", recipient)]
    with _age([*words], stdin=subprocess.PIPE, stdout=stream) as process:
        assert process.stdin is not None
        # age that refuses a recipient ends before it has read everything; its exit code tells.
        with suppress(BrokenPipeError):
            _write_archive(members, process.stdin)
            process.stdin.close()


def _write_archive(members: Mapping[str, Path], stream: IO[bytes]) -> None:
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT, bufsize=BLOCK_BYTES) as archive:
        for name, file in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = file.stat().st_size, files.PRIVATE_MODE
            with file.open("rb") as content:
                archive.addfile(member, content)


class Unlocking(Struct, frozen=True, kw_only=True):
    """The key, or the passphrase, that opens an encrypted backup."""

    passphrase: str = ""
    identity: Path | None = None


def extract(backup: Path, targets: Mapping[str, Path], unlocking: Unlocking) -> set[str]:
    """Write the members of a backup into files that exist, and return their names.

    A plain backup has one member, the database. Raises CopyFailed.
    """
    with backup.open("rb") as stream:
        beginning = stream.read(64)
        stream.seek(0)
        if beginning.startswith(database_files.SQLITE_HEADER):
            return {_extract_member(DATABASE, stream, targets)}
        if beginning.startswith(database_files.DUMP_HEADER):
            return {_extract_member(DUMP, stream, targets)}
        if sealed_files.is_sealed(beginning):
            if not unlocking.passphrase:
                raise CopyFailed(f"{backup} is encrypted with a passphrase: give --passphrase-file.")
            try:
                reader = SealedReader(stream, unlocking.passphrase)
                return _extract_archive(cast(IO[bytes], reader), targets)
            except SealBroken as error:
                raise CopyFailed(f"{backup} cannot be decrypted: {error}.") from error
        if beginning.startswith(AGE_HEADER):
            return _extract_with_age(backup, targets, unlocking.identity)
    raise CopyFailed(f"{backup} is no backup of this program.")


def _extract_with_age(backup: Path, targets: Mapping[str, Path], identity: Path | None) -> set[str]:
    if identity is None:
        raise CopyFailed(f"{backup} is encrypted with age: give --identity.")
    # Opened anew: age goes on where the descriptor is, which is not where a buffered file is.
    with (
        backup.open("rb", buffering=0) as stream,
        _age(["-d", "-i", str(identity)], stdin=stream, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        return _extract_archive(process.stdout, targets)


def _extract_archive(stream: IO[bytes], targets: Mapping[str, Path]) -> set[str]:
    found = set()
    try:
        with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK_BYTES) as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is None:
                    raise CopyFailed("The backup has something in it that this program did not put there.")
                found.add(_extract_member(member.name, content, targets))
    except tarfile.TarError as error:
        raise CopyFailed(f"The backup cannot be read: {error}.") from error
    # The last piece tells whether the file was cut off.
    while stream.read(BLOCK_BYTES):
        pass
    if not found & {DATABASE, DUMP}:
        raise CopyFailed("There is no database in the backup.")
    return found


def _extract_member(name: str, content: IO[bytes], targets: Mapping[str, Path]) -> str:
    if name not in targets:
        raise CopyFailed(
            "This is a backup of another kind of database than SILVERBALL_DATABASE_URL names, or of something"
            " else."
        )
    with targets[name].open("wb") as target:
        while block := content.read(BLOCK_BYTES):
            target.write(block)
    return name


@contextmanager
def _age(
    words: list[str], *, stdin: int | IO[bytes], stdout: int | IO[bytes]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run age; raises CopyFailed when it is not installed or fails."""
    try:
        process = subprocess.Popen(["age", *words], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)  # noqa: S603, S607  # the installed one
    except FileNotFoundError as error:
        raise CopyFailed("age is not installed here; --passphrase-file needs no other program.") from error
    with process:
        failure: CopyFailed | None = None
        try:
            yield process
        except CopyFailed as error:
            failure = error
        if process.stdin is not None:
            process.stdin.close()
        if process.stdout is not None:
            process.stdout.close()
        assert process.stderr is not None
        complaint = process.stderr.read().decode("utf-8", "replace").strip()
        if process.wait():
            raise CopyFailed(f"age failed: {complaint.splitlines()[0] if complaint else 'no reason given'}.")
        if failure is not None:
            raise failure


PASSPHRASE_CHARACTERS_MIN = 12
DAYS = click.IntRange(1, 3650)


class Source(Struct, frozen=True, kw_only=True):
    """The database to copy: its address, its file where it is SQLite, its key file where there is one."""

    url: str
    file: Path | None
    key_file: Path | None

    @property
    def member(self) -> str:
        return DUMP if self.file is None else DATABASE


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
        is_one_of_many = keep is not None or max_age is not None
        target = _target(destination, now, source, encryption, is_one_of_many=is_one_of_many)
        remove_stale_parts(target.parent, OWN_NAMES, now)
        if source.file is not None:
            remove_stale_parts(source.file.parent, f"{source.file.name}.", now)
        differences = _write(source, target, encryption, with_secret=with_secret, is_verified=not no_verify)
        click.echo(f"{target}: {target.stat().st_size:,} bytes")
        if differences:
            raise CopyFailed(
                f"The backup is complete, but {differences} `silverball verify` lists the differences."
            )
        _note_end(source, target.parent)
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


def _target(
    destination: Path, now: datetime, source: Source, encryption: Encryption | None, *, is_one_of_many: bool
) -> Path:
    plain_ending = "dump" if source.file is None else "db"
    ending = plain_ending if encryption is None else ENCRYPTED_ENDING
    target = destination / backup_name(now, ending) if destination.is_dir() else destination
    if target.exists():
        raise CopyFailed(f"There is a file at {target} already.")
    if is_one_of_many and target == destination:
        raise CopyFailed(f"There is no folder at {destination}, and --keep and --max-age need one.")
    if not target.parent.is_dir():
        raise CopyFailed(f"There is no folder at {target.parent}.")
    return target


def _write(
    source: Source, target: Path, encryption: Encryption | None, *, with_secret: bool, is_verified: bool
) -> str:
    """Write the backup under its name once it is complete; returns what verifying has found."""
    if encryption is None:
        with private_part(target) as part:
            differences = _copy_and_check(source, part, is_verified=is_verified)
            _publish(part, target)
        return differences
    members: dict[str, Path] = {}
    # Nothing leaves the folder of the database, or the private one of the system, unencrypted.
    with _private_place(source) as plain, private_part(target) as part:
        differences = _copy_and_check(source, plain, is_verified=is_verified)
        members[source.member] = plain
        if with_secret:
            members[SECRET] = _present_key_file(source)
        encrypt(members, part, encryption)
        _publish(part, target)
    return differences


@contextmanager
def _private_place(source: Source) -> Iterator[Path]:
    if source.file is not None:
        with private_part(source.file) as part:
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
        part.touch(files.PRIVATE_MODE)
        database_files.dump_postgresql(source.url, part)
        database_files.check_dump(part)
        return ""
    database_files.copy_sqlite(source.file, part)
    database_files.check_sqlite(part)
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
        database_files.make_single_file(file)
    return f"{len(different)} tournaments in it differ from their journals." if different else ""


def _has_known_schema(store: Store) -> bool:
    try:
        return migrate.is_current(store)
    except UnusableSchema:
        return False


def _publish(part: Path, target: Path) -> None:
    sync_file(part)
    part.rename(target)
    files.sync_folder(target.parent)


def _note_end(source: Source, folder: Path) -> None:
    """Note the moment for doctor, and keep the list of erased accounts for a restore of an older backup."""
    store = Store(source.url, limits=COPIES)
    try:
        with store.read() as db:
            accounts = erased_accounts.erased_accounts(db)
        # A copy of a file that cannot be written is a backup too.
        with suppress(DatabaseFault), store.write(quiet=True) as transaction:
            site_values.note_site_value(transaction.connection, BACKED_UP_AT, datetime.now(UTC).isoformat())
    finally:
        store.close()
    erased_accounts.add_to_list(folder / ERASED_LIST, accounts)


def _remove_surplus(target: Path, now: datetime, keep: int | None, max_age: int | None) -> None:
    for file in surplus_backups(target.parent, now, keep=keep, age_days=max_age, newest=target):
        file.unlink()
        click.echo(f"Removed {file}.", err=True)
    promised = now - timedelta(days=AGE_DAYS_MAX)
    old = [file for at, file in own_backups(target.parent) if at < promised]
    if old:
        click.echo(
            f"{len(old)} backups in {target.parent} are older than {AGE_DAYS_MAX} days: people who have been"
            " deleted since are in them. `--max-age 35` removes them.",
            err=True,
        )
