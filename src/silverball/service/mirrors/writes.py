"""The begin, the state and the end of a mirror."""

from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, update

from silverball.kit.errors import Conflict
from silverball.service.events import feed_events
from silverball.service.mirrors import reads
from silverball.store import revisions, tables
from silverball.store.transaction import Transaction

_M = tables.mirror.c


class NotMirrored(Conflict):
    """The tournament is run here."""

    sentence = "Tournament {tournament_id} is no mirror: it is run here."


def begin_mirror(transaction: Transaction, tournament_id: int, host: str, remote_id: int) -> None:
    """Make an imported tournament a mirror, unless it is one: nobody changes it here from now on."""
    db = transaction.connection
    if reads.find_mirror(db, tournament_id) is not None:
        return
    db.execute(insert(tables.mirror).values(tournament_id=tournament_id, host=host, remote_id=remote_id))
    revisions.raise_tournaments(transaction, [tournament_id])


def stop_mirror(transaction: Transaction, tournament_id: int) -> None:
    """Make a mirror an ordinary tournament. Raises NotMirrored."""
    db = transaction.connection
    if reads.find_mirror(db, tournament_id) is None:
        raise NotMirrored(tournament_id=tournament_id)
    db.execute(delete(tables.mirror).where(_M.tournament_id == tournament_id))
    _show_change(transaction, tournament_id)


def note_loss(transaction: Transaction, tournament_id: int, lost_at: datetime | None) -> None:
    """Remember since when the other service is silent, or that it answers again; pages say so."""
    mirror = reads.find_mirror(transaction.connection, tournament_id)
    if mirror is None or mirror.lost_at == lost_at:
        return
    _set(transaction, tournament_id, lost_at=lost_at)
    _show_change(transaction, tournament_id)


def note_lag(transaction: Transaction, tournament_id: int, median: int, p99: int) -> None:
    """Remember how far the mirror is behind, in milliseconds."""
    _set(transaction, tournament_id, lag_median=median, lag_p99=p99)


def note_standings(transaction: Transaction, tournament_id: int, different: int) -> None:
    """Remember for how many players the standings there differ; pages say so."""
    mirror = reads.find_mirror(transaction.connection, tournament_id)
    if mirror is None or mirror.standings_differ == different:
        return
    _set(transaction, tournament_id, standings_differ=different)
    if different or mirror.standings_differ:
        _show_change(transaction, tournament_id)


def _set(transaction: Transaction, tournament_id: int, **values: Any) -> None:
    own = _M.tournament_id == tournament_id
    transaction.connection.execute(update(tables.mirror).where(own).values(**values))


def _show_change(transaction: Transaction, tournament_id: int) -> None:
    """Let pages and followers read the tournament again."""
    feed_events.announce_tournaments(transaction, [tournament_id])
