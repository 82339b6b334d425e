"""Value of a tournament from its players. Source: ratings, B.1 and B.2 (observed, to the last bit)."""

import math
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from silverball.rules.planning import value
from silverball.rules.planning.value import BOOSTERS, Booster, Estimate, FieldPlayer


def player(
    ifpa_id: int,
    rank: int | None = None,
    *,
    womens_rank: int | None = None,
    rating: float | None = None,
    events: int | None = 100,
) -> FieldPlayer:
    return FieldPlayer(
        ifpa_id=ifpa_id, rank=rank, womens_rank=womens_rank, rating=rating, total_events=events
    )


# Rank, rating, events: the worked example of B.2.
EXAMPLE = [
    player(1, 1, rating=2000, events=400),
    player(2, 2, rating=1950, events=300),
    player(3, 10, rating=1900, events=200),
    player(4, 146, rating=1650, events=100),
    player(5, 853, rating=1500, events=60),
    player(6, 2020, rating=1432.69, events=320),
    player(7, 12970, rating=1151.65, events=7),
    player(8, None, rating=1300, events=3),
]


@pytest.mark.parametrize(
    ("rating", "worth"),
    [
        (1432.69, 0.08037734375000005),
        (1349.44, 0.03485000000000005),
        (1108.3, 0),
        (2000, 0.390625),
        (0, 0),
        (None, 0),
    ],
)
def test_a_rating_is_worth_what_was_observed_to_the_last_bit(rating: float | None, worth: float) -> None:
    assert value.rating_value(rating) == worth


@pytest.mark.parametrize(
    ("rank", "worth"),
    [
        (146, 0.4049227672351303),
        (853, 0.03128392635168309),
        (1, 1.459827968),
        (2020, 0),
        (5475, 0),
        (9632, 0),
        (989, 0),
        (None, 0),
    ],
)
def test_a_rank_is_worth_what_was_observed_to_the_last_bit(rank: int | None, worth: float) -> None:
    assert value.ranking_value(rank) == worth


@pytest.mark.parametrize(
    ("rank", "worth"),
    [
        (2, 1.313106001125),
        (3, 1.227279152471),
        (5, 1.119150110976),
        (10, 0.972428144101),
        (50, 0.631750287077),
        (64, 0.579496166750),
        (100, 0.485028320202),
        (500, 0.144350463178),
        (988, 0.00018396),
    ],
)
def test_ranks_are_worth_what_the_table_says(rank: int, worth: float) -> None:
    assert value.ranking_value(rank) == pytest.approx(worth, abs=1e-8 if rank == 988 else 1e-12)


@pytest.mark.parametrize(
    ("terms", "total"),
    [
        ((6, 0.46781015625000044, 0.4049227672351303), 6.872732923485131),
        ((6.5, 0.46781015625000044, 0.03128392635168309), 6.999094082601683),
        ((4.5, 0.2113281250000003, 0), 4.7113281250000005),
        ((5.5, 0.2113281250000003, 0), 5.7113281250000005),
    ],
)
def test_observed_parts_add_up_to_the_observed_total(terms: tuple[float, ...], total: float) -> None:
    assert value.sum_in_order(terms) == total


def test_an_observed_player_adds_the_observed_value() -> None:
    found = value.estimate_value([player(38773, 2020, rating=1432.69, events=320)])
    (worth,) = found.players
    assert (worth.base, worth.womens_base) == (0.5, 0.5)
    assert (worth.rating, worth.ranking, worth.womens_ranking) == (0.08037734375000005, 0, 0)
    assert (worth.rating_included, worth.ranking_included, worth.womens_ranking_included) == (
        True,
        True,
        True,
    )
    assert worth.total == worth.womens_total == found.total == 0.58037734375


def test_an_observed_field_has_the_observed_parts() -> None:
    """13 players, 12 of them rated, one in the world's first 988 and one among the women's: as in S2."""
    others = [player(n, 5000 + n, rating=1200) for n in range(1, 10)]
    field = [
        player(38773, 2020, rating=1432.69, events=320),
        player(11, 146, rating=1200),
        player(12, 3000, womens_rank=853, rating=1200),
        player(13, None, events=2),
        *others,
    ]
    found = value.estimate_value(field)
    assert (found.base, found.womens_base) == (6, 6.5)
    assert (found.ranking, found.womens_ranking) == (0.4049227672351303, 0.03128392635168309)


def test_a_player_who_was_not_rated_yet_counts_for_the_women_only_as_was_observed() -> None:
    """11 players, 9 of them rated: as in S1."""
    field = [
        player(1, 5475, rating=1349.44),
        player(2, 9632, rating=1108.3),
        *(player(n, 2000 + n, rating=1200) for n in range(3, 10)),
        *(player(n, rating=1500, events=4) for n in (10, 11)),
    ]
    found = value.estimate_value(field)
    assert (found.base, found.womens_base, found.rating) == (4.5, 5.5, 0.03485000000000005)


def test_the_worked_example() -> None:
    found = value.estimate_value(EXAMPLE)
    assert found.base == 3.5
    assert found.ranking == pytest.approx(4.181568806812729, abs=1e-12)
    assert found.rating == pytest.approx(1.48662734375, abs=1e-12)
    assert found.total == pytest.approx(9.168196150562729, abs=1e-12)
    # A player with three events only adds to the women's base.
    last = found.players[-1]
    assert (last.ifpa_id, last.base, last.rating, last.total, last.womens_total) == (8, 0, 0, 0, 0.5)
    included = (last.rating_included, last.ranking_included, last.womens_ranking_included)
    assert included == (False, False, True)


@pytest.mark.parametrize(
    ("tgp_percent", "booster", "points"),
    [
        (100, "none", 9.176008650562729),
        (60, "none", 5.505605190337637),
        (120, "certified", 13.764012975844093),
        (0, "none", 0),
        (200, "major", 36.704034602250914),
    ],
)
def test_the_winner_has_the_value_by_grade_and_booster(
    tgp_percent: int, booster: Booster, points: float
) -> None:
    # The example's value when the player with three events counts.
    total = 9.176008650562729
    found = value.winner_points(total, tgp_percent=tgp_percent, booster=booster)
    assert found == pytest.approx(points, abs=1e-12)


@pytest.mark.parametrize("tgp_percent", [-1, 201])
def test_no_format_has_a_grade_outside_of_its_limits(tgp_percent: int) -> None:
    with pytest.raises(ValueError, match="is not between 0 and 200"):
        value.winner_points(10, tgp_percent=tgp_percent)


def test_the_sixty_four_first_of_the_world_are_worth_the_limit() -> None:
    assert value.sum_in_order(value.ranking_value(rank) for rank in range(1, 65)) == pytest.approx(
        50.000000247, abs=1e-9
    )
    field = [player(rank, rank, womens_rank=rank, rating=2100 - rank) for rank in range(1, 201)]
    found = value.estimate_value(field)
    assert (found.base, found.womens_base, found.ranking, found.womens_ranking) == (32, 32, 50, 50)
    assert [player_id.ranking_included for player_id in found.players] == [True] * 64 + [False] * 136
    assert found.rating <= 25


def test_a_field_of_the_best_is_worth_107_at_most() -> None:
    field = [player(rank, rank, rating=10_000) for rank in range(1, 100)]
    assert value.estimate_value(field).total == 107


def test_each_list_has_its_own_best() -> None:
    """The 65th by rank may be the first by rating: the one left out of one list counts in the other."""
    field = [player(rank, rank, rating=1300 + rank) for rank in range(1, 66)]
    found = {player_id.ifpa_id: player_id for player_id in value.estimate_value(field).players}
    assert (found[65].rating_included, found[65].ranking_included) == (True, False)
    assert (found[1].rating_included, found[1].ranking_included) == (False, True)
    # Values that do not count are still displayed, but add nothing.
    assert found[65].ranking > 0
    assert found[65].total == found[65].base + found[65].rating


def test_rows_go_by_rank_then_by_number_with_unranked_players_last() -> None:
    field = [player(9), player(4, 7), player(3, 7), player(8, 1), player(2)]
    assert [player_id.ifpa_id for player_id in value.estimate_value(field).players] == [8, 3, 4, 2, 9]


def test_a_tournament_without_players_is_worth_nothing() -> None:
    found = value.estimate_value([])
    assert (found.players, found.total, found.womens_total) == ((), 0, 0)


PLAYERS = st.builds(
    FieldPlayer,
    ifpa_id=st.integers(1, 10**6),
    rank=st.none() | st.integers(1, 200_000),
    womens_rank=st.none() | st.integers(1, 50_000),
    rating=st.none() | st.floats(0, 10_000),
    total_events=st.none() | st.integers(0, 500),
)
FIELDS = st.lists(PLAYERS, max_size=90, unique_by=lambda player: player.ifpa_id)


def totals(found: Estimate) -> tuple[float, ...]:
    return (found.base, found.womens_base, found.rating, found.ranking, found.womens_ranking)


@given(FIELDS, st.randoms(use_true_random=False))
def test_the_order_in_which_players_are_named_changes_not_one_bit(
    field: list[FieldPlayer], dice: Random
) -> None:
    shuffled = dice.sample(field, len(field))
    assert value.estimate_value(shuffled) == value.estimate_value(field)


@given(FIELDS, PLAYERS)
def test_another_player_never_makes_a_tournament_worth_less(
    field: list[FieldPlayer], another: FieldPlayer
) -> None:
    before = totals(value.estimate_value([player for player in field if player.ifpa_id != another.ifpa_id]))
    after = totals(
        value.estimate_value([*(player for player in field if player.ifpa_id != another.ifpa_id), another])
    )
    # Sums in another order differ in their last bits.
    assert all(more >= less - 1e-9 for less, more in zip(before, after, strict=True))


@given(FIELDS)
def test_nothing_is_worth_more_than_its_limit(field: list[FieldPlayer]) -> None:
    found = value.estimate_value(field)
    assert all(0 <= part <= most for part, most in zip(totals(found), (32, 32, 25, 50, 50), strict=True))
    assert sum(player_id.rating_included for player_id in found.players) <= 64
    assert all(
        math.isfinite(player_id.total)
        and player_id.total <= player_id.base + player_id.rating + player_id.ranking
        for player_id in found.players
    )


@given(st.lists(PLAYERS, max_size=64, unique_by=lambda player: player.ifpa_id))
def test_below_the_limits_a_tournament_is_worth_the_sum_of_its_players(field: list[FieldPlayer]) -> None:
    found = value.estimate_value(field)
    assume(found.rating < value.RATING_MAX and found.ranking < value.RANKING_MAX)
    each = math.fsum(player_id.total for player_id in found.players)
    assert each == pytest.approx(found.total, abs=1e-9)


def test_every_booster_raises_the_value() -> None:
    assert min(BOOSTERS.values()) == BOOSTERS["none"] == 1
    assert (BOOSTERS["certified"], BOOSTERS["certified_plus"], BOOSTERS["major"]) == (1.25, 1.5, 2)
