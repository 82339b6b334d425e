"""Pingolf: strokes of a hole and totals. Source: formats, section 16."""

from collections.abc import Sequence

from msgspec import Struct

from silverball.kit.errors import Invalid

STROKES_MAX = 10
BALLS_PER_GAME = 5


class GolfTiebreak(Struct, frozen=True):
    """The `tiebreakers` of a row (total, holes in 1, 2 and 3) and its sort key, lowest first."""

    values: tuple[int, int, int, int]
    key: tuple[int, int, int, int]


def strokes_after_last_ball(score: int | None, target_score: int) -> int:
    """Strokes for a hole whose target was not reached with the last ball.

    Takes two pinball scores (points; None for no score) and returns 6 to 10 strokes: one more stroke
    for every fifth of the target still missing, in whole numbers so that tiny targets leave no gaps.
    Raises ValueError when the target was reached, because the ball number decides then.
    Source: formats, section 16; TournamentUtils GolfHole (80/60/40/20 % brackets).
    """
    reached = score or 0
    if not 0 <= reached < target_score:
        raise ValueError(f"score {reached} is not between 0 and the target {target_score}")
    return STROKES_MAX - reached * BALLS_PER_GAME // target_score


def limited_strokes(strokes: int, stroke_limit: int) -> int:
    """Strokes as recorded: at most `golfStrokeLimit` (0 means no limit below 10).

    Raises Invalid below 1 or above 10 strokes. Source: formats, section 16.
    """
    if not 1 <= strokes <= STROKES_MAX:
        raise Invalid({"strokes": [f"A hole takes 1 to {STROKES_MAX} strokes, not {strokes}."]})
    return min(strokes, stroke_limit) if stroke_limit else strokes


def strokes_total(
    strokes: Sequence[int | None], *, holes_counted: int = 0, stroke_limit: int = 0, is_closed: bool = False
) -> int:
    """Total strokes of a player; the fewest are best.

    Takes one entry per hole (None when not played), `golfHolesCounted` (0 for all, else the best k) and
    `golfStrokeLimit`. Holes not played are left out while the tournament runs; once it is completed each
    counts the limit, or 10 without a limit. Source: formats, section 16.
    """
    missing = stroke_limit or STROKES_MAX
    counted = [missing if hole is None else hole for hole in strokes if is_closed or hole is not None]
    best_first = sorted(counted)
    return sum(best_first[:holes_counted] if holes_counted else best_first)


def golf_tiebreak(total_strokes: int, strokes: Sequence[int | None]) -> GolfTiebreak:
    """Total, then more holes with 1 stroke, then with 2, then with 3.

    Takes the player's total and strokes by hole (None when not played). Source: formats, section 16.
    """
    ones, twos, threes = (sum(hole == wanted for hole in strokes) for wanted in (1, 2, 3))
    return GolfTiebreak((total_strokes, ones, twos, threes), (total_strokes, -ones, -twos, -threes))
