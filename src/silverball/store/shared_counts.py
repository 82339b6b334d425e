"""Counts that all processes of one database share: leases, nodes and their connections.

With PostgreSQL they are in its own tables, which it does not write to its log. With SQLite they are in a
file beside the database that never waits for the disk, because a count would hold up results otherwise.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Double,
    Engine,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    text,
)

from silverball.store import counts_file, upserts
from silverball.store.statements import Statement
from silverball.store.tables import allowance_lease, node_connection, sign_in_failure

TABLES = (allowance_lease, sign_in_failure, node_connection)
WINDOW_SECONDS = 60.0
# A node that has not been heard of for longer is gone.
NODE_SECONDS = 10.0
PRUNE_SECONDS = 60.0
FAILURES_KEPT_SECONDS = 3_600.0
FAILURES_KEPT_MAX = 50_000
# The address of a node's row that says that it is there.
NO_ADDRESS = ""

# A node reports every second, whether somebody asks it or not, so these are compiled once.
_REPORT = Statement(
    text(
        "INSERT INTO node_connection (node, address, connections, counted_at)"
        " VALUES (:own_node, :address, :connections, :now) ON CONFLICT (node, address)"
        " DO UPDATE SET connections = excluded.connections, counted_at = excluded.counted_at"
    )
)
_N = node_connection.c
_NODE: Any = bindparam("own_node")
_NOW: Any = bindparam("now")
_EARLIEST: Any = bindparam("earliest")
# What this node has reported before and not just now.
_DROP_OTHERS = Statement(delete(node_connection).where(_N.node == _NODE, _N.counted_at != _NOW))
# Addresses at other nodes, and how many nodes say that they are there.
_SUM_UP = Statement(
    select(_N.address, func.sum(_N.connections), func.count())
    .where(_N.counted_at > _EARLIEST, or_(_N.node != _NODE, _N.address == NO_ADDRESS))
    .group_by(_N.address)
)
# The clock of PostgreSQL, as nodes may have different ones.
_CLOCK: ColumnElement[float] = cast(func.extract("epoch", func.clock_timestamp()), Double)
_READ_CLOCK = Statement(select(_CLOCK.label("now")))


class SharedCounts:
    """The counts of one database, from the view of one process. Every call raises DatabaseFault."""

    def __init__(self, url: URL, engine: Engine) -> None:
        self._url = url
        self._is_sqlite = url.get_backend_name() == "sqlite"
        self._lock = threading.Lock()
        # The file is opened with the first count: most commands count nothing.
        self._engine: Engine | None = None if self._is_sqlite else engine
        self._pruned_at = 0.0

    @property
    def is_possible(self) -> bool:
        """Whether there is a place for them: a database in memory has none."""
        return not self._is_sqlite or counts_file.file_beside(self._url) is not None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A short transaction over the counts, the only one at a time on SQLite."""
        with self._opened().connect() as db:
            if not self._is_sqlite:
                options: dict[str, Any] = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False}
                db = db.execution_options(**options)  # noqa: PLW2901  # the same connection
            with db.begin():
                if not self._is_sqlite:
                    db.execute(text("SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '2s'"))
                yield db

    def lease(self, wanted: Sequence[tuple[str, int, int]]) -> list[tuple[int, int, float]]:
        """Lease portions of (name, limit, portion); returns of each: size, what is left, seconds left."""
        row = allowance_lease.c
        with self.transaction() as db:
            new = upserts.insert_into(db, allowance_lease)
            now = self._now()
            # In one order, so that nodes do not wait for each other in a circle.
            values = [
                {"name": name, "allowance": limit, "leased": portion, "portion": portion, "ends_at": now}
                for name, limit, portion in sorted(wanted)
            ]
            new = new.values([{**value, "ends_at": now + WINDOW_SECONDS} for value in values])
            is_over = row.ends_at <= now
            left = new.excluded.allowance - row.leased
            portion = case(
                (is_over, new.excluded.portion),
                (row.leased >= new.excluded.allowance, 0),
                (row.leased + new.excluded.portion > new.excluded.allowance, left),
                else_=new.excluded.portion,
            )
            changed = new.on_conflict_do_update(
                index_elements=[row.name],
                set_={
                    "allowance": new.excluded.allowance,
                    "portion": portion,
                    "leased": case((is_over, portion), else_=row.leased + portion),
                    "ends_at": case((is_over, new.excluded.ends_at), else_=row.ends_at),
                },
            )
            seconds = (row.ends_at - now).label("seconds")
            rows = db.execute(changed.returning(row.name, row.portion, row.leased, seconds)).all()
        leases = {found.name: (int(found.portion), int(found.leased), float(found.seconds)) for found in rows}
        return [
            (leases[name][0], max(0, limit - leases[name][1]), leases[name][2]) for name, limit, _ in wanted
        ]

    def report(self, node: str, connections: Mapping[str, int]) -> tuple[int, dict[str, int]]:
        """Report that a node is there, and its connections; returns how many are, and the others' counts."""
        counted = {**connections, NO_ADDRESS: 0}
        with self.transaction() as db:
            now = self._current_time(db)
            rows = [
                {"own_node": node, "address": address, "connections": counted[address], "now": now}
                for address in sorted(counted)
            ]
            _REPORT.run_many(db, rows)
            _DROP_OTHERS.run(db, own_node=node, now=now)
            found = _SUM_UP.rows(db, own_node=node, earliest=now - NODE_SECONDS)
        elsewhere = {address: int(total) for address, total, _ in found}
        elsewhere.pop(NO_ADDRESS, None)
        nodes = next(int(count) for address, _, count in found if address == NO_ADDRESS)
        self._prune_when_due()
        return nodes, elsewhere

    def close(self) -> None:
        """Close the file beside an SQLite database."""
        with self._lock:
            if self._is_sqlite and self._engine is not None:
                self._engine.dispose()
                self._engine = None

    def _prune_when_due(self) -> None:
        if time.monotonic() < self._pruned_at + PRUNE_SECONDS:
            return
        self._pruned_at = time.monotonic()
        failed = sign_in_failure.c
        newest = select(failed.last_at).order_by(failed.last_at.desc())
        with self.transaction() as db:
            # Those that ended a while ago, as a lease may be begun anew just now.
            is_over = allowance_lease.c.ends_at < self._now() - WINDOW_SECONDS
            db.execute(delete(allowance_lease).where(is_over))
        with self.transaction() as db:
            now = self._now()
            db.execute(delete(node_connection).where(node_connection.c.counted_at < now - WINDOW_SECONDS))
            db.execute(delete(sign_in_failure).where(failed.last_at < now - FAILURES_KEPT_SECONDS))
            oldest = db.execute(newest.offset(FAILURES_KEPT_MAX).limit(1)).scalar_one_or_none()
            if oldest is not None:
                db.execute(delete(sign_in_failure).where(failed.last_at <= oldest))

    def _now(self) -> ColumnElement[float]:
        """The time, for statements that are built anew."""
        return literal(time.time()) if self._is_sqlite else _CLOCK

    def _current_time(self, db: Connection) -> float:
        """The time as a number, for statements that are compiled once."""
        return time.time() if self._is_sqlite else float(_READ_CLOCK.rows(db)[0][0])

    def _opened(self) -> Engine:
        with self._lock:
            if self._engine is None:
                file = counts_file.file_beside(self._url)
                assert file is not None
                self._engine = counts_file.open_file(file, TABLES)
            return self._engine
