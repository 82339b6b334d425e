"""A tie that decides is drawn on a phone of 320 px with three taps, and says so for good."""

import os

import pytest
from playwright.sync_api import Browser, expect

import build
from silverball.store.database.engine import Store
from web import layout
from web.chromium import PICTURES, BrowserPage
from web.phone import Phone, a_night, night_of, organizer_of
from web.test_layout_browser import sign_in

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]
TAPS_MAX = 3


def a_tie_for_the_cut(store: Store) -> None:
    """Four players after the only round: two winners share the one place of the final."""
    band = {"index": 0, "value": 1, "cumulative": 1, "text": "A final", "color": None}
    a_night(store, tiebreaker="none", duration=1, playoffsCutoffs=[band])
    for game in night_of(store).open_games:
        path = f"/api/tournaments/1/games/{game.game_id}/result"
        body = {"resultPositions": list(game.player_ids)}
        status, answer, _ = build.do(store, "PUT", path, body, by=organizer_of(store))
        assert status == 200, answer


def test_a_tie_is_drawn_with_three_taps_and_named_as_drawn(
    store: Store, base_url: str, browser: Browser
) -> None:
    a_tie_for_the_cut(store)
    context = layout.open_context(browser, 320, "DejaVu Sans")
    page, wall = context.new_page(), context.new_page()
    sign_in(page, base_url)
    wall.goto(f"{base_url}/t/1/wall")
    expect(wall.locator("text=/^Tied for 1st: /")).to_be_visible()
    page.goto(f"{base_url}/t/1/run/players")
    phone = Phone(BrowserPage(base_url, page, []))
    phone.tap(".bar >> text=Now")
    page.wait_for_selector("text=/^Tied for 1st: /")
    assert layout.faults_of(page) == []
    phone.tap("summary >> text=/^Draw$/")
    if PICTURES:
        page.screenshot(path=os.path.join(PICTURES, "tie-320.png"))
    phone.tap("text=Draw the order")
    expect(page.locator("text=/Tie drawn by lot: /")).to_be_visible()
    assert phone.taps <= TAPS_MAX
    assert page.locator("text=/^Tied for /").count() == 0
    page.goto(f"{base_url}/t/1/run/standings")
    expect(page.locator("text=drawn by lot")).to_have_count(2)
    assert layout.faults_of(page) == []
    page.goto(f"{base_url}/t/1")
    expect(page.locator("#ranking >> text=drawn by lot")).to_have_count(2)
    assert {entrant.is_tie_drawn for entrant in night_of(store).entrants if entrant.tie_group} == {True}
