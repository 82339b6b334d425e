"""A timer that counts down on console, wall and players' pages, and a call that rings."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from silverball.store.database.engine import Store
from web import layout
from web.chromium import PICTURES, look_before_tapping
from web.phone import night_of
from web.test_called_browser import LISTEN, SECONDS_MAX
from web.test_layout_browser import a_night_of, sign_in

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

MINUTES_LEFT = re.compile(r"^1[89]:[0-5]\d$")


def take_picture(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}-{page.evaluate('innerWidth')}.png")


def set_timer(page: Page, base_url: str) -> None:
    """Sign in as the director and give each round 20 minutes."""
    sign_in(page, base_url)
    look_before_tapping(page)
    page.goto(f"{base_url}/t/1/run")
    page.click("text=Set a timer")
    page.fill("#timer-set-minutes", "20")
    page.click("text=Set the timer")
    expect(page.locator("header .timer")).to_have_text(MINUTES_LEFT)


def test_a_round_counts_down_and_says_when_its_time_is_up(
    store: Store, base_url: str, browser: Browser
) -> None:
    a_night_of(store, "matchplay", 8)
    context = layout.open_context(browser, 320, "DejaVu Sans")
    console, player_page = context.new_page(), context.new_page()
    player_page.clock.install()
    player_page.goto(f"{base_url}/t/1/players/{night_of(store).games[0].player_ids[0]}")
    expect(player_page.locator("#feed[data-state=live]")).to_be_attached(timeout=SECONDS_MAX)
    set_timer(console, base_url)
    assert layout.faults_of(console) == []
    take_picture(console, "timer-console")
    # The player's page follows without a reload.
    timer = player_page.locator(".timer")
    expect(timer).to_have_text(MINUTES_LEFT, timeout=SECONDS_MAX)
    assert layout.faults_of(player_page) == []
    take_picture(player_page, "timer-player")
    player_page.clock.fast_forward("18:30")
    expect(timer).to_have_class("timer soon")
    player_page.clock.fast_forward("02:00")
    expect(timer).to_have_text("Time is up")
    expect(timer).to_have_class("timer late")
    context.close()


def test_a_call_from_a_row_rings_on_the_players_page_and_marks_the_wall(
    store: Store, base_url: str, browser: Browser
) -> None:
    a_night_of(store, "matchplay", 8)
    context = layout.open_context(browser, 1280, "Liberation Sans")
    player_page, wall, console = context.new_page(), context.new_page(), context.new_page()
    player_page.add_init_script(f"({LISTEN})()")
    player_page.goto(f"{base_url}/t/1/players/{night_of(store).games[0].player_ids[0]}")
    wall.goto(f"{base_url}/t/1/wall")
    for page in (player_page, wall):
        expect(page.locator("#feed[data-state=live]")).to_be_attached(timeout=SECONDS_MAX)
    set_timer(console, base_url)
    console.locator(".call-up:visible").first.click()
    expect(console.locator("text=Call again")).to_be_visible()
    assert layout.faults_of(console) == []
    take_picture(console, "call-console")
    player_page.wait_for_function("window.vibrations.length === 1")
    expect(player_page.locator(".turn .badge")).to_have_text("called")
    expect(wall.locator(".call .badge:visible")).to_have_text("called", timeout=SECONDS_MAX)
    expect(wall.locator(".when .timer")).to_have_text(MINUTES_LEFT)
    for page, name in ((player_page, "call-player"), (wall, "call-wall")):
        assert layout.faults_of(page) == []
        take_picture(page, name)
    context.close()
