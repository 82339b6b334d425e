"""Pingolf: strokes of a hole and totals. Source: formats, section 16."""

from collections.abc import Sequence
from typing import TypeAlias

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


# Pin bowling: pins, frames and totals as in ten-pin bowling. Source: formats, section 17.


PINS = 10
OPEN_PINS_MAX = 9

Frame: TypeAlias = Sequence[int]


def pins_by_closeness(score: int, target_score: int) -> int:
    """Pins (0 to 9) of a frame whose target was not reached: a tenth of the target each.

    Takes two pinball scores (points). Raises ValueError when the target was reached, because the ball
    decides then. Source: formats, section 17.
    """
    if not 0 <= score < target_score:
        raise ValueError(f"score {score} is not between 0 and the target {target_score}")
    return min(OPEN_PINS_MAX, PINS * score // target_score)


def check_frame(rolls: Frame, *, is_last: bool) -> None:
    """Refuse impossible rolls. Takes pins per roll; an empty frame is not played yet.

    Raises Invalid for pins outside 0 to 10, for more pins than are standing, and for too many rolls.
    Source: formats, section 17.
    """
    if any(not 0 <= pins <= PINS for pins in rolls):
        raise Invalid({"rolls": ["A roll knocks down 0 to 10 pins."]})
    if len(rolls) > _rolls_max(rolls, is_last=is_last):
        raise Invalid({"rolls": ["This frame has too many rolls."]})
    standing = PINS
    for pins in rolls:
        if pins > standing:
            raise Invalid({"rolls": [f"Only {standing} pins were standing for a roll of {pins}."]})
        standing = PINS if pins == standing else standing - pins


def _rolls_max(rolls: Frame, *, is_last: bool) -> int:
    has_strike = bool(rolls) and rolls[0] == PINS
    if not is_last:
        return 1 if has_strike else 2
    return 3 if has_strike or sum(rolls[:2]) == PINS else 2


def is_complete(rolls: Frame, *, is_last: bool) -> bool:
    """Whether a frame has all its rolls. Source: formats, section 17."""
    return len(rolls) == _rolls_max(rolls, is_last=is_last)


def frame_values(frames: Sequence[Frame], frame_count: int = PINS) -> list[int | None]:
    """Value of each frame with its bonus rolls; None while the value is open.

    Takes the rolls of the frames from the first on (missing frames are not played) and `golfDuration`,
    the number of frames. A strike is worth 10 and the next two rolls, a spare 10 and the next roll, the
    last frame the sum of its rolls. Raises Invalid as `check_frame` does, and for too many frames.
    Source: formats, section 17.
    """
    if len(frames) > frame_count:
        raise Invalid({"rolls": [f"There are only {frame_count} frames."]})
    for index, rolls in enumerate(frames):
        check_frame(rolls, is_last=index == frame_count - 1)
    values = [_frame_value(frames, index, frame_count) for index in range(len(frames))]
    return values + [None] * (frame_count - len(frames))


def _frame_value(frames: Sequence[Frame], index: int, frame_count: int) -> int | None:
    rolls, is_last = frames[index], index == frame_count - 1
    if not is_complete(rolls, is_last=is_last):
        return None
    if is_last or sum(rolls) < PINS:
        return sum(rolls)
    bonus_rolls = 2 if len(rolls) == 1 else 1
    following = _following_rolls(frames, index, frame_count)[:bonus_rolls]
    return PINS + sum(following) if len(following) == bonus_rolls else None


def _following_rolls(frames: Sequence[Frame], index: int, frame_count: int) -> list[int]:
    """The rolls after a frame, up to the first missing one."""
    rolled: list[int] = []
    for later in range(index + 1, len(frames)):
        rolled += frames[later]
        if not is_complete(frames[later], is_last=later == frame_count - 1):
            break
    return rolled


def strikes_and_spares(frames: Sequence[Frame]) -> tuple[int, int]:
    """The number of strikes and of spares; more of each is better. Takes frames as `frame_values` does.

    The bonus rolls of the last frame count as strikes and spares too. Source: formats, section 17.
    """
    strikes = spares = 0
    for rolls in frames:
        standing, is_first_ball = PINS, True
        for pins in rolls:
            is_down = pins == standing
            strikes += is_down and is_first_ball
            spares += is_down and not is_first_ball
            standing, is_first_ball = (PINS, True) if is_down else (standing - pins, False)
    return strikes, spares
