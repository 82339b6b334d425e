"""Connections to PostgreSQL that notice a database which does not answer."""

import secrets
import threading
import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc
from sqlalchemy.engine import URL

from silverball.store.database import statements
from silverball.store.database.deadlines import CLIENT_TCP, SERVER_TCP, Deadlines, TimeLimits
from silverball.store.database.faults import DatabaseUnavailable

CONNECTIONS_MAX = 24
# A thread that finds all connections in use waits this long for one.
POOL_SECONDS = 2
# A connection that was used just now is not tried first: that would cost every request a round trip.
TRY_AFTER_SECONDS = 1.0
TRY_SECONDS = 1.5
# After a failed connect, the others are refused at once for this long, and then only one tries again.
REFUSE_SECONDS = 0.5
# Longer than any try.
RETRY_SECONDS = 10.0
# A request reads thousands of rows, not millions. Workers of the database would take longer to start and to
# hand them over than one process to read them, and take the cores of other requests.
PLANNER = {"max_parallel_workers_per_gather": "0"}
READ_MARK = "SELECT current_setting('silverball.mark', true)"
SESSION_NOT_KEPT = (
    "The pooler in front of PostgreSQL gives each transaction another session, and settings and prepared"
    " statements are lost. Set its pool_mode to session, or let the address name PostgreSQL itself."
)
RETURNED_AT = "silverball_returned_at"


class DatabaseUnreachable(DatabaseUnavailable):
    """The last connect failed a moment ago, so this one was not tried."""

    sentence = "The database cannot be reached. Try again in a moment."


class SessionNotKept(Exception):
    """A pooler between us and PostgreSQL gives each transaction another session."""

    def __init__(self) -> None:
        super().__init__(SESSION_NOT_KEPT)


def require_session(engine: Engine) -> None:
    """Raise SessionNotKept when a connection does not keep its session for itself.

    What one connection sets for its session, a second that is opened while the first waits may see.
    """
    mark = secrets.token_hex(8)
    with engine.connect() as first, engine.connect() as second:
        _ask(first, "SELECT set_config('silverball.mark', %s, false)", mark)
        first.connection.commit()
        # Its transaction stays open, so that the pooler cannot give its session to the first one.
        is_kept = _ask(second, READ_MARK) != mark and _ask(first, READ_MARK) == mark
    if not is_kept:
        raise SessionNotKept


def _ask(db: Connection, query: str, *values: str) -> Any:
    # Whether a statement can be prepared here is not known yet.
    driver: Any = db.connection.driver_connection
    return driver.execute(query, values, prepare=False).fetchone()[0]


class ConnectGate:
    """Lets a single thread try while the database is out of reach, so that threads do not pile up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_out_of_reach = False
        self._closed_until = 0.0
        # When a connection was lost last: those in the pool may be lost as well.
        self.lost_at = 0.0

    def pass_through(self) -> None:
        """Raise DatabaseUnreachable, unless the database can be reached or this thread is to try."""
        with self._lock:
            if not self._is_out_of_reach:
                return
            now = time.monotonic()
            if now < self._closed_until:
                raise DatabaseUnreachable
            self._closed_until = now + RETRY_SECONDS

    def note_result(self, *, is_connected: bool) -> None:
        """Remember how a try ended."""
        with self._lock:
            self._is_out_of_reach = not is_connected
            self._closed_until = time.monotonic() + REFUSE_SECONDS


def create_postgresql_engine(url: URL, limits: TimeLimits, deadlines: Deadlines) -> Engine:
    """An engine whose connections have these limits on the server's side."""
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=CONNECTIONS_MAX,
        pool_timeout=POOL_SECONDS,
        # The newest first, so that few need to be tried.
        pool_use_lifo=True,
        connect_args=_connect_arguments(url, limits),
    )
    gate = ConnectGate()

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, arguments: Any, parameters: Any) -> Any:
        # Loads psycopg, which a store on SQLite does without.
        from silverball.store.database.driver_connection import BatchConnection

        gate.pass_through()
        is_connected = False
        try:
            driver = BatchConnection.connect(*arguments, **parameters)
            is_connected = True
        finally:
            gate.note_result(is_connected=is_connected)
        return driver

    @event.listens_for(engine, "invalidate")
    def _note_loss(_driver: Any, _record: Any, _error: BaseException | None) -> None:
        gate.lost_at = time.monotonic()

    @event.listens_for(engine, "checkin")
    def _note_return(_driver: Any, record: Any) -> None:
        record.info[RETURNED_AT] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _try_connection(driver: Any, record: Any, _proxy: Any) -> None:
        returned_at = record.info.get(RETURNED_AT)
        if returned_at is None or returned_at > max(gate.lost_at, time.monotonic() - TRY_AFTER_SECONDS):
            return
        try:
            with deadlines.limit(TRY_SECONDS, cancels=False) as deadline:
                deadline.attach_driver(driver)
                engine.dialect.do_ping(driver)
        except Exception as error:
            # The pool makes new connections in place of all old ones.
            raise exc.InvalidatePoolError from error

    _send_before(engine)
    return engine


def _send_before(engine: Engine) -> None:
    """Let what a writer has not sent yet go before statements of SQLAlchemy's own, and with its savepoint."""

    def send(db: Connection, *_: Any) -> None:
        statements.send(db)

    def forget(db: Connection, *_: Any) -> None:
        # What was said before a savepoint was sent with it.
        statements.forget_unsent(db)

    for name, act in (
        ("before_cursor_execute", send),
        ("commit", send),
        ("rollback", forget),
        ("rollback_savepoint", forget),
    ):
        event.listen(engine, name, act)


def _connect_arguments(url: URL, limits: TimeLimits) -> dict[str, Any]:
    """Limits and keepalives of every connection; those in the URL come before ours."""
    settings = {**limits.server_settings, **SERVER_TCP, **PLANNER}
    ours = " ".join(f"-c {name}={value}" for name, value in settings.items())
    given = url.query.get("options", "")
    options = f"{ours} {given}".strip() if isinstance(given, str) else ours
    return {
        **{name: value for name, value in CLIENT_TCP.items() if name not in url.query},
        "options": options,
    }


# Connections of psycopg whose batches leave PostgreSQL's clock for pauses running.
#
# psycopg ends a batch (its pipeline mode) with a Sync, which tells the server that the batch is complete,
# and a Flush behind it. The server takes that Flush for the next thing the client has to say: it stops the
# clock of `idle_in_transaction_session_timeout` and starts it again only with the next Sync. A node that is
# paused after a batch, in the middle of a transaction, would hold its locks for ever. The Flush is not
# needed, as a Sync makes the server send everything, so ours end without it.
#
# Only stores on PostgreSQL load this module, because it loads psycopg.
