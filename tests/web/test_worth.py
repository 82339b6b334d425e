"""The card that says what a tournament is worth, on the live page and in the console."""

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from silverball.jobs.compute_forecasts import NightSimulator
from silverball.store import tables
from silverball.store.database.engine import Store
from stories.hall import Hall
from web.director import Director
from web.public_visitor import PublicVisitor

NAMES = "Ann Bea Cid Dot"


@pytest.fixture
def passer(store: Store) -> Iterator[PublicVisitor]:
    opened = PublicVisitor(store)
    yield opened
    opened.close()


def test_the_live_page_says_what_the_night_is_worth(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "matchplay", NAMES, duration=5)
    page = passer.text(f"/t/{hall.tournament_id}")
    assert "What it is worth needs the IFPA's player file." in page
    assert "20 %, 5 meaningful games" in page
    assert "By the federation's rule: 5 rounds of 1 game" in page
    assert "4 players have no federation record here" in page


def test_a_page_whose_number_is_being_computed_is_not_cached(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "knockout", NAMES)
    at = f"/t/{hall.tournament_id}?part=worth"
    assert "being computed" in passer.text(at)
    assert NightSimulator(store).simulate_next()
    found = passer.get(at)
    assert b"10,000 simulated nights" in found.body
    assert passer.get(at, if_none_match=found.headers["etag"]).status == 304


def test_a_test_has_no_card(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "matchplay", NAMES, duration=5)
    hall.patch("", {"test": True})
    assert "Worth" not in passer.text(f"/t/{hall.tournament_id}")


def grades_on(passer: PublicVisitor, tournament_ids: list[int]) -> list[str]:
    """The grade on the live page of each of the tournaments."""
    pages = [passer.text(f"/t/{tournament_id}") for tournament_id in tournament_ids]
    return [re.search(r"\d+ %, \d+ meaningful games", page)[0] for page in pages]  # type: ignore[index]


def announced(store: Store, tournament_id: int) -> list[str]:
    """The names of the events of the tournament so far."""
    event = tables.announcement.c
    with store.read() as db:
        own = event.tournament_id == tournament_id
        return list(db.execute(select(event.name).where(own).order_by(event.seq)).scalars())


def test_a_qualifying_and_its_playoffs_show_the_same_card_as_soon_as_either_changes(
    store: Store, passer: PublicVisitor
) -> None:
    hall = Hall(store, "matchplay", f"{NAMES} Eve Fay Gus Hal", duration=3)
    hall.start()
    assert grades_on(passer, [hall.tournament_id]) == ["12 %, 3 meaningful games"]
    body = {"type": "group_bracket", "players": list(hall.ids.values())[:4]}
    finals_id = hall.post("/playoffs", body)["data"]["tournamentId"]
    finals = f"/api/tournaments/{finals_id}"
    hall.send("PATCH", finals, {"bracketSize": 4})
    # Three games head to head, and one round of three in fours.
    both = [hall.tournament_id, finals_id]
    assert grades_on(passer, both) == ["36 %, 9 meaningful games"] * 2
    assert "one event" in passer.text(f"/t/{finals_id}")
    heard = announced(store, hall.tournament_id)
    hall.send("PATCH", finals, {"gamesPerRound": 4})
    # Pages that are open follow their own tournament's feed.
    assert announced(store, hall.tournament_id) == [*heard, "TournamentUpdated"]
    assert grades_on(passer, both) == ["44 %, 11 meaningful games"] * 2
    hall.patch("", {"duration": 5})
    assert grades_on(passer, both) == ["52 %, 13 meaningful games"] * 2


def test_the_console_says_it_before_the_start_and_beside_the_standings(director: Director) -> None:
    director.create("matchplay")
    assert "Base value" in director.page()
    director.start()
    assert "Base value" not in director.page()
    assert "Base value" in director.page("/standings")


def test_the_console_of_a_qualifying_and_of_its_playoffs_has_the_card_of_both(director: Director) -> None:
    director.create("matchplay", duration=1)
    director.start(players=8)
    director.send("round-open")
    director.finish_all()
    qualifying_id = director.tournament_id
    to = director.send("playoffs", "/standings", type="bracket", players="4")
    director.tournament_id = int(to.split("/")[2])
    assert director.tournament_id != qualifying_id
    card = "The qualifying and its playoffs are one event"
    assert card in director.page()
    director.tournament_id = qualifying_id
    assert card in director.page("/standings")
