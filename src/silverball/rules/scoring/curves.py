"""Curves: whole points by rank. Source: formats, section 15.

Ranks count from 1. A curve is a short list of fixed values and a rule for the ranks after them.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from msgspec import Struct

from silverball.kit.errors import Invalid

RANK_MAX = 100_000
# Beyond this rank the percentage curves are worth 0; larger powers would only cost time.
PERCENT_RANK_MAX = 200
CUSTOM_RANKS_MAX = 1000


class CurveRow(Struct, frozen=True):
    """A linear curve: after the head, rank p is worth start - step * p, never below 0."""

    start: int
    step: int = 1
    head: tuple[int, ...] = ()

    def points(self, rank: int) -> int:
        """Whole points of a rank."""
        if rank <= len(self.head):
            return self.head[rank - 1]
        return max(0, self.start - self.step * rank)


CURVE_ROWS = {
    "bg_linear": CurveRow(101),
    "bg_linear_150": CurveRow(151),
    "bg_linear_200": CurveRow(201),
    "bg_linear_300": CurveRow(301),
    "bg_linear_500": CurveRow(501),
    "bg_papa": CurveRow(88, head=(100, 90)),
    "bg_papa_150": CurveRow(138, head=(150, 140)),
    "bg_papa_200": CurveRow(188, head=(200, 190)),
    "bg_papa_qck_de": CurveRow(91, step=2, head=(100, 90)),
    "bg_circuit": CurveRow(30, head=(100, 75, 60, 50, 45, 40, 35, 30, 25, 20)),
    "bg_indisc": CurveRow(98, head=(100, 97)),
    "bg_indisc_200": CurveRow(193, head=(200, 195)),
    "bg_cax": CurveRow(94, head=(100, 94)),
    "bg_hella": CurveRow(90, step=5, head=(105, 90, 80)),
    "bg_eurovision": CurveRow(0, head=(12, 10, 8, 7, 6, 5, 4, 3, 2, 1)),
    "bg_top_25": CurveRow(26),
    "bg_top_30": CurveRow(31),
    # The real values are unknown: imported points are kept, and new ones follow the linear curve.
    "bg_past_times": CurveRow(101),
}


def _percent_points(percent: int, rank: int) -> int:
    """100 times (percent / 100) to the power of rank - 1, rounded half up."""
    if rank > PERCENT_RANK_MAX:
        return 0
    exact = 100 * Decimal(percent).scaleb(-2) ** (rank - 1)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


@cache
def _falling_curve() -> tuple[int, ...]:
    """The 95 percent curve, in which each rank is worth at least one point less than the rank before."""
    values = [100]
    for rank in range(2, PERCENT_RANK_MAX + 1):
        whole = 100 * 95 ** (rank - 1) // 100 ** (rank - 1)
        values.append(max(0, min(whole, values[-1] - 1)))
    return tuple(values)


def _falling_points(rank: int) -> int:
    table = _falling_curve()
    return table[rank - 1] if rank <= len(table) else 0


PERCENTAGES: dict[str, Callable[[int], int]] = {
    "bg_50_percent_de": lambda rank: _percent_points(50, rank),
    "bg_90_percent_de": lambda rank: _percent_points(90, rank),
    "bg_95_pct_mod_de": _falling_points,
}

CUSTOM = "custom"
CURVES = frozenset(CURVE_ROWS) | frozenset(PERCENTAGES) | {CUSTOM}


def points_of_rank(curve: str, rank: int, custom: Sequence[int] = ()) -> int:
    """Whole points of a rank under a curve.

    Takes the wire name of the curve, the rank (1 is best) and, for the curve "custom", the organizer's
    table (points of rank 1, 2, ...; 0 beyond its end). Raises ValueError for a rank below 1 and Invalid
    for an unknown curve. Source: formats, section 15.
    """
    if not 1 <= rank <= RANK_MAX:
        raise ValueError(f"rank {rank} is not between 1 and {RANK_MAX}")
    if curve == CUSTOM:
        return custom[rank - 1] if rank <= len(custom) else 0
    if curve in CURVE_ROWS:
        return CURVE_ROWS[curve].points(rank)
    if curve in PERCENTAGES:
        return PERCENTAGES[curve](rank)
    raise Invalid({"scoring": [f"There is no curve called {curve}. Choose one of the known curves."]})


def points_by_rank(curve: str, ranks: int, custom: Sequence[int] = ()) -> tuple[int, ...]:
    """Whole points of the ranks 1 to `ranks`. Raises as `points_of_rank` does. Source: formats, 15."""
    return tuple(points_of_rank(curve, rank, custom) for rank in range(1, ranks + 1))


def parse_custom_curve(points_map_custom: Mapping[str, object]) -> tuple[int, ...]:
    """The organizer's own curve: points of rank 1, 2, ...; later ranks are worth nothing.

    Takes {"curve": [100, 90, ...]}, numbers or texts. Raises Invalid when the list is missing, empty or
    too long, or when a value is not a whole number from 0 on. Source: formats, section 15.
    """
    listed = points_map_custom.get("curve")
    if not isinstance(listed, list | tuple) or not 1 <= len(listed) <= CUSTOM_RANKS_MAX:
        sentence = f"A custom curve needs 1 to {CUSTOM_RANKS_MAX} values in curve: the points by rank."
        raise Invalid({"pointsMapCustom": [sentence]})
    for value in listed:
        if not str(value).isdecimal():
            raise Invalid({"pointsMapCustom": [f"{value!r} is not a whole number of points."]})
    return tuple(int(str(value)) for value in listed)
