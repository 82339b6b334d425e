"""Time limits of transactions, and the settings of PostgreSQL that keep them on the server's side.

PostgreSQL limits single statements and pauses, never a whole transaction: `deadlines` does that here.
The server's limits are for a node that hangs or vanishes and can no longer keep its own.
"""

from collections.abc import Mapping
from math import inf
from types import MappingProxyType

from msgspec import Struct


class TimeLimits(Struct, frozen=True, kw_only=True):
    """How long a transaction may wait for a lock, run a statement, pause, and last; `inf` for no limit."""

    lock_seconds: float
    statement_seconds: float
    pause_seconds: float
    # From its lock (a read: from its beginning) to its end.
    total_seconds: float

    @property
    def server_settings(self) -> dict[str, str]:
        """The settings of PostgreSQL: name -> milliseconds."""
        return {
            "lock_timeout": _milliseconds(self.lock_seconds),
            "statement_timeout": _milliseconds(self.statement_seconds),
            "idle_in_transaction_session_timeout": _milliseconds(self.pause_seconds),
        }


class StoreLimits(Struct, frozen=True, kw_only=True):
    """The limits of a program's reading and writing transactions."""

    read: TimeLimits
    write: TimeLimits


REQUEST = TimeLimits(lock_seconds=2, statement_seconds=5, pause_seconds=5, total_seconds=5)
# Requests: somebody waits for the answer, and others for the lock.
REQUESTS = StoreLimits(read=REQUEST, write=REQUEST)
# Hourly jobs read for long (bulk files, ratings), and write in slices of a second at most.
JOBS = StoreLimits(
    read=TimeLimits(lock_seconds=2, statement_seconds=60, pause_seconds=60, total_seconds=600),
    write=TimeLimits(lock_seconds=1, statement_seconds=2, pause_seconds=5, total_seconds=5),
)
# Duties that are repeated every second read as little as a request. One that hangs would hold up what it
# does for the next ten minutes.
DUTIES = StoreLimits(read=REQUEST, write=JOBS.write)
# A day is rated as a whole (decision 0018), which takes longer than a slice where thousands play on one day
# or many ratings are new. Few wait for it: the ratings of everybody are published in slices.
RATINGS = StoreLimits(
    read=JOBS.read,
    write=TimeLimits(lock_seconds=1, statement_seconds=30, pause_seconds=30, total_seconds=60),
)
# Nobody else is there: a migration, or a copy of a database.
UNLIMITED = TimeLimits(lock_seconds=5, statement_seconds=inf, pause_seconds=inf, total_seconds=inf)
# Commands read as long as their operator waits. A server may run beside them, so they write like a request.
COMMANDS = StoreLimits(read=UNLIMITED, write=REQUEST)
# Commands that replace much at once: imports, and the deletion of all that an account made.
LONG_COMMANDS = StoreLimits(
    read=UNLIMITED,
    write=TimeLimits(lock_seconds=5, statement_seconds=600, pause_seconds=60, total_seconds=600),
)
RATING_COMMANDS = StoreLimits(read=UNLIMITED, write=RATINGS.write)
COPIES = StoreLimits(read=UNLIMITED, write=UNLIMITED)

# A process that stops gives its transactions, those of jobs too, this long in all.
STOP_SECONDS = 10

# A connection that became silent is given up by both sides, also in the middle of a transaction.
CONNECT_SECONDS = 2
CLIENT_TCP: Mapping[str, int] = MappingProxyType(
    {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives": 1,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        "tcp_user_timeout": 5_000,
    }
)
SERVER_TCP: Mapping[str, str] = MappingProxyType(
    {
        "tcp_keepalives_idle": "5",
        "tcp_keepalives_interval": "2",
        "tcp_keepalives_count": "2",
        "tcp_user_timeout": "5000",
    }
)


def _milliseconds(seconds: float) -> str:
    # PostgreSQL takes 0 for no limit.
    return "0" if seconds == inf else str(round(seconds * 1_000))
