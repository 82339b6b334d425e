"""The settings of formats: one annotated type per setting, with its limits and its help.

A format's settings are a Struct whose field names are the wire keys; a setting that several formats
have is written down here once. Source: formats, sections 4 to 8, 13.3 and 24.
"""

from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
)

import msgspec
from msgspec import UNSET, Meta, UnsetType

from silverball.kit.conversions import convert
from silverball.rules.model import literals

if TYPE_CHECKING:
    pass

P = TypeVar("P")

BANDS_MAX = 100


Scorekeeping = Annotated[
    literals.Scorekeeping,
    Meta(title="Scorekeepers", description="Whose accounts may enter results."),
]
ForecastSwitch = Annotated[
    bool,
    Meta(title="Forecast", description="Everybody sees chances, and what is certain, while it runs."),
]
LatePoints = Annotated[
    int,
    Meta(
        ge=0,
        le=100,
        title="Missed rounds",
        description="Points, or strikes, that a late player gets for each round they missed.",
    ),
]


class TournamentSettings(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The settings of every format; each subclass repeats `frozen=True, kw_only=True`."""

    # Whether two players meet in matches of one game object, however many games decide them.
    has_matches: ClassVar[bool] = False

    scorekeeping: Scorekeeping = "disabled"

    def with_derived(self) -> Self:
        """These settings with the values that follow from others, whatever was entered for them."""
        return self


class ForecastSettings(TournamentSettings, frozen=True, kw_only=True):
    """The settings of the formats that have a forecast."""

    # Absent while it is off, so that a tournament without a forecast has the keys that it always had.
    forecast: ForecastSwitch | UnsetType = UNSET

    def with_derived(self) -> Self:
        """These settings, with a forecast that is switched off left out."""
        return self if self.forecast else msgspec.structs.replace(self, forecast=UNSET)


class LateEntrySettings(ForecastSettings, frozen=True, kw_only=True):
    """The settings of the formats in which late players get something for the rounds they missed."""

    # Absent while it is 0, for the same reason.
    late_points: LatePoints | UnsetType = UNSET

    def with_derived(self) -> Self:
        """These settings, with points for missed rounds left out where there are none."""
        settings = super().with_derived()
        return settings if settings.late_points else msgspec.structs.replace(settings, late_points=UNSET)


class Band(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A band of the standings that reaches a playoff."""

    index: int
    value: int
    cumulative: int
    text: str
    color: str | None = None


Seeding = Annotated[
    literals.Seeding, Meta(title="Seeding", description="How players are ranked before the first round.")
]
FirstRoundPairing = Annotated[
    literals.FirstRoundPairing,
    Meta(title="First round", description="Who meets in the first round."),
]
Pairing = Annotated[
    literals.Pairing, Meta(title="Pairing", description="Who meets from the second round on.")
]
PlayerOrder = Annotated[
    literals.PlayerOrder, Meta(title="Play order", description="Who goes first in a game.")
]
PlayerOrderOpen = Annotated[
    literals.PlayerOrderOpen,
    Meta(title="Play order changed by", description="Who may change it in an open game."),
]
ArenaAssignment = Annotated[
    literals.ArenaAssignment, Meta(title="Machines", description="How a game gets its machine.")
]
Suggestions = Annotated[
    literals.SuggestionMode,
    Meta(title="Players report results", description="On their own phones, from the codes you print."),
]
Byes = Annotated[literals.Byes, Meta(title="Byes", description="What a round without an opponent is worth.")]
Duration = Annotated[
    int, Meta(ge=0, le=100, title="Rounds", description="How many you plan; 0 plays until you stop.")
]
GamesPerRound = Annotated[
    int, Meta(ge=1, le=9, title="Games per round", description="Games that each group plays in a round.")
]
Tiebreaker = Annotated[literals.Tiebreaker, Meta(title="Ties", description="What decides between equals.")]
HeadToHeadTiebreaker = Annotated[
    Literal["standard", "seed", "disabled", "none"],
    Meta(title="Ties", description="What decides between equals."),
]
GroupTiebreaker = Annotated[
    Literal["disabled", "standard", "placement", "placement_last", "wins", "none"],
    Meta(title="Ties", description="What decides between equals."),
]
Scoring = Annotated[literals.Scoring, Meta(title="Points", description="What each place in a game is worth.")]
PlayoffsCutoffs = Annotated[
    tuple[Band, ...],
    Meta(max_length=BANDS_MAX, title="Playoff bands", description="Which places go on to the playoffs."),
]
KnockoutStrikeCount = Annotated[
    int, Meta(ge=1, le=30, title="Strikes", description="With so many you are out.")
]

GolfDuration = Annotated[int, Meta(ge=1, le=36, title="Holes", description="How many are played.")]
GolfParScore = Annotated[
    int,
    Meta(
        ge=0,
        le=10,
        title="Par",
        description="Strokes that a hole should take, shown beside the results; 0 is no par.",
    ),
]
GolfStrokeLimit = Annotated[
    int, Meta(ge=0, le=10, title="Strokes at most", description="A hole counts no more; 0 is no limit.")
]
GolfHolesCounted = Annotated[
    int, Meta(ge=0, le=36, title="Holes counted", description="The best so many count; 0 counts all.")
]
BestGameScoring = Annotated[
    literals.BestGameScoring, Meta(title="Points", description="What each place on a machine is worth.")
]
BestGameOverallAttempts = Annotated[
    int,
    Meta(
        ge=0,
        le=1000,
        title="Entries",
        description="Games (or cards) that each player may play; 0 is no limit.",
    ),
]
UseQueues = Annotated[
    bool, Meta(title="Queues", description="Players line up for each machine, and see when it is their turn.")
]

BracketSeeding = Annotated[
    literals.BracketSeeding,
    Meta(title="Seeding", description="How players are ranked; the bracket follows from it."),
]
RoundRobinGroupSize = Annotated[
    int,
    Meta(ge=0, le=64, title="Group size", description="Players in a group; 0 puts everybody in one."),
]
BestOf = Annotated[
    Literal[1, 3, 5, 7, 9],
    Meta(title="Games per match", description="More than half of them win it."),
]
BracketSize = Annotated[
    Literal[4, 8, 16, 32, 64, 128],
    Meta(title="Bracket size", description="Follows from the number of players at the start."),
]
GroupBracketSize = Annotated[
    Literal[4, 6, 8, 10, 12, 16, 24, 28, 32, 40, 64, 128],
    Meta(title="Players", description="Exactly so many take part."),
]
GroupBracketDoubleByes = Annotated[
    Literal[0, 1],
    Meta(title="Double byes", description="The best quarter of the seeds joins in the third round."),
]
RoundCount = Annotated[
    int, Meta(title="Rounds", description="Follows from the size and the byes; what is entered is ignored.")
]
LadderType = Annotated[
    literals.LadderType,
    Meta(title="Ladder", description="How many are out after each game."),
]


def read_settings(settings: type[TournamentSettings], given: dict[str, Any]) -> TournamentSettings:
    """The settings of a format from wire keys and values; null and absent mean the default.

    Keys that the format does not have are left alone. Raises msgspec.ValidationError, which names the
    key, for a value outside its limits.
    """
    known = {key: value for key, value in given.items() if value is not None}
    return convert(known, settings).with_derived()


def default_values(settings: type[TournamentSettings]) -> dict[str, Any]:
    """Wire key -> default, for every setting of a format in the order it is shown."""
    built: dict[str, Any] = msgspec.to_builtins(settings())
    return built
