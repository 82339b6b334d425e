"""Migrations to the schema of this program. Alembic is imported only when there is one to run.

A new version adds to the schema (`migrate`), and removes what only the version before needs later, on
request (`contract`). Between the two, nodes of both versions work side by side: `alembic_version` stays
at the oldest schema that is still served, and `site_value` has the newest one while they differ.
"""

import logging
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, inspect, or_, select, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from silverball.store import name_indexes
from silverball.store.engine import Store
from silverball.store.tables import journal, site_value

LOG = logging.getLogger("silverball.store")
FOLDER = Path(__file__).parent / "migrations"
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


def is_ready(store: Store) -> bool:
    """Whether the database answers and has all that this program needs."""
    try:
        return is_current(store)
    except UnusableSchema as error:
        LOG.warning("%s", error)
    except SQLAlchemyError as error:
        LOG.warning("the database does not answer", exc_info=error)
    return False


def migrate(store: Store, folder: Path = FOLDER, *, previous: str = PREVIOUS_SCHEMA) -> str:
    """Add what this program needs to the database, in one transaction, and return the program's schema.

    Nodes of the `previous` schema go on working. Raises UnusableSchema when the database is ahead, or was
    not contracted by version 0.2.0.
    """
    return _change_schema(store, folder, lambda stored: max(stored.oldest, previous))


def contract(store: Store, folder: Path = FOLDER) -> str:
    """Migrate, and remove what only nodes of earlier versions need. Raises as `migrate` does."""
    newest = newest_schema(folder)
    with store.read() as db:
        if _stored_schema(db) == StoredSchema(newest, newest):
            _require_chained(db)
            return newest
    return _change_schema(store, folder, lambda _stored: newest)


def _change_schema(store: Store, folder: Path, oldest_served: Callable[[StoredSchema], str]) -> str:
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            with store.migration() as db:
                _change_schema_once(db, folder, oldest_served)
                name_indexes.add_missing(db)
            break
        except OperationalError as error:
            is_lock = getattr(error.orig, "sqlstate", "") in {LOCK_NOT_AVAILABLE, DEADLOCK}
            if not is_lock or attempt == ATTEMPTS_MAX:
                raise
            LOG.warning("a table is in use; the migration is tried again")
    return newest_schema(folder)


def _change_schema_once(db: Connection, folder: Path, oldest_served: Callable[[StoredSchema], str]) -> None:
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
