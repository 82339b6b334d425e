"""The console and the pages of devices and players without a network, in real browsers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext
from sqlalchemy import delete

import build
from silverball.rules.model.tournament import Game
from silverball.store import tables
from silverball.store.database.engine import Store
from web import chromium
from web.breakable_connection import BreakableConnection
from web.chromium import ARGUMENTS, PHONE, BrowserPage
from web.phone import LOOK_MILLISECONDS, a_night, actions, night_of, on_the_console, organizer_of

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

BAR = "#outbox:not([hidden]) summary"
KEPT = "async path => Boolean(await (await caches.open('silverball-pages')).match(path))"


@pytest.fixture
def connection(base_url: str) -> Iterator[BreakableConnection]:
    """The network between phones and the server."""
    yield from connections(base_url)


@pytest.fixture
def other_connection(base_url: str) -> Iterator[BreakableConnection]:
    yield from connections(base_url)


def connections(base_url: str) -> Iterator[BreakableConnection]:
    opened = BreakableConnection()
    opened.to = urlsplit(base_url).port or 0
    yield opened
    opened.close()


def opened_phone(browser: Browser, folder: Path) -> BrowserContext:
    """A browser that keeps its data in a folder, as a phone does when it is closed and opened."""
    return browser.browser_type.launch_persistent_context(
        folder, executable_path="/usr/bin/chromium", args=ARGUMENTS, viewport=PHONE
    )


def wait_until_kept(phone: BrowserPage, *paths: str) -> None:
    """Wait until the service worker has these pages."""
    for path in paths:
        phone.wait_for(lambda: phone.page.evaluate(KEPT, path))  # noqa: B023  # asked at once


def open_games(store: Store) -> list[Game]:
    return [game for game in night_of(store).games if game.status == "started"]


def win(phone: BrowserPage, game: Game, place: int = 0) -> None:
    """Tap one of the two players of a game, having looked first."""
    phone.page.wait_for_timeout(LOOK_MILLISECONDS)
    phone.page.click(f"#result-{game.game_id} button[name=first][value='{game.player_ids[place]}']")


def bar_says(phone: BrowserPage, text: str) -> None:
    phone.page.wait_for_selector(f"{BAR} >> text={text}", timeout=60_000)


def send(store: Store, method: str, path: str, body: Any = None) -> None:
    """Something that the organizer does on another device."""
    by, now = organizer_of(store), datetime.now(UTC)
    status, answer, _ = build.do(store, method, f"/api/tournaments/1{path}", body, by=by, now=now)
    assert status < 300, answer


def test_a_round_is_entered_in_a_cellar_and_saved_once_when_the_network_is_back(
    store: Store, browser: Browser, connection: BreakableConnection, tmp_path: Path
) -> None:
    a_night(store, players=16)
    before, games = actions(store), open_games(store)
    assert len(games) == 8
    context = opened_phone(browser, tmp_path / "phone")
    phone = chromium.watched(context, connection.url)
    on_the_console(phone)
    wait_until_kept(phone, "/t/1/run", "/t/1/run/standings", "/t/1/run/players")
    connection.cut()
    phone.page.reload()
    phone.page.wait_for_selector("#feed >> text=as of")
    for game in games:
        win(phone, game)
    bar_says(phone, "8 not sent yet")
    assert "keep this page open" not in phone.page.inner_text(BAR)
    phone.assert_fits()
    phone.picture("cellar-320")
    # Another page and back: nothing is lost, and nothing is on it that was not seen.
    phone.page.click(".bar >> text=Standings")
    phone.page.wait_for_url("**/run/standings")
    bar_says(phone, "8 not sent yet")
    phone.page.go_back()
    bar_says(phone, "8 not sent yet")
    assert len(open_games(store)) == 8
    # A page that was never seen says so, and leads back.
    phone.go("/t/1/run/game?game=999")
    phone.page.click("text=Back to the console")
    bar_says(phone, "8 not sent yet")
    context.close()
    # The browser is opened again, still without a network.
    context = opened_phone(browser, tmp_path / "phone")
    phone = chromium.watched(context, connection.url)
    phone.go("/t/1/run")
    bar_says(phone, "8 not sent yet")
    assert phone.page.locator("form.pending").count() == 8
    connection.mend()
    phone.page.evaluate("dispatchEvent(new Event('online'))")
    if not_signed_in(phone):
        on_the_console(phone)
    phone.wait_for(lambda: not open_games(store))
    phone.page.wait_for_selector("#outbox", state="hidden")
    assert actions(store) == before + 8
    assert [game.result_positions[0] for game in night_of(store).games] == [
        game.player_ids[0] for game in games
    ]
    context.close()


def not_signed_in(phone: BrowserPage) -> bool:
    """Whether the session ended with the browser."""
    return not any("session" in cookie["name"] for cookie in phone.page.context.cookies())


def test_of_two_results_entered_without_network_a_person_chooses(
    store: Store,
    browser: Browser,
    connection: BreakableConnection,
    other_connection: BreakableConnection,
) -> None:
    a_night(store, players=8)
    first, second, third, fourth = open_games(store)
    context, bar_context = browser.new_context(viewport=PHONE), browser.new_context(viewport=PHONE)
    phone = chromium.watched(context, connection.url)
    tablet = chromium.watched(bar_context, other_connection.url)
    on_the_console(phone, "/t/1/run/settings")
    tablet.go(a_link(phone))
    phone.go("/t/1/run")
    tablet.page.wait_for_selector("#feed[data-state=live]")
    connection.cut()
    other_connection.cut()
    for game in (first, second):
        win(phone, game, 0)
    for game in (first, third):
        win(tablet, game, 1)
    bar_says(phone, "2 not sent yet")
    bar_says(tablet, "2 not sent yet")
    # The device is there first.
    restore(tablet, other_connection)
    tablet.wait_for(lambda: len(open_games(store)) == 2)
    restore(phone, connection)
    bar_says(phone, "1 not saved: look")
    phone.wait_for(lambda: len(open_games(store)) == 1)
    assert night_of(store).games[0].result_positions[0] == first.player_ids[1]
    phone.page.click(BAR)
    names = [f"Player {player_id}" for player_id in first.player_ids]
    listed = phone.page.inner_text("#outbox li")
    assert f"{names[0]} won" in listed
    assert f"Recorded: {names[1]} won." in listed
    phone.assert_fits()
    phone.assert_usable()
    phone.picture("conflict-320")
    before = actions(store)
    phone.page.click("text=Save this instead")
    phone.page.wait_for_selector("#outbox", state="hidden")
    assert night_of(store).games[0].result_positions[0] == first.player_ids[0]
    assert actions(store) == before + 1
    finished_meanwhile(store, tablet, other_connection, fourth)
    context.close()
    bar_context.close()


def finished_meanwhile(
    store: Store, tablet: BrowserPage, connection: BreakableConnection, game: Game
) -> None:
    """The round and the tournament are closed while the device has no network."""
    tablet.page.wait_for_selector("#outbox", state="hidden")
    connection.cut()
    win(tablet, game, 1)
    bar_says(tablet, "1 not sent yet")
    order = {"resultPositions": list(game.player_ids)}
    send(store, "PUT", f"/games/{game.game_id}/result", order)
    send(store, "POST", "/rounds", {})
    send(store, "POST", "/complete", {"openRound": "drop"})
    restore(tablet, connection)
    bar_says(tablet, "1 not saved: look")
    tablet.page.wait_for_selector("main >> text=its results are final")
    assert night_of(store).games[3].result_positions == game.player_ids


def a_link(phone: BrowserPage) -> str:
    """A link for a device, as it reads it from the organizer's screen."""
    phone.page.fill("#device-name", "Tablet at the bar")
    phone.page.click("text=Make a link")
    phone.page.wait_for_selector("#link")
    return "/d" + phone.page.input_value("#link").partition("/d")[2]


def restore(phone: BrowserPage, connection: BreakableConnection) -> None:
    connection.mend()
    phone.page.evaluate("dispatchEvent(new Event('online'))")


PAGES_AGED = """async hours => {
  const cache = await caches.open("silverball-pages");
  for (const request of await cache.keys()) {
    const kept = await cache.match(request);
    const headers = new Headers(kept.headers);
    headers.set("x-seen", String(Date.now() - hours * 3600000));
    await cache.put(request, new Response(await kept.text(), { headers }));
  }
}"""


def a_kept_console(store: Store, browser: Browser, url: str, folder: Path) -> BrowserPage:
    """A phone on the console of a night, which is kept for times without a network."""
    a_night(store)
    phone = chromium.watched(opened_phone(browser, folder), url)
    on_the_console(phone)
    wait_until_kept(phone, "/t/1/run", "/t/1/run/players")
    return phone


def test_pages_of_a_session_that_ended_elsewhere_leave_the_phone_and_its_entries_stay(
    store: Store, browser: Browser, connection: BreakableConnection, tmp_path: Path
) -> None:
    phone = a_kept_console(store, browser, connection.url, tmp_path / "phone")
    connection.cut()
    win(phone, open_games(store)[0])
    bar_says(phone, "1 not sent yet")
    with store.write() as transaction:
        transaction.connection.execute(delete(tables.session))
    connection.mend()
    phone.page.evaluate("dispatchEvent(new Event('online'))")
    for path in ("/t/1/run", "/t/1/run/players"):
        phone.wait_for(lambda: not phone.page.evaluate(KEPT, path))  # noqa: B023  # asked at once
    bar_says(phone, "1 not sent yet")
    on_the_console(phone)
    phone.wait_for(lambda: len(open_games(store)) == 1)
    phone.page.context.close()


def test_the_console_is_not_shown_after_half_a_day_without_the_server(
    store: Store, browser: Browser, connection: BreakableConnection, tmp_path: Path
) -> None:
    phone = a_kept_console(store, browser, connection.url, tmp_path / "phone")
    connection.cut()
    win(phone, open_games(store)[0])
    bar_says(phone, "1 not sent yet")
    phone.page.evaluate(PAGES_AGED, 11)
    phone.page.reload()
    bar_says(phone, "1 not sent yet")
    phone.page.evaluate(PAGES_AGED, 13)
    phone.page.reload()
    phone.page.wait_for_selector("h1 >> text=No connection")
    assert not phone.page.evaluate(KEPT, "/t/1/run/players")
    connection.mend()
    phone.go("/t/1/run")
    phone.wait_for(lambda: len(open_games(store)) == 1)
    phone.page.context.close()
