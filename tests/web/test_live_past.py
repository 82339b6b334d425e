"""The live page as it stood after an action: `/t/{id}?at=12`, with a slider and without scripts."""

import re
from collections.abc import Iterator

import pytest

from silverball.store.database.engine import Store
from silverball.store.tournament import journal
from stories.hall import Hall
from web.public_visitor import PublicVisitor

NAMES = "Ann Bea Cid Dot"


@pytest.fixture
def passer(store: Store) -> Iterator[PublicVisitor]:
    opened = PublicVisitor(store)
    yield opened
    opened.close()


def a_night(store: Store) -> Hall:
    hall = Hall(store, "group_matchplay", NAMES, arenas=4)
    hall.start()
    hall.play_rounds(1, NAMES)
    return hall


def newest_action(store: Store, tournament_id: int) -> int:
    with store.read() as db:
        span = journal.journal_span(db, tournament_id)
    assert span is not None
    return span.newest_action_id


def standings(html: str) -> list[str]:
    return re.findall(r'<li id="s\d+".*?</li>', html, re.DOTALL)


def test_the_page_shows_the_night_as_it_stood_and_leads_back_to_now(
    store: Store, passer: PublicVisitor
) -> None:
    hall = a_night(store)
    path = f"/t/{hall.tournament_id}"
    before, at = standings(passer.page(path)), newest_action(store, hall.tournament_id)
    hall.play_rounds(1, " ".join(reversed(NAMES.split())))
    assert standings(passer.page(path)) != before
    reply = passer.get(f"{path}?at={at}")
    html = reply.body.decode()
    assert standings(html) == before
    assert f"As it stood after action {at}, 2" in html
    assert f'<a href="{path}">As it is now</a>' in html
    # It is not followed, so it needs no script.
    assert "<script" not in html
    assert "script-src" not in reply.headers["content-security-policy"]
    # The slider stands there, and leads on.
    newest = newest_action(store, hall.tournament_id)
    assert f'<input type="range" id="at" name="at" min="1" max="{newest}" value="{at}">' in html
    for step in (at - 1, at + 1):
        assert f'<a href="{path}?at={step}">' in html
        assert passer.get(f"{path}?at={step}").status == 200


def test_names_are_those_of_today(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    at = newest_action(store, hall.tournament_id)
    hall.patch("", {"name": "Another Night"})
    html = passer.page(f"/t/{hall.tournament_id}?at={at}")
    assert "As it stood after" in html
    assert "<h1><bdi>Another Night</bdi></h1>" in html


def test_the_newest_action_is_how_it_is_now(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    path = f"/t/{hall.tournament_id}"
    assert "As it stood after" not in passer.page(f"{path}?at={newest_action(store, hall.tournament_id)}")


def test_a_completed_night_can_be_looked_back_on(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    at = newest_action(store, hall.tournament_id)
    hall.complete()
    html = passer.page(f"/t/{hall.tournament_id}?at={at}")
    assert "As it stood after" in html
    assert "Final" not in html


@pytest.mark.parametrize(("at", "sentence"), [("99999", "ends with action"), ("0", "from action 1 on")])
def test_an_action_that_is_none_is_a_page_that_says_so(
    store: Store, passer: PublicVisitor, at: str, sentence: str
) -> None:
    reply = passer.get(f"/t/{a_night(store).tournament_id}?at={at}")
    assert reply.status == 422
    assert sentence in reply.body.decode()


@pytest.mark.parametrize("query", ["at=", "at=yesterday", "at=-1", "at=" + "9" * 30])
def test_what_is_no_number_is_now(store: Store, passer: PublicVisitor, query: str) -> None:
    path = f"/t/{a_night(store).tournament_id}"
    assert passer.page(f"{path}?{query}") == passer.page(path)


def test_walls_and_frames_are_always_now(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    for page in ("/wall", "/embed", "/overlay"):
        path = f"/t/{hall.tournament_id}{page}"
        assert passer.page(f"{path}?at=1") == passer.page(path)
