"""Feed events: what is announced on a tournament's channel. Source: interface 6.2."""

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.cards import Card
from silverball.wire.games import Game
from silverball.wire.queues import QueueEntry
from silverball.wire.rounds import Round
from silverball.wire.singleplayer import SinglePlayerGame
from silverball.wire.tournaments import Tournament

# Longer queues are announced without their entries.
QUEUES_MAX = 100


class RoundsDeleted(Wire, frozen=True, kw_only=True):
    """These rounds are gone."""

    tournament_id: int
    round_ids: tuple[int, ...]


class GamesDeleted(Wire, frozen=True, kw_only=True):
    """These games are gone."""

    tournament_id: int
    game_ids: tuple[int, ...]


class SinglePlayerGamesDeleted(Wire, frozen=True, kw_only=True):
    """These single player games are gone."""

    tournament_id: int
    single_player_game_ids: tuple[int, ...]


class CardsDeleted(Wire, frozen=True, kw_only=True):
    """These cards are gone."""

    tournament_id: int
    card_ids: tuple[int, ...]


class PlayersAdded(Wire, frozen=True, kw_only=True):
    """These players take part now."""

    tournament_id: int
    player_ids: tuple[int, ...]


class PlayersChanged(Wire, frozen=True, kw_only=True):
    """These players are different now; one that cannot be resolved any more has left."""

    tournament_id: int
    player_ids: tuple[int, ...]


class ArenasAdded(Wire, frozen=True, kw_only=True):
    """These arenas are in the lineup now."""

    tournament_id: int
    arena_ids: tuple[int, ...]


class ArenasChanged(Wire, frozen=True, kw_only=True):
    """These arenas are different now; one that cannot be resolved any more has left."""

    tournament_id: int
    arena_ids: tuple[int, ...]


class QueueChanged(Wire, frozen=True, kw_only=True):
    """Who waits for this arena, or in this round, or (both null) for any arena."""

    tournament_id: int
    arena_id: int | None
    round_id: int | None
    # Everybody who waits there, first in line first; absent when there are more than 100.
    queues: tuple[QueueEntry, ...] | UnsetType = UNSET


class FeedEvent(Wire, frozen=True, kw_only=True):
    """A feed event as it goes out over the socket."""

    event: str
    # The payload as JSON text.
    data: str
    channel: str
    # Epoch and number: what a client that comes back says it has.
    id: str
    # Counts up by one in each channel.
    seq: int
    # Which incarnation of the channel; numbers of another one mean nothing here.
    epoch: str


class EventsPage(Wire, frozen=True, kw_only=True):
    """Some of the feed events of a tournament, oldest first."""

    data: tuple[FeedEvent, ...]
    epoch: str
    # The newest number of the channel, and the one up to which events are no longer kept.
    seq: int
    low: int
    # Whether nothing follows after these.
    complete: bool


# Name of the event -> its payload.
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
