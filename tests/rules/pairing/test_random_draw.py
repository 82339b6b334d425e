"""Draws by chance. Source: formats, section 6.1."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.drawing import balanced, groups, history


@given(st.integers(1, 30), st.integers())
@quick
def test_everybody_is_drawn_once(players: int, seed: int) -> None:
    ids = list(range(players))
    pairs = balanced.draw_random_pairs(ids, history.EMPTY_HISTORY, Random(seed))
    assert sorted([player for pair in pairs.groups for player in pair] + list(pairs.byes)) == ids
    fours = balanced.draw_random_groups(ids, Random(seed)).groups
    assert sorted(player for group in fours for player in group) == ids
    assert tuple(map(len, fours)) == groups.group_sizes(players)


def test_the_bye_is_drawn_among_those_with_the_fewest_byes() -> None:
    past, dice = history.history_of_rounds([[(1,), (4,)]]), Random(7)
    byes = Counter(balanced.draw_random_pairs([1, 2, 3, 4, 5], past, dice).byes for _ in range(300))
    assert set(byes) == {(2,), (3,), (5,)}
    assert min(byes.values()) > 60


def test_byes_differ_by_at_most_one() -> None:
    rounds: list[list[groups.Group]] = []
    dice = Random(7)
    for _ in range(30):
        past = history.history_of_rounds(rounds)
        drawn = balanced.draw_random_pairs(range(7), past, dice)
        rounds.append([*drawn.groups, drawn.byes])
    counts = history.history_of_rounds(rounds).byes
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len(counts) == 7


def test_an_even_field_has_no_bye() -> None:
    assert balanced.draw_bye([1, 2], history.EMPTY_HISTORY, Random(7)) is None
