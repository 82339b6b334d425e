"""A round of sixty players is typed back by the number keys alone: fifteen games in fifteen lines."""

import pytest
from playwright.sync_api import Browser, expect

from silverball.store.database.engine import Store
from web import layout
from web.phone import night_of
from web.test_layout_browser import a_night_of, sign_in

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def test_fifteen_games_are_fifteen_lines_of_digits(store: Store, base_url: str, browser: Browser) -> None:
    a_night_of(store, "group_matchplay", 60, [f"Player {number}" for number in range(60)])
    games = night_of(store).games
    assert len(games) == 15
    page = layout.open_context(browser, 1280, "DejaVu Sans").new_page()
    sign_in(page, base_url)
    page.goto(f"{base_url}/t/1/run/paper")
    page.locator("[data-digits]").first.focus()
    for _ in games[:-1]:
        # A full line leads to the next.
        page.keyboard.type("4231")
    page.keyboard.type("423")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("text=No game is open that is recorded by an order.")).to_be_visible()
    for game in night_of(store).games:
        fourth, second, third, first = (game.player_ids[index] for index in (3, 1, 2, 0))
        assert game.result_positions == (fourth, second, third, first)
