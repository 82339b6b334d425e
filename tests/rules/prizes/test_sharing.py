"""Prize money in whole cents. Source: pages, section 2, and sums made by hand."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.model.tournament import PrizePlan
from silverball.rules.ranking import prizes as ranking_prizes

# 24 players at 10.00, 1.00 each to the federation, a tenth of the rest to the house: 194.40 are shared.
PLAN = PrizePlan(
    shares=(5_000, 3_000, 2_000), entry_fee=1_000, federation_fee=100, house_share=1_000, rounding=100
)
PURSE = ranking_prizes.purse_of(PLAN, 24)


def test_the_federation_and_then_the_house_come_off_the_pot() -> None:
    assert (PURSE.pot, PURSE.federation_fees, PURSE.house, PURSE.shared) == (24_000, 2_400, 2_160, 19_440)


def test_prizes_are_whole_units_and_the_rest_is_the_remainder() -> None:
    # 97.20, 58.32 and 38.88.
    prizes = ranking_prizes.prizes_of(PLAN, PURSE, {1: 1, 2: 2, 3: 3, 4: 4})
    assert [(prize.player_ids, prize.cents) for prize in prizes] == [
        ((1,), 9_700),
        ((2,), 5_800),
        ((3,), 3_800),
    ]
    assert ranking_prizes.remainder_of(PURSE, prizes) == 140


def test_tied_players_have_the_shares_of_their_places_added_and_divided() -> None:
    # Second to fourth: (30 + 20 + 0) % of 194.40 among three are 32.40 each.
    prizes = ranking_prizes.prizes_of(PLAN, PURSE, {1: 1, 2: 2, 3: 2, 4: 2})
    assert [(prize.position, prize.last_position, prize.cents) for prize in prizes] == [
        (1, 1, 9_700),
        (2, 4, 3_200),
    ]
    assert ranking_prizes.remainder_of(PURSE, prizes) == 19_440 - 9_700 - 9_600


def test_before_there_are_standings_each_place_has_its_prize() -> None:
    prizes = ranking_prizes.prizes_of(PLAN, PURSE, {})
    assert [(prize.position, prize.player_ids, prize.cents) for prize in prizes] == [
        (1, (), 9_700),
        (2, (), 5_800),
        (3, (), 3_800),
    ]


def test_the_usual_shares_are_whole_for_every_number_of_places() -> None:
    for places, shares in ranking_prizes.STANDARD_SHARES.items():
        assert len(shares) == places
        assert sum(shares) == ranking_prizes.WHOLE
        assert list(shares) == sorted(shares, reverse=True)


@st.composite
def plans(draw: st.DrawFn) -> PrizePlan:
    cuts = sorted(draw(st.lists(st.integers(0, ranking_prizes.WHOLE), max_size=9)))
    edges = [0, *cuts, ranking_prizes.WHOLE]
    money = st.integers(0, 100_000)
    return PrizePlan(
        shares=tuple(after - before for before, after in itertools.pairwise(edges)),
        entry_fee=draw(money),
        players_paid=draw(st.none() | st.integers(0, 200)),
        extras=draw(money),
        federation_fee=draw(money),
        house_share=draw(st.integers(0, ranking_prizes.WHOLE)),
        rounding=draw(st.sampled_from((1, 5, 10, 100, 500))),
    )


@given(plans(), st.lists(st.integers(0, 6), max_size=30))
def test_every_cent_of_the_pot_is_a_fee_or_the_house_or_a_prize_or_the_remainder(
    plan: PrizePlan, levels: list[int]
) -> None:
    placed = {
        player_id: 1 + sum(other < level for other in levels) for player_id, level in enumerate(levels, 1)
    }
    purse = ranking_prizes.purse_of(plan, len(placed))
    prizes = ranking_prizes.prizes_of(plan, purse, placed)
    paid = sum(prize.cents * max(len(prize.player_ids), 1) for prize in prizes)
    remainder = ranking_prizes.remainder_of(purse, prizes)
    assert purse.pot == purse.federation_fees + purse.house + paid + remainder
    assert min(purse.federation_fees, purse.house, remainder) >= 0
    assert all(prize.cents % plan.rounding == 0 for prize in prizes)
    # Nobody with a prize is left out, and nobody has two.
    named = [player_id for prize in prizes for player_id in prize.player_ids]
    assert len(named) == len(set(named))
