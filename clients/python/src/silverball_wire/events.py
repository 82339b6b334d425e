"""Feed events: the messages on a tournament's channel. Source: interface 6.2."""

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.games import Game
from silverball_wire.queues import QueueEntry
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.tournaments import Tournament

# Events leave out the entries of longer queues.
QUEUES_MAX = 100


class RoundsDeleted(Wire, frozen=True, kw_only=True):
    """These rounds were deleted."""

    tournament_id: int
    round_ids: tuple[int, ...]
    """Ids of the deleted rounds."""


class GamesDeleted(Wire, frozen=True, kw_only=True):
    """These games were deleted."""

    tournament_id: int
    game_ids: tuple[int, ...]
    """Ids of the deleted games."""


class SinglePlayerGamesDeleted(Wire, frozen=True, kw_only=True):
    """These single player games were deleted."""

    tournament_id: int
    single_player_game_ids: tuple[int, ...]
    """Ids of the deleted single player games."""


class CardsDeleted(Wire, frozen=True, kw_only=True):
    """These cards were deleted."""

    tournament_id: int
    card_ids: tuple[int, ...]
    """Ids of the deleted cards."""


class PlayersAdded(Wire, frozen=True, kw_only=True):
    """These players joined the tournament."""

    tournament_id: int
    player_ids: tuple[int, ...]


class PlayersChanged(Wire, frozen=True, kw_only=True):
    """These players changed, and with their claims the `userIds` of all their games.

    A player that can no longer be resolved has left.
    """

    tournament_id: int
    player_ids: tuple[int, ...]


class ArenasAdded(Wire, frozen=True, kw_only=True):
    """These arenas joined the lineup."""

    tournament_id: int
    arena_ids: tuple[int, ...]


class ArenasChanged(Wire, frozen=True, kw_only=True):
    """These arenas changed; an arena that can no longer be resolved has left the lineup."""

    tournament_id: int
    arena_ids: tuple[int, ...]


class QueueChanged(Wire, frozen=True, kw_only=True):
    """The queue of an arena, of a round, or (both null) for any arena."""

    tournament_id: int
    arena_id: int | None
    """Id of the arena whose queue changed; null for another kind of queue."""
    round_id: int | None
    """Id of the round whose queue changed; null for another kind of queue."""
    queues: tuple[QueueEntry, ...] | UnsetType = UNSET
    """The places from the front of the queue; absent when there are more than 100."""


class FeedEvent(Wire, frozen=True, kw_only=True):
    """A feed event as sent over the socket."""

    event: str
    """Name of the event, in the style of the app key."""
    data: str
    """The payload, as JSON in a string."""
    channel: str
    """Channel of the tournament, such as `tournaments.1`."""
    id: str
    """Epoch and number; a client that returns sends it to resume."""
    # Rises by one with each event of a channel.
    seq: int
    # The channel's current numbering; numbers of another epoch cannot be compared.
    epoch: str
    revision: int | UnsetType = UNSET
    """The tournament's revision with this change: sent as `X-Tournament-Revision`, a read is at least as new.
    """
    journal_head: str | UnsetType = UNSET


class EventsPage(Wire, frozen=True, kw_only=True):
    """Feed events of a tournament, oldest first."""

    data: tuple[FeedEvent, ...]
    """The events, oldest first."""
    epoch: str
    seq: int
    """Number of the newest event of the channel."""
    low: int
    """Number of the newest event that is no longer kept; events after it are complete."""
    complete: bool
    """Whether these events reach the newest one."""


# Event name -> payload.
EVENTS: dict[str, type[Wire]] = {
    "TournamentUpdated": Tournament,
    "PlayersAdded": PlayersAdded,
    "PlayersChanged": PlayersChanged,
    "ArenasAdded": ArenasAdded,
    "ArenasChanged": ArenasChanged,
    "GamesDeleted": GamesDeleted,
    "SinglePlayerGamesDeleted": SinglePlayerGamesDeleted,
    "CardsDeleted": CardsDeleted,
    "RoundsDeleted": RoundsDeleted,
    "RoundCreatedOrUpdated": Round,
    "GameCreatedOrUpdated": Game,
    "SinglePlayerGameCreatedOrUpdated": SinglePlayerGame,
    "CardCreatedOrUpdated": Card,
    "QueueChanged": QueueChanged,
}
