"""Rows of the console keep their place: what is done, and what others do, changes inside them."""

import pytest

from silverball.store.database.engine import Store
from web.chromium import BrowserPage
from web.phone import a_night, night_of, on_the_console
from web.still_night import write

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

BOXES = """() => [...document.querySelectorAll('[data-row]')]
  .map(row => JSON.stringify(row.getBoundingClientRect()))"""


def test_a_saved_row_stays_in_its_place_with_its_winner_and_an_undo(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store, "matchplay", players=8)
    on_the_console(browser_page)
    page = browser_page.page
    game = night_of(store).games[0]
    before = page.evaluate(BOXES)
    browser_page.picture("rows-320")
    page.locator(f"#result-{game.game_id} button[value='{game.player_ids[0]}']").click()
    page.wait_for_selector(f"#game-{game.game_id}.done")
    browser_page.picture("rows-saved-320")
    assert page.evaluate(BOXES) == before
    assert page.locator(f"#game-{game.game_id} .won").inner_text()
    page.wait_for_timeout(700)
    page.locator(f"#game-{game.game_id} .row-undo button").click()
    page.wait_for_selector(f"#game-{game.game_id}:not(.done)")
    assert night_of(store).games[0].status == "started"
    assert page.evaluate(BOXES) == before
    assert browser_page.complaints == []


def test_the_button_to_the_next_round_comes_into_its_place_with_the_last_result(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store, "group_matchplay", players=16)
    on_the_console(browser_page)
    page = browser_page.page
    page.wait_for_selector("#feed[data-state=live]", state="attached")
    before, below = page.evaluate(BOXES), page.locator("#round-delete, #timer").first.bounding_box()
    page.wait_for_selector("text=4 more results")
    for game in night_of(store).open_games:
        order = list(game.player_ids)
        write(store, "PUT", f"/games/{game.game_id}/result", {"resultPositions": order})
    page.wait_for_selector("#round-open button", state="attached")
    assert page.locator(".games > .done").count() == 4
    assert page.evaluate(BOXES) == before
    assert page.locator("#round-delete, #timer").first.bounding_box() == below
    assert not page.is_visible("#news")
    # Another page of the round is asked for.
    write(store, "POST", "/rounds", {})
    page.click("#news >> text=Round 2 is open: show")
    page.wait_for_selector(".games > li:not(.done)")
    assert page.locator(".games > .done").count() == 0
    assert browser_page.complaints == []
