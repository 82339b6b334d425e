"""A whole tournament in one file, for import and export."""

from typing import Annotated

from msgspec import Meta

from silverball_wire.arenas import Arena
from silverball_wire.banks import Bank
from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.bundle_facts import EngineFacts
from silverball_wire.bundle_journal import JournalLine
from silverball_wire.cards import Card
from silverball_wire.games import Game, Leg
from silverball_wire.players import Player
from silverball_wire.queues import QueueEntry
from silverball_wire.rounds import Round
from silverball_wire.series import Series
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament
from silverball_wire.users import User

SOURCE_LENGTH_MAX = 200


class Bundle(Wire, frozen=True, kw_only=True):
    """A tournament with all its parts; players and arenas are inside `tournament`."""

    # The name of the database that wrote the file, whose ids it has; absent in files of other services.
    source: Annotated[str, Meta(min_length=1, max_length=SOURCE_LENGTH_MAX)] | UnsetType = UNSET
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
    journal_head: str | UnsetType = UNSET
    # Facts that no published shape has; absent in files that were made from another service's answers.
    engine: EngineFacts | UnsetType = UNSET
    # All lines, first to last; only where it was asked for.
    journal: tuple[JournalLine, ...] | UnsetType = UNSET
    # Players and arenas that the journal names and that the tournament no longer has.
    former_players: tuple[Player, ...] | UnsetType = UNSET
    former_arenas: tuple[Arena, ...] | UnsetType = UNSET
    # People on the sign-up list who are not in the tournament.
    sign_up_players: tuple[Player, ...] | UnsetType = UNSET
