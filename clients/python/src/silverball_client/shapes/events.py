"""Feed events: the messages on a tournament's channel."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.queues import QueueEntry


class RoundsDeleted(Shape, frozen=True, kw_only=True):
    """These rounds were deleted."""

    tournament_id: int
    round_ids: tuple[int, ...]


class GamesDeleted(Shape, frozen=True, kw_only=True):
    """These games were deleted."""

    tournament_id: int
    game_ids: tuple[int, ...]


class SinglePlayerGamesDeleted(Shape, frozen=True, kw_only=True):
    """These single player games were deleted."""

    tournament_id: int
    single_player_game_ids: tuple[int, ...]


class CardsDeleted(Shape, frozen=True, kw_only=True):
    """These cards were deleted."""

    tournament_id: int
    card_ids: tuple[int, ...]


class PlayersAdded(Shape, frozen=True, kw_only=True):
    """These players joined the tournament."""

    tournament_id: int
    player_ids: tuple[int, ...]


class PlayersChanged(Shape, frozen=True, kw_only=True):
    """These players changed; a player that can no longer be resolved has left."""

    tournament_id: int
    player_ids: tuple[int, ...]


class ArenasAdded(Shape, frozen=True, kw_only=True):
    """These arenas joined the lineup."""

    tournament_id: int
    arena_ids: tuple[int, ...]


class ArenasChanged(Shape, frozen=True, kw_only=True):
    """These arenas changed; an arena that can no longer be resolved has left the lineup."""

    tournament_id: int
    arena_ids: tuple[int, ...]


class QueueChanged(Shape, frozen=True, kw_only=True):
    """The queue of an arena, of a round, or (both null) for any arena."""

    tournament_id: int
    arena_id: int | None
    round_id: int | None
    queues: tuple[QueueEntry, ...] | UnsetType = UNSET


class FeedEvent(Shape, frozen=True, kw_only=True):
    """A feed event as sent over the socket."""

    event: str
    data: str
    channel: str
    id: str
    seq: int
    epoch: str
    journal_head: str | UnsetType = UNSET


class EventsPage(Shape, frozen=True, kw_only=True):
    """Feed events of a tournament, oldest first."""

    data: tuple[FeedEvent, ...]
    epoch: str
    seq: int
    low: int
    complete: bool
