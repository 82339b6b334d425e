"""A whole tournament in one file, for import and export."""

from silverball.wire.banks import Bank
from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.cards import Card
from silverball.wire.games import Game, Leg
from silverball.wire.queues import QueueEntry
from silverball.wire.rounds import Round
from silverball.wire.series import Series
from silverball.wire.singleplayer import SinglePlayerGame
from silverball.wire.standings import Standing
from silverball.wire.tournaments import Tournament
from silverball.wire.users import User


class Bundle(Wire, frozen=True, kw_only=True):
    """A tournament with all its parts; players and arenas are inside `tournament`."""

    tournament: Tournament
    rounds: tuple[Round, ...]
    games: tuple[Game, ...]
    # The single games of the matches of a bracket.
    legs: tuple[Leg, ...] | UnsetType = UNSET
    single_player_games: tuple[SinglePlayerGame, ...] | UnsetType = UNSET
    cards: tuple[Card, ...] | UnsetType = UNSET
    standings: tuple[Standing, ...] | UnsetType = UNSET
    queues: tuple[QueueEntry, ...] | UnsetType = UNSET
    banks: tuple[Bank, ...] | UnsetType = UNSET
    series: Series | UnsetType | None = UNSET
    scorekeepers: tuple[User, ...] | UnsetType = UNSET
