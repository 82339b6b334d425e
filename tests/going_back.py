"""A database that goes back to an earlier state, as a restore or a failover makes it.

earlier = take_copy(store)
...                      # what is written from here on is lost by
earlier.bring_back()
"""

import contextlib
import itertools
import sqlite3
from pathlib import Path

from sqlalchemy import URL, create_engine
from sqlalchemy.exc import DBAPIError

from silverball.store.database.engine import Store

_counter = itertools.count(1)
ATTEMPTS_MAX = 50


class SQLiteCopy:
    """A copy of a file, made and brought back by SQLite itself."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._copy = path.with_name(f"copy{next(_counter)}.db")
        self._transfer(path, self._copy)

    def bring_back(self) -> None:
        self._transfer(self._copy, self._path)

    def bring_back_file(self) -> None:
        """Put the file itself back, under no open connection, as a person does it with `cp`."""
        for ending in ("-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
        self._path.write_bytes(self._copy.read_bytes())

    def _transfer(self, source: Path, target: Path) -> None:
        with (
            contextlib.closing(sqlite3.connect(source)) as read,
            contextlib.closing(sqlite3.connect(target, timeout=20)) as written,
        ):
            read.backup(written)


class PostgreSQLCopy:
    """A copy in the same cluster; its name comes back, and whoever was connected has to connect again."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._copy = f"{url.database}_copy{next(_counter)}"
        # A template may have no connections.
        self._run(
            f"ALTER DATABASE {url.database} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{url.database}'",
            f"CREATE DATABASE {self._copy} TEMPLATE {url.database}",
            f"ALTER DATABASE {url.database} ALLOW_CONNECTIONS true",
        )

    def bring_back(self) -> None:
        name = self._url.database
        self._run(
            f"DROP DATABASE {name} WITH (FORCE)",
            f"CREATE DATABASE {name} TEMPLATE {self._copy}",
        )

    def _run(self, *statements: str) -> None:
        engine = create_engine(self._url.set(database="postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as db:
            for statement in statements:
                for attempt in range(ATTEMPTS_MAX):
                    try:
                        db.exec_driver_sql(statement)
                        break
                    except DBAPIError:
                        # A connection that was told to end may need a moment.
                        if attempt == ATTEMPTS_MAX - 1:
                            raise
                        db.exec_driver_sql("SELECT pg_sleep(0.1)")
        engine.dispose()


def take_copy(store: Store) -> SQLiteCopy | PostgreSQLCopy:
    """A copy of the database as it is now."""
    if store.is_sqlite:
        return SQLiteCopy(Path(str(store.url.database)))
    copy = PostgreSQLCopy(store.url)
    # Its connections were ended, and one that was used a moment ago is not asked first.
    store.disconnect()
    return copy
