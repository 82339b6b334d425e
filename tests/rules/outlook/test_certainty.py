"""Certain facts: hand-checked cases, and random nights of all formats in which no claim is wrong."""

from decimal import Decimal

import pytest

from rules.moves import Moves
from rules.night import Night, a_night
from rules.outlook import finished_nights
from rules.verify.test_random_walks import ALL
from silverball.rules.model.settings import Band
from silverball.rules.outlook.forecast import Claim, certain_claims
from silverball.rules.planning.nights import CertainBy
from silverball.rules.registry import FORMATS

WALKS = 1
# `make soak` walks as many more as make a hundred of each format.
WALKS_SOAK = 100
TWO_GO_ON = (Band(index=0, value=2, cumulative=2, text="", color=None),)


def claims(night: Night) -> set[tuple[int, str, str, int | None]]:
    found = certain_claims(night.tournament, FORMATS[night.tournament.type])
    return {(claim.player_id, claim.goal, claim.fact, claim.place) for claim in found}


def test_whoever_leads_by_more_than_a_round_gives_has_won() -> None:
    night = a_night("matchplay", players=4, duration=3)
    night.start()
    for _ in range(2):
        night.open_round()
        assert not claims(night)
        night.finish_round()
    # Two rounds: the best player has 2, one of the others at most 2 after the last game.
    points = {row.player_id: Decimal(str(row.points)) for row in FORMATS["matchplay"].rank(night.tournament)}
    assert max(points.values()) == 2
    out = {player_id for player_id, goal, fact, _ in claims(night) if (goal, fact) == ("win", "out")}
    assert out == {player_id for player_id, own in points.items() if own + 1 < 2}


def test_in_the_last_game_a_place_can_be_enough() -> None:
    night = a_night("group_matchplay", players=4, duration=2, playoffs_cutoffs=TWO_GO_ON)
    night.start()
    (game,) = night.open_round()
    ann, bea, cid, dot = game.player_ids
    night.record_order(game, ann, bea, cid, dot)
    (last,) = night.open_round()
    assert set(last.player_ids) == {ann, bea, cid, dot}
    # 7, 5, 3, 1 so far, and the same to come. Ann wins by winning (14; Bea has at most 10). Third (10) they
    # can be level with Bea (5 + 5) and Cid (3 + 7), second (12) with Bea (5 + 7) alone. Bea has 12 as the
    # winner, with Ann alone level. Nobody is out: Dot (1 + 7) is level with Ann (7 + 1), Bea (5 + 3) and
    # Cid (3 + 5) if all goes their way.
    assert claims(night) == {
        (ann, "win", "place", 1),
        (ann, "cut", "place", 2),
        (bea, "cut", "place", 1),
    }


def test_a_night_without_a_set_number_of_rounds_is_never_decided() -> None:
    night = a_night("matchplay", players=4, duration=0)
    night.start()
    for _ in range(5):
        night.open_round()
        night.finish_round()
        assert not claims(night)


def test_who_is_struck_out_is_out() -> None:
    night = a_night("knockout", players=4, knockout_strike_count=1)
    night.start()
    night.open_round()
    night.finish_round()
    alive = set(FORMATS["knockout"].playing_ids(night.tournament))
    assert {claim[0] for claim in claims(night) if claim[2] == "out"} == (
        set(night.tournament.active_ids) - alive
    )


def test_formats_that_end_when_they_are_closed_make_no_claims() -> None:
    nothing = {form.type for form in FORMATS.values() if form.planning.certain_by is CertainBy.NOTHING}
    assert nothing == {
        "manual_matchplay",
        "target",
        "frenzy",
        "best_game",
        "card_best_game",
        "golf",
        "bowling",
    }


def check_walks(moves: Moves, name: str, numbers: range) -> list[Claim]:
    made: list[Claim] = []
    for number in numbers:
        walked = finished_nights.walk_to_end(moves, f"{name} {number}")
        assert walked.wrong_claims() == [], f"seed {name} {number}"
        made += walked.claims
    return made


@pytest.mark.sample(8)
@pytest.mark.parametrize(("name", "moves"), ALL, ids=[name for name, _ in ALL])
def test_no_claim_of_a_random_night_is_wrong(name: str, moves: Moves) -> None:
    check_walks(moves, name, range(WALKS))


@pytest.mark.soak
@pytest.mark.parametrize(("name", "moves"), ALL, ids=[name for name, _ in ALL])
def test_no_claim_of_many_random_nights_is_wrong(name: str, moves: Moves) -> None:
    made = check_walks(moves, name, range(WALKS, WALKS_SOAK))
    assert bool(made) or FORMATS[moves.kind].planning.certain_by is CertainBy.NOTHING
