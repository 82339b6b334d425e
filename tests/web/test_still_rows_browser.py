"""Rows of the console keep their place: what is done, and what others do, changes inside them."""

import pytest

from silverball.store.database.engine import Store
from web.chromium import BrowserPage
from web.phone import a_night, night_of, on_the_console

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
