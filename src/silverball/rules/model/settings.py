"""The settings of formats: one annotated type per setting, with its limits and its help.

A format's settings are a Struct whose field names are the wire keys; a setting that several formats
have is written down here once. Source: formats, sections 4 to 8, 13.3 and 24.
"""

from typing import Annotated, Any, Literal, Protocol, Self, runtime_checkable

import msgspec
from msgspec import Meta

from silverball.rules.model import literals

BANDS_MAX = 100


Scorekeeping = Annotated[
    literals.Scorekeeping,
    Meta(title="Scorekeepers", description="Whether other accounts may record results."),
]


class TournamentSettings(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The settings of every format; each subclass repeats `frozen=True, kw_only=True`."""

    scorekeeping: Scorekeeping = "disabled"

    def with_derived(self) -> Self:
        """These settings with the values that follow from others, whatever was entered for them."""
        return self


class Band(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A band of the standings that reaches a playoff."""

    index: int
    value: int
    cumulative: int
    text: str
    color: str | None = None


Seeding = Annotated[
    literals.Seeding, Meta(title="Seeding", description="How entrants are ranked before the first round.")
]
FirstRoundPairing = Annotated[
    literals.FirstRoundPairing,
    Meta(title="First round", description="Who meets whom in the first round, by seed."),
]
Pairing = Annotated[
    literals.Pairing, Meta(title="Later rounds", description="Who meets whom from the second round on.")
]
PlayerOrder = Annotated[
    literals.PlayerOrder, Meta(title="Playing order", description="Who plays first in a game.")
]
PlayerOrderOpen = Annotated[
    literals.PlayerOrderOpen,
    Meta(title="Order changed by", description="Who may change the playing order of an open game."),
]
ArenaAssignment = Annotated[
    literals.ArenaAssignment, Meta(title="Arenas", description="How a game gets its arena.")
]
Suggestions = Annotated[
    literals.SuggestionMode,
    Meta(title="Suggested results", description="Whether players send in results, and who approves them."),
]
Byes = Annotated[literals.Byes, Meta(title="Byes", description="What a round without opponent is worth.")]
Duration = Annotated[
    int, Meta(ge=0, le=100, title="Rounds", description="Planned number of rounds; 0 leaves it open.")
]
GamesPerRound = Annotated[
    int, Meta(ge=1, le=9, title="Games per round", description="Games each group plays in a round.")
]
Tiebreaker = Annotated[
    literals.Tiebreaker, Meta(title="Tiebreaker", description="What separates players with equal points.")
]
HeadToHeadTiebreaker = Annotated[
    Literal["standard", "seed", "disabled", "none"],
    Meta(title="Tiebreaker", description="What separates players with equal points."),
]
GroupTiebreaker = Annotated[
    Literal["disabled", "standard", "placement", "placement_last", "wins", "none"],
    Meta(title="Tiebreaker", description="What separates players with equal points."),
]
Scoring = Annotated[literals.Scoring, Meta(title="Points", description="What each place in a game is worth.")]
PlayoffsCutoffs = Annotated[
    tuple[Band, ...],
    Meta(
        max_length=BANDS_MAX, title="Playoff bands", description="Which places of the standings go through."
    ),
]
KnockoutStrikeCount = Annotated[
    int, Meta(ge=1, le=30, title="Strikes", description="Strikes that put a player out.")
]

GolfDuration = Annotated[int, Meta(ge=1, le=36, title="Holes", description="How many holes are played.")]
GolfParScore = Annotated[
    int, Meta(ge=0, le=10, title="Par", description="Strokes a hole should take, for display; 0 is no par.")
]
GolfStrokeLimit = Annotated[
    int, Meta(ge=0, le=10, title="Stroke limit", description="Most strokes a hole counts; 0 is no limit.")
]
GolfHolesCounted = Annotated[
    int, Meta(ge=0, le=36, title="Holes counted", description="Best holes that count; 0 counts all of them.")
]
BestGameScoring = Annotated[
    literals.BestGameScoring, Meta(title="Points", description="What each rank on an arena is worth.")
]
BestGameOverallAttempts = Annotated[
    int,
    Meta(ge=0, le=1000, title="Attempts", description="Games (or cards) a player may play; 0 is no limit."),
]
UseQueues = Annotated[
    bool, Meta(title="Queues", description="Whether players wait for their turn in queues.")
]

BracketSeeding = Annotated[
    literals.BracketSeeding,
    Meta(title="Seeding", description="How entrants are ranked; the draw follows from it."),
]
RoundRobinGroupSize = Annotated[
    int,
    Meta(ge=0, le=64, title="Group size", description="Players in a group; 0 puts everybody in one."),
]
BestOf = Annotated[
    Literal[1, 3, 5, 7, 9],
    Meta(title="Best of", description="Most games of a match; more than half of them win it."),
]
BracketSize = Annotated[
    Literal[4, 8, 16, 32, 64, 128],
    Meta(title="Bracket size", description="Places in the bracket; the start takes the size that fits."),
]
GroupBracketSize = Annotated[
    Literal[4, 6, 8, 10, 12, 16, 24, 28, 32, 40, 64, 128],
    Meta(title="Bracket size", description="How many players take part, exactly."),
]
GroupBracketDoubleByes = Annotated[
    Literal[0, 1],
    Meta(title="Double byes", description="1: the best quarter of the seeds joins in the third round."),
]
RoundCount = Annotated[
    int, Meta(title="Rounds", description="Follows from the size and the byes; what is entered is ignored.")
]
LadderType = Annotated[
    literals.LadderType,
    Meta(title="Ladder", description="Regular: one player is out per game. Fast: two of four are."),
]


# Settings that only some formats have: `isinstance(settings, HasScoring)` asks for them.


@runtime_checkable
class HasScoring(Protocol):
    """Settings of a format whose games give points by place."""

    @property
    def scoring(self) -> literals.Scoring: ...


@runtime_checkable
class HasBestGameScoring(Protocol):
    """Settings of a format that ranks scores on each arena."""

    @property
    def best_game_scoring(self) -> literals.BestGameScoring: ...


@runtime_checkable
class HasCardScoring(Protocol):
    """Settings of a format that scores single player games by the card."""

    @property
    def card_best_game_scoring(self) -> Literal[0, 1]: ...

    @property
    def card_best_game_games_counted(self) -> int: ...

    @property
    def card_best_game_cards_counted(self) -> int: ...


@runtime_checkable
class HasPairing(Protocol):
    """Settings of a format that draws opponents round by round."""

    @property
    def pairing(self) -> literals.Pairing: ...


@runtime_checkable
class HasDuration(Protocol):
    """Settings of a format with a planned number of rounds; 0 leaves it open."""

    @property
    def duration(self) -> int: ...


@runtime_checkable
class HasStrikesByPlace(Protocol):
    """Settings of a format that gives strikes by place in a group."""

    @property
    def knockout_fair(self) -> bool: ...

    @property
    def knockout_progressive(self) -> bool: ...

    @property
    def knockout_four_player_strikes(self) -> int: ...

    @property
    def knockout_three_player_strikes(self) -> int: ...


@runtime_checkable
class HasTiebreaker(Protocol):
    """Settings of a format with a choice of tiebreakers."""

    @property
    def tiebreaker(self) -> str: ...


@runtime_checkable
class HasPlayoffBands(Protocol):
    """Settings of a format with playoff bands in its standings."""

    @property
    def playoffs_cutoffs(self) -> tuple[Band, ...]: ...


@runtime_checkable
class HasByes(Protocol):
    """Settings of a format that chooses the points of a bye."""

    @property
    def byes(self) -> literals.Byes: ...


@runtime_checkable
class HasGamesPerRound(Protocol):
    """Settings of a format whose rounds or matches have several games."""

    @property
    def games_per_round(self) -> int: ...


@runtime_checkable
class HasRoundRobinGroups(Protocol):
    """Settings of a round robin that can be played in groups."""

    @property
    def round_robin_group_size(self) -> int: ...


@runtime_checkable
class HasStrikeCount(Protocol):
    """Settings of a format whose strikes eliminate."""

    @property
    def knockout_strike_count(self) -> int: ...


@runtime_checkable
class HasBracketSize(Protocol):
    """Settings of a format that is played in a bracket."""

    @property
    def bracket_size(self) -> int: ...


@runtime_checkable
class HasGroupBracket(Protocol):
    """Settings of a format that is played in a bracket of groups."""

    @property
    def bracket_size(self) -> int: ...

    @property
    def group_bracket_double_byes(self) -> int: ...


@runtime_checkable
class HasLadderType(Protocol):
    """Settings of a ladder."""

    @property
    def ladder_type(self) -> literals.LadderType: ...


@runtime_checkable
class HasTargetPoints(Protocol):
    """Settings of a format that is played to a target."""

    @property
    def target_points(self) -> int: ...


@runtime_checkable
class HasPace(Protocol):
    """Settings of a format with a rising target."""

    @property
    def pace_initial_rounds(self) -> int: ...

    @property
    def pace_initial_target(self) -> int: ...

    @property
    def pace_increment(self) -> int: ...


@runtime_checkable
class HasHoles(Protocol):
    """Settings of a format with a fixed number of holes or frames."""

    @property
    def golf_duration(self) -> int: ...


@runtime_checkable
class HasStrokeLimit(Protocol):
    """Settings of a format that limits the strokes of a hole."""

    @property
    def golf_stroke_limit(self) -> int: ...


@runtime_checkable
class HasCountedHoles(Protocol):
    """Settings of a format that counts the best holes of a course."""

    @property
    def golf_duration(self) -> int: ...

    @property
    def golf_stroke_limit(self) -> int: ...

    @property
    def golf_holes_counted(self) -> int: ...


@runtime_checkable
class HasBestGames(Protocol):
    """Settings of a format that counts the best games on each arena."""

    @property
    def best_game_number_of_best_games(self) -> int: ...

    @property
    def best_game_arenas_counted(self) -> int: ...


def tiebreaker_of(settings: TournamentSettings) -> str:
    """The tiebreaker of a format, "disabled" in formats without one."""
    return settings.tiebreaker if isinstance(settings, HasTiebreaker) else "disabled"


def playoff_bands_of(settings: TournamentSettings) -> tuple[Band, ...]:
    """The playoff bands of a format, none in formats without them."""
    return settings.playoffs_cutoffs if isinstance(settings, HasPlayoffBands) else ()


def read_settings(settings: type[TournamentSettings], given: dict[str, Any]) -> TournamentSettings:
    """The settings of a format from wire keys and values; null and absent mean the default.

    Keys that the format does not have are left alone. Raises msgspec.ValidationError, which names the
    key, for a value outside its limits.
    """
    known = {key: value for key, value in given.items() if value is not None}
    return msgspec.convert(known, settings).with_derived()


def default_values(settings: type[TournamentSettings]) -> dict[str, Any]:
    """Wire key -> default, for every setting of a format in the order it is shown."""
    built: dict[str, Any] = msgspec.to_builtins(settings())
    return built
