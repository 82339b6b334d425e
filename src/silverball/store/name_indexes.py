"""Make the indexes for searches by name.

On SQLite a table of FTS5 beside each searched table holds the folded names by trigrams, and triggers keep it
equal to the names, whichever version of the program writes them. On PostgreSQL it is a GIN index of
`pg_trgm` on the folded name, where the database has that extension or may add it.
"""

from typing import Any

from sqlalchemy import Connection, column, func, insert, select, table, text
from sqlalchemy.exc import DBAPIError

from silverball.store.name_search import SEARCHED, SearchedNames, is_indexed

EXTENSION = "pg_trgm"
# About 1,000 names; PostgreSQL's own limit is 4,096.
WAITING_KILOBYTES = 256
# What FTS5 merges at a time: some 10 ms, where a million names in one go hold up others for 0.7 s.
MERGED_PAGES = 100
# FTS5's list of levels and parts. A level takes 2 bytes, those of an index in use some hundred in all.
STRUCTURE_ID, STRUCTURE_BYTES_MAX = 10, 1_000
_CHANGES = select(func.total_changes())
# PostgreSQL's errors for an extension that the role may not add, or that the server does not have.
CANNOT_ADD = {"42501", "0A000", "58P01"}


def add_missing(db: Connection) -> None:
    """Make the indexes that are missing, as far as the database can have them."""
    if db.dialect.name == "sqlite":
        _add_missing_on_sqlite(db)
    else:
        _add_missing_on_postgresql(db)


def missing(db: Connection) -> list[str]:
    """The tables that are searched without an index."""
    return [searched.table for searched in SEARCHED.values() if not is_indexed(db, searched)]


def problem(db: Connection) -> str | None:
    """A sentence on why names are searched without an index, and what to do; None where they have one."""
    if db.dialect.name == "sqlite" and not _has_fts5(db):
        return (
            "This Python's SQLite has no FTS5: searches compare all names, and names in a database that was"
            " made with FTS5 cannot be changed. Use another Python."
        )
    if not missing(db):
        return None
    if db.dialect.name == "sqlite" or _schema_of_extension(db):
        return "Searches compare all names. Run: silverball migrate"
    return (
        "Searches compare all names, because the database does not have pg_trgm. Have an administrator of"
        " PostgreSQL run CREATE EXTENSION pg_trgm; in this database, then run: silverball migrate"
    )


def begin_forgetting(db: Connection) -> None:
    """Begin to remove what SQLite's indexes still hold of names that were deleted or replaced.

    FTS5 marks an entry as deleted and removes it when it next merges its parts, which may be much later.
    """
    for searched in _of_sqlite(db):
        if not _rebuild_when_deep(db, searched):
            _merge(db, searched, -MERGED_PAGES)


def forget_slice(db: Connection) -> int:
    """Go on with it, some hundredths of a second; returns 0 when nothing is left to do."""
    return sum(_merge(db, searched, MERGED_PAGES) for searched in _of_sqlite(db))


def _of_sqlite(db: Connection) -> list[SearchedNames]:
    """The names that an index of SQLite holds; none on PostgreSQL."""
    if db.dialect.name != "sqlite":
        return []
    return [searched for searched in SEARCHED.values() if is_indexed(db, searched)]


def _merge(db: Connection, searched: SearchedNames, pages: int) -> int:
    """Merge parts of an index; a negative number begins to merge all of them. Returns 0 without work."""
    before = db.execute(_CHANGES).scalar_one()
    own = table(searched.index, column(searched.index), column("rank"))
    db.execute(insert(own).values({searched.index: "merge", "rank": pages}))
    changes = int(db.execute(_CHANGES).scalar_one() - before)
    # The command itself is a change.
    return changes if changes > 1 else 0


def _rebuild_when_deep(db: Connection, searched: SearchedNames) -> bool:
    """Build an index anew, which takes longer, before its levels are too many; returns whether it was.

    Each merge of all parts leaves two empty levels behind in versions of SQLite such as 3.40, and an index
    with more than 2,000 of them can neither be read nor written any more.
    """
    parts = table(f"{searched.index}_data", column("id"), column("block"))
    size = select(func.length(parts.c.block)).where(parts.c.id == STRUCTURE_ID)
    if db.execute(size).scalar_one() <= STRUCTURE_BYTES_MAX:
        return False
    own = table(searched.index, column(searched.index))
    db.execute(insert(own).values({searched.index: "rebuild"}))
    return True


def _add_missing_on_sqlite(db: Connection) -> None:
    if not _has_fts5(db):
        return
    stored = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    present: dict[str, str] = {row.name: row.sql for row in db.execute(text(stored))}
    for searched in SEARCHED.values():
        wanted = sqlite_definitions(searched)
        # A table that a migration has built anew is without its triggers, and its index may be out of date.
        if any(present.get(name) != definition for name, definition in wanted.items()):
            _build_on_sqlite(db, searched, wanted)
        else:
            _rebuild_when_deep(db, searched)


def _has_fts5(db: Connection) -> bool:
    return db.execute(text("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")).first() is not None


def _build_on_sqlite(db: Connection, searched: SearchedNames, wanted: dict[str, str]) -> None:
    for name in wanted:
        kind = "TABLE" if name == searched.index else "TRIGGER"
        db.exec_driver_sql(f"DROP {kind} IF EXISTS {name}")
    for definition in wanted.values():
        db.exec_driver_sql(definition)
    own = table(searched.index, column("rowid"), column("folded"))
    db.execute(
        insert(own).from_select(["rowid", "folded"], select(searched.key, searched.fold(searched.names)))
    )


def sqlite_definitions(searched: SearchedNames) -> dict[str, str]:
    """Name -> definition of the table of FTS5 and of the triggers that keep it."""
    index, key, name = searched.index, searched.key.name, searched.names.name
    folded = f"new.{name}" if searched.are_folded else f"silverball_folded(new.{name})"
    # All are names of our own tables and columns.
    add = f"INSERT INTO {index} (rowid, folded) VALUES (new.{key}, {folded});"  # noqa: S608
    remove = f"DELETE FROM {index} WHERE rowid = old.{key};"  # noqa: S608
    # An INSERT OR REPLACE runs no trigger for the row that it removes.
    remove_replaced = f"DELETE FROM {index} WHERE rowid = new.{key};"  # noqa: S608
    is_changed = f"new.{name} IS NOT old.{name} OR new.{key} <> old.{key}"
    events = {
        "added": f"INSERT ON {searched.table} BEGIN {remove_replaced} {add} END",
        "changed": f"UPDATE OF {key}, {name} ON {searched.table} WHEN {is_changed} BEGIN {remove} {add} END",
        "removed": f"DELETE ON {searched.table} BEGIN {remove} END",
    }
    triggers = {
        f"{index}_{name}": f"CREATE TRIGGER {index}_{name} AFTER {event}" for name, event in events.items()
    }
    options = "folded, tokenize='trigram case_sensitive 1', columnsize=0"
    return {index: f"CREATE VIRTUAL TABLE {index} USING fts5({options})", **triggers}


def _add_missing_on_postgresql(db: Connection) -> None:
    wanted = [searched for searched in SEARCHED.values() if not is_indexed(db, searched)]
    if not wanted or not _has_extension(db):
        return
    for searched in wanted:
        db.exec_driver_sql(_postgresql_definition(db, searched, _schema_of_extension(db)))


def _has_extension(db: Connection) -> bool:
    """Whether the database has the extension, adding it where that is allowed."""
    if _schema_of_extension(db):
        return True
    try:
        with db.begin_nested():
            db.execute(text(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}"))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", "") not in CANNOT_ADD:
            raise
        return False
    return True


def _schema_of_extension(db: Connection) -> str:
    """The schema that has its functions; empty where the database does not have it."""
    found = (
        "SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = :name"
    )
    return str(db.execute(text(found), {"name": EXTENSION}).scalar() or "")


def _postgresql_definition(db: Connection, searched: SearchedNames, schema: str) -> str:
    quote = db.dialect.identifier_preparer.quote
    unqualified: dict[str, Any] = {"include_table": False}
    folded = searched.fold(searched.names).compile(dialect=db.dialect, compile_kwargs=unqualified)
    # New names wait in a list that every search reads and some writer has to clear: a short one.
    options = f"gin_pending_list_limit = {WAITING_KILOBYTES}"
    return (
        f"CREATE INDEX {searched.index} ON {quote(searched.table)}"
        f" USING gin (({folded}) {quote(schema)}.gin_trgm_ops) WITH ({options})"
    )
