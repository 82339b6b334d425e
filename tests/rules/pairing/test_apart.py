"""Pairs that should not meet. Source: formats, section 26."""

from decimal import Decimal
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.values import replace
from silverball.rules.commands import roster
from silverball.rules.drawing.apart import ApartFacts, keep_apart
from silverball.rules.drawing.groups import Draw
from silverball.rules.drawing.history import DrawHistory
from silverball.rules.model.changes import GameOpened
from silverball.rules.registry import FORMATS
from silverball.rules.verify import replay

PAIRINGS = ("random", "balanced", "swiss", "strictswiss")


def facts(
    *pairs: tuple[int, int], scores: dict[int, int] | None = None, by_score: bool = False
) -> ApartFacts:
    given_scores = {player_id: Decimal(score) for player_id, score in (scores or {}).items()}
    # 1 and 3 have met twice, 1 and 4 never.
    past = DrawHistory({(1, 3): 2, (2, 5): 1})
    return ApartFacts(pairs=frozenset(pairs), past=past, scores=given_scores, is_by_score=by_score)


def a_room(kind: str, players: int, pairs: list[tuple[int, int]], seed: int = 0, **given: object) -> Night:
    night = a_night(kind, players=players, arenas=6, **given)
    state = replace(night.tournament.state, dice_seed=f"seed {seed}")
    night.tournament = replace(night.tournament, state=state)
    night.apply(roster.set_pairs_apart(night.tournament, pairs))
    night.start()
    return night


def meeting(night: Night) -> set[tuple[int, int]]:
    return {
        pair
        for game in night.open_games()
        for pair in combinations(sorted(game.player_ids), 2)
        if pair in night.tournament.state.apart
    }


def test_a_draw_without_such_a_pair_is_left_as_it_is() -> None:
    draw = Draw(((1, 2), (3, 4)), (5,))
    assert keep_apart(draw, facts((1, 3), (1, 5))) == draw


@pytest.mark.parametrize(
    ("draw", "pairs", "expected"),
    [
        # By hand: 1 and 3 met twice, so 1 takes the seat that meets 4.
        (((1, 2), (3, 4)), [(1, 2)], {(1, 4), (2, 3)}),
        # Where 1 may meet neither 2 nor 4, a repeat is the smaller evil.
        (((1, 2), (3, 4)), [(1, 2), (1, 4)], {(1, 3), (2, 4)}),
        # Nobody is left to swap with.
        (((1, 2),), [(1, 2)], {(1, 2)}),
    ],
)
def test_seats_are_swapped_with_the_fewest_repeats(
    draw: tuple[tuple[int, ...], ...], pairs: list[tuple[int, int]], expected: set[tuple[int, int]]
) -> None:
    made = keep_apart(Draw(draw), facts(*pairs))
    assert {tuple(sorted(group)) for group in made.groups} == expected


def test_in_swiss_draws_scores_stay_as_near_as_can_be() -> None:
    scores = {1: 3, 2: 3, 3: 2, 4: 0}
    made = keep_apart(Draw(((1, 2), (3, 4))), facts((1, 2), scores=scores, by_score=True))
    # By hand: 1 with 3 and 2 with 4 has gaps of 1 and 3, as 1 with 4 and 2 with 3; the repeat decides.
    assert {tuple(sorted(group)) for group in made.groups} == {(1, 4), (2, 3)}


def test_the_bye_goes_where_it_went() -> None:
    # Three players: the two who should not meet play when the third has the bye.
    made = keep_apart(Draw(((1, 2),), (3,)), facts((1, 2)))
    assert made == Draw(((1, 2),), (3,))


@given(
    st.sampled_from(["matchplay", "group_matchplay", "knockout", "group_knockout"]),
    st.sampled_from(PAIRINGS),
    st.integers(4, 13),
    st.integers(0, 2**16),
)
@quick
def test_two_who_should_not_meet_do_not_where_others_are_there(
    kind: str, pairing: str, players: int, seed: int
) -> None:
    dice = Random(seed)
    ann, other = dice.sample(range(1, players + 1), 2)
    if kind.startswith("group") and players == 4:
        # All four are one group.
        return
    night = a_room(kind, players, [(ann, other)], seed, pairing=pairing)
    for _ in range(3):
        before = replay.stored_state(night.tournament)
        if len(FORMATS[kind].playing_ids(night.tournament)) <= 4 or night.tournament.status != "started":
            break
        night.open_round()
        assert meeting(night) == set()
        assert replay.draw_faults(FORMATS[kind].verify, before, night.journal[-1], 5) == []
        for game in night.open_games():
            night.record_order(game, *random_order(game, dice))


@given(st.integers(4, 12), st.integers(0, 2**16), st.sampled_from(PAIRINGS))
@quick
def test_byes_and_sizes_of_groups_are_those_of_the_draw_without_pairs(
    players: int, seed: int, pairing: str
) -> None:
    dice = Random(seed)
    pairs = [tuple(sorted(dice.sample(range(1, players + 1), 2))) for _ in range(dice.randint(1, 6))]
    for kind in ("matchplay", "group_matchplay"):
        plain = a_room(kind, players, [], seed, pairing=pairing)
        kept = a_room(kind, players, [(ann, ben) for ann, ben in pairs], seed, pairing=pairing)
        shapes = []
        for night in (plain, kept):
            night.open_round()
            games = night.tournament.games
            byes = {game.player_ids for game in games if game.is_bye}
            shapes.append((sorted(len(game.player_ids) for game in games), byes))
        assert shapes[0] == shapes[1]


def test_a_pair_that_meets_although_others_could_change_seats_is_found() -> None:
    night = a_room("matchplay", 4, [(1, 2)])
    before = replay.stored_state(night.tournament)
    night.open_round()
    changes = night.journal[-1]
    wrong = iter(((1, 2), (3, 4)))
    swapped = [
        GameOpened(replace(change.subject, player_ids=next(wrong)))
        if isinstance(change, GameOpened)
        else change
        for change in changes
    ]
    checks = FORMATS["matchplay"].verify
    assert replay.draw_faults(checks, before, changes, 5) == []
    assert replay.draw_faults(checks, before, swapped, 5) == [
        "Round 1, drawn by action 5, lets a pair meet that should not, and could be kept apart."
    ]
