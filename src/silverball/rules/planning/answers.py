"""The question for the meaningful games of a night, and its answer. Source: ratings, B.3."""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning.nights import SimulatedNight
from silverball.rules.planning.pace import Pace
from silverball.rules.scoring.point_maps import WireRows

# Nights that are simulated to count their meaningful games, and the outcome. Source: ratings, B.3.


NIGHTS = 10_000
# Larger fields are not simulated: the arrays would be large, and no night is.
PLAYERS_MAX = 1_000
# Up to so many players a simulation has all its nights.
FULL_FIELD = 100


def nights_for(players: int, nights: int) -> int:
    """The nights to simulate for so many players: fewer in a large field, so that it costs no more."""
    return max(nights // 10, nights * FULL_FIELD // max(players, FULL_FIELD))


class SimulatedOutcome(Struct, frozen=True, kw_only=True):
    """Means over the simulated nights."""

    nights: int
    # Rounds until the night was over.
    rounds: float
    # Until one was left: rounds times the mean weight of all games. To a target: of those who reached it.
    meaningful_games: float
    # To a target: of the first who reached it; elsewhere as above.
    meaningful_games_of_first: float


# The stored outcome of a night; None while it is being computed.
FindOutcome: TypeAlias = Callable[[SimulatedNight], SimulatedOutcome | None]


# The part of an event that a tournament is: all of it, or one of two.
Part: TypeAlias = Literal["whole", "qualifying", "finals"]
# Where a number comes from; None without a number.
Origin: TypeAlias = Literal["rule", "simulation", "ours"]

ASK_THE_FEDERATION = "Check with the federation."
# Balls of a game where nobody says otherwise.
USUAL_BALLS = 3
BEING_COMPUTED = "The meaningful games are being computed by simulation. Look again in a minute."


def no_outcome(_night: SimulatedNight) -> SimulatedOutcome | None:
    """Find nothing: no simulation is stored."""
    return None


class Circumstances(Struct, frozen=True, kw_only=True):
    """Facts besides settings and players that decide the meaningful games of a night."""

    part: Part = "whole"
    # Points by group size and place as on the wire, where they differ from those of the settings.
    points_map: WireRows | None = None
    # Arenas in the lineup.
    arenas: int = 0
    # Whole hours during which entries can be bought or games played.
    hours: int = 0
    # Whether bought or given entries limit how often a player may play.
    has_entry_limits: bool = False
    # Matches that a player of a frenzy played in the mean, where they are known.
    matches_per_player: Fraction | None = None
    # How fast is played, to predict them; None where nobody has looked it up.
    pace: Pace | None = None
    # Balls of each game: 1 and 2 count less.
    balls: int = USUAL_BALLS
    # Players who go on from the qualifying to its finals; 0 without finals.
    finalists: int = 0
    # Ids of those whose strokes count on a pingolf course: who goes on, or the winner.
    counted_ids: tuple[int, ...] = ()
    # The day of the event, which decides on the rules in force.
    held_on: date | None = None
    find_outcome: FindOutcome = no_outcome


PLAIN = Circumstances()


class MeaningfulGames(Struct, frozen=True, kw_only=True):
    """The meaningful games of a night, weighted by the sizes of its groups, and where they come from."""

    # None without a number: the notes say why.
    games: Fraction | None
    origin: Origin | None
    # Sentences for people; the first says where the number comes from, or why there is none.
    notes: tuple[str, ...]
    # The night that has to be simulated first.
    awaited: SimulatedNight | None = None
    # Meaningful games of one more round, where the number of rounds is a setting.
    games_of_next_round: Fraction | None = None
    # Players in the last games; None where all play to the end.
    last_players: int | None = None
    # Hours of unlimited play, each of which adds a percent.
    hours: int = 0
    # Simulated nights behind the number; 0 where it is not simulated.
    simulated_nights: int = 0
    # The number of balls is part of the number already.
    counts_balls: bool = False
    # The federation's rule does not settle this case.
    is_unsettled: bool = False


class MeaningfulGamesRule(Protocol):
    """The meaningful games of a planned night."""

    def __call__(
        self, settings: TournamentSettings, players: int, circumstances: Circumstances = PLAIN, /
    ) -> MeaningfulGames: ...


class PlayedGamesRule(Protocol):
    """The meaningful games of a night by its record."""

    def __call__(
        self, tournament: Tournament, circumstances: Circumstances = PLAIN, /
    ) -> MeaningfulGames: ...


def no_number(reason: str, *, is_unsettled: bool = False) -> MeaningfulGames:
    """Return an answer without a number, for this reason; an unsettled case is one for the federation."""
    notes = (reason, ASK_THE_FEDERATION) if is_unsettled else (reason,)
    return MeaningfulGames(games=None, origin=None, notes=notes, is_unsettled=is_unsettled)


def awaiting(night: SimulatedNight) -> MeaningfulGames:
    """Return an answer without a number yet: this night has to be simulated."""
    return MeaningfulGames(games=None, origin=None, notes=(BEING_COMPUTED,), awaited=night)


def shown_number(games: Fraction | float) -> str:
    """Return a number of games for a sentence, with at most two decimals: 12, 4.5, 13.81."""
    return f"{float(games):.2f}".rstrip("0").rstrip(".")
