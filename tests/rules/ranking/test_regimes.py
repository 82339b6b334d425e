"""Wins and losses. Source: formats, section 22."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import StoredResult, WinLossRule
from silverball.rules.registry import FORMATS


def _result(points: Sequence[str], positions: Sequence[int | None]) -> StoredResult:
    player_ids = tuple(range(1, len(points) + 1))
    return StoredResult(player_ids, tuple(positions), tuple(Decimal(value) for value in points))


def _records(rule: WinLossRule, points: Sequence[str], positions: Sequence[int | None]) -> list[str]:
    records = standing.win_loss_records(rule, _result(points, positions))
    return [f"{record.wins}-{record.losses}" for record in records.values()]


@pytest.mark.parametrize(
    ("type_", "fair", "progressive", "rule"),
    [
        ("knockout", False, False, WinLossRule.POSITIONS),
        ("group_matchplay", False, False, WinLossRule.POSITIONS),
        ("group_knockout", False, False, WinLossRule.STRIKE),
        ("group_knockout", True, False, WinLossRule.FAIR_STRIKES),
        ("group_knockout", False, True, WinLossRule.POSITIONS),
        ("best_game", False, False, WinLossRule.NONE),
        ("golf_bracket", False, False, WinLossRule.NONE),
        ("amazingrace", False, False, WinLossRule.NONE),
    ],
)
def test_the_format_decides_what_a_win_is(
    type_: str, fair: bool, progressive: bool, rule: WinLossRule
) -> None:
    chosen = {"knockoutFair": fair, "knockoutProgressive": progressive}
    assert FORMATS[type_].win_loss_rule(chosen) is rule


NULLS = (None, None, None, 1)


@pytest.mark.parametrize(
    ("rule", "points", "positions", "records"),
    [
        (WinLossRule.POSITIONS, ["7", "5", "3", "1"], (1, 2, 3, 4), ["3-0", "2-1", "1-2", "0-3"]),
        (WinLossRule.POSITIONS, ["0", "1"], (2, 1), ["0-1", "1-0"]),
        (
            WinLossRule.FAIR_STRIKES,
            ["1.00", "0.02", "0.02", "0.01"],
            (1, None, 3, 4),
            ["3-0", "1-1", "1-1", "0-3"],
        ),
        (WinLossRule.STRIKE, ["1.00", "0.00", "0.00", "1.00"], NULLS, ["2-0", "0-2", "0-2", "2-0"]),
        (WinLossRule.STRIKE, ["1.00", "1.00", "0.00"], (None, None, 2), ["1-0", "1-0", "0-2"]),
        (WinLossRule.NONE, ["1", "0"], (1, 2), ["0-0", "0-0"]),
        (WinLossRule.POSITIONS, ["1.00"], (1,), ["0-0"]),
        # An imported game without a full order falls back on its points.
        (WinLossRule.POSITIONS, ["7", "5", "3", "1"], NULLS, ["3-0", "2-1", "1-2", "0-3"]),
    ],
)
def test_wins_and_losses_follow_the_regime(
    rule: WinLossRule, points: list[str], positions: tuple[int | None, ...], records: list[str]
) -> None:
    assert _records(rule, points, positions) == records


@given(
    st.sampled_from(list(WinLossRule)),
    st.permutations([1, 2, 3, 4]),
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
)
@quick
def test_wins_and_losses_of_a_game_cancel_out(rule: WinLossRule, order: list[int], points: list[int]) -> None:
    records = standing.win_loss_records(rule, _result([str(value) for value in points], order)).values()
    assert sum(record.wins for record in records) == sum(record.losses for record in records)


def test_a_tie_has_no_winner() -> None:
    met = standing.pair_results(WinLossRule.STRIKE, _result(["1", "1"], (None, 1)))
    assert [meeting.winner_id for meeting in met] == [None]


def test_parts_of_different_lengths_are_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="one position"):
        standing.pair_results(WinLossRule.POSITIONS, StoredResult((1, 2), (1,), (Decimal(1),)))


def test_an_order_that_does_not_name_every_player_leaves_it_to_the_points() -> None:
    lost = StoredResult((1, 2), (1, 99), (Decimal(0), Decimal(1)))
    assert standing.pair_results(WinLossRule.POSITIONS, lost) == [standing.PairResult(1, 2, 2)]
