"""Migrations to the schema of this program. Alembic is imported only when there is one to run."""

import logging
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from silverball.store.engine import Store

LOG = logging.getLogger("silverball.store")
FOLDER = Path(__file__).parent / "migrations"
# Any number will do, as long as every node uses the same one.
LOCK_NUMBER = 5_318_008


class NewerSchema(Exception):
    """The database was migrated by a newer version of this program."""

    def __init__(self, revision: str) -> None:
        super().__init__(
            f"The database has schema {revision}, this program knows {newest_schema()}. Install a newer version."  # noqa: E501
        )


@lru_cache(maxsize=1)
def newest_schema() -> str:
    """The schema of this program: the number of its last migration."""
    return max(path.name[:4] for path in (FOLDER / "versions").glob("[0-9]*.py"))


def database_schema(store: Store) -> str | None:
    """The schema of the database; None for an empty database."""
    with store.read() as db:
        return _stored_schema(db)


def is_current(store: Store) -> bool:
    """Whether the database has the schema of this program."""
    return database_schema(store) == newest_schema()


def is_ready(store: Store) -> bool:
    """Whether the database answers and has the schema of this program."""
    try:
        return is_current(store)
    except SQLAlchemyError as error:
        LOG.warning("the database does not answer", exc_info=error)
        return False


def migrate(store: Store) -> str:
    """Migrate the database to the schema of this program and return it, in one transaction.

    Raises NewerSchema when the database is ahead of the program.
    """
    with store.migration() as db:
        if not store.is_sqlite:
            db.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})
        before = _stored_schema(db)
        if before is not None and before > newest_schema():
            raise NewerSchema(before)
        if before != newest_schema():
            _upgrade(db)
    return newest_schema()


def _stored_schema(db: Connection) -> str | None:
    if not inspect(db).has_table("alembic_version"):
        return None
    return db.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()


def _upgrade(db: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": db})
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    command.upgrade(config, "head")
