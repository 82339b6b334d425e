"""Scorekeepers and players without accounts, in real browsers."""

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser

import build
from silverball.rules.model.tournament import Game
from silverball.service.users import reads as users_reads
from silverball.store.database.engine import Store
from web import chromium
from web.chromium import DESK, PHONE, BrowserPage
from web.phone import TWO_FRAMES, night_of, on_the_console, open_entry, organizer_of, started

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def a_night(store: Store, players: int = 8) -> tuple[Game, Game]:
    """A round with two games, scorekeepers and players' reports."""
    started(store, "group_matchplay", players, 4, scorekeeping="user", suggestions="restricted")
    by, now = organizer_of(store), datetime.now(UTC)
    status, answer, _ = build.do(store, "POST", "/api/tournaments/1/rounds", {}, by=by, now=now)
    assert status == 201, answer
    first, second = night_of(store).games
    return first, second


@pytest.fixture
def phone(browser: Browser, base_url: str) -> Iterator[BrowserPage]:
    """Another phone."""
    context = browser.new_context(viewport=PHONE)
    yield chromium.watched(context, base_url)
    context.close()


def tap_order(browser_page: BrowserPage, form: str, game: Game) -> None:
    """Tap all players but the last, who is placed last automatically."""
    if form.startswith("#result-"):
        open_entry(browser_page.page, game.game_id)
    for player_id in game.player_ids[:-1]:
        place = browser_page.page.locator(
            f"{form} .place", has=browser_page.page.locator(f"[name=place-{player_id}]")
        )
        place.locator(".tap").click()
    # Save has come: the page must have seen it before it is tapped.
    browser_page.page.evaluate(TWO_FRAMES)


def a_link(browser_page: BrowserPage, name: str) -> str:
    """Create a link; returns its path as a phone reads it from the screen."""
    browser_page.go("/t/1/run/settings#keepers")
    browser_page.page.fill("#device-name", name)
    browser_page.page.click("text=Make a link")
    browser_page.page.wait_for_selector("#link")
    found = re.search(r"/d\?link=\w{40}$", browser_page.page.input_value("#link"))
    assert found is not None
    return found[0]


def look(browser_page: BrowserPage, picture: str = "") -> None:
    browser_page.assert_usable()
    browser_page.assert_fits()
    if picture:
        browser_page.picture(picture)


def without_statuses(browser_page: BrowserPage) -> list[str]:
    """The errors of the page, without the 410 that Chromium logs."""
    return [complaint for complaint in browser_page.complaints if "410" not in complaint]


def test_a_phone_keeps_scores_another_reports_and_a_revoked_link_loses_nothing(
    store: Store,
    browser_page: BrowserPage,
    phone: BrowserPage,
    browser: Browser,
    base_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "silverball")
    first, second = a_night(store)
    on_the_console(browser_page, "/t/1/run/settings")
    link = a_link(browser_page, "Tablet at the bar")
    look(browser_page)
    # The browser is redirected away from the address of the link.
    phone.go(link)
    assert phone.page.url == f"{base_url}/t/1/run"
    assert "Tablet at the bar" in phone.page.inner_text("#stop")
    look(phone, "device-320")
    tap_order(phone, f"#result-{first.game_id}", first)
    phone.page.click(f"#result-{first.game_id} >> text=Save")
    phone.wait_for(lambda: night_of(store).games[0].status == "completed")
    browser_page.go("/t/1/run")
    assert "by device: Tablet at the bar" in browser_page.page.inner_text(".undo")
    # A player scans their code on the list of names.
    browser_page.go("/t/1/run/settings#keepers")
    browser_page.page.click("text=Make codes")
    browser_page.page.wait_for_selector("text=Make new codes")
    with store.read() as db:
        made = users_reads.current_codes(db, 1)
    assert made is not None
    reporter = second.player_ids[2]
    context = browser.new_context(viewport=PHONE)
    player = chromium.watched(context, base_url)
    player.go(f"/t/1/players/{reporter}?code={made.player_code(reporter)}")
    look(player)
    tap_order(player, f"#report-{second.game_id}", second)
    player.picture("report-320")
    player.page.click("text=Report the result")
    player.page.wait_for_selector("text=It waits until")
    look(player)
    assert night_of(store).games[1].status == "started"
    # The organizer accepts the report.
    browser_page.go("/t/1/run")
    look(browser_page)
    browser_page.page.click(".reported")
    browser_page.page.click("text=Accept")
    browser_page.wait_for(lambda: night_of(store).games[1].status == "completed")
    assert night_of(store).games[1].result_positions == second.player_ids
    assert player.complaints == browser_page.complaints == []
    context.close()
    logged = str([vars(record) for record in caplog.records])
    assert "/t/1/run" in logged
    assert link.partition("=")[2] not in logged
    assert made.player_code(reporter) not in logged
    revoked_in_the_middle(store, browser_page, phone)


def revoked_in_the_middle(store: Store, browser_page: BrowserPage, phone: BrowserPage) -> None:
    """A link is revoked while scores are entered; a new link keeps the entries."""
    by, now = organizer_of(store), datetime.now(UTC)
    build.do(store, "POST", "/api/tournaments/1/rounds", {}, by=by, now=now)
    game = next(game for game in night_of(store).games if game.status == "started")
    phone.go("/t/1/run")
    tap_order(phone, f"#result-{game.game_id}", game)
    browser_page.go("/t/1/run/settings#keepers")
    browser_page.page.click("text=Revoke: Tablet at the bar")
    browser_page.page.wait_for_selector("text=Revoke: Tablet", state="detached")
    phone.page.click(f"#result-{game.game_id} >> text=Save")
    phone.page.wait_for_selector("main >> text=was revoked")
    look(phone, "revoked-320")
    # A new link, opened in another tab of the same browser.
    fresh = a_link(browser_page, "Tablet again")
    other = phone.page.context.new_page()
    other.goto(f"{phone.base_url}{fresh}")
    other.close()
    phone.page.click("text=Go on with what I entered")
    phone.page.wait_for_selector("text=has not been sent yet")
    # The outbox's line has come: from then on nothing moves.
    phone.page.wait_for_selector("text=1 not saved")
    places = [phone.page.input_value(f"[name=place-{player_id}]") for player_id in game.player_ids]
    assert places == ["1", "2", "3", "4"]
    phone.page.click(f"#result-{game.game_id} >> text=Save")
    phone.wait_for(
        lambda: any(
            each.game_id == game.game_id and each.status == "completed" for each in night_of(store).games
        )
    )
    assert [complaint for complaint in without_statuses(phone) if "419" not in complaint] == []


def test_a_device_says_that_the_tournament_is_over(
    store: Store, browser_page: BrowserPage, phone: BrowserPage
) -> None:
    a_night(store)
    on_the_console(browser_page, "/t/1/run/settings")
    phone.go(a_link(browser_page, "Tablet at the bar"))
    phone.page.wait_for_selector("#feed[data-state=live]")
    by, now = organizer_of(store), datetime.now(UTC)
    for path in ("rounds/current", "complete"):
        build.do(store, "POST", f"/api/tournaments/1/{path}", {}, by=by, now=now)
    assert night_of(store).status == "completed"
    browser_page.go("/t/1/run")
    phone.page.wait_for_selector("#feed >> text=Closed to you")


def test_without_scripts_a_code_reports_just_as_well(store: Store, browser: Browser, base_url: str) -> None:
    game, _ = a_night(store)
    on_desk = browser.new_context(viewport=DESK)
    desk = chromium.watched(on_desk, base_url)
    on_the_console(desk, "/t/1/run/settings")
    desk.page.click("text=Make codes")
    desk.page.wait_for_selector("text=Make new codes")
    with store.read() as db:
        made = users_reads.current_codes(db, 1)
    assert made is not None
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    plain = chromium.watched(context, base_url)
    plain.go(f"/t/1/games/{game.game_id}?code={made.game_code(game.game_id)}")
    for place, player_id in enumerate(game.player_ids):
        plain.page.select_option(f"[name=place-{player_id}]", str(place + 1))
    plain.page.click("text=Report the result")
    plain.page.wait_for_load_state()
    assert "It waits until" in plain.page.inner_text("main")
    (suggestion,) = night_of(store).suggestions
    assert (suggestion.player_id, suggestion.results) == (None, game.player_ids)
    assert plain.complaints == desk.complaints == []
    context.close()
    on_desk.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["320", "1280"])
def test_every_page_of_devices_and_codes_is_usable_by_everybody(
    store: Store, browser: Browser, base_url: str, size: Any, scheme: Any
) -> None:
    game, _ = a_night(store)
    context = browser.new_context(viewport=size, color_scheme=scheme)
    browser_page = chromium.watched(context, base_url)
    on_the_console(browser_page, "/t/1/run/settings")
    browser_page.page.click("text=Make codes")
    browser_page.page.wait_for_selector("text=Make new codes")
    link = a_link(browser_page, "W" * 100)
    look(browser_page)
    with store.read() as db:
        made = users_reads.current_codes(db, 1)
    assert made is not None
    game_id, player_id = game.game_id, game.player_ids[0]
    for path in ("/t/1/run/settings", "/t/1/print/names", "/t/1/print/codes", "/t/1/print/scores"):
        browser_page.go(path)
        look(browser_page)
    elsewhere = browser.new_context(viewport=size, color_scheme=scheme)
    guest = chromium.watched(elsewhere, base_url)
    for path in (
        f"/t/1/games/{game_id}",
        f"/t/1/games/{game_id}?code={made.game_code(game_id)}",
        f"/t/1/players/{player_id}?code={made.player_code(player_id)}",
        f"/t/1/players/{player_id}?code=wrong",
        "/d?link=nobody-made-this",
        link,
        "/t/1/run/results",
        "/t/1/run/standings",
    ):
        guest.go(path)
        look(guest)
    build.do(store, "POST", "/api/tournaments/1/complete", by=organizer_of(store), now=datetime.now(UTC))
    guest.go("/t/1/run")
    look(guest)
    assert [complaint for complaint in guest.complaints if not re.search("403|404|410", complaint)] == []
    assert browser_page.complaints == []
    context.close()
    elsewhere.close()


def test_a_players_phone_says_where_to_play_next_without_being_touched(
    store: Store, browser_page: BrowserPage, phone: BrowserPage
) -> None:
    first, second = a_night(store)
    on_the_console(browser_page, "/t/1/run/settings")
    browser_page.page.click("text=Make codes")
    browser_page.page.wait_for_selector("text=Make new codes")
    with store.read() as db:
        made = users_reads.current_codes(db, 1)
    assert made is not None
    player = first.player_ids[0]
    phone.go(f"/t/1/players/{player}?code={made.player_code(player)}")
    phone.page.evaluate("window.wasNeverReloaded = true")
    phone.page.wait_for_selector("#feed[data-state=live]")
    look(phone, "next-game-320")
    # A player begins a report while other games finish: the taps stay.
    place = f"#report-{first.game_id} .place:has([name=place-{player}])"
    phone.page.locator(f"{place} .tap").click()
    browser_page.go("/t/1/run")
    tap_order(browser_page, f"#result-{second.game_id}", second)
    browser_page.page.click(f"#result-{second.game_id} >> text=Save")
    browser_page.wait_for(lambda: night_of(store).games[1].status == "completed")
    assert phone.page.input_value(f"{place} [name=place-{player}]") == "1"
    # A scorekeeper was quicker: the page says so and keeps the player's taps.
    tap_order(browser_page, f"#result-{first.game_id}", first)
    browser_page.page.click(f"#result-{first.game_id} >> text=Save")
    browser_page.wait_for(lambda: night_of(store).games[0].status == "completed")
    phone.page.wait_for_selector("#news >> text=Changed: show")
    assert phone.page.input_value(f"{place} [name=place-{player}]") == "1"
    # The first line may have been about the other game: the player asks again as long as there is one.
    while phone.page.locator("text=Your next game is shown here").count() == 0:
        phone.page.click("#news")
        phone.page.wait_for_timeout(100)
    assert "Place 1" in phone.page.inner_text("main")
    browser_page.page.click("text=Open round 2")
    phone.page.wait_for_selector("[id^=report-]")
    (playing,) = [
        game for game in night_of(store).games if game.status == "started" and player in game.player_ids
    ]
    assert phone.page.locator(f"#report-{playing.game_id}").count() == 1
    assert phone.page.evaluate("window.wasNeverReloaded") is True
    look(phone)
    assert phone.complaints == []


def test_the_page_of_a_player_works_without_a_code(
    store: Store, browser_page: BrowserPage, phone: BrowserPage
) -> None:
    first, _ = a_night(store)
    on_the_console(browser_page)
    phone.go(f"/t/1/players/{first.player_ids[0]}")
    phone.page.wait_for_selector("#feed[data-state=live]")
    assert phone.page.locator("form").count() == 0
    tap_order(browser_page, f"#result-{first.game_id}", first)
    browser_page.page.click(f"#result-{first.game_id} >> text=Save")
    phone.page.wait_for_selector("text=Your next game is shown here")
    look(phone)
    assert phone.complaints == []
