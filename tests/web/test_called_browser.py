"""A phone in the hall: the page of a player calls, and the live page remembers who looks at it."""

import pytest
from playwright.sync_api import Browser, expect

import build
from silverball.store.database.engine import Store
from web import layout
from web.phone import night_of
from web.test_layout_browser import a_night_of

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

# Keeps the vibrations, which a test cannot feel.
LISTEN = """() => {
  window.vibrations = [];
  navigator.vibrate = (pattern) => window.vibrations.push(pattern) > 0;
}"""
SECONDS_MAX = 60_000


def finish_game(store: Store, number: int) -> None:
    """Record an open game in playing order."""
    game = [game for game in night_of(store).games if game.status == "started"][number]
    path = f"/api/tournaments/1/games/{game.game_id}/result"
    status, answer, _ = build.do(store, "PUT", path, {"resultPositions": list(game.player_ids)}, by=1)
    assert status == 200, answer


def test_a_player_is_called_when_a_game_begins_and_only_then(
    store: Store, base_url: str, browser: Browser
) -> None:
    a_night_of(store, "bracket", 4, bracketSize=4)
    first = next(game for game in night_of(store).games if game.status == "started")
    context = layout.open_context(browser, 320, "Roboto")
    page = context.new_page()
    page.add_init_script(f"({LISTEN})()")
    page.goto(f"{base_url}/t/1/players/{first.player_ids[0]}")
    expect(page.locator("#feed[data-state=live]")).to_be_attached(timeout=SECONDS_MAX)
    expect(page.locator("[data-call]")).to_have_count(1)
    # The game that was there at the beginning calls nobody, nor does its end.
    finish_game(store, 0)
    expect(page.locator("[data-call]")).to_have_count(0, timeout=SECONDS_MAX)
    assert page.evaluate("window.vibrations.length") == 0
    finish_game(store, 0)
    expect(page.locator("[data-call]")).to_have_count(1, timeout=SECONDS_MAX)
    page.wait_for_function("window.vibrations.length === 1")
    assert layout.faults_of(page) == []
    context.close()


def test_the_live_page_remembers_who_looks_at_it(store: Store, base_url: str, browser: Browser) -> None:
    a_night_of(store, "group_matchplay", 8)
    finish_game(store, 0)
    context = layout.open_context(browser, 320, "DejaVu Sans")
    page = context.new_page()
    page.goto(f"{base_url}/t/1")
    page.click("text=Find yourself")
    expect(page.locator("#who")).to_be_focused()
    page.keyboard.type("feather")
    expect(page.locator("#ranking > li:visible")).to_have_count(1)
    assert layout.faults_of(page) == []
    page.click("#ranking > li:visible a")
    line = page.locator("#me > .you")
    expect(line).to_contain_text("Sam Featherstonehaugh (you)")
    expect(line).to_be_in_viewport()
    expect(page.locator("li.mine")).to_have_count(1)
    # A new result redraws the standings, and the mark stays.
    expect(page.locator("#feed[data-state=live]")).to_be_attached(timeout=SECONDS_MAX)
    finish_game(store, 0)
    expect(page.locator("#part-standings")).to_contain_text("7", timeout=SECONDS_MAX)
    expect(page.locator("li.mine")).to_have_count(1)
    page.reload()
    expect(line).to_be_visible()
    assert layout.faults_of(page) == []
    page.click("text=Not you?")
    expect(page.locator("li.mine")).to_have_count(0)
    expect(page.locator("#me .ask a")).to_be_focused()
    context.close()
