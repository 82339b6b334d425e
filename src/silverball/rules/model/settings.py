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
from msgspec import Meta

from silverball.rules.model import literals

if TYPE_CHECKING:
    pass

P = TypeVar("P")

BANDS_MAX = 100


Scorekeeping = Annotated[
    literals.Scorekeeping,
    Meta(title="Scorekeepers", description="Whether other accounts may record results."),
]


class TournamentSettings(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The settings of every format; each subclass repeats `frozen=True, kw_only=True`."""

    # Whether two players meet in matches of one game object, however many games decide them.
    has_matches: ClassVar[bool] = False

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
