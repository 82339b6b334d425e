"""Files of backups: their names, what is in them, and how they are encrypted and read again."""

import os
import re
import secrets
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from silverball.kit import files
from silverball.store.database import files as database_files
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.files import CopyFailed
from silverball.store.people import erased_accounts, site_values

NAME = re.compile(r"silverball-(\d{8}T\d{6}Z)\.(?:db|dump|tar|tar\.sealed|tar\.age)", re.ASCII)
# A backup that a migration to this schema has made first.
BEFORE_MIGRATION = re.compile(r"before-\d{4}\.tar(?:\.age)?", re.ASCII)
OWN_NAMES = "silverball-"
MOMENT = "%Y%m%dT%H%M%SZ"
ERASED_LIST = "silverball-erased.txt"
# The site's value with the moment at which the newest backup was complete.
BACKED_UP_AT = "backed-up-at"
# Erased people are in backups until these are deleted; docs/accounts.md promises it.
AGE_DAYS_MAX = 35
STALE_PART = re.compile(r"\..+\.[0-9a-f]{8}\.part(?:-wal|-shm|-journal)?", re.ASCII)
STALE_AFTER = timedelta(days=1)
# Members of a backup.
DATABASE, DUMP, SECRET = "database.db", "database.dump", "secret"
ENDING, ENCRYPTED_ENDING = "tar", "tar.age"
AGE_HEADER = b"age-encryption.org/"
# Where a tar archive says what it is, and how the names of its members begin.
TAR_MARK, TAR_MARK_AT = b"ustar", 257
BEGINNING_BYTES = 512
PASSPHRASE_CHARACTERS_MIN = 12
# What a copy takes beside its content, and what has to stay free.
FREE_BYTES_KEPT = 50_000_000
BLOCK_BYTES = 1 << 20


class Encryption(Struct, frozen=True, kw_only=True):
    """How a backup is encrypted: for recipients of age, or with a passphrase."""

    recipients: tuple[str, ...] = ()
    passphrase: str = ""


def backup_name(now: datetime, ending: str) -> str:
    """The name of a backup of this moment."""
    return f"silverball-{now.astimezone(UTC).strftime(MOMENT)}.{ending}"


def before_migration_name(schema: str, encryption: Encryption | None) -> str:
    """The name of the backup that is made before a migration to this schema."""
    return f"before-{schema}.{ENDING if encryption is None else ENCRYPTED_ENDING}"


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


def pack(members: Mapping[str, Path], target: Path, encryption: Encryption | None) -> None:
    """Write files, as members of a tar archive, into a file that exists. Raises CopyFailed."""
    with target.open("wb") as stream:
        if encryption is None:
            _write_archive(members, stream)
            return
        if encryption.recipients:
            _encrypt_with_age(members, stream, encryption.recipients)
            return
        # Commands load this module, and few of them encrypt.
        from silverball.kit.security.sealed_files import SealingWriter

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

    A backup of 0.2.0 can be the database alone. Raises CopyFailed.
    """
    from silverball.kit.security import sealed_files

    with backup.open("rb") as stream:
        beginning = stream.read(BEGINNING_BYTES)
        stream.seek(0)
        if beginning.startswith(database_files.SQLITE_HEADER):
            return {_extract_member(DATABASE, stream, targets)}
        if beginning.startswith(database_files.DUMP_HEADER):
            return {_extract_member(DUMP, stream, targets)}
        if beginning[TAR_MARK_AT:].startswith(TAR_MARK):
            return _extract_archive(stream, targets)
        if sealed_files.is_sealed(beginning):
            if not unlocking.passphrase:
                raise CopyFailed(f"{backup} is encrypted with a passphrase: give --passphrase-file.")
            try:
                reader = sealed_files.SealedReader(stream, unlocking.passphrase)
                return _extract_archive(cast(IO[bytes], reader), targets)
            except sealed_files.SealBroken as error:
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


def read_passphrase(file: Path) -> str:
    """The first line of a file. Raises CopyFailed for a short one."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CopyFailed(f"{file} cannot be read: {error}.") from error
    return usable_passphrase(lines[0] if lines else "", str(file))


def usable_passphrase(text: str, where: str) -> str:
    """The passphrase without the space around it. Raises CopyFailed for a short one, and names its place."""
    passphrase = text.strip()
    if len(passphrase) < PASSPHRASE_CHARACTERS_MIN:
        raise CopyFailed(
            f"The passphrase in {where} must have {PASSPHRASE_CHARACTERS_MIN} characters or more."
        )
    return passphrase


def make_folder(folder: Path) -> None:
    """Make the folder of backups for its owner alone, where there is none. Raises CopyFailed."""
    try:
        folder.mkdir(mode=files.PRIVATE_FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise CopyFailed(f"The folder {folder} cannot be made: {error.strerror}.") from error


def note_end(store: Store, folder: Path, now: datetime) -> None:
    """Note the moment for doctor, and keep the list of erased accounts for a restore of an older backup."""
    with store.read() as db:
        accounts = erased_accounts.erased_accounts(db)
    # A copy of a file that cannot be written is a backup too.
    with suppress(DatabaseFault), store.write(quiet=True) as transaction:
        site_values.note_site_value(transaction.connection, BACKED_UP_AT, now.isoformat())
    erased_accounts.add_to_list(folder / ERASED_LIST, accounts)


def remove_expired(folder: Path, now: datetime) -> list[Path]:
    """Delete what migrations have left in a folder, once people who were deleted since may not be in it."""
    oldest = (now - timedelta(days=AGE_DAYS_MAX)).timestamp()
    expired = [
        file
        for file in sorted(folder.iterdir())
        if BEFORE_MIGRATION.fullmatch(file.name) and file.stat().st_mtime < oldest
    ]
    for file in expired:
        file.unlink()
    return expired


class Source(Struct, frozen=True, kw_only=True):
    """The database to copy: its address, its file where it is SQLite, its key file where there is one."""

    url: str
    file: Path | None
    key_file: Path | None

    @property
    def member(self) -> str:
        return DUMP if self.file is None else DATABASE


def write_backup(
    source: Source,
    target: Path,
    encryption: Encryption | None,
    *,
    with_key: bool,
    verify: Callable[[Path], str] | None,
) -> str:
    """Write the backup under its name once it is complete; returns what `verify` has found.

    With the key, where there is one. Raises CopyFailed.
    """
    # Nothing leaves the folder of the database, or the private one of the system, unencrypted.
    with _private_place(source) as plain, private_part(target) as part:
        _require_room(source, plain.parent, target.parent)
        differences = _copy_and_check(source, plain, verify)
        members = {source.member: plain}
        if with_key and source.key_file is not None and source.key_file.exists():
            members[SECRET] = source.key_file
        pack(members, part, encryption)
        _publish(part, target)
    return differences


def _require_room(source: Source, *folders: Path) -> None:
    """Raise CopyFailed where a copy does not fit; PostgreSQL's dumps are of a size that nobody knows."""
    needed = FREE_BYTES_KEPT + (source.file.stat().st_size if source.file is not None else 0)
    if folders[0].stat().st_dev == folders[-1].stat().st_dev:
        # The copy, and the archive that it is put into.
        needed += needed - FREE_BYTES_KEPT
    for folder in folders:
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise CopyFailed(
                f"A backup may need {needed // 1_000_000:,} MB in {folder}, and {free // 1_000_000:,} MB are"
                " free."
            )


@contextmanager
def _private_place(source: Source) -> Iterator[Path]:
    if source.file is not None:
        with private_part(source.file) as part:
            yield part
        return
    with tempfile.TemporaryDirectory(prefix="silverball-") as folder:
        yield Path(folder) / "dump"


def _copy_and_check(source: Source, part: Path, verify: Callable[[Path], str] | None) -> str:
    """Copy the database and read the copy; returns what verifying has found."""
    if source.file is None:
        part.touch(files.PRIVATE_MODE)
        database_files.dump_postgresql(source.url, part)
        database_files.check_dump(part)
        return ""
    database_files.copy_sqlite(source.file, part)
    database_files.check_sqlite(part)
    return verify(part) if verify is not None else ""


def _publish(part: Path, target: Path) -> None:
    sync_file(part)
    part.rename(target)
    files.sync_folder(target.parent)
