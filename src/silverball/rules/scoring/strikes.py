"""Strikes of a game, and the points and positions that encode them. Source: formats, sections 10 and 12."""

from collections.abc import Sequence
from decimal import Decimal
from enum import Enum

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.rules.scoring import point_maps

NO_STRIKE = Decimal("1.00")
STRIKE = Decimal("0.00")
THREE_PLAYER_STRIKES_ONE = 1


class StrikeRule(Enum):
    """The strikes that a game gives; values from 1 on are the codes of `knockoutFourPlayerStrikes`."""

    HEAD_TO_HEAD = 0
    ONE = 1
    TWO = 2
    THREE = 3
    PROGRESSIVE = 100
    FAIR = 101

    @property
    def is_standard(self) -> bool:
        """Whether each player gets one strike or none, and the wire has no finishing order."""
        return self in STANDARD_RULES


STANDARD_RULES = frozenset({StrikeRule.ONE, StrikeRule.TWO, StrikeRule.THREE})


class StrikeSettings(Struct, frozen=True):
    """The strike rule, and the number of strikes in a standard group of three (1, else two)."""

    rule: StrikeRule
    three_player_strikes: int = THREE_PLAYER_STRIKES_ONE


HEAD_TO_HEAD = StrikeSettings(StrikeRule.HEAD_TO_HEAD)

STRIKE_TABLES: dict[StrikeRule, dict[int, tuple[int, ...]]] = {
    StrikeRule.HEAD_TO_HEAD: {2: (0, 1)},
    StrikeRule.ONE: {2: (0, 1), 4: (0, 0, 0, 1)},
    StrikeRule.TWO: {2: (0, 1), 4: (0, 0, 1, 1)},
    StrikeRule.THREE: {2: (0, 1), 4: (0, 1, 1, 1)},
    StrikeRule.PROGRESSIVE: {2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 2, 3)},
    StrikeRule.FAIR: {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 1, 2)},
}

POINTS_TO_STRIKES: dict[StrikeRule, dict[int, dict[Decimal, int]]] = {
    StrikeRule.PROGRESSIVE: {
        2: {Decimal("1.00"): 0, Decimal("0.01"): 1},
        3: {Decimal("1.00"): 0, Decimal("0.02"): 1, Decimal("0.01"): 2},
        4: {Decimal("1.00"): 0, Decimal("0.03"): 1, Decimal("0.02"): 2, Decimal("0.01"): 3},
    },
    StrikeRule.FAIR: {
        2: {Decimal("1.00"): 0, Decimal("0.01"): 2},
        3: {Decimal("1.00"): 0, Decimal("0.02"): 1, Decimal("0.01"): 2},
        4: {Decimal("1.00"): 0, Decimal("0.02"): 1, Decimal("0.01"): 2},
    },
}
STANDARD_POINTS = {NO_STRIKE: 0, STRIKE: 1}


def group_strike_settings(
    four_player_strikes: int, three_player_strikes: int, *, fair: bool, progressive: bool
) -> StrikeSettings:
    """The strike settings of a group knockout, from its four wire keys.

    Takes `knockoutFourPlayerStrikes` (1, 2, 3, 100 progressive, 101 fair), `knockoutThreePlayerStrikes`
    (1: only the last gets a strike; 0 or 2: second and third get one) and the two flags, which override
    the code. Raises Invalid for an unknown code and for both flags at once. Source: formats, section 12.
    """
    if fair and progressive:
        raise Invalid({"knockoutFair": ["Strikes are either fair or progressive, not both. Choose one."]})
    if fair or progressive:
        rule = StrikeRule.FAIR if fair else StrikeRule.PROGRESSIVE
        return StrikeSettings(rule, three_player_strikes)
    if four_player_strikes not in {1, 2, 3, 100, 101}:
        raise Invalid({"knockoutFourPlayerStrikes": ["A group of four gives 1, 2 or 3 strikes, 100 or 101."]})
    if three_player_strikes not in {0, 1, 2}:
        raise Invalid({"knockoutThreePlayerStrikes": ["A group of three gives 1 strike, or 0 for two."]})
    return StrikeSettings(StrikeRule(four_player_strikes), three_player_strikes)


def strikes_by_place(settings: StrikeSettings, group_size: int) -> tuple[int, ...]:
    """Strikes of first, second, ... in a group of this size. A group of one (a bye) gives none.

    Raises ValueError for a size that the rule does not define. Source: formats, section 12.
    """
    if group_size == 1:
        return (0,)
    if group_size == 3 and settings.rule.is_standard:
        return (0, 0, 1) if settings.three_player_strikes == THREE_PLAYER_STRIKES_ONE else (0, 1, 1)
    known = STRIKE_TABLES[settings.rule].get(group_size)
    if known is None:
        raise ValueError(f"{settings.rule.name} strikes are not defined for a group of {group_size}")
    return known


def strikes_by_slot(
    settings: StrikeSettings, player_ids: Sequence[int], finishing_order: Sequence[int]
) -> tuple[int, ...]:
    """Strikes of a result: one count per player, in the game's player order.

    Takes the player ids by slot and the finishing order. Raises ValueError unless both hold the same
    players. Source: formats, section 12.
    """
    given = strikes_by_place(settings, len(player_ids))
    places = _places_by_slot(player_ids, finishing_order)
    return tuple(given[place] for place in places)


def points_by_place(settings: StrikeSettings, group_size: int) -> tuple[Decimal, ...]:
    """Result points of first, second, ... in a group of this size: a code for strikes, not a score.

    Standard and head to head: 1.00 without a strike, 0.00 with one. Raises as `strikes_by_place` does.
    Source: formats, sections 10 and 11.
    """
    given = strikes_by_place(settings, group_size)
    if settings.rule is StrikeRule.FAIR:
        return point_maps.points_by_place(point_maps.FAIR, group_size)
    if settings.rule is StrikeRule.PROGRESSIVE:
        return point_maps.points_by_place(point_maps.PROGRESSIVE, group_size)
    return tuple(STRIKE if strikes else NO_STRIKE for strikes in given)


def points_by_slot(
    settings: StrikeSettings,
    player_ids: Sequence[int],
    finishing_order: Sequence[int],
    gave_up_ids: Sequence[int] = (),
) -> tuple[Decimal, ...]:
    """Result points: one per player, in the game's player order. Takes and raises as `strikes_by_slot`.

    Who gave up has those of the last place.
    """
    earned = points_by_place(settings, len(player_ids))
    places = _places_by_slot(player_ids, finishing_order)
    return tuple(
        earned[-1 if player_id in gave_up_ids else place]
        for player_id, place in zip(player_ids, places, strict=True)
    )


def points_of_strikers(
    settings: StrikeSettings,
    player_ids: Sequence[int],
    striker_ids: Sequence[int],
    gave_up_ids: Sequence[int] = (),
) -> tuple[Decimal, ...]:
    """Result points by slot of a standard game that was entered as the players with a strike.

    Raises Invalid when the rule needs a finishing order, when the number of strikes breaks the rule, or
    when a player with a strike did not play. Source: formats, section 10.
    """
    if settings.rule in {StrikeRule.FAIR, StrikeRule.PROGRESSIVE}:
        raise Invalid({"strikes": ["These strikes follow from the finishing order. Enter the order."]})
    strikers = set(striker_ids)
    by_place = strikes_by_place(settings, len(player_ids))
    # The others have the places before those who gave up.
    needed = sum(by_place[: len(player_ids) - len(gave_up_ids)]) + len(gave_up_ids)
    if not strikers <= set(player_ids):
        raise Invalid({"strikes": ["A player with a strike did not play this game."]})
    if len(strikers) != needed or len(striker_ids) != needed:
        raise Invalid({"strikes": [f"This game gives {needed} strikes, not {len(striker_ids)}."]})
    return tuple(STRIKE if player_id in strikers else NO_STRIKE for player_id in player_ids)


def strikes_from_points(settings: StrikeSettings, result_points: Sequence[Decimal]) -> tuple[int, ...]:
    """Strikes decoded from the result points of a game, slot by slot. A game of one (a bye) gives none.

    Raises Invalid for points that stand for no strikes under the rule. Source: formats, section 12
    (1,357 of 1,357 real games).
    """
    group_size = len(result_points)
    if group_size == 1:
        return (0,)
    meanings = POINTS_TO_STRIKES.get(settings.rule, {}).get(group_size, {})
    if settings.rule not in POINTS_TO_STRIKES:
        meanings = STANDARD_POINTS
    unknown = [points for points in result_points if points not in meanings]
    if unknown:
        raise Invalid({"resultPoints": [f"{unknown[0]} points stand for no strikes in this game."]})
    return tuple(meanings[points] for points in result_points)


def wire_positions(
    settings: StrikeSettings,
    player_ids: Sequence[int],
    result_points: Sequence[Decimal],
    finishing_order: Sequence[int] = (),
) -> tuple[int | None, ...]:
    """`resultPositions` on the wire, from the points by slot and the finishing order if it is known.

    Head to head, progressive and fair groups of two or three have the full order. Fair groups of four
    have [first, null, third, last]; without an order, third is the middle player in the higher slot.
    Standard strikes have only nulls and, at the end, the player without a strike in the highest slot.
    Source: formats, section 10 (1,043 of 1,043 and 148 of 148 real games).
    """
    best_first = tuple(finishing_order) or _order_by_points(player_ids, result_points)
    if settings.rule.is_standard and len(player_ids) > 1:
        return _last_without_strike(player_ids, result_points)
    if settings.rule is StrikeRule.FAIR and len(player_ids) == 4:
        return (best_first[0], None, best_first[2], best_first[3])
    return best_first


def is_out(strikes: int, adjustment: Decimal, strike_count: int) -> bool:
    """Whether strikes from games and adjustments reach the limit. Source: formats, section 12."""
    return strikes + adjustment >= strike_count


def _places_by_slot(player_ids: Sequence[int], finishing_order: Sequence[int]) -> tuple[int, ...]:
    if sorted(player_ids) != sorted(finishing_order):
        raise ValueError("the finishing order does not hold the players of the game")
    return tuple(finishing_order.index(player_id) for player_id in player_ids)


def _order_by_points(player_ids: Sequence[int], result_points: Sequence[Decimal]) -> tuple[int, ...]:
    """Player ids from most to fewest points; equal points keep the slot order."""
    slots = sorted(range(len(player_ids)), key=lambda slot: -result_points[slot])
    return tuple(player_ids[slot] for slot in slots)


def _last_without_strike(
    player_ids: Sequence[int], result_points: Sequence[Decimal]
) -> tuple[int | None, ...]:
    slots = zip(player_ids, result_points, strict=True)
    free = [player_id for player_id, points in slots if points == NO_STRIKE]
    hidden: list[int | None] = [None] * (len(player_ids) - 1)
    return (*hidden, free[-1] if free else None)
