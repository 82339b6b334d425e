"""Consoles on several phones: each shows the others' changes and leaves unsent entries alone."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from silverball.store.database.engine import Store
from web.chromium import PHONE, look_before_tapping
from web.server_process import LiveServer
from web.visitor import EMAIL, PASSWORD, an_account

# Long enough to try every kind of connection again.
WITHIN = 60_000
CUT_SECONDS = 3
# Longer than the last request after an event is late by (static/fresh.js).
SETTLES_SECONDS = 3

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


class ConsolePhone:
    """A phone with the console open; the page is never reloaded."""

    def __init__(self, page: Page, live_server: LiveServer) -> None:
        self.page = page
        self.live_server = live_server
        self.complaints: list[str] = []
        look_before_tapping(page)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{live_server.page}/run")
        page.fill("#email", EMAIL)
        page.fill("#password", PASSWORD)
        page.click("main button")
        page.wait_for_url("**/run")
        page.evaluate("window.wasNeverReloaded = true")
        self.is_live()

    def is_live(self) -> None:
        expect(self.page.locator("#feed")).to_have_attribute("data-state", "live", timeout=WITHIN)

    def has_games(self, count: int) -> None:
        expect(self.page.locator(".games > li:not(.done)")).to_have_count(count, timeout=WITHIN)

    def tap(self, *players: int) -> None:
        """Tap players in finishing order, on the page of their game's entry."""
        if self.page.locator("dialog[open]").count() == 0:
            self.page.click(f".game:has([name=place-{players[0]}]) .four")
        for player_id in players:
            self.page.locator(".place", has=self.page.locator(f"[name=place-{player_id}]")).locator(
                ".tap"
            ).click()

    def tapped(self) -> list[str]:
        return self.page.locator("[aria-pressed=true] .nth").all_inner_texts()

    def save(self, game: Any) -> None:
        self.page.locator(f"#result-{game['gameId']} >> text=Save").click()

    def is_told(self) -> None:
        expect(self.page.locator("#news")).to_have_text("Changed: show", timeout=WITHIN)

    def has_no_news(self) -> None:
        expect(self.page.locator("#news")).to_be_hidden()

    def was_never_disturbed(self) -> None:
        assert self.page.evaluate("window.wasNeverReloaded") is True
        assert self.complaints == []


@pytest.fixture
def phone(browser: Browser, live_server: LiveServer, store: Store) -> Iterator[Callable[[], ConsolePhone]]:
    """A function that opens the console on another phone of the same account."""
    an_account(store, name="Olga Ramp", role="admin")
    contexts = []

    def opened() -> ConsolePhone:
        contexts.append(browser.new_context(viewport=PHONE))
        return ConsolePhone(contexts[-1].new_page(), live_server)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def games(live_server: LiveServer) -> list[Any]:
    """Two games of four."""
    live_server.create("group_matchplay", duration=5)
    live_server.start()
    return live_server.open_round()


def test_a_result_appears_on_other_phones_and_their_entries_stay(
    games: list[Any], phone: Callable[[], ConsolePhone]
) -> None:
    first, second = games
    director, other, watching = phone(), phone(), phone()
    other.tap(*second["playerIds"][:2])
    director.tap(*first["playerIds"][:3])
    director.save(first)
    director.has_games(1)
    watching.has_games(1)
    expect(watching.page.locator(".undo")).to_contain_text("Olga Ramp")
    # A result is in its row at once, also beside one that is half entered.
    other.has_games(1)
    assert other.tapped() == ["1", "2"]
    other.has_no_news()
    other.tap(second["playerIds"][2])
    other.save(second)
    for each in (director, other, watching):
        each.has_games(0)
        each.was_never_disturbed()


def test_a_change_costs_a_phone_two_requests_however_many_parts_its_page_has(
    games: list[Any], phone: Callable[[], ConsolePhone]
) -> None:
    """So two directors who enter quickly from one network stay below the pace of an address."""
    watching = phone()
    # What is fetched after the page has opened and settled.
    time.sleep(SETTLES_SECONDS)
    asked: list[str] = []
    watching.page.on("request", lambda request: asked.append(request.url))
    watching.live_server.finish(games[0])
    watching.has_games(1)
    time.sleep(SETTLES_SECONDS)
    # The second one is for a node that answered before it knew of the event.
    assert 1 <= len(asked) <= 2, asked
    assert "status%2Cundo%2Cprepare%2Cplay%2Cending%2Cworth" in asked[0]
    watching.was_never_disturbed()


def test_a_row_follows_beside_a_half_entered_one(games: list[Any], phone: Callable[[], ConsolePhone]) -> None:
    first, second = games
    director = phone()
    director.tap(second["playerIds"][0])
    director.live_server.finish(first)
    director.has_games(1)
    assert director.tapped() == ["1"]
    director.has_no_news()
    director.was_never_disturbed()


def test_half_typed_names_and_the_cursor_stay_while_others_come(
    live_server: LiveServer, phone: Callable[[], ConsolePhone]
) -> None:
    live_server.create("matchplay")
    director = phone()
    page = director.page
    page.fill("#people-names", "Late Larkin\nLater Li")
    page.evaluate("document.querySelector('#people-names').setSelectionRange(3, 3)")
    live_server.ask_tournament("POST", "/players", {"players": [{"name": "Ines Corva"}]})
    director.is_told()
    assert page.input_value("#people-names") == "Late Larkin\nLater Li"
    assert page.evaluate("document.activeElement.id") == "people-names"
    assert page.evaluate("document.activeElement.selectionStart") == 3
    page.click("text=Add players")
    expect(page.locator("main")).to_contain_text("11 so far", timeout=WITHIN)
    director.has_no_news()
    director.was_never_disturbed()


def test_a_line_that_was_lost_is_caught_up_with_and_nothing_entered_is_lost(
    games: list[Any], phone: Callable[[], ConsolePhone]
) -> None:
    first, second = games
    entering, watching = phone(), phone()
    live_server = entering.live_server
    entering.tap(second["playerIds"][0])
    live_server.connection.cut()
    for each in (entering, watching):
        expect(each.page.locator("#feed")).not_to_have_attribute("data-state", "live", timeout=WITHIN)
    live_server.finish(first)
    time.sleep(CUT_SECONDS)
    live_server.connection.mend()
    watching.has_games(1)
    entering.has_games(1)
    for each in (entering, watching):
        each.is_live()
        each.was_never_disturbed()
    assert entering.tapped() == ["1"]


def test_a_phone_that_slept_asks_at_once(games: list[Any], phone: Callable[[], ConsolePhone]) -> None:
    sleeper = phone()
    sleeper.live_server.connection.freeze()
    sleeper.live_server.finish(games[0])
    sleeper.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(sleeper.page.locator("#feed")).not_to_have_attribute("data-state", "live", timeout=WITHIN)
    sleeper.live_server.connection.mend()
    sleeper.has_games(1)
    sleeper.is_live()
    sleeper.was_never_disturbed()


def test_ones_own_result_is_no_news(games: list[Any], phone: Callable[[], ConsolePhone]) -> None:
    first, second = games
    director = phone()
    director.tap(*first["playerIds"][:3])
    director.save(first)
    director.has_games(1)
    director.tap(second["playerIds"][0])
    director.page.wait_for_timeout(3000)
    director.has_no_news()
    assert director.tapped() == ["1"]


def test_a_result_on_its_way_is_not_replaced(games: list[Any], phone: Callable[[], ConsolePhone]) -> None:
    first, second = games
    director = phone()
    held: list[Route] = []
    director.page.route("**/do/result", lambda route: held.append(route))  # noqa: PLW0108  # Playwright counts arguments
    director.tap(*first["playerIds"][:3])
    director.save(first)
    sending = director.page.locator("[data-entry=sending]")
    expect(sending).to_have_count(1)
    director.live_server.finish(second)
    expect(director.page.locator(".undo")).to_contain_text("Ada Min", timeout=WITHIN)
    assert sending.count() == 1
    director.has_no_news()
    held[0].continue_()
    director.has_games(0)
    director.was_never_disturbed()


def test_a_refused_form_keeps_its_entries_when_others_change_something(
    live_server: LiveServer, phone: Callable[[], ConsolePhone]
) -> None:
    live_server.create("matchplay")
    director = phone()
    page = director.page
    page.fill("#people-names", "Ada Quill\nLate Larkin")
    page.click("text=Add players")
    page.wait_for_selector("[role=alert]")
    page.evaluate("document.activeElement.blur()")
    live_server.ask_tournament("POST", "/players", {"players": [{"name": "Ines Corva"}]})
    page.click("#refusal >> text=Close")
    director.is_told()
    page.click("#news")
    expect(page.locator("main")).to_contain_text("9 so far")
    assert page.input_value("#people-names") == "Ada Quill\nLate Larkin"
    director.was_never_disturbed()


def test_a_signed_out_phone_says_so_and_keeps_its_entries(
    games: list[Any], phone: Callable[[], ConsolePhone]
) -> None:
    first, second = games
    director = phone()
    director.tap(*second["playerIds"][:3])
    director.page.context.clear_cookies()
    director.live_server.finish(first)
    expect(director.page.locator("#feed")).to_contain_text("Signed out: Sign in", timeout=WITHIN)
    director.page.click("dialog[open] >> text=Back")
    with director.page.expect_popup() as opened:
        director.page.click("#feed a")
    opened.value.fill("#email", EMAIL)
    opened.value.fill("#password", PASSWORD)
    opened.value.click("main button")
    opened.value.wait_for_url("**/run")
    opened.value.close()
    director.is_live()
    # The entry page was closed to sign in, and still has what was tapped.
    director.page.click(f"#game-{second['gameId']} .four")
    assert director.tapped() == ["1", "2", "3", "4"]
    director.save(second)
    director.has_games(0)
    director.was_never_disturbed()


def test_an_update_keeps_the_focus(games: list[Any], phone: Callable[[], ConsolePhone]) -> None:
    first, second = games
    director = phone()
    link = director.page.locator(f"#game-{second['gameId']} .row-more")
    link.focus()
    director.live_server.finish(first)
    director.has_games(1)
    expect(link).to_be_focused()
    director.was_never_disturbed()
