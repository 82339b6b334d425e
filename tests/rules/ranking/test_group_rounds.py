"""Rounds of group elimination. Source: formats, sections 13.4 and 14.12; orders worked out by hand."""

from decimal import Decimal

from silverball.rules.ranking import group_rounds
from silverball.rules.ranking.group_rounds import GroupRoundResult
from silverball.rules.scoring import point_maps

HALF, QUARTER, EIGHTH, NOTHING = (Decimal(value) for value in ("0.50", "0.25", "0.12", "0.00"))
FOUR = (1, 2, 3, 4)


def result(scores: dict[int, int], *tiebreaks: dict[int, Decimal], finished: bool = True) -> GroupRoundResult:
    return GroupRoundResult(
        groups=[FOUR],
        scores={player_id: Decimal(score) for player_id, score in scores.items()},
        ties=group_rounds.break_ties(tiebreaks, point_maps.TIEBREAKER),
        finished_groups=frozenset([FOUR]) if finished else frozenset(),
    )


def test_the_best_two_go_on_and_a_tie_for_second_place_is_named() -> None:
    assert result({1: 9, 2: 5, 3: 4, 4: 3}).advancing_ids() == {1, 2}
    tied = result({1: 9, 2: 5, 3: 5, 4: 3})
    assert tied.tied_groups() == [(2, 3)]
    assert tied.advancing_ids() == {1}
    all_three = result({1: 7, 2: 7, 3: 7, 4: 0})
    assert (all_three.tied_groups(), all_three.advancing_ids()) == ([(1, 2, 3)], frozenset())


def test_ties_above_and_below_the_line_decide_nothing() -> None:
    assert result({1: 6, 2: 6, 3: 4, 4: 4}).tied_groups() == []


def test_nobody_goes_on_before_all_games_are_played() -> None:
    unfinished = result({1: 9, 2: 5, 3: 4, 4: 3}, finished=False)
    assert (unfinished.tied_groups(), unfinished.advancing_ids()) == ([], frozenset())


def test_a_tiebreak_never_outweighs_a_score() -> None:
    # 3 won a tiebreak that a correction has made superfluous: 2 has more points.
    decided = result({1: 9, 2: 6, 3: 5, 4: 3}, {3: Decimal(2), 4: NOTHING})
    assert decided.advancing_ids() == {1, 2}


def test_a_second_tiebreak_does_not_overtake_the_winner_of_the_first() -> None:
    ties = group_rounds.break_ties(
        ({1: HALF, 2: QUARTER, 3: QUARTER}, {2: NOTHING, 3: HALF}), point_maps.TIEBREAKER
    )
    assert ties.values == {1: HALF, 3: QUARTER, 2: NOTHING}


def test_a_player_who_was_outside_the_first_tiebreak_starts_level_with_its_last() -> None:
    ties = group_rounds.break_ties(
        ({1: HALF, 2: QUARTER, 3: NOTHING}, {3: NOTHING, 4: HALF}), point_maps.TIEBREAKER
    )
    ordered = sorted(ties.keys, key=lambda player_id: ties.keys[player_id], reverse=True)
    assert ordered == [1, 2, 4, 3]
    assert ties.values == {1: HALF, 2: QUARTER, 4: EIGHTH, 3: NOTHING}


def test_tiebreaks_of_different_players_share_out_their_values_apart() -> None:
    ties = group_rounds.break_ties(({1: HALF, 2: NOTHING}, {5: HALF, 6: NOTHING}), point_maps.TIEBREAKER)
    assert ties.values == {1: HALF, 2: NOTHING, 5: HALF, 6: NOTHING}
