"""Migrations to the schema of this program. Alembic is imported only when there is one to run.

A new version adds to the schema (`migrate`), and removes what only the version before needs later, on
request (`contract`). Between the two, nodes of both versions work side by side: `alembic_version` stays
at the oldest schema that is still served, and `site_value` has the newest one while they differ.
"""

import logging
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, column, delete, func, insert, inspect, or_, select, table, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from silverball.store.database.engine import Commit, Store
from silverball.store.database.faults import DatabaseFault, short_message
from silverball.store.people.names import SEARCHED, SearchedNames, is_indexed
from silverball.store.tables import journal, site_value

# Make the indexes for searches by name.
#
# On SQLite a table of FTS5 beside each searched table holds the folded names by trigrams, and triggers keep
# it equal to the names, whichever version of the program writes them. On PostgreSQL it is a GIN index of
# `pg_trgm` on the folded name, where the database has that extension or may add it.


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


LOG = logging.getLogger("silverball.store")
FOLDER = Path(__file__).parents[1] / "migrations"
# The oldest schema that can be updated: what came before was migrated by version 0.2.0.
BASELINE = "0042"
# The schema of the version before this one. Its nodes work beside this version's.
PREVIOUS_SCHEMA = "0042"
EXPANDED = "expanded-schema"
# Any number will do, as long as every node uses the same one.
LOCK_NUMBER = 5_318_008
# A table that is in use: the migration steps back, so that requests do not queue up behind it.
LOCK_SECONDS = 2
ATTEMPTS_MAX = 30
LOCK_NOT_AVAILABLE, DEADLOCK = "55P03", "40P01"


class UnusableSchema(Exception):
    """The program cannot work with what the database has."""


class OlderSchema(UnusableSchema):
    """The database is of a version before 0.2.0, or was not contracted by it."""

    def __init__(self) -> None:
        super().__init__("Run `silverball migrate --contract` of 0.2.0 first.")


class NewerSchema(UnusableSchema):
    """The database was migrated by a newer version of this program, and contracted."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"The database has schema {revision}, this program knows {newest_schema()}. Install a newer version."  # noqa: E501
        )


class StoredSchema(Struct, frozen=True):
    """The schemas whose programs a database serves."""

    oldest: str
    newest: str

    def serves(self, schema: str) -> bool:
        """Whether a program that knows this schema works with the database."""
        return self.oldest <= schema <= self.newest


@lru_cache(maxsize=4)
def newest_schema(folder: Path = FOLDER) -> str:
    """The schema of this program: the number of its last migration."""
    return max(path.name[:4] for path in (folder / "versions").glob("[0-9]*.py"))


def database_schema(store: Store) -> StoredSchema | None:
    """The schemas that the database serves; None for an empty database."""
    with store.read() as db:
        return _stored_schema(db)


def is_current(store: Store, folder: Path = FOLDER) -> bool:
    """Whether the database has all that this program needs.

    Raises UnusableSchema when what this program needs has been removed, or was never there.
    """
    stored, wanted = database_schema(store), newest_schema(folder)
    if stored is None:
        return False
    _require_usable(stored, wanted)
    return stored.serves(wanted)


def is_migrated(store: Store) -> bool:
    """Whether the database answers and has all that this program needs."""
    try:
        return is_current(store)
    except UnusableSchema as error:
        LOG.warning("%s", error)
    except SQLAlchemyError as error:
        LOG.warning("the database does not answer", exc_info=error)
    return False


# What is done to a database with content before its schema changes, once nobody else can change it; takes the
# schema that it gets.
BeforeChange = Callable[[str], None]


def _do_nothing(_schema: str) -> None:
    """Change the schema without a backup, of a copy or a database that is made for a test."""


def migrate(
    store: Store,
    folder: Path = FOLDER,
    *,
    previous: str = PREVIOUS_SCHEMA,
    before: BeforeChange = _do_nothing,
) -> str:
    """Add what this program needs to the database, in one transaction, and return the program's schema.

    Nodes of the `previous` schema go on working. Raises UnusableSchema when the database is ahead, or was
    not contracted by version 0.2.0; what `before` raises leaves everything as it is.
    """
    return _change_schema(store, folder, lambda stored: max(stored.oldest, previous), before)


def contract(store: Store, folder: Path = FOLDER, *, before: BeforeChange = _do_nothing) -> str:
    """Migrate, and remove what only nodes of earlier versions need. Raises as `migrate` does."""
    newest = newest_schema(folder)
    with store.read() as db:
        if _stored_schema(db) == StoredSchema(newest, newest):
            _require_chained(db)
            return newest
    return _change_schema(store, folder, lambda _stored: newest, before)


def _change_schema(
    store: Store, folder: Path, oldest_served: Callable[[StoredSchema], str], before: BeforeChange
) -> str:
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            with store.migration() as db:
                _change_schema_once(db, folder, oldest_served, before)
                add_missing(db)
            break
        except OperationalError as error:
            is_lock = getattr(error.orig, "sqlstate", "") in {LOCK_NOT_AVAILABLE, DEADLOCK}
            if not is_lock or attempt == ATTEMPTS_MAX:
                raise
            LOG.warning("a table is in use; the migration is tried again")
    return newest_schema(folder)


def _change_schema_once(
    db: Connection, folder: Path, oldest_served: Callable[[StoredSchema], str], before: BeforeChange
) -> None:
    if db.dialect.name != "sqlite":
        db.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})
        db.execute(text(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"))
    stored, wanted = _stored_schema(db), newest_schema(folder)
    if stored is None:
        # Nobody works with it yet.
        _upgrade(db, folder)
        _run_contract_steps(db, folder, after="", until=wanted)
        return
    _require_usable(stored, wanted)
    _require_chained(db)
    newest = max(stored.newest, wanted)
    oldest = min(oldest_served(stored), newest)
    if stored == StoredSchema(oldest, newest):
        return
    before(newest)
    if stored.newest < wanted:
        _set_alembic_version(db, stored.newest)
        _upgrade(db, folder)
    _run_contract_steps(db, folder, after=stored.oldest, until=oldest)
    _set_alembic_version(db, oldest)
    db.execute(delete(site_value).where(site_value.c.name == EXPANDED))
    if newest != oldest:
        db.execute(site_value.insert().values(name=EXPANDED, value=newest))


def _require_usable(stored: StoredSchema, wanted: str) -> None:
    """Raise OlderSchema or NewerSchema for a database that this program cannot use or update."""
    if stored.oldest < BASELINE:
        raise OlderSchema
    if stored.oldest > wanted:
        raise NewerSchema(stored.oldest)


def _require_chained(db: Connection) -> None:
    """Raise OlderSchema where nodes before 0.2.0 wrote lines of a journal that nobody has chained since."""
    has_no_hash = journal.c.hash.is_(None)
    # The condition of an index.
    is_indexed = or_(journal.c.sealed_labels.is_not(None), has_no_hash)
    lines = select(journal.c.journal_id).where(is_indexed, has_no_hash).limit(1)
    if db.execute(lines).first() is not None:
        raise OlderSchema


def _stored_schema(db: Connection) -> StoredSchema | None:
    if not inspect(db).has_table("alembic_version"):
        return None
    oldest = db.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    if oldest is None:
        return None
    if oldest < BASELINE:
        return StoredSchema(oldest, oldest)
    expanded = select(site_value.c.value).where(site_value.c.name == EXPANDED)
    return StoredSchema(oldest, db.execute(expanded).scalar_one_or_none() or oldest)


def _set_alembic_version(db: Connection, schema: str) -> None:
    db.execute(text("UPDATE alembic_version SET version_num = :schema"), {"schema": schema})


def _upgrade(db: Connection, folder: Path) -> None:
    from alembic import command

    config = _alembic_config(folder)
    config.attributes["connection"] = db
    command.upgrade(config, "head")


def _run_contract_steps(db: Connection, folder: Path, *, after: str, until: str) -> None:
    """Run the `contract` functions of the migrations after one schema and until another, in order."""
    if after >= until:
        return
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_alembic_config(folder)).walk_revisions()
    steps = {script.revision: getattr(script.module, "contract", None) for script in scripts}
    with Operations.context(MigrationContext.configure(db, opts={"render_as_batch": True})):
        for schema, remove in sorted(steps.items()):
            if after < schema <= until and remove is not None:
                remove()


def _alembic_config(folder: Path) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config


# Whether this process can serve: its database answers, has the right schema, and can be written to.
#
# A check that hangs (a frozen database, a silent network) is waited for no longer than a moment, and
# nothing more is asked until it ends.


# An answer counts for this long, however many ask.
ANSWER_KEPT_SECONDS = 1.0
WAIT_SECONDS = 2.0
# Writing waits for the disk, so it is tried this often at most, and not after a commit.
PROBE_SECONDS = 15.0
PROBE = text(
    "INSERT INTO site_value (name, value) VALUES ('ready-probe', '1') ON CONFLICT (name) DO UPDATE"
    " SET value = CASE site_value.value WHEN '1' THEN '2' ELSE '1' END"
)


class Readiness:
    """Checks one database for all who ask."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_ready = False
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._checked_at = float("-inf")
        self._written_at = float("-inf")
        self._running: threading.Event | None = None
        self._running_since = float("-inf")
        store.after_commit.append(self._note_commit)

    def check(self, seconds_max: float = WAIT_SECONDS) -> bool:
        """Return whether this process can serve; False when that is not known within the time."""
        with self._lock:
            if self._running is None:
                if self._clock() < self._checked_at + ANSWER_KEPT_SECONDS:
                    return self.is_ready
                begun = threading.Event()
                thread = threading.Thread(
                    target=self._run, args=(begun,), name="silverball-ready", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError:
                    # The system gives no more threads; whoever asks next tries again.
                    self.is_ready = False
                    return False
                self._running, self._running_since = begun, self._clock()
            running = self._running
            # Whoever asks while it hangs is answered at once.
            seconds = self._running_since + seconds_max - self._clock()
        if not running.wait(max(0.0, seconds)):
            self.is_ready = False
        return self.is_ready

    def _run(self, done: threading.Event) -> None:
        try:
            is_ready = self._is_whole() and is_migrated(self._store) and self._is_writable()
        except Exception as error:  # the edge of a thread: whoever waits is answered
            LOG.error("the check of the database failed", exc_info=error)
            is_ready = False
        with self._lock:
            self.is_ready = is_ready
            self._checked_at = self._clock()
            self._running = None
        done.set()

    def _is_whole(self) -> bool:
        return self._store.file.is_same() and self._store.health.is_sound

    def _is_writable(self) -> bool:
        if self._clock() < self._written_at + PROBE_SECONDS:
            return True
        try:
            with self._store.write(quiet=True) as transaction:
                transaction.connection.execute(PROBE)
        except DatabaseFault as error:
            LOG.warning("the database cannot be written to: %s", short_message(error))
            return False
        self._written_at = self._clock()
        return True

    def _note_commit(self, _commit: Commit) -> None:
        self._written_at = self._clock()
