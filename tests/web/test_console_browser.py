"""The console in a real browser: taps, bad Wi-Fi, no scripts, no mouse."""

import pytest
from playwright.sync_api import APIResponse, Browser, Route

from silverball.store.database.engine import Store
from web import chromium
from web.chromium import PHONE, BrowserPage
from web.phone import (
    LOOK_MILLISECONDS,
    Phone,
    a_night,
    actions,
    night_of,
    on_the_console,
    open_entry,
    started,
)
from web.visitor import EMAIL, PASSWORD

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def test_a_double_tap_acts_once(store: Store, browser_page: BrowserPage) -> None:
    players = a_night(store)
    on_the_console(browser_page)
    winner, before = players[0], actions(store)
    browser_page.page.locator(f"button[name=first][value='{winner}']").dblclick()
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    browser_page.wait_for(lambda: browser_page.page.locator(".games > li:not(.done)").count() == 1)
    assert actions(store) == before + 1
    assert night_of(store).games[0].result_positions[0] == winner
    assert "by Olga Ramp" in browser_page.page.inner_text(".undo")
    browser_page.page.wait_for_timeout(LOOK_MILLISECONDS)
    browser_page.page.click(".undo >> text=Undo")
    browser_page.wait_for(lambda: night_of(store).games[0].status == "started")
    assert browser_page.complaints == []


def test_an_answer_lost_on_bad_wifi_is_asked_for_again_and_acts_once(
    store: Store, browser_page: BrowserPage
) -> None:
    players = a_night(store)
    on_the_console(browser_page)
    lost: list[str] = []
    before = actions(store)

    def lose(route: Route) -> None:
        # The request succeeds, and its answer is lost.
        if len(lost) < 2:
            lost.append(route.fetch().text())
            route.abort("connectionreset")
        else:
            route.continue_()

    browser_page.page.route("**/do/result", lose)
    browser_page.page.locator(f"button[name=first][value='{players[0]}']").click()
    browser_page.page.wait_for_selector("[data-entry=unsent] >> text=not sent")
    browser_page.picture("pending-320")
    browser_page.wait_for(lambda: browser_page.page.locator(".games > li:not(.done)").count() == 1)
    assert len(lost) == 2
    assert actions(store) == before + 1


def test_a_second_tap_clears_a_place(store: Store, browser_page: BrowserPage) -> None:
    players = a_night(store, "group_matchplay")
    on_the_console(browser_page)
    page = browser_page.page
    open_entry(page, night_of(store).games[0].game_id)

    def tap(player_id: int) -> None:
        page.locator(".place", has=page.locator(f"[name=place-{player_id}]")).locator(".tap").click()

    first, second, third, fourth = players
    tap(first)
    tap(second)
    tap(first)
    places = [page.input_value(f"[name=place-{player_id}]") for player_id in players]
    assert places == ["", "", "", ""]
    for player_id in (fourth, third, second):
        tap(player_id)
    page.click("dialog >> text=Save")
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    assert night_of(store).games[0].result_positions == (fourth, third, second, first)


@pytest.mark.parametrize(
    ("type_", "players", "taps"), [("matchplay", 2, 1), ("group_matchplay", 3, 4), ("group_matchplay", 4, 5)]
)
def test_a_result_is_as_many_taps_as_there_are_places_to_tell(
    store: Store, browser_page: BrowserPage, type_: str, players: int, taps: int
) -> None:
    """One tap for a game of two; a larger group is opened, ordered but for the last, and saved."""
    order = a_night(store, type_, players)[::-1]
    on_the_console(browser_page)
    thumb = Phone(browser_page)
    if players == 2:
        thumb.tap(f"button[name=first][value='{order[0]}']")
    else:
        thumb.tap(".game .four")
        for player_id in order[:-1]:
            thumb.tap(f".place:has([name=place-{player_id}]) .tap")
        thumb.tap("dialog >> text=Save")
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    assert (
        list(night_of(store).games[0].finishing_order or night_of(store).games[0].result_positions) == order
    )
    assert thumb.taps == taps
    assert browser_page.complaints == []


def test_one_more_tap_corrects_a_mistake(store: Store, browser_page: BrowserPage) -> None:
    first, second, third, fourth = a_night(store, "group_matchplay")
    on_the_console(browser_page)
    page = browser_page.page
    open_entry(page, night_of(store).games[0].game_id)

    def tap(*players: int) -> list[str]:
        for player_id in players:
            page.click(f".place:has([name=place-{player_id}]) .tap")
        return [page.input_value(f"[name=place-{player_id}]") for player_id in (first, second, third, fourth)]

    assert not page.is_visible("text=Start over")
    # A tap on the last player swaps the last two, another tap swaps them back.
    assert tap(first, second, third) == ["1", "2", "3", "4"]
    assert tap(fourth) == ["1", "2", "4", "3"]
    assert tap(third) == ["1", "2", "3", "4"]
    # A second tap clears the place and all later ones.
    assert tap(second) == ["1", "", "", ""]
    place = page.locator(".entry-end").bounding_box()
    page.click("text=Start over")
    assert tap() == ["", "", "", ""]
    assert not page.is_visible("text=Start over")
    # The place of Save has not moved.
    assert page.locator(".entry-end").bounding_box() == place
    assert tap(fourth, first, second) == ["2", "3", "4", "1"]
    page.click("dialog >> text=Save")
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    assert night_of(store).games[0].result_positions == (fourth, first, second, third)
    assert browser_page.complaints == []


def test_an_order_is_saved_once_it_is_complete(store: Store, browser_page: BrowserPage) -> None:
    first, second, third, _ = a_night(store, "group_matchplay")
    on_the_console(browser_page)
    page = browser_page.page
    open_entry(page, night_of(store).games[0].game_id)
    for player_id, line in ((first, "2nd place is next"), (second, "3rd place is next")):
        page.click(f".place:has([name=place-{player_id}]) .tap")
        assert page.inner_text(".entry-end .waits") == line
        assert not page.is_visible("dialog >> text=Save")
    page.click(f".place:has([name=place-{third}]) .tap")
    assert page.is_visible("dialog >> text=Save")
    assert not page.is_visible(".entry-end .waits")
    # Back leaves it as it is tapped.
    page.go_back()
    page.wait_for_selector("dialog", state="hidden")
    open_entry(page, night_of(store).games[0].game_id)
    assert page.locator("[aria-pressed=true] .nth").all_inner_texts() == ["1", "2", "3", "4"]
    assert night_of(store).games[0].status == "started"


def test_what_is_tapped_elsewhere_meanwhile_is_kept(store: Store, browser_page: BrowserPage) -> None:
    players = a_night(store, "group_matchplay", players=8)
    on_the_console(browser_page)
    page = browser_page.page
    first, second = night_of(store).games

    def tap(player_id: int) -> None:
        page.locator(".place", has=page.locator(f"[name=place-{player_id}]")).locator(".tap").click()

    held: list[Route] = []
    page.route("**/do/result", lambda route: held.append(route))  # noqa: PLW0108  # Playwright counts arguments
    open_entry(page, first.game_id)
    for player_id in players[:3]:
        tap(player_id)
    page.locator(f"#result-{first.game_id} >> text=Save").click()
    page.wait_for_selector(f"#game-{first.game_id}[data-entry=sending]")
    open_entry(page, second.game_id)
    for player_id in second.player_ids[:2]:
        tap(player_id)
    held[0].continue_()
    page.unroute("**/do/result")
    page.wait_for_selector(f"#game-{first.game_id}.done", state="attached")
    assert page.locator(f"#entry-{second.game_id} [aria-pressed=true] .nth").all_inner_texts() == ["1", "2"]
    tap(second.player_ids[2])
    page.locator(f"#result-{second.game_id} >> text=Save").click()
    browser_page.wait_for(lambda: night_of(store).games[1].status == "completed")
    assert night_of(store).games[1].result_positions == second.player_ids
    assert browser_page.complaints == []


def test_a_session_that_is_lost_in_the_middle_loses_nothing(store: Store, browser_page: BrowserPage) -> None:
    players = a_night(store, "group_matchplay")
    on_the_console(browser_page)
    page = browser_page.page
    open_entry(page, night_of(store).games[0].game_id)
    for player_id in players[:3]:
        page.locator(".place", has=page.locator(f"[name=place-{player_id}]")).locator(".tap").click()
    page.context.clear_cookies()
    page.click("dialog >> text=Save")
    page.wait_for_selector("text=what you entered is kept")
    page.fill("#email", EMAIL)
    page.fill("#password", PASSWORD)
    page.click("main button")
    # The outbox sends it for the account that entered it.
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    assert night_of(store).games[0].result_positions == tuple(players)


@pytest.mark.parametrize("size", [3, 4])
def test_without_scripts_the_same_forms_do_the_same(
    store: Store, browser: Browser, base_url: str, size: int
) -> None:
    players = a_night(store, "group_matchplay", size)
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    browser_page = chromium.watched(context, base_url)
    on_the_console(browser_page)
    page = browser_page.page
    page.click(".game .four")
    # The last place is implied, as it is by tap.
    for place, player_id in enumerate(players[:-1]):
        page.select_option(f"[name=place-{player_id}]", str(place + 1))
    page.click("main >> text=/^Save the result/")
    page.wait_for_load_state()
    assert night_of(store).games[0].result_positions == tuple(players)
    page.click("nav >> text=Players")
    page.fill("#people-names", "Late Larkin")
    page.click("text=Add players")
    page.wait_for_load_state()
    assert len(night_of(store).entrants) == size + 1
    assert browser_page.complaints == []
    context.close()


def test_a_result_is_entered_with_the_keyboard_alone(store: Store, browser_page: BrowserPage) -> None:
    a_night(store, "group_matchplay")
    on_the_console(browser_page)
    game_id = night_of(store).games[0].game_id
    form = f"#result-{game_id}"
    browser_page.press(f"#game-{game_id} .four", "Enter")
    for nth in range(3):
        browser_page.press(f"{form} .place:nth-child({nth + 1}) .tap", "Space")
    browser_page.press(f"{form} .entry-end button", "Enter")
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    assert browser_page.complaints == []


def test_a_whole_round_is_run_with_the_keyboard_alone(store: Store, browser_page: BrowserPage) -> None:
    started(store, "matchplay", 8, 4)
    page = browser_page.page
    browser_page.go("/t/1/run")
    page.wait_for_selector("#email:focus")
    page.keyboard.type(EMAIL)
    browser_page.type("#password", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    browser_page.press("#round-open button")
    page.wait_for_selector("text=4 open games")
    games = night_of(store).games
    # The first is found by letters of a name, the others with the tab key alone.
    browser_page.type(".find", f"player {games[0].player_ids[1]}")
    for game in games:
        browser_page.press(
            f"#result-{game.game_id} button[name=first][value='{game.player_ids[1]}']", "Space"
        )
        browser_page.wait_for(lambda: game.game_id not in open_ids(store))  # noqa: B023  # asked at once
        page.wait_for_selector(f"#game-{game.game_id}.done", state="attached")
        if game == games[0]:
            browser_page.press(".find", "Control+a")
            page.keyboard.press("Delete")
    assert [game.result_positions[0] for game in night_of(store).games] == [
        game.player_ids[1] for game in games
    ]
    # The button to the next round comes into its kept place.
    page.wait_for_selector("#round-open button", state="attached")
    assert not page.is_visible("#news")
    browser_page.press("#round-open button")
    browser_page.wait_for(lambda: len(open_ids(store)) == 4)
    page.wait_for_selector(".undo >> text=Round 2 opened")
    browser_page.press(".undo button")
    browser_page.wait_for(lambda: open_ids(store) == [])
    assert browser_page.complaints == []


def open_ids(store: Store) -> list[int]:
    return [game.game_id for game in night_of(store).open_games]


def test_a_page_that_comes_late_does_not_show_a_later_result_as_open_again(
    store: Store, browser_page: BrowserPage
) -> None:
    a_night(store, "matchplay", players=6)
    on_the_console(browser_page)
    page = browser_page.page
    late: list[tuple[Route, APIResponse]] = []

    def hold(route: Route) -> None:
        # The page after the first result is made at once, and is long on its way.
        if route.request.resource_type == "fetch" and not late:
            late.append((route, route.fetch()))
        else:
            route.continue_()

    page.route("**/t/1/run?part=**", hold)
    rows = page.locator(".games > li:not(.done)")
    first, second, _ = [row.get_attribute("id") for row in rows.all()]
    page.locator(f"#{first} button[name=first]").first.click()
    browser_page.wait_for(lambda: len(late) == 1)
    with page.expect_response("**/do/result"):
        page.locator(f"#{second} button[name=first]").first.click()
    route, answer = late[0]
    route.fulfill(response=answer)
    page.wait_for_selector(f"#{second}.done")
    states = """ids => ids.map(id => document.getElementById(id).matches(".done, [data-entry=saved]"))"""
    assert page.evaluate(states, [first, second]) == [True, True]
    assert not page.is_visible("#news")
    assert browser_page.complaints == []


def test_the_keyboard_goes_on_where_it_was_after_each_save(store: Store, browser_page: BrowserPage) -> None:
    a_night(store, "matchplay", players=8)
    on_the_console(browser_page)
    page = browser_page.page
    ids = [row.get_attribute("id") for row in page.locator(".games > li").all()]
    page.locator(f"#{ids[1]} button[name=first]").first.focus()
    # The whole round after the first game, without a mouse and without looking for the place again.
    for row_id in ids[1:]:
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#{row_id}.done")
        place = "document.activeElement.closest('.games > li')?.id"
        assert page.evaluate(place) == row_id
        # A key that is held down, or pressed again, does nothing more.
        page.keyboard.press("Enter")
        if row_id != ids[-1]:
            browser_page.tab_to(f"#{ids[ids.index(row_id) + 1]} button[name=first]")
    assert len(open_ids(store)) == 1
    assert browser_page.complaints == []
