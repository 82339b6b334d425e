"""A whole tournament run from a phone in a real browser, with a wall and a phone that follow."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from web import chromium
from web.chromium import DESK, PHONE, BrowserPage
from web.phone import NAMES, Phone, an_organizer, first_pairing, night_of, tap_results

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


ROUNDS = 3
TAPS_MAX = 12
SHOWN_WITHIN = 60_000


class Follower:
    """A screen with a page that is opened once and follows the feed."""

    def __init__(self, browser_page: BrowserPage, path: str) -> None:
        self.browser_page = browser_page
        browser_page.go(path)
        browser_page.page.evaluate("window.wasNeverReloaded = true")
        browser_page.page.wait_for_selector("#feed[data-state=live]", state="attached")

    def stands(self, rows: str, leader: str, points: str) -> None:
        """Wait until the first row of the table holds these texts."""
        first = self.browser_page.page.locator(rows).first
        expect(first).to_contain_text(leader, timeout=SHOWN_WITHIN)
        expect(first.locator(":scope > :last-child")).to_have_text(points, timeout=SHOWN_WITHIN)

    def says(self, text: str) -> None:
        expect(self.browser_page.page.locator("main")).to_contain_text(text, timeout=SHOWN_WITHIN)
        assert self.browser_page.page.evaluate("window.wasNeverReloaded") is True
        self.browser_page.assert_fits()
        assert self.browser_page.complaints == []


@pytest.fixture
def screens(browser: Browser, base_url: str) -> Iterator[tuple[BrowserPage, BrowserPage]]:
    """A television and another phone."""
    contexts = [browser.new_context(viewport=size) for size in (DESK, PHONE)]
    yield chromium.watched(contexts[0], base_url), chromium.watched(contexts[1], base_url)
    for context in contexts:
        context.close()


def test_a_whole_night_is_run_by_thumb_while_a_wall_and_a_phone_follow(
    store: Store, browser_page: BrowserPage, screens: tuple[BrowserPage, BrowserPage]
) -> None:
    an_organizer(store)
    organizer_phone, page = Phone(browser_page), browser_page.page
    first_pairing(organizer_phone, NAMES)
    assert organizer_phone.taps <= TAPS_MAX
    browser_page.assert_fits()
    browser_page.picture("round-320")
    wall, phone = (Follower(*screen) for screen in zip(screens, ("/t/1/wall", "/t/1"), strict=True))
    leader = min(night_of(store).entrants, key=lambda entrant: entrant.player_id)
    for number in range(ROUNDS):
        tap_results(browser_page, store)
        # The winner of each group of four gets seven points.
        wall.stands(".board li", NAMES[0], str(7 * (number + 1)))
        phone.stands(".ranking a", NAMES[0], str(7 * (number + 1)))
        wall.says(f"Round {number + 1}")
        phone.says(f"Round {number + 1}")
        if number < ROUNDS - 1:
            page.click(f"text=Open round {number + 2}")
            page.wait_for_selector("text=4 open games")
    assert page.inner_text("h2#next") == f"Round {ROUNDS}"
    browser_page.click("nav >> text=Standings")
    browser_page.assert_fits()
    page.click("text=Finish tournament")
    browser_page.wait_for(lambda: night_of(store).status == "completed")
    wall.says("Final")
    phone.says("Final results")
    browser_page.picture("standings-320")
    night = night_of(store)
    assert len(night.rounds) == ROUNDS
    # The leader won every game and so has the most points possible.
    played = [game for game in night.games if leader.player_id in game.player_ids]
    assert [game.result_positions[0] for game in played] == [leader.player_id] * ROUNDS
    with store.read() as db:
        assert list(verification.verify_tournament(db, 1).faults) == []
    assert browser_page.complaints == []
