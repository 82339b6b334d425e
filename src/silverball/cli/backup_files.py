"""The names of backups, which of them are old, and what is in an encrypted one."""

import os
import re
import secrets
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from silverball.kit import private_files, sealed_files
from silverball.kit.sealed_files import SealBroken, SealedReader, SealingWriter
from silverball.store import copies
from silverball.store.copies import CopyFailed

NAME = re.compile(r"silverball-(\d{8}T\d{6}Z)\.(?:db|dump|tar\.sealed|tar\.age)", re.ASCII)
OWN_NAMES = "silverball-"
MOMENT = "%Y%m%dT%H%M%SZ"
ERASED_LIST = "silverball-erased.txt"
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
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, private_files.PRIVATE_MODE))
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
            member.size, member.mode = file.stat().st_size, private_files.PRIVATE_MODE
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
        if beginning.startswith(copies.SQLITE_HEADER):
            return {_extract_member(DATABASE, stream, targets)}
        if beginning.startswith(copies.DUMP_HEADER):
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
