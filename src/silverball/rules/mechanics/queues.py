"""Queues: entrants waiting for an arena, for a round's arena, or for any. Source: formats, section 18.

Arena and round identify a queue. Places count from 0 without gaps; a player whose turn has come keeps a
spot that is done and has no place.
"""

from collections.abc import Sequence
from datetime import datetime

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.model import moments
from silverball.rules.model.changes import Change, QueueJoined, QueueLeft, QueueMoved, changes_between
from silverball.rules.model.part_index import lowest_id, require_by_id
from silverball.rules.model.tournament import QueueSpot, Tournament


class SpotAlreadyCalled(Conflict):
    sentence = "{player} has left this queue to play already."


class PlayerIsLastInQueue(Conflict):
    sentence = "{player} is the last in the queue already."


def find_spot(tournament: Tournament, queue_id: int) -> QueueSpot:
    """A waiting spot. Raises NotFound, and Conflict when its turn has come already."""
    spot = require_by_id(tournament.queue, "queue_id", queue_id, "Queue")
    if spot.is_done:
        raise SpotAlreadyCalled(player=spot.player_id)
    return spot


def waiting_spots(
    tournament: Tournament, *, arena_id: int | None = None, round_id: int | None = None
) -> list[QueueSpot]:
    """The queue of an arena, of a round, or the only one; the player who is up comes first."""
    own = [
        spot for spot in tournament.waiting_spots if spot.arena_id == arena_id and spot.round_id == round_id
    ]
    return sorted(own, key=lambda spot: spot.queue_index or 0)


def spot_that_is_up(tournament: Tournament, *, arena_id: int) -> QueueSpot | None:
    """The spot of the player who is up for an arena; None when nobody waits there who is free.

    Players who are busy in another tournament of the room keep their place, and are passed over.
    """
    busy = tournament.state.busy_player_ids
    waiting = waiting_spots(tournament, arena_id=arena_id)
    return next((spot for spot in waiting if spot.player_id not in busy), None)


def spots_of_player(tournament: Tournament, player_id: int) -> list[QueueSpot]:
    """The waiting spots of a player in all queues."""
    return [spot for spot in tournament.waiting_spots if spot.player_id == player_id]


def _queue_of_spot(tournament: Tournament, spot: QueueSpot) -> list[QueueSpot]:
    """The queue of a spot, itself included."""
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
    """Add players to the end of a queue, in this order; new ids fall from `first_id` (negative)."""
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
    """Give up a spot; those behind it move forward."""
    return [
        QueueLeft(spot),
        *_renumber_spots([each for each in _queue_of_spot(tournament, spot) if each != spot]),
    ]


def leave_all_queues(tournament: Tournament, player_id: int) -> list[Change]:
    """Take the player out of all queues."""
    return [
        change for spot in spots_of_player(tournament, player_id) for change in leave_queue(tournament, spot)
    ]


def complete_spot(tournament: Tournament, spot: QueueSpot, now: datetime | None) -> list[Change]:
    """Mark a spot as done because its turn has come; those behind move forward."""
    after = replace(spot, is_done=True, queue_index=None, completed_at=moments.end_at(spot.created_at, now))
    behind = [each for each in _queue_of_spot(tournament, spot) if each != spot]
    return [QueueMoved(spot, after), *_renumber_spots(behind)]


def move_behind_next(tournament: Tournament, spot: QueueSpot) -> list[Change]:
    """Move a no-show behind the next player. Raises Conflict for the last one."""
    queue = _queue_of_spot(tournament, spot)
    at = queue.index(spot)
    if at == len(queue) - 1:
        raise PlayerIsLastInQueue(player=spot.player_id)
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
    """Insert players into a queue from a place on, in this order; those behind move back.

    New ids are negative, below any there is.
    """
    queue = waiting_spots(tournament, arena_id=arena_id, round_id=round_id)
    lowest = lowest_id(tournament.queue, "queue_id")
    behind = [replace(spot, queue_index=at + len(player_ids)) for at, spot in enumerate(queue) if at >= place]
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
    return [*(moved if player_ids else ()), *(QueueJoined(spot) for spot in new)]


def move_to_end(tournament: Tournament, spot: QueueSpot) -> list[Change]:
    """Move a no-show to the end. Raises Conflict for the last one."""
    queue = _queue_of_spot(tournament, spot)
    if queue[-1] == spot:
        raise PlayerIsLastInQueue(player=spot.player_id)
    return _renumber_spots([*(each for each in queue if each != spot), spot])


def _renumber_spots(queue: Sequence[QueueSpot]) -> list[Change]:
    """Number the spots from 0 without gaps, in this order."""
    return [
        change
        for place, spot in enumerate(queue)
        for change in changes_between(QueueMoved, spot, replace(spot, queue_index=place))
    ]
