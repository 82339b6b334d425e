"""The outbox of the console in a real browser: nothing entered is lost, and nothing is entered twice."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import build
from silverball.rules.model.tournament import Game
from silverball.store.database.engine import Store
from web import chromium
from web.chromium import PHONE, BrowserPage
from web.phone import (
    LOOK_MILLISECONDS,
    a_night,
    actions,
    night_of,
    on_the_console,
    open_entry,
    organizer_of,
    started,
)
from web.visitor import PASSWORD, an_account

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

BAR = "#outbox:not([hidden]) summary"
OTHER_EMAIL = "other@silverball.test"


def cut(page: Page) -> None:
    """Let no result through; the page itself can be loaded."""
    page.route("**/do/result", lambda route: route.abort("internetdisconnected"))


def mend(page: Page) -> None:
    page.unroute("**/do/result")
    page.evaluate("dispatchEvent(new Event('online'))")


def win(page: Page, game: Game) -> None:
    """Tap the first player of a game of two, having looked first: two taps at one spot at once are one."""
    page.wait_for_timeout(LOOK_MILLISECONDS)
    page.locator(f"#result-{game.game_id} button[name=first][value='{game.player_ids[0]}']").click()


def bar_says(browser_page: BrowserPage, text: str) -> None:
    browser_page.page.wait_for_selector(f"{BAR} >> text={text}", timeout=60_000)


def one_waits(store: Store, browser_page: BrowserPage) -> Game:
    """Enter the first of two open games without network; the result waits on the phone."""
    a_night(store)
    game = open_games(store)[0]
    on_the_console(browser_page)
    page = browser_page.page
    cut(page)
    win(page, game)
    bar_says(browser_page, "1 not sent yet")
    return game


def open_games(store: Store) -> list[Game]:
    return [game for game in night_of(store).games if game.status == "started"]


def test_a_round_entered_without_network_is_saved_once_when_the_network_is_back(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store, players=16)
    games, before = open_games(store), actions(store)
    assert len(games) == 8
    on_the_console(browser_page)
    page = browser_page.page
    cut(page)
    for game in games:
        win(page, game)
        page.wait_for_selector(f"#result-{game.game_id}.pending")
    bar_says(browser_page, "8 not sent yet")
    browser_page.assert_fits()
    browser_page.assert_usable()
    browser_page.picture("outbox-320")
    # Another page of the tournament, and the tab closed: they wait.
    browser_page.go("/t/1/run/standings")
    bar_says(browser_page, "8 not sent yet")
    context = page.context
    page.close()
    assert len(open_games(store)) == 8
    again = chromium.watched(context, browser_page.base_url)
    cut(again.page)
    again.go("/t/1/run")
    bar_says(again, "8 not sent yet")
    # The form of a game that waits takes no second entry.
    again.page.wait_for_selector(f"#result-{games[0].game_id}.pending", state="attached")
    mend(again.page)
    again.wait_for(lambda: not open_games(store))
    again.page.wait_for_selector("#outbox", state="hidden")
    assert actions(store) == before + 8
    assert [game.result_positions[0] for game in night_of(store).games] == [
        game.player_ids[0] for game in games
    ]


def test_a_result_is_confirmed_before_its_page_comes_and_the_page_comes_when_it_can(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store)
    first, second = open_games(store)
    on_the_console(browser_page)
    page = browser_page.page
    pages: list[str] = []

    def refuse(route: Any) -> None:
        pages.append(route.request.url)
        route.abort("internetdisconnected")

    console = re.compile(r"/t/1/run(\?.*)?$")
    page.route(console, refuse)
    win(page, first)
    page.wait_for_selector(f"#game-{first.game_id}[data-entry=saved] >> text=saved")
    assert [game.game_id for game in open_games(store)] == [second.game_id]
    # What is new is asked for again and again.
    browser_page.wait_for(lambda: len(pages) > 0)
    after = len(pages)
    browser_page.wait_for(lambda: len(pages) > after)
    page.unroute(console)
    page.wait_for_selector(f"#game-{first.game_id}.done")
    assert page.locator("form.duel").count() == 1


def test_of_two_results_for_a_game_the_first_stands_and_the_second_is_shown(
    store: Store, browser_page: BrowserPage
) -> None:
    first = one_waits(store, browser_page)
    second = open_games(store)[1]
    page = browser_page.page
    browser_page.go("/t/1/run/standings")
    record(store, first, tuple(reversed(first.player_ids)))
    mend(page)
    bar_says(browser_page, "1 not saved: look")
    assert night_of(store).games[0].result_positions[0] == first.player_ids[1]
    page.click(BAR)
    listed = page.inner_text("#outbox li")
    assert "Player" in listed
    assert "won" in listed
    # It is not sent again, and a person takes it off the list.
    browser_page.go("/t/1/run")
    bar_says(browser_page, "1 not saved: look")
    page.click(BAR)
    page.click("#outbox >> text=Discard")
    page.wait_for_selector("#outbox", state="hidden")
    assert [game.game_id for game in open_games(store)] == [second.game_id]


def test_an_entry_of_a_round_that_is_over_becomes_its_correction(
    store: Store, browser_page: BrowserPage
) -> None:
    winner, loser = a_night(store, "matchplay", 4, 4)
    by, games = organizer_of(store), open_games(store)
    on_the_console(browser_page)
    page = browser_page.page
    cut(page)
    # Somebody else enters the round the other way and opens the next while this phone is offline.
    win(page, games[0])
    bar_says(browser_page, "1 not sent yet")
    for game in games:
        record(store, game, tuple(reversed(game.player_ids)))
    assert build.do(store, "POST", "/api/tournaments/1/rounds", {}, by=by)[0] == 201
    mend(page)
    bar_says(browser_page, "1 not saved: look")
    page.click(BAR)
    # What could only be refused again is not offered.
    assert page.locator("#outbox li button").all_inner_texts() == ["Discard"]
    page.click("#outbox a.way")
    page.wait_for_selector("text=What changes")
    page.fill("#correct-reason", "The phone was offline.")
    page.click("text=Save the correction")
    browser_page.wait_for(lambda: night_of(store).games[0].result_positions == games[0].player_ids)
    page.wait_for_selector("#outbox", state="hidden")
    assert (winner, loser) == games[0].player_ids


def test_another_account_sees_what_waits_and_cannot_send_it(store: Store, browser_page: BrowserPage) -> None:
    game = one_waits(store, browser_page)
    page = browser_page.page
    an_account(store, name="Otto Wren", email=OTHER_EMAIL, role="admin")
    page.context.clear_cookies()
    page.unroute("**/do/result")
    browser_page.go("/account/sign-in?next=/t/1/run")
    page.fill("#email", OTHER_EMAIL)
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/t/1/run")
    bar_says(browser_page, "1 not sent yet")
    page.click(BAR)
    assert "belongs to another account" in page.inner_text("#outbox li")
    assert page.locator("#outbox button").count() == 0
    page.wait_for_timeout(1500)
    assert open_games(store)[0].game_id == game.game_id


def test_what_waits_is_discarded_by_a_person(store: Store, browser_page: BrowserPage) -> None:
    game = one_waits(store, browser_page)
    page = browser_page.page
    page.click(BAR)
    page.click("#outbox >> text=Discard")
    page.wait_for_selector("#outbox", state="hidden")
    page.wait_for_selector(f"#result-{game.game_id}:not(.pending)")
    mend(page)
    page.wait_for_timeout(700)
    assert len(open_games(store)) == 2


@pytest.mark.parametrize("pause", [80, 200, 400, 800])
def test_taps_at_one_spot_save_one_result(store: Store, browser: Browser, base_url: str, pause: int) -> None:
    a_night(store, players=8)
    before = actions(store)
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    phone = chromium.watched(context, base_url)
    on_the_console(phone)
    button = phone.page.locator("button[name=first]").first
    # Clear of the bar at the bottom.
    button.evaluate("button => button.scrollIntoView({ block: 'center' })")
    box = button.bounding_box()
    assert box is not None
    for _ in range(5):
        phone.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        phone.page.wait_for_timeout(pause)
    phone.wait_for(lambda: len(open_games(store)) < 4)
    phone.page.wait_for_timeout(2000)
    assert len(open_games(store)) == 3
    assert actions(store) == before + 1
    context.close()


@pytest.mark.parametrize("pause", [200, 400, 800])
def test_taps_at_one_spot_save_the_strokes_of_one_player(
    store: Store, browser: Browser, base_url: str, pause: int
) -> None:
    started(store, "golf", 4, 2)
    before = actions(store)
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    phone = chromium.watched(context, base_url)
    on_the_console(phone)
    button = phone.page.locator("button[name=strokes]").nth(2)
    # Clear of the bar at the bottom.
    button.evaluate("button => button.scrollIntoView({ block: 'center' })")
    box = button.bounding_box()
    assert box is not None
    for _ in range(3):
        phone.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        phone.page.wait_for_timeout(pause)
    phone.wait_for(lambda: actions(store) > before)
    phone.page.wait_for_timeout(1000)
    assert actions(store) == before + 1
    context.close()


def record(store: Store, game: Game, order: tuple[int, ...]) -> None:
    """A result from somewhere else."""
    path = f"/api/tournaments/1/games/{game.game_id}/result"
    body: dict[str, Any] = {"resultPositions": list(order)}
    status, answer, _ = build.do(store, "PUT", path, body, by=organizer_of(store), now=datetime.now(UTC))
    assert status == 200, answer


def test_back_shows_what_is_tapped_or_nothing(store: Store, browser_page: BrowserPage) -> None:
    a_night(store, "group_matchplay")
    on_the_console(browser_page)
    page = browser_page.page
    game = open_games(store)[0]
    open_entry(page, game.game_id)
    for player_id in game.player_ids[:3]:
        page.locator(".place", has=page.locator(f"[name=place-{player_id}]")).locator(".tap").click()
    browser_page.go("/t/1/run/standings")
    page.go_back()
    page.wait_for_selector(".tap", state="attached")
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)
    held = [page.input_value(f"[name=place-{player_id}]") for player_id in game.player_ids]
    shown = page.locator(".tap .nth").all_text_contents()
    assert [text.strip() for text in shown] == held
