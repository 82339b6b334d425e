"""Strikes. Source: formats, sections 10 and 12, and six real knockouts."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.drawing import groups
from silverball.rules.scoring import strikes
from silverball.rules.scoring.strikes import StrikeRule, StrikeSettings

KNOCKOUTS = load.vectors("knockouts")
STANDARD = StrikeSettings(StrikeRule.TWO)
FAIR = StrikeSettings(StrikeRule.FAIR)
PROGRESSIVE = StrikeSettings(StrikeRule.PROGRESSIVE)


def _settings(night: Any) -> StrikeSettings:
    if night["type"] == "knockout":
        return strikes.HEAD_TO_HEAD
    return strikes.group_strike_settings(
        night["four"], night["three"], fair=night["knockoutFair"], progressive=False
    )


def _decimals(points: Sequence[str]) -> list[Decimal]:
    return [Decimal(value) for value in points]


@pytest.mark.parametrize("night", KNOCKOUTS, ids=range(len(KNOCKOUTS)))
def test_a_real_knockout_replays_to_its_strikes_and_eliminations(night: Any) -> None:
    settings, count = _settings(night), night["knockoutStrikeCount"]
    totals: Counter[int] = Counter()
    out: dict[int, int] = {}
    for number, played in enumerate(night["rounds"], start=1):
        alive = {player_id for game in played for player_id in game["players"]}
        for game in played:
            given_strikes = strikes.strikes_from_points(settings, _decimals(game["points"]))
            totals.update(dict(zip(game["players"], given_strikes, strict=True)))
        for player_id in alive:
            if strikes.is_out(totals[player_id], Decimal(0), count):
                out.setdefault(player_id, number)
    expected = night["expected"]
    assert {str(player_id): total for player_id, total in totals.items()} == expected["strikes"]
    assert {str(player_id): number for player_id, number in out.items()} == expected["eliminatedInRound"]


@pytest.mark.parametrize("night", KNOCKOUTS, ids=range(len(KNOCKOUTS)))
def test_a_real_group_knockout_has_groups_of_the_expected_sizes(night: Any) -> None:
    if night["type"] == "knockout":
        return
    for played in night["rounds"]:
        sizes = sorted((len(game["players"]) for game in played), reverse=True)
        assert tuple(sizes) == groups.group_sizes(sum(sizes))


@pytest.mark.parametrize("night", KNOCKOUTS, ids=range(len(KNOCKOUTS)))
def test_a_real_game_shows_the_real_positions(night: Any) -> None:
    settings = _settings(night)
    for game in [game for played in night["rounds"] for game in played]:
        shown = strikes.wire_positions(settings, game["players"], _decimals(game["points"]))
        expected = game["positions"]
        nulls = [player_id is None for player_id in expected]
        assert [player_id is None for player_id in shown] == nulls
        if settings.rule.is_standard:
            # Any of the players without a strike may be listed.
            free = dict(zip(game["players"], game["points"], strict=True))
            assert free[shown[-1]] == free[expected[-1]] == "1.00"
        else:
            # The two middle players of fair strikes are equals: either may be shown third.
            assert (shown[0], shown[-1]) == (expected[0], expected[-1])


@pytest.mark.parametrize(
    ("rule", "three", "size", "by_place"),
    [
        # Source: formats, section 12, table of variants.
        (StrikeRule.HEAD_TO_HEAD, 1, 2, (0, 1)),
        (StrikeRule.ONE, 1, 4, (0, 0, 0, 1)),
        (StrikeRule.TWO, 1, 4, (0, 0, 1, 1)),
        (StrikeRule.THREE, 1, 4, (0, 1, 1, 1)),
        (StrikeRule.TWO, 1, 3, (0, 0, 1)),
        (StrikeRule.TWO, 0, 3, (0, 1, 1)),
        (StrikeRule.TWO, 2, 3, (0, 1, 1)),
        (StrikeRule.THREE, 1, 2, (0, 1)),
        (StrikeRule.PROGRESSIVE, 0, 4, (0, 1, 2, 3)),
        (StrikeRule.PROGRESSIVE, 1, 3, (0, 1, 2)),
        (StrikeRule.PROGRESSIVE, 1, 2, (0, 1)),
        (StrikeRule.FAIR, 0, 4, (0, 1, 1, 2)),
        (StrikeRule.FAIR, 1, 3, (0, 1, 2)),
        (StrikeRule.FAIR, 1, 2, (0, 2)),
        (StrikeRule.TWO, 1, 1, (0,)),
    ],
)
def test_each_place_costs_its_strikes(
    rule: StrikeRule, three: int, size: int, by_place: tuple[int, ...]
) -> None:
    assert strikes.strikes_by_place(StrikeSettings(rule, three), size) == by_place


@given(
    st.sampled_from([rule for rule in StrikeRule if rule is not StrikeRule.HEAD_TO_HEAD]),
    st.sampled_from([0, 1, 2]),
    st.permutations([1, 2, 3, 4]),
    st.integers(2, 4),
)
@quick
def test_points_of_a_result_stand_for_its_strikes(
    rule: StrikeRule, three: int, order: list[int], size: int
) -> None:
    settings, finishing_order = StrikeSettings(rule, three), order[:size]
    slots = sorted(finishing_order)
    points = strikes.points_by_slot(settings, slots, finishing_order)
    assert strikes.strikes_from_points(settings, points) == strikes.strikes_by_slot(
        settings, slots, finishing_order
    )
    if rule.is_standard:
        strikers = [slot for slot, value in zip(slots, points, strict=True) if value == 0]
        assert strikes.points_of_strikers(settings, slots, strikers) == points


@pytest.mark.parametrize(
    ("settings", "slots", "order", "points", "positions"),
    [
        # Source: formats, section 10, table of situations.
        (STANDARD, [1, 2, 3, 4], [3, 1, 2, 4], ["1.00", "0.00", "1.00", "0.00"], (None, None, None, 3)),
        (STANDARD, [1, 2], [1, 2], ["1.00", "0.00"], (None, 1)),
        (FAIR, [1, 2, 3, 4], [4, 3, 1, 2], ["0.02", "0.01", "0.02", "1.00"], (4, None, 1, 2)),
        (FAIR, [5, 6, 7], [6, 7, 5], ["0.01", "1.00", "0.02"], (6, 7, 5)),
        (FAIR, [5, 6], [6, 5], ["0.01", "1.00"], (6, 5)),
        (PROGRESSIVE, [1, 2, 3, 4], [4, 3, 1, 2], ["0.02", "0.01", "0.03", "1.00"], (4, 3, 1, 2)),
        (strikes.HEAD_TO_HEAD, [1, 2], [2, 1], ["0.00", "1.00"], (2, 1)),
        (strikes.HEAD_TO_HEAD, [1], [1], ["1.00"], (1,)),
    ],
)
def test_a_result_has_its_points_and_shows_its_positions(
    settings: StrikeSettings,
    slots: list[int],
    order: list[int],
    points: list[str],
    positions: tuple[int | None, ...],
) -> None:
    earned = strikes.points_by_slot(settings, slots, order)
    assert list(earned) == _decimals(points)
    assert strikes.wire_positions(settings, slots, earned, order) == positions


def test_an_unknown_fair_order_shows_the_middle_player_in_the_higher_slot() -> None:
    points = _decimals(["0.02", "0.01", "0.02", "1.00"])
    assert strikes.wire_positions(FAIR, [1, 2, 3, 4], points) == (4, None, 3, 2)


@pytest.mark.parametrize(
    ("four", "fair", "progressive", "rule"),
    [
        (1, False, False, StrikeRule.ONE),
        (2, False, False, StrikeRule.TWO),
        (100, False, True, StrikeRule.PROGRESSIVE),
        (101, True, False, StrikeRule.FAIR),
        (101, False, False, StrikeRule.FAIR),
        (2, True, False, StrikeRule.FAIR),
    ],
)
def test_the_flags_win_over_the_code(four: int, fair: bool, progressive: bool, rule: StrikeRule) -> None:
    assert strikes.group_strike_settings(four, 1, fair=fair, progressive=progressive).rule is rule


@pytest.mark.parametrize(
    ("four", "three", "both"), [(2, 1, True), (0, 1, False), (4, 1, False), (2, 3, False)]
)
def test_impossible_strike_settings_are_refused(four: int, three: int, both: bool) -> None:
    with pytest.raises(Invalid):
        strikes.group_strike_settings(four, three, fair=both, progressive=both)


@pytest.mark.parametrize(
    ("settings", "strikers"), [(STANDARD, [1]), (STANDARD, [1, 9]), (STANDARD, [1, 1]), (FAIR, [1, 2])]
)
def test_strikes_that_the_rule_does_not_give_are_refused(
    settings: StrikeSettings, strikers: list[int]
) -> None:
    with pytest.raises(Invalid):
        strikes.points_of_strikers(settings, [1, 2, 3, 4], strikers)


@pytest.mark.parametrize(("settings", "points"), [(STANDARD, ["1.00", "0.02"]), (FAIR, ["1.00", "0.02"])])
def test_points_that_mean_no_strikes_are_refused(settings: StrikeSettings, points: list[str]) -> None:
    with pytest.raises(Invalid, match="stand for no strikes"):
        strikes.strikes_from_points(settings, _decimals(points))


def test_an_unknown_group_or_a_foreign_player_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="group of 5"):
        strikes.strikes_by_place(FAIR, 5)
    with pytest.raises(ValueError, match="finishing order"):
        strikes.strikes_by_slot(FAIR, [1, 2], [1, 3])


def test_adjustments_count_towards_elimination() -> None:
    assert strikes.is_out(2, Decimal(1), 3)
    assert not strikes.is_out(3, Decimal("-0.5"), 3)
