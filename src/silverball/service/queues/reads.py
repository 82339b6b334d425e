"""Queues for arenas."""

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from msgspec import UNSET
from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.values import compile_builder
from silverball.rules.model import fields, moments
from silverball.service.formats import reads as formats
from silverball.store.statements import Statement
from silverball.store.tables import queue_entry
from silverball_wire import times
from silverball_wire.queues import ArenaQueues, EntriesByArena, QueueEntry

_spot_item: Callable[[Any], QueueEntry] = compile_builder(
    QueueEntry, fields.published_sources(fields.QUEUE_PLACE, {"moment": times.iso_or_none})
)


class NoArenaQueues(NotAllowed):
    sentence = "Tournament is not Best Game."


def queues_by_arena(db: Connection, tournament_id: int, busy_ids: Collection[int]) -> ArenaQueues:
    """The queue of each arena, with those of the busy players who wait in one.

    Raises NotAllowed for a format without such queues.
    """
    if not formats.tournament_facts(db, tournament_id).is_best_game:
        raise NoArenaQueues
    spots = waiting_spots(db, tournament_id)
    busy = sorted({spot.player_id for spot in spots}.intersection(busy_ids))
    return ArenaQueues(data=group_by_arena(spots) or (), busy_elsewhere=tuple(busy) or UNSET)


def waiting_spots(db: Connection, tournament_id: int) -> tuple[QueueEntry, ...]:
    """The spots of all waiting players of a tournament, by place, then by id."""
    rows = (
        select(queue_entry)
        .where(queue_entry.c.tournament_id == tournament_id, queue_entry.c.completed_at.is_(None))
        .order_by(queue_entry.c.queue_index, queue_entry.c.queue_id)
    )
    return tuple(_spot_item(row) for row in db.execute(rows).all())


def spots_in_line(
    db: Connection, tournament_id: int, arena_id: int | None, round_id: int | None
) -> tuple[QueueEntry, ...]:
    """The queue of an arena, of a round, or (both None) of the tournament, first in line first."""
    line = {"arena_id": arena_id, "round_id": round_id}
    given = {name: value for name, value in line.items() if value is not None}
    rows = _select_line(*given).rows(db, tournament_id=tournament_id, **given)
    return tuple([_spot_item(row) for row in rows])


@cache
def _select_line(*names: str) -> Statement:
    """The waiting spots of a line that has these ids; a line without an arena or a round has null there."""
    own = queue_entry.c
    return Statement(
        select(queue_entry)
        .where(
            own.tournament_id == bindparam("tournament_id"),
            *(
                own[name] == bindparam(name) if name in names else own[name].is_(None)
                for name in ("arena_id", "round_id")
            ),
            own.completed_at.is_(None),
        )
        .order_by(own.queue_index, own.queue_id)
    )


def find_spot(db: Connection, tournament_id: int, queue_id: int) -> QueueEntry:
    """A spot in a queue of this tournament. Raises NotFound."""
    own = (queue_entry.c.tournament_id == tournament_id, queue_entry.c.queue_id == queue_id)
    row = db.execute(select(queue_entry).where(*own)).one_or_none()
    if row is None:
        raise NotFound("Queue", queue_id)
    return _spot_item(row)


def all_spots(db: Connection, tournament_id: int) -> tuple[QueueEntry, ...]:
    """The spots of waiting players and of those already called, by id."""
    rows = select(queue_entry).where(queue_entry.c.tournament_id == tournament_id)
    return tuple(_spot_item(row) for row in db.execute(rows.order_by(queue_entry.c.queue_id)).all())


def wait_seconds(db: Connection, tournament_id: int) -> list[float]:
    """Seconds that each called player waited."""
    rows = select(queue_entry.c.created_at, queue_entry.c.completed_at).where(
        queue_entry.c.tournament_id == tournament_id,
        queue_entry.c.created_at.is_not(None),
        queue_entry.c.completed_at.is_not(None),
    )
    return [moments.seconds_between(created, completed) for created, completed in db.execute(rows).all()]


def group_by_arena(entries: tuple[QueueEntry, ...]) -> EntriesByArena:
    """Arena id -> the spots in its queue."""
    queues: dict[int, list[QueueEntry]] = {}
    for entry in entries:
        if entry.arena_id is not None:
            queues.setdefault(entry.arena_id, []).append(entry)
    return {arena_id: tuple(queues[arena_id]) for arena_id in sorted(queues)}
