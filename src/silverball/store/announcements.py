"""Announcements: what a change is told to the world as, numbered without gaps in each channel.

A channel is a tournament in one of its incarnations, the epoch. The numbers come from the tournament's
row under its lock, so their order is the order of the commits and a rollback leaves no gap. What is
older than a follower can be expected to ask for is trimmed; `low` says up to which number.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from silverball.store.tables import announcement, tournament
from silverball.store.transaction import CHANNEL_ENDED, Transaction

# What is younger or among the newest is never trimmed while the tournament runs.
RETENTION = timedelta(hours=24)
RETAINED_MIN = 10_000
RETENTION_AFTER_COMPLETION = timedelta(days=7)
# SQLite takes 32,766 parameters in one statement.
IDS_PER_STATEMENT = 5_000
_T, _A = tournament.c, announcement.c


@dataclass(frozen=True)
class Announcement:
    """One announcement. `data` is the payload as JSON text, rendered at the time of the change."""

    tournament_id: int
    epoch: str
    # From 1, without gaps.
    seq: int
    name: str
    data: str
    at: datetime


@dataclass(frozen=True)
class ChannelHead:
    """Where a channel stands: its newest number, and the one up to which announcements are trimmed."""

    epoch: str
    seq: int
    low: int


_SELECT_HEAD = select(_T.epoch, _T.seq, _T.seq_low).where(_T.tournament_id == bindparam("own_id"))
_TAKE_NUMBERS = (
    update(tournament)
    .where(_T.tournament_id == bindparam("own_id"))
    .values(seq=_T.seq + bindparam("count"))
    .returning(_T.epoch, _T.seq)
)
_SELECT_SINCE = (
    select(_A.seq, _A.name, _A.data, _A.at)
    .where(
        _A.tournament_id == bindparam("own_id"),
        _A.epoch == bindparam("own_epoch"),
        _A.seq > bindparam("after"),
    )
    .order_by(_A.seq)
    .limit(bindparam("count"))
)


def append(
    transaction: Transaction, tournament_id: int, said: Sequence[tuple[str, str]], at: datetime | None = None
) -> None:
    """Announce these, name and payload each, in order. The caller holds the tournament's lock.

    `at` is now when nobody says otherwise: how long an event was on its way is measured from it, so
    the time of the request, which is one to the second, would not do.
    """
    db = transaction.connection
    if not said:
        return
    moment = at or datetime.now(UTC)
    epoch, newest = db.execute(_TAKE_NUMBERS, {"own_id": tournament_id, "count": len(said)}).one()
    first = newest - len(said) + 1
    rows = [
        {"tournament_id": tournament_id, "epoch": epoch, "seq": seq, "name": name, "data": data, "at": moment}
        for seq, (name, data) in enumerate(said, start=first)
    ]
    db.execute(insert(announcement), rows)
    transaction.announcements[tournament_id] = newest


def channel_head(db: Connection, tournament_id: int) -> ChannelHead | None:
    """Where the channel stands; None when there is no such tournament."""
    row = db.execute(_SELECT_HEAD, {"own_id": tournament_id}).one_or_none()
    return None if row is None else ChannelHead(*row)


def channel_heads_by_id(db: Connection, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
    """Where each of these channels stands; one that is gone is left out."""
    found: dict[int, ChannelHead] = {}
    ids = sorted(tournament_ids)
    for start in range(0, len(ids), IDS_PER_STATEMENT):
        some = ids[start : start + IDS_PER_STATEMENT]
        rows = select(_T.tournament_id, _T.epoch, _T.seq, _T.seq_low).where(_T.tournament_id.in_(some))
        found.update((row[0], ChannelHead(*row[1:])) for row in db.execute(rows))
    return found


def load_since(db: Connection, tournament_id: int, epoch: str, after: int, limit: int) -> list[Announcement]:
    """The announcements of this epoch that follow number `after`, in order, at most `limit`."""
    values = {"own_id": tournament_id, "own_epoch": epoch, "after": after, "count": limit}
    return [Announcement(tournament_id, epoch, *row) for row in db.execute(_SELECT_SINCE, values)]


def start_epoch(transaction: Transaction, tournament_id: int, epoch: str) -> None:
    """Drop what was announced and begin this epoch: who follows has to read everything again."""
    db = transaction.connection
    db.execute(delete(announcement).where(_A.tournament_id == tournament_id))
    own = update(tournament).where(_T.tournament_id == tournament_id)
    db.execute(own.values(epoch=epoch, seq=0, seq_low=0))
    transaction.announcements[tournament_id] = 0


def restart_epochs(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Drop what was announced in these channels; each goes on with an epoch that follows from its last."""
    for tournament_id, last in channel_heads_by_id(transaction.connection, tournament_ids).items():
        start_epoch(transaction, tournament_id, next_epoch(last.epoch, last.seq))


def next_epoch(epoch: str, seq: int) -> str:
    """The name of the epoch after this one, which ended at that number: eight hexadecimal digits."""
    return hashlib.blake2b(f"{epoch}:{seq}".encode(), digest_size=4).hexdigest()


def end_channel(transaction: Transaction, tournament_id: int) -> None:
    """The channel ends with this transaction."""
    transaction.announcements[tournament_id] = CHANNEL_ENDED


def trimmable_tournaments(db: Connection, now: datetime) -> list[int]:
    """Tournaments of which something may be trimmed, ascending."""
    oldest = select(_A.tournament_id, func.min(_A.at).label("at")).group_by(_A.tournament_id).subquery()
    rows = select(_T.tournament_id, _T.completed_at, _T.seq, _T.seq_low, oldest.c.at)
    rows = rows.join(oldest, oldest.c.tournament_id == _T.tournament_id).order_by(_T.tournament_id)
    return [row[0] for row in db.execute(rows) if _is_trimmable(row, now)]


def _is_trimmable(row: Sequence[object], now: datetime) -> bool:
    _, completed_at, seq, low, oldest = row
    if isinstance(completed_at, datetime):
        return completed_at <= now - RETENTION_AFTER_COMPLETION
    assert isinstance(seq, int)
    assert isinstance(low, int)
    assert isinstance(oldest, datetime)
    return seq - low > RETAINED_MIN and oldest <= now - RETENTION


def trim(db: Connection, tournament_id: int, now: datetime) -> int:
    """Take out what nobody can be expected to ask for any more; returns how many.

    A tournament that runs keeps a day and at least its newest 10,000; one that was completed a week
    ago keeps nothing. The caller holds the tournament's lock.
    """
    rows = select(_T.completed_at, _T.epoch, _T.seq).where(_T.tournament_id == tournament_id)
    row = db.execute(rows).one_or_none()
    if row is None:
        return 0
    own = (_A.tournament_id == tournament_id, _A.epoch == row.epoch)
    if row.completed_at is not None and row.completed_at <= now - RETENTION_AFTER_COMPLETION:
        newest: int = row.seq
    else:
        old = select(func.max(_A.seq)).where(*own, _A.at <= now - RETENTION)
        newest = min(db.execute(old).scalar_one() or 0, row.seq - RETAINED_MIN)
    if newest <= 0:
        return 0
    done = db.execute(delete(announcement).where(*own, _A.seq <= newest)).rowcount
    if done:
        low = update(tournament).where(_T.tournament_id == tournament_id).values(seq_low=newest)
        db.execute(low)
    return int(done)
