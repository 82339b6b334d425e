"""Announcements: the feed events that follow from changes, numbered without gaps in each channel.

A channel is a tournament in one epoch. The numbers come from the tournament's row under its lock, so
their order is the order of the commits and a rollback leaves no gap. Old announcements are trimmed;
`low` is the highest number that is gone.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, func, select, update

from silverball.kit.values import replace
from silverball.store.database.conditions import ascending_batches
from silverball.store.database.slices import SLICE_ROWS
from silverball.store.database.statements import Statement, insert_rows
from silverball.store.database.transaction import CHANNEL_ENDED, Transaction
from silverball.store.people import hidings
from silverball.store.revisions import stamps
from silverball.store.tables import announcement, tournament
from silverball.store.tournament import chain

# While a tournament runs, announcements stay this long, and the newest of them always.
RETENTION = timedelta(hours=24)
RETAINED_MIN = 10_000
RETENTION_AFTER_COMPLETION = timedelta(days=7)
# The event that shows the tournament itself, and the head of its journal.
TOURNAMENT_UPDATED = "TournamentUpdated"
_T, _A = tournament.c, announcement.c


class Announcement(Struct, frozen=True):
    """One feed event of a channel. `data` is its payload as JSON, rendered when the change was made."""

    tournament_id: int
    epoch: str
    # From 1, without gaps.
    seq: int
    name: str
    data: str
    at: datetime
    # The hash of the newest line of the journal at that time; only for an event that shows the tournament.
    journal_head: str | None = None
    # The tournament's with this change; None for announcements of earlier versions.
    revision: int | None = None


class ChannelHead(Struct, frozen=True):
    """The position of a channel: its newest number, and the number up to which it is trimmed."""

    epoch: str
    seq: int
    low: int


_SELECT_HEAD = select(_T.epoch, _T.seq, _T.seq_low).where(_T.tournament_id == bindparam("own_id"))
_TAKE_NUMBERS = Statement(
    update(tournament)
    .where(_T.tournament_id == bindparam("own_id"))
    .values(seq=_T.seq + bindparam("count"))
    .returning(_T.epoch, _T.seq)
)
_START_EPOCH = Statement(
    update(tournament)
    .where(_T.tournament_id == bindparam("own_id"))
    .values(epoch=bindparam("new_epoch"), seq=0, seq_low=0)
)
_RAISE_AND_RESTART = Statement(
    update(tournament)
    .where(_T.tournament_id == bindparam("own_id"))
    .values(
        revision=bindparam("new_revision"),
        stamp=bindparam("new_stamp"),
        epoch=bindparam("new_epoch"),
        seq=0,
        seq_low=0,
    )
)
_SELECT_SINCE = (
    select(_A.seq, _A.name, _A.data, _A.at, _A.journal_head, _A.revision)
    .where(
        _A.tournament_id == bindparam("own_id"),
        _A.epoch == bindparam("own_epoch"),
        _A.seq > bindparam("after"),
    )
    .order_by(_A.seq)
    .limit(bindparam("count"))
)


def append(
    transaction: Transaction,
    tournament_id: int,
    messages: Sequence[tuple[str, str]],
    at: datetime | None = None,
) -> None:
    """Announce these messages, each a name and a payload, in order. The caller holds the tournament's lock.

    `at` defaults to now, not to the time of the request: the delivery time of an event is measured
    from it, and request times are cut to the second.
    """
    append_each(transaction, {tournament_id: messages}, at)


def append_each(
    transaction: Transaction,
    messages_by_tournament: Mapping[int, Sequence[tuple[str, str]]],
    at: datetime | None = None,
) -> None:
    """Announce messages in several tournaments, all of which the caller has locked."""
    db, moment = transaction.connection, at or datetime.now(UTC)
    rows: list[dict[str, Any]] = []
    for tournament_id, messages in messages_by_tournament.items():
        if messages:
            ((epoch, newest),) = _TAKE_NUMBERS.rows(db, own_id=tournament_id, count=len(messages))
            rows += _numbered_rows(transaction, tournament_id, messages, epoch, newest, moment)
    if rows:
        insert_rows(db, announcement, rows)


def append_numbered(
    transaction: Transaction, tournament_id: int, messages: Sequence[tuple[str, str]], epoch: str, newest: int
) -> None:
    """Announce messages that have taken their numbers, up to the newest one of this epoch."""
    if messages:
        rows = _numbered_rows(transaction, tournament_id, messages, epoch, newest, datetime.now(UTC))
        insert_rows(transaction.connection, announcement, rows)


def _numbered_rows(
    transaction: Transaction,
    tournament_id: int,
    messages: Sequence[tuple[str, str]],
    epoch: str,
    newest: int,
    moment: datetime,
) -> list[dict[str, Any]]:
    """The rows of these messages, the last of which has the newest number."""
    db = transaction.connection
    first = newest - len(messages) + 1
    names = [name for name, _ in messages]
    head = chain.journal_head(db, tournament_id) if TOURNAMENT_UPDATED in names else None
    transaction.announcements[tournament_id] = newest
    return [
        {
            "tournament_id": tournament_id,
            "epoch": epoch,
            "seq": seq,
            "name": name,
            "data": data,
            "at": moment,
            "digest": chain.announcement_digest(tournament_id, epoch, seq, name, data),
            "journal_head": head if name == TOURNAMENT_UPDATED else None,
            "revision": transaction.raised_revisions.get(tournament_id),
        }
        for seq, (name, data) in enumerate(messages, start=first)
    ]


def channel_head(db: Connection, tournament_id: int) -> ChannelHead | None:
    """The head of a tournament's channel; None when there is no such tournament."""
    row = db.execute(_SELECT_HEAD, {"own_id": tournament_id}).one_or_none()
    return None if row is None else ChannelHead(*row)


def channel_heads_by_id(db: Connection, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
    """Tournament id -> the head of its channel, without tournaments that do not exist."""
    heads: dict[int, ChannelHead] = {}
    for batch in ascending_batches(tournament_ids):
        rows = select(_T.tournament_id, _T.epoch, _T.seq, _T.seq_low).where(_T.tournament_id.in_(batch))
        heads.update((tournament_id, ChannelHead(*head)) for tournament_id, *head in db.execute(rows))
    return heads


def public_heads_by_id(db: Connection, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
    """The same, with the epochs that clients see."""
    heads = channel_heads_by_id(db, tournament_ids)
    generation = stamps.current_generation(db)
    return {
        tournament_id: replace(head, epoch=stamps.public_epoch(head.epoch, generation))
        for tournament_id, head in heads.items()
    }


def load_page(
    db: Connection, tournament_id: int, after: int, limit: int
) -> tuple[ChannelHead | None, list[Announcement]]:
    """The head of a channel and the announcements that follow number `after`, with the public epoch.

    Both are of one moment, as `db` is a snapshot.
    """
    head = channel_head(db, tournament_id)
    if head is None:
        return None, []
    epoch = stamps.public_epoch(head.epoch, stamps.current_generation(db))
    found = load_since(db, tournament_id, head.epoch, after, limit) if limit else []
    return replace(head, epoch=epoch), [replace(event, epoch=epoch) for event in found]


def load_since(db: Connection, tournament_id: int, epoch: str, after: int, limit: int) -> list[Announcement]:
    """The announcements of this epoch that follow number `after`, in order, at most `limit`.

    Without what is hidden since: until their channel begins a new epoch, a job may have to come to it.
    """
    values = {"own_id": tournament_id, "own_epoch": epoch, "after": after, "count": limit}
    events = [Announcement(tournament_id, epoch, *row) for row in db.execute(_SELECT_SINCE, values)]
    shown = hidings.announcements_as_shown(db, [event.data for event in events])
    return [
        event if data is event.data else replace(event, data=data)
        for event, data in zip(events, shown, strict=True)
    ]


def journal_heads(db: Connection, tournament_id: int) -> list[tuple[int, str]]:
    """Number and journal head of each stored announcement that has a head."""
    heads = select(_A.seq, _A.journal_head).where(
        _A.tournament_id == tournament_id, _A.journal_head.is_not(None)
    )
    return [(seq, head) for seq, head in db.execute(heads.order_by(_A.seq))]


def start_epoch(transaction: Transaction, tournament_id: int, epoch: str) -> None:
    """Delete the channel's announcements and start this epoch: followers have to read everything again."""
    _start_epochs(transaction, {tournament_id: epoch})


def restart_epochs(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Start a new epoch in each of these channels, named after the last one."""
    epochs: dict[int, str] = {}
    for batch in ascending_batches(tournament_ids):
        rows = select(_T.tournament_id, _T.epoch, _T.seq).where(_T.tournament_id.in_(batch))
        epochs |= {key: next_epoch(epoch, seq) for key, epoch, seq in transaction.connection.execute(rows)}
    _start_epochs(transaction, epochs)


def raise_and_restart(transaction: Transaction, tournament_ids: Collection[int]) -> dict[int, int]:
    """Raise these tournaments, as `revisions.raise_tournaments` does, and start a new epoch in each channel.

    A regular's opt-out does this with two thousand rows, each written once, while others wait to write.
    """
    db = transaction.connection
    columns = select(_T.tournament_id, _T.revision, _T.epoch, _T.seq)
    raised: dict[int, int] = {}
    for batch in ascending_batches(tournament_ids):
        rows = columns.where(_T.tournament_id.in_(batch)).order_by(_T.tournament_id).with_for_update()
        restarted = [
            {
                "own_id": tournament_id,
                "new_revision": revision + 1,
                "new_stamp": transaction.stamp,
                "new_epoch": next_epoch(epoch, seq),
            }
            for tournament_id, revision, epoch, seq in db.execute(rows)
        ]
        _RAISE_AND_RESTART.run_many(db, restarted)
        raised |= {row["own_id"]: row["new_revision"] for row in restarted}
    _end_epochs(transaction, raised)
    # Only `Store.write` publishes them, and only after the commit.
    transaction.raised_revisions.update(raised)
    return raised


def _start_epochs(transaction: Transaction, epochs: Mapping[int, str]) -> None:
    rows = [{"own_id": key, "new_epoch": epoch} for key, epoch in epochs.items()]
    _START_EPOCH.run_many(transaction.connection, rows)
    _end_epochs(transaction, epochs)


def _end_epochs(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Delete what was announced in the epochs before."""
    for batch in ascending_batches(tournament_ids):
        transaction.connection.execute(delete(announcement).where(_A.tournament_id.in_(batch)))
    transaction.announcements.update(dict.fromkeys(tournament_ids, 0))


def next_epoch(epoch: str, seq: int) -> str:
    """The name of the epoch after this one, which ended at that number: eight hexadecimal digits."""
    return hashlib.blake2b(f"{epoch}:{seq}".encode(), digest_size=4).hexdigest()


def end_channel(transaction: Transaction, tournament_id: int) -> None:
    """End the channel with this transaction."""
    transaction.announcements[tournament_id] = CHANNEL_ENDED


def trimmable_tournaments(db: Connection, now: datetime) -> list[int]:
    """Ids of the tournaments whose channels can be trimmed, ascending."""
    oldest = select(_A.tournament_id, func.min(_A.at).label("at")).group_by(_A.tournament_id).subquery()
    rows = select(_T.tournament_id, _T.status, _T.updated_at, _T.seq, _T.seq_low, oldest.c.at)
    rows = rows.join(oldest, oldest.c.tournament_id == _T.tournament_id).order_by(_T.tournament_id)
    return [row.tournament_id for row in db.execute(rows) if _is_trimmable(row, now)]


def _is_trimmable(row: Any, now: datetime) -> bool:
    if row.status == "completed":
        return _is_long_over(row, now)
    return bool(row.seq - row.seq_low > RETAINED_MIN and row.at <= now - RETENTION)


def _is_long_over(row: Any, now: datetime) -> bool:
    """Whether nothing has changed in a completed tournament for a while: one may be completed again."""
    return row.status == "completed" and bool(row.updated_at <= now - RETENTION_AFTER_COMPLETION)


def trim_slice(db: Connection, tournament_id: int, now: datetime) -> int:
    """Delete some of the announcements that no follower can be expected to ask for; returns how many.

    A running tournament keeps one day and at least its newest 10,000; one that was completed a week
    ago keeps none. The oldest go first. The caller holds the tournament's lock.
    """
    rows = select(_T.status, _T.updated_at, _T.epoch, _T.seq).where(_T.tournament_id == tournament_id)
    row = db.execute(rows).one_or_none()
    if row is None:
        return 0
    in_channel = (_A.tournament_id == tournament_id, _A.epoch == row.epoch)
    if _is_long_over(row, now):
        newest: int = row.seq
    else:
        newest_old = select(func.max(_A.seq)).where(*in_channel, _A.at <= now - RETENTION)
        newest = min(db.execute(newest_old).scalar_one() or 0, row.seq - RETAINED_MIN)
    oldest = db.execute(select(func.min(_A.seq)).where(*in_channel)).scalar_one()
    if oldest is None or newest < oldest:
        return 0
    newest = min(newest, oldest + SLICE_ROWS - 1)
    trimmed = db.execute(delete(announcement).where(*in_channel, _A.seq <= newest)).rowcount
    db.execute(update(tournament).where(_T.tournament_id == tournament_id).values(seq_low=newest))
    return int(trimmed)
