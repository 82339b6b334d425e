"""Queues: entrants waiting for an arena, for a round's arena, or for any. Source: formats, section 18.

A queue is told from others by its arena and its round. Places count from 0 without gaps; whose turn has come
keeps a spot that is done and has no place.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.model.changes import Change, QueueJoined, QueueLeft, QueueMoved, changes_between
from silverball.rules.model.tournament import QueueSpot, Tournament


def find_spot(tournament: Tournament, queue_id: int) -> QueueSpot:
    """A spot in which somebody waits. Raises NotFound, and Conflict when the turn has come already."""
    for spot in tournament.queue:
        if spot.queue_id == queue_id:
            if spot.is_done:
                raise Conflict(f"Player {spot.player_id} has left this queue to play already.")
            return spot
    raise NotFound("Queue", queue_id)


def waiting_spots(
    tournament: Tournament, *, arena_id: int | None = None, round_id: int | None = None
) -> list[QueueSpot]:
    """The queue of an arena, of a round, or the only one: who is up comes first."""
    own = [
        spot for spot in tournament.waiting_spots if spot.arena_id == arena_id and spot.round_id == round_id
    ]
    return sorted(own, key=lambda one: one.queue_index or 0)


def spots_of_player(tournament: Tournament, player_id: int) -> list[QueueSpot]:
    """Where a player waits, in all queues."""
    return [spot for spot in tournament.waiting_spots if spot.player_id == player_id]


def _queue_of_spot(tournament: Tournament, spot: QueueSpot) -> list[QueueSpot]:
    """The queue a spot is in, itself included."""
    return waiting_spots(tournament, arena_id=spot.arena_id, round_id=spot.round_id)


def join_queue(
    tournament: Tournament,
    player_ids: Sequence[int],
    *,
    now: datetime | None,
    arena_id: int | None = None,
    round_id: int | None = None,
    first_id: int = -1,
) -> list[Change]:
    """These players at the end of a queue, in this order; new ids are negative, falling from `first_id`."""
    first = len(waiting_spots(tournament, arena_id=arena_id, round_id=round_id))
    return [
        QueueJoined(
            QueueSpot(
                queue_id=first_id - at,
                player_id=player_id,
                queue_index=first + at,
                arena_id=arena_id,
                round_id=round_id,
                created_at=now,
            )
        )
        for at, player_id in enumerate(player_ids)
    ]


def leave_queue(tournament: Tournament, spot: QueueSpot) -> list[Change]:
    """A spot given up; those behind it move forward."""
    return [
        QueueLeft(spot),
        *_renumber_spots([one for one in _queue_of_spot(tournament, spot) if one != spot]),
    ]


def leave_all_queues(tournament: Tournament, player_id: int) -> list[Change]:
    """The player in no queue any more."""
    return [
        change for spot in spots_of_player(tournament, player_id) for change in leave_queue(tournament, spot)
    ]


def complete_spot(tournament: Tournament, spot: QueueSpot, now: datetime | None) -> list[Change]:
    """The turn has come; those behind move forward."""
    after = replace(spot, is_done=True, queue_index=None, completed_at=now)
    behind = [one for one in _queue_of_spot(tournament, spot) if one != spot]
    return [QueueMoved(spot, after), *_renumber_spots(behind)]


def move_behind_next(tournament: Tournament, spot: QueueSpot) -> list[Change]:
    """A no-show lets the next one go first. Raises Conflict when nobody waits behind."""
    queue = _queue_of_spot(tournament, spot)
    at = queue.index(spot)
    if at == len(queue) - 1:
        raise Conflict(f"Player {spot.player_id} is the last in the queue already.")
    queue[at], queue[at + 1] = queue[at + 1], queue[at]
    return _renumber_spots(queue)


def insert_players(
    tournament: Tournament,
    player_ids: Sequence[int],
    *,
    place: int,
    now: datetime,
    arena_id: int | None = None,
    round_id: int | None = None,
) -> list[Change]:
    """These players in a queue from a place on, in this order; those behind move back.

    New ids are negative, below any there is.
    """
    queue = waiting_spots(tournament, arena_id=arena_id, round_id=round_id)
    lowest = min([0, *(spot.queue_id for spot in tournament.queue)])
    behind = [replace(one, queue_index=at + len(player_ids)) for at, one in enumerate(queue) if at >= place]
    moved = [QueueMoved(before, after) for before, after in zip(queue[place:], behind, strict=True)]
    new = [
        QueueSpot(
            queue_id=lowest - 1 - at,
            player_id=player_id,
            queue_index=place + at,
            arena_id=arena_id,
            round_id=round_id,
            created_at=now,
        )
        for at, player_id in enumerate(player_ids)
    ]
    return [*(moved if player_ids else ()), *(QueueJoined(one) for one in new)]


def move_to_end(tournament: Tournament, spot: QueueSpot) -> list[Change]:
    """A no-show goes to the end. Raises Conflict for the last one."""
    queue = _queue_of_spot(tournament, spot)
    if queue[-1] == spot:
        raise Conflict(f"Player {spot.player_id} is the last in the queue already.")
    return _renumber_spots([*(one for one in queue if one != spot), spot])


def _renumber_spots(queue: Sequence[QueueSpot]) -> list[Change]:
    """Places from 0 without gaps, in this order."""
    return [
        change
        for place, one in enumerate(queue)
        for change in changes_between(QueueMoved, one, replace(one, queue_index=place))
    ]
