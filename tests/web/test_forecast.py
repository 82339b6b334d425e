"""The forecast on the live page and on the wall."""

from collections.abc import Iterator
from typing import get_args

import pytest

from silverball.jobs.compute_forecasts import Forecaster
from silverball.rules.outlook.forecast import Reason
from silverball.store.database.engine import Store
from silverball.web.live import tournament_view
from stories.hall import Hall
from web.public_visitor import PublicVisitor

TWO_GO_ON = [{"index": 0, "value": 2, "cumulative": 2, "text": "TOP 2", "color": None}]
NAMES = "Ann Bea Cid Dot"


@pytest.fixture
def passer(store: Store) -> Iterator[PublicVisitor]:
    opened = PublicVisitor(store)
    yield opened
    opened.close()


def last_game_of_two(store: Store) -> Hall:
    """One group, 7, 5, 3 and 1 points so far and the same to come; the best two go on."""
    hall = Hall(store, "group_matchplay", NAMES, duration=2, playoffsCutoffs=TWO_GO_ON, forecast=True)
    hall.start()
    hall.play_rounds(1, NAMES)
    hall.open_round()
    return hall


def compute(hall: Hall, passer: PublicVisitor) -> None:
    passer.get(f"/t/{hall.tournament_id}?part=forecast")
    hall.pass_time(hours=1)
    assert Forecaster(hall.store, lambda: hall.now).compute_next()


def test_the_live_page_says_what_is_certain_and_how_likely_the_rest_is(
    store: Store, passer: PublicVisitor
) -> None:
    hall = last_game_of_two(store)
    at = f"/t/{hall.tournament_id}"
    assert "The forecast is being computed." in passer.text(at)
    compute(hall, passer)
    page = passer.text(at)
    assert "Ann 2nd is enough for the top 2 a win is enough to win" in page
    assert "Bea a win is enough for the top 2" in page
    assert "1,000 simulated nights from how it stands; nobody has a rating here" in page
    assert "What is certain follows from the rules alone." in page


def test_a_part_that_is_being_computed_is_not_cached_and_says_when_to_look_again(
    store: Store, passer: PublicVisitor
) -> None:
    hall = last_game_of_two(store)
    at = f"/t/{hall.tournament_id}?part=forecast"
    assert 'data-again="2"' in passer.page(at)
    compute(hall, passer)
    found = passer.get(at)
    assert b"data-again" not in found.body
    assert passer.get(at, if_none_match=found.headers["etag"]).status == 304


def test_an_adjustment_withdraws_a_fact_with_a_line(store: Store, passer: PublicVisitor) -> None:
    hall = last_game_of_two(store)
    compute(hall, passer)
    hall.patch(f"/players/{hall.ids['Dot']}", {"pointsAdjustment": 9})
    compute(hall, passer)
    page = passer.text(f"/t/{hall.tournament_id}")
    assert ", as points or strikes were adjusted: Ann (a win is enough to win)" in page
    wall = passer.text(f"/t/{hall.tournament_id}/wall")
    assert "Withdrawn, as points or strikes were adjusted: Ann (a win is enough to win)" in wall


def test_every_reason_of_a_withdrawal_has_words() -> None:
    assert set(tournament_view.REASONS) == set(get_args(Reason))


def test_the_wall_shows_those_who_are_ahead(store: Store, passer: PublicVisitor) -> None:
    hall = last_game_of_two(store)
    compute(hall, passer)
    wall = passer.text(f"/t/{hall.tournament_id}/wall?part=forecast")
    assert wall.split()[:2] == ["Forecast", "Ann"]
    assert "2nd is enough for the top 2" in wall


def test_a_bracket_lists_whoever_is_out_and_no_chances(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "bracket", NAMES, forecast=True)
    hall.start()
    (game, *_) = hall.open_games()
    first, second = hall.players_of(game)
    hall.finish(game, first, second)
    compute(hall, passer)
    page = passer.text(f"/t/{hall.tournament_id}?part=forecast")
    assert f"{second} cannot win" in page
    assert first not in page
    assert "%" not in page


@pytest.mark.parametrize("path", ["", "/wall"])
def test_without_it_the_pages_have_an_empty_part_that_asks_for_little(
    store: Store, passer: PublicVisitor, path: str
) -> None:
    hall = Hall(store, "matchplay", NAMES, duration=5)
    hall.start()
    page = passer.page(f"/t/{hall.tournament_id}{path}")
    assert "Forecast" not in page
    assert 'id="part-forecast" data-live="forecast" data-on="Tournament"' in page
    assert store.wanted_forecasts.waiting() == []


def test_an_earlier_state_has_no_forecast(store: Store, passer: PublicVisitor) -> None:
    hall = last_game_of_two(store)
    newest = hall.get("/journal")["data"][0]["actionId"]
    assert "Forecast" not in passer.text(f"/t/{hall.tournament_id}?at={newest - 1}")
