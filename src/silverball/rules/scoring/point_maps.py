"""Point maps: points by place and group size. Source: formats, section 11.

A map has four rows, for groups of one to four; a row lists the points of first, second, ... Rows are
kept as they go over the wire: whole numbers as numbers, maps with any fraction entirely as texts.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from silverball.kit.errors import Invalid
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasBestGameScoring, HasScoring, HasStrikesByPlace, has
from silverball.rules.scoring import curves

WirePoints: TypeAlias = int | str
WireRows: TypeAlias = tuple[tuple[WirePoints, ...], ...]
Row: TypeAlias = tuple[Decimal, ...]

GROUP_SIZE_MAX = 4
MANUAL = "manual"

HEAD_TO_HEAD: WireRows = ((1,), (1, 0), (1, 0, 0), (1, 0, 0))
FAIR: WireRows = (("1.00",), ("1.00", "0.01"), ("1.00", "0.02", "0.01"), ("1.00", "0.02", "0.02", "0.01"))
PROGRESSIVE: WireRows = (
    ("1.00",),
    ("1.00", "0.01"),
    ("1.00", "0.02", "0.01"),
    ("1.00", "0.03", "0.02", "0.01"),
)
TIEBREAKER: WireRows = (
    ("0.50",),
    ("0.50", "0.00"),
    ("0.50", "0.25", "0.00"),
    ("0.50", "0.25", "0.12", "0.00"),
)
IFPA: WireRows = ((7,), (7, 1), (7, 4, 1), (7, 5, 3, 1))

SCORINGS: dict[str, WireRows] = {
    "ifpa": IFPA,
    "papa": ((4,), (4, 2), (4, 2, 1), (4, 2, 1, 0)),
    "pinburgh": (("3",), ("3", "0"), ("3", "1.5", "0"), ("3", "2", "1", "0")),
    "winnerbonus": ((5,), (5, 1), (5, 3, 1), (5, 3, 2, 1)),
    "winneronly": ((1,), (1, 0), (1, 0, 0), (1, 0, 0, 0)),
    "winwinlossloss": ((1,), (1, 0), (1, 0, 0), (1, 1, 0, 0)),
    "aussierules": ((7,), (7, 0), (7, 3, 0), (7, 4, 2, 0)),
    "bapa": ((8,), (8, 2), (8, 5, 2), (8, 6, 4, 2)),
    "nepl": ((10,), (10, 2), (10, 5, 2), (10, 6, 4, 2)),
    "dcleague": (("4",), ("4", "1"), ("4", "2.5", "1"), ("4", "3", "2", "1")),
    "progressive": PROGRESSIVE,
}
CUSTOM = "custom"
# The values of idaho are unknown, so such a tournament is imported with its own map.
IMPORT_ONLY = frozenset({"idaho"})


def map_of_scoring(scoring: str) -> WireRows:
    """The initial map of a `scoring`, as on the wire.

    Raises Invalid for an unknown scoring, and for a scoring that needs its own map (custom, idaho).
    Source: formats, section 11.
    """
    rows = SCORINGS.get(scoring)
    if rows is not None:
        return rows
    if scoring == CUSTOM or scoring in IMPORT_ONLY:
        raise Invalid({"scoring": [f"The scoring {scoring} needs the points of each place. Enter them."]})
    raise Invalid({"scoring": [f"There is no scoring called {scoring}. Choose one of the known scorings."]})


def map_of_strikes(*, fair: bool, progressive: bool) -> WireRows:
    """The map that a group knockout displays, as on the wire.

    Standard strikes display the IFPA map although their games score 1.00 and 0.00 (42 of 42 observed
    tournaments). Source: formats, section 11.
    """
    if fair:
        return FAIR
    return PROGRESSIVE if progressive else IFPA


def parse_custom_map(points_map_custom: Mapping[str, object]) -> WireRows:
    """The rows of a map entered by the organizer (`pointsMap: "manual"`), as texts.

    Takes {"type": "matchplay", "3P": [...], "4P": [...]}: the points of a group of three and of four.
    A single player gets the first of four, two players the first and the last of three. Raises Invalid
    when a list is missing or has the wrong length, or when a value is not a number.
    Source: formats, section 11.
    """
    three, four = _parse_custom_row(points_map_custom, 3), _parse_custom_row(points_map_custom, 4)
    return ((four[0],), (three[0], three[-1]), three, four)


def _parse_custom_row(points_map_custom: Mapping[str, object], size: int) -> tuple[str, ...]:
    listed = points_map_custom.get(f"{size}P")
    if not isinstance(listed, list | tuple) or len(listed) != size:
        raise Invalid({"pointsMapCustom": [f"A group of {size} needs {size} values in {size}P."]})
    return tuple(str(_parse_points(value)) for value in listed)


def _parse_points(value: object) -> Decimal:
    try:
        number = Decimal(str(value))
    except ArithmeticError as error:
        raise Invalid({"pointsMapCustom": [f"{value!r} is not a number. Write points like 2.5."]}) from error
    # The database stores hundredths, so finer or infinite values could not be stored as entered.
    if not number.is_finite() or number != round(number, 2):
        raise Invalid({"pointsMapCustom": [f"{value!r} is not a number with at most two decimals."]})
    return number


def points_by_place(rows: Sequence[Sequence[WirePoints]], group_size: int) -> Row:
    """Points by place in a group of 1 to 4 players.

    Takes a map as on the wire. A row with fewer values than players is padded with 0: the fourth row of
    the head-to-head map has only three. Raises ValueError for any other group size.
    Source: formats, sections 11 and 14.10.
    """
    if not 1 <= group_size <= GROUP_SIZE_MAX:
        raise ValueError(f"a group of {group_size} is not between 1 and {GROUP_SIZE_MAX} players")
    return _padded_row(tuple(rows[group_size - 1]), group_size)


@lru_cache(maxsize=256)
def _padded_row(listed: tuple[WirePoints, ...], group_size: int) -> Row:
    """The points of the places of a group, from its row of the map."""
    earned = [Decimal(str(points)) for points in listed[:group_size]]
    return tuple(earned + [Decimal(0)] * (group_size - len(earned)))


def points_by_slot(
    rows: Sequence[Sequence[WirePoints]], player_ids: Sequence[int], finishing_order: Sequence[int]
) -> Row:
    """Result points: one per player, in the game's player order.

    Takes a map as on the wire, the player ids by slot and the finishing order. Raises ValueError unless
    both hold the same players. Source: formats, section 11.
    """
    if sorted(player_ids) != sorted(finishing_order):
        raise ValueError("the finishing order does not hold the players of the game")
    by_place = points_by_place(rows, len(player_ids))
    return tuple([by_place[finishing_order.index(player_id)] for player_id in player_ids])


def bye_points(rows: Sequence[Sequence[WirePoints]], byes: str, games_per_round: int = 1) -> Decimal:
    """Points of a bye game, two decimals.

    Takes a map as on the wire, the `byes` setting (full: first value of row 1; half: 0.50; zero: 0.00)
    and the number of games per round, each of which counts. Raises Invalid for any other setting.
    Source: formats, sections 9 and 14.3.
    """
    values = {"full": points_by_place(rows, 1)[0], "half": Decimal("0.50"), "zero": Decimal("0.00")}
    if byes not in values:
        raise Invalid({"byes": [f"A bye cannot be worth {byes}. Choose full, half or zero."]})
    return (values[byes] * games_per_round).quantize(Decimal("0.01"))


# The points that a new tournament starts with, by its settings. Source: formats, section 11.
#
# Each function takes the settings and the organizer's own points where the settings ask for them, and
# returns the points by group size and place, as on the wire.


CustomPoints = Mapping[str, Any] | None


def no_points(_settings: TournamentSettings, _custom: CustomPoints) -> None:
    """No points: places in a game earn none."""


def one_point_per_win(_settings: TournamentSettings, _custom: CustomPoints) -> WireRows:
    """One point for the first, nothing for the others."""
    return HEAD_TO_HEAD


def points_of_scoring(settings: TournamentSettings, custom: CustomPoints) -> WireRows:
    """The points of the chosen `scoring`. Raises Invalid for points of their own that are not complete."""
    assert has(settings, HasScoring)
    if settings.scoring == CUSTOM:
        return parse_custom_map(custom or {})
    return map_of_scoring(settings.scoring)


def curve_of_best_game(settings: TournamentSettings, custom: CustomPoints) -> WireRows | None:
    """The organizer's own curve, the only row of ranks; None for a published curve.

    Raises Invalid for a curve that is none.
    """
    assert has(settings, HasBestGameScoring)
    if settings.best_game_scoring != curves.CUSTOM:
        return None
    return (curves.parse_custom_curve(custom or {}),)


def points_for_strikes(settings: TournamentSettings, _custom: CustomPoints) -> WireRows:
    """The map that stands for the strikes of a group.

    Fair and progressive strikes have maps of their own; standard strikes show the IFPA map though their
    games do not use it.
    """
    assert has(settings, HasStrikesByPlace)
    return map_of_strikes(fair=settings.knockout_fair, progressive=settings.knockout_progressive)
