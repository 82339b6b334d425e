"""The settings of formats: one annotated type per setting, with its limits and its help.

A format's settings are a Struct whose field names are the wire keys; a setting that several formats
have is written down here once. Source: formats, sections 4 to 8, 13.3 and 24.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType, inspect

from silverball.kit import values
from silverball.rules.model import literals

BANDS_MAX = 100


class FormatSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of a format, for forms, the published interface and the documents."""

    # The attribute of the format's Struct, and the wire key.
    name: str
    key: str
    kind: Literal["choice", "number", "flag", "bands"]
    title: str
    help: str
    published: str
    default: Any
    low: int | None = None
    high: int | None = None
    # The values of a choice, sorted; value -> what it does, in people's words.
    values: tuple[Any, ...] = ()
    words: Mapping[str, str]
    # Whether it can still change after the start, whether it follows from other facts instead of being
    # entered, and whether clients may send text for its number.
    changes_when_started: bool
    is_derived: bool
    accepts_text: bool

    def label(self, value: Any) -> str:
        """A value in people's words; a number as it is."""
        if self.kind == "flag":
            return "on" if value else "off"
        if self.kind == "bands":
            return ", ".join(f"{band['value']} {band['text']}".strip() for band in value) or "none"
        return self.words.get(str(value), str(value))


def setting(  # the facts about a setting, by keyword
    title: str,
    help_: str,
    published: str = "",
    *,
    words: Mapping[str, str] | None = None,
    changes_when_started: bool = False,
    is_derived: bool = False,
    accepts_text: bool = False,
    **limits: Any,
) -> Meta:
    """All facts about a setting but its type and default, see `FormatSetting`; limits as in `Meta`."""
    facts = {
        "published": published,
        "words": words or {},
        "changes_when_started": changes_when_started,
        "is_derived": is_derived,
        "accepts_text": accepts_text,
    }
    annotation: Meta = Meta(title=title, description=help_, extra=facts, **limits)
    return annotation


Scorekeeping = Annotated[
    literals.Scorekeeping,
    setting(
        "Scorekeepers",
        "Whose accounts may enter results.",
        "Who may report results: `user` for the players too, `disabled` for scorekeepers alone.",
        changes_when_started=True,
        words={"user": "The accounts you name", "disabled": "Only you"},
    ),
]
ForecastSwitch = Annotated[
    bool,
    setting(
        "Forecast",
        "Everybody sees chances, and what is certain, while it runs.",
        "True when everybody sees the forecast while the tournament runs; absent while that is off.",
        changes_when_started=True,
    ),
]
LatePoints = Annotated[
    int,
    setting(
        "Missed rounds",
        "Points, or strikes, that a late player gets for each round they missed.",
        "Points, or strikes, that a late player gets for each round they missed; absent while they get none.",
        changes_when_started=True,
        ge=0,
        le=100,
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


class Band(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A band of the standings that reaches a playoff."""

    index: int
    value: int
    cumulative: int
    text: str
    color: str | None = None


SEEDING_WORDS = {
    "random": "By lot",
    "manual": "By hand: each player's seed is entered",
    "ifpa": "IFPA rank",
    "ifpa_womens": "IFPA women's rank",
    "mp_rating": "Rating, worst case",
    "mp_rating_rating": "Rating",
    "series_seed": "Standings of the series",
}
Seeding = Annotated[
    literals.Seeding,
    setting(
        "Seeding",
        "How players are ranked before the first round.",
        "What seeds are made of when the tournament starts.",
        words=SEEDING_WORDS,
    ),
]
FirstRoundPairing = Annotated[
    literals.FirstRoundPairing,
    setting(
        "First round",
        "Who meets in the first round.",
        "How the first round is paired.",
        words={
            "random": "By lot",
            "slaughter": "Best meets worst",
            "adjacent": "Neighbours by seed meet",
            "cross": "Upper half meets lower half",
            "best_game": "Best meets worst, by the linked qualifier",
        },
    ),
]
Pairing = Annotated[
    literals.Pairing,
    setting(
        "Pairing",
        "Who meets from the second round on.",
        "How the later rounds are paired.",
        changes_when_started=True,
        words={
            "random": "Random: by lot",
            "balanced": "Balanced: opponents you have met least",
            "swiss": "Swiss: equals meet, never twice if possible",
            "strictswiss": "Strict Swiss: equals meet, even again",
            "balanced_series": "Balanced over the whole series",
            "tiers": "Tiers: blocks of equals, as at Pinburgh",
        },
    ),
]
PlayerOrder = Annotated[
    literals.PlayerOrder,
    setting(
        "Play order",
        "Who goes first in a game.",
        "How the order of play within a game is decided.",
        words={
            "balanced": "Balanced: everybody goes first equally often",
            "rotating": "Rotating from game to game",
            "seed": "Better seed first",
            "seed_reverse": "Worse seed first",
            "position": "Leader first",
            "loser": "Loser first: who was last in the game before",
            "random": "Random: by lot",
            "disabled": "Random: by lot",
        },
    ),
]
PlayerOrderOpen = Annotated[
    literals.PlayerOrderOpen,
    setting(
        "Play order changed by",
        "Who may change it in an open game.",
        "Who may change the order of play: `scorekeepers`, or also the `players`.",
        words={"players": "The players too", "scorekeepers": "You and scorekeepers"},
    ),
]
ArenaAssignment = Annotated[
    literals.ArenaAssignment,
    setting(
        "Machines",
        "How a game gets its machine.",
        "How games get their arenas.",
        words={
            "balanced": "Balanced: machines you have played least",
            "random": "Random: by lot",
            "manual": "By hand",
            "disabled": "Off: players choose",
            "balanced_series": "Balanced over the whole series",
            "banks": "Banks: machines that belong together",
            "manual_banks": "Banks, chosen by hand",
            "category_banks": "One of each category",
        },
    ),
]
Suggestions = Annotated[
    literals.SuggestionMode,
    setting(
        "Players report results",
        "On their own phones, from the codes you print.",
        "Whether players can report results, and whether those count at once (`automatic`).",
        changes_when_started=True,
        words={
            "automatic": "Yes: the first report counts",
            "restricted": "Yes: you accept each report",
            "disabled": "Off",
        },
    ),
]
Byes = Annotated[
    literals.Byes,
    setting(
        "Byes",
        "What a round without an opponent is worth.",
        "What a bye is worth: a `full` win, `half` of it, or `zero`.",
        words={"full": "A win", "half": "Half a win", "zero": "Nothing"},
    ),
]
Duration = Annotated[
    int,
    setting(
        "Rounds",
        "How many you plan; 0 plays until you stop.",
        "Planned number of rounds; 0 means open-ended.",
        changes_when_started=True,
        ge=0,
        le=100,
    ),
]
GamesPerRound = Annotated[
    int,
    setting(
        "Games per round",
        "Games that each group plays in a round.",
        "Number of games of a group in one round; best of that many in a bracket.",
        ge=1,
        le=9,
    ),
]
TIES = setting(
    "Ties",
    "What decides between equals.",
    "How equal points are told apart.",
    words={
        "disabled": "None: they share the place",
        "none": "None: they share the place",
        "standard": "Strength of the opponents",
        "placement": "More first places, then seconds",
        "placement_last": "Fewer last places",
        "wins": "More wins",
        "losses": "Fewer losses",
        "seed": "The better seed",
        "head_to_head": "Who beat whom",
    },
)
# For players who do not meet in games.
Tiebreaker = Annotated[
    Literal["disabled", "standard", "placement", "placement_last", "wins", "losses", "seed", "none"], TIES
]
HeadToHeadTiebreaker = Annotated[Literal["standard", "head_to_head", "seed", "disabled", "none"], TIES]
GroupTiebreaker = Annotated[
    Literal["disabled", "standard", "placement", "placement_last", "wins", "head_to_head", "none"], TIES
]
Scoring = Annotated[
    literals.Scoring,
    setting(
        "Points",
        "What each place in a game is worth.",
        "Points by place in a game.",
        words={
            "ifpa": "IFPA",
            "papa": "PAPA",
            "pinburgh": "Pinburgh",
            "bapa": "BAPA",
            "nepl": "NEPL",
            "dcleague": "DC League",
            "idaho": "Idaho",
            "aussierules": "Marburg",
            "winnerbonus": "Bonus for the winner",
            "winneronly": "Winner only",
            "winwinlossloss": "First and second",
            "progressive": "Progressive",
            "custom": "Your own points, below",
            "": "As imported",
        },
    ),
]
PlayoffsCutoffs = Annotated[
    tuple[Band, ...],
    setting(
        "Finals",
        "Which places go on to the playoffs.",
        max_length=BANDS_MAX,
        changes_when_started=True,
    ),
]
KnockoutStrikeCount = Annotated[
    int,
    setting(
        "Strikes", "With so many you are out.", "Number of strikes with which a player is out.", ge=1, le=30
    ),
]

GolfDuration = Annotated[
    int, setting("Holes", "How many are played.", "Number of holes, or of frames in pinbowling.", ge=1, le=36)
]
GolfParScore = Annotated[
    int,
    setting(
        "Par",
        "Strokes that a hole should take, shown beside the results; 0 is no par.",
        "Par of each hole; 0 for none.",
        ge=0,
        le=10,
    ),
]
GolfStrokeLimit = Annotated[
    int,
    setting(
        "Strokes at most",
        "A hole counts no more; 0 is no limit.",
        "Greatest number of strokes on a hole.",
        ge=0,
        le=10,
    ),
]
GolfHolesCounted = Annotated[
    int,
    setting(
        "Holes counted",
        "The best so many count; 0 counts all.",
        "Number of best holes that count; 0 for all.",
        ge=0,
        le=36,
    ),
]
BestGameScoring = Annotated[
    literals.BestGameScoring,
    setting(
        "Points",
        "What each place on a machine is worth.",
        "Points by rank on an arena.",
        words={
            "bg_linear": "Linear",
            "bg_linear_150": "Linear from 150",
            "bg_linear_200": "Linear from 200",
            "bg_linear_300": "Linear from 300",
            "bg_linear_500": "Linear from 500",
            "bg_papa": "PAPA",
            "bg_papa_150": "PAPA from 150",
            "bg_papa_200": "PAPA from 200",
            "bg_papa_qck_de": "PAPA in steps of two",
            "bg_circuit": "Circuit",
            "bg_indisc": "INDISC",
            "bg_indisc_200": "INDISC from 200",
            "bg_cax": "CAX",
            "bg_hella": "Hella",
            "bg_eurovision": "Eurovision",
            "bg_past_times": "Past Times",
            "bg_top_25": "Top 25",
            "bg_top_30": "Top 30",
            "bg_50_percent_de": "Half of the place before",
            "bg_90_percent_de": "90 percent of the place before",
            "bg_95_pct_mod_de": "95 percent of the place before, at least one less",
            "custom": "Your own points, below",
        },
    ),
]
BestGameOverallAttempts = Annotated[
    int,
    setting(
        "Entries",
        "Games (or cards) that each player may play; 0 is no limit.",
        "Greatest number of attempts, or of cards; 0 for no limit.",
        ge=0,
        le=1000,
    ),
]
UseQueues = Annotated[
    bool,
    setting(
        "Queues",
        "Players line up for each machine, and see when it is their turn.",
        "Whether players wait in queues for the arenas.",
    ),
]

BracketSeeding = Annotated[
    literals.BracketSeeding,
    setting(
        "Seeding",
        "How players are ranked; the bracket follows from it.",
        "What seeds are made of when the tournament starts.",
        words=SEEDING_WORDS,
    ),
]
RoundRobinGroupSize = Annotated[
    int,
    setting(
        "Group size",
        "Players in a group; 0 puts everybody in one.",
        "Number of players in a group; 0 for one group of all.",
        ge=0,
        le=64,
    ),
]
BestOf = Annotated[
    Literal[1, 3, 5, 7, 9],
    setting(
        "Games per match",
        "More than half of them win it.",
        "Number of games of a group in one round; best of that many in a bracket.",
    ),
]
BracketSize = Annotated[
    Literal[4, 8, 16, 32, 64, 128],
    setting(
        "Bracket size", "Follows from the number of players at the start.", "Number of places in the bracket."
    ),
]
GroupBracketSize = Annotated[
    int,
    setting(
        "Players",
        "Follows from the number of players until the start.",
        "Number of players; it follows them until the start.",
        ge=2,
        le=128,
    ),
]
GroupBracketDoubleByes = Annotated[
    Literal[0, 1],
    setting(
        "Double byes",
        "The best quarter joins in the third round, where 8, 16, 32 or 64 play.",
        "1 gives the top quarter of 8, 16, 32 or 64 seeds two byes, 0 none.",
        words={"0": "Off", "1": "On: the best quarter starts in round 3"},
    ),
]
RoundCount = Annotated[
    int,
    setting(
        "Rounds",
        "Follows from the number of players and the byes; forty may end after 2.",
        "Number of rounds, computed from the size of the bracket; 2 is kept for 40 players.",
    ),
]
AmazingRaceByes = Annotated[
    int,
    setting(
        "Byes",
        "So many of the best seeds wait in the first rounds; 0 is nobody.",
        "Number of the best seeds who wait in the first rounds; absent while nobody does.",
        ge=0,
        le=126,
    ),
]
AmazingRaceByeRounds = Annotated[
    int,
    setting(
        "Rounds with byes",
        "In so many rounds they wait, while at least two others play.",
        "Number of rounds in which the best seeds wait; absent while nobody does.",
        ge=0,
        le=126,
    ),
]
LadderType = Annotated[
    literals.LadderType,
    setting(
        "Ladder",
        "How many are out after each game.",
        "`regular` eliminates one player per game, `fast` two.",
        words={"regular": "Regular: one is out per game", "fast": "Fast: two are out per game"},
    ),
]


class DrawnRoundSettings(ForecastSettings, frozen=True, kw_only=True):
    """The settings of the formats that draw rounds: late players get something for those they missed."""

    # Absent while it is 0, for the same reason.
    late_points: LatePoints | UnsetType = UNSET
    seeding: Seeding = "random"
    first_round_pairing: FirstRoundPairing = "random"
    pairing: Pairing = "balanced"
    player_order: PlayerOrder = "balanced"
    player_order_open: PlayerOrderOpen = "scorekeepers"
    arena_assignment: ArenaAssignment = "balanced"

    def with_derived(self) -> Self:
        """These settings, with points for missed rounds left out where there are none."""
        settings = super().with_derived()
        return settings if settings.late_points else msgspec.structs.replace(settings, late_points=UNSET)


def read_settings(settings: type[TournamentSettings], given: dict[str, Any]) -> TournamentSettings:
    """The settings of a format from wire keys and values; null and absent mean the default.

    Keys that the format does not have are left alone. Raises msgspec.ValidationError, which names the
    key, for a value outside its limits.
    """
    known = {key: value for key, value in given.items() if value is not None}
    return values.convert(known, settings).with_derived()


def default_values(settings: type[TournamentSettings]) -> dict[str, Any]:
    """Wire key -> default, for every setting of a format in the order it is shown."""
    built: dict[str, Any] = msgspec.to_builtins(settings())
    return built


@cache
def format_settings(settings: type[TournamentSettings]) -> tuple[FormatSetting, ...]:
    """The settings of a format in the order of its Struct."""
    defaults = default_values(settings)
    return tuple(
        _format_setting(field, defaults.get(field.encode_name)) for field in msgspec.structs.fields(settings)
    )


def _format_setting(field: msgspec.structs.FieldInfo, default: Any) -> FormatSetting:
    kind = values.inspect(field.type)
    facts: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        facts = {**(kind.extra_json_schema or {}), **(kind.extra or {}), **facts}
        kind = kind.type
    facts["help"] = facts.pop("description")
    facts |= {"name": field.name, "key": field.encode_name, "default": default}
    if isinstance(kind, inspect.BoolType):
        return FormatSetting(kind="flag", **facts)
    if isinstance(kind, inspect.LiteralType):
        return FormatSetting(kind="choice", values=kind.values, **facts)
    if isinstance(kind, inspect.IntType):
        return FormatSetting(kind="number", low=kind.ge, high=kind.le, **facts)
    return FormatSetting(kind="bands", **facts)
