"""The accounts that were erased: what a restore has to erase again.

An erased account is known by its row: it has its pseudonym and can never sign in. The list names it by its
number and the moment when it was made, because a number may come back after a restore. It is kept in the
database, in a file beside an SQLite database (for the day on which that cannot be read), and beside backups.
"""

import contextlib
import os
import secrets
from collections.abc import Collection
from pathlib import Path

from sqlalchemy import Connection, select

from silverball.kit import files
from silverball.store.database.engine import Store
from silverball.store.tables import user

FILE_ENDING = ".erased"
# A line of the list: `57 2026-03-05T19:30:00+00:00`.
ErasedAccount = tuple[int, str]
_USER = user.c


def erased_accounts(db: Connection) -> set[ErasedAccount]:
    """The accounts that have been erased in this database."""
    columns = (_USER.user_id, _USER.name, _USER.created_at)
    pseudonyms = (_USER.placeholder, _USER.email.is_(None), _USER.name.startswith("Player "))
    rows = db.execute(select(*columns).where(*pseudonyms)).all()
    return {(row.user_id, row.created_at.isoformat()) for row in rows if row.name == f"Player {row.user_id}"}


def not_erased(db: Connection, listed: Collection[ErasedAccount]) -> list[int]:
    """The numbers of the listed accounts that this database still has, in order."""
    still_listed = set(listed) - erased_accounts(db)
    rows = db.execute(select(_USER.user_id, _USER.created_at)).all()
    there = {(row.user_id, row.created_at.isoformat()) for row in rows}
    return sorted(user_id for user_id, _made in still_listed & there)


def file_beside(database: Path) -> Path:
    """The list of an SQLite database."""
    return database.with_name(f"{database.name}{FILE_ENDING}")


def read_list(file: Path) -> set[ErasedAccount]:
    """The accounts in a file; none without a file. Lines that are something else are left out."""
    listed = set()
    with contextlib.suppress(OSError):
        for line in file.read_text("utf-8", "replace").splitlines():
            number, _, made = line.partition(" ")
            if number.isascii() and number.isdigit() and made:
                listed.add((int(number), made))
    return listed


def add_to_list(file: Path, accounts: Collection[ErasedAccount]) -> None:
    """Add accounts to the list in a file, all or none; without new ones nothing is written."""
    before = read_list(file)
    listed = before | set(accounts)
    if listed == before:
        return
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_MODE)
        with os.fdopen(opened, "w") as stream:
            stream.writelines(f"{number} {made}\n" for number, made in sorted(listed))
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
        files.sync_folder(file.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def note_beside_database(store: Store) -> None:
    """Bring the list beside an SQLite database up to date."""
    database = Path(str(store.url.database))
    if not store.is_sqlite or not database.is_file():
        return
    with store.read() as db:
        accounts = erased_accounts(db)
    add_to_list(file_beside(database), accounts)
