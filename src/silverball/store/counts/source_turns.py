"""The turns at other services: pulls and mirrors that use one token there share its allowance.

Each program takes a turn before each request, wherever it runs; the database gives them out. What a
service asks for, such as a pause, holds for all of them.
"""

import hashlib

from msgspec import Struct
from sqlalchemy import delete, select, update

from silverball.store.database.engine import Store
from silverball.store.database.statements import insert_into
from silverball.store.tables import source_turn

# Turns that nobody has taken for so long are forgotten.
KEPT_SECONDS = 86_400.0
_T = source_turn.c


class SharedTurns(Struct, frozen=True):
    """The turns of one token at one service, for all programs on this database."""

    store: Store
    name: str

    def take(self, now: float, interval: float) -> float:
        """Take the next turn: the moment of the request, in Unix time. The one after is an interval later."""
        with self.store.write(quiet=True) as transaction:
            db = transaction.connection
            values = {"name": self.name, "next_at": now, "requests": 0}
            db.execute(insert_into(db, source_turn).values(values).on_conflict_do_nothing())
            row = update(source_turn).where(_T.name == self.name)
            # The count first: it locks the row.
            db.execute(row.values(requests=_T.requests + 1))
            next_at = db.execute(select(_T.next_at).where(_T.name == self.name)).scalar_one()
            turn = max(float(next_at), now)
            db.execute(row.values(next_at=turn + interval))
            return turn

    def postpone(self, until: float) -> None:
        """Let nobody ask before this moment."""
        with self.store.write(quiet=True) as transaction:
            row = update(source_turn).where(_T.name == self.name, _T.next_at < until)
            transaction.connection.execute(row.values(next_at=until))

    def requests(self) -> int:
        """The number of turns that were taken by all programs together."""
        with self.store.read() as db:
            count = db.execute(select(_T.requests).where(_T.name == self.name)).scalar_one_or_none()
        return count or 0


def shared_turns(store: Store, host: str, token: str, now: float) -> SharedTurns:
    """The turns at this host, a name with its port, of this token; old ones are forgotten."""
    with store.write(quiet=True) as transaction:
        transaction.connection.execute(delete(source_turn).where(_T.next_at < now - KEPT_SECONDS))
    return SharedTurns(store, hashlib.sha256(f"{host}\n{token}".encode()).hexdigest())
