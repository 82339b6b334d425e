"""Who is here, ticked without a network: kept like results, sent once, in order, and conflicts are shown."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from web import chromium
from web.breakable_connection import BreakableConnection
from web.chromium import ARGUMENTS, PHONE, BrowserPage
from web.phone import LOOK_MILLISECONDS, an_organizer, night_of, on_the_console

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

PAGE = "/t/2/run/players?former=1"
BAR = "#outbox:not([hidden]) summary"
KEPT = "async path => Boolean(await (await caches.open('silverball-pages')).match(path))"
PEOPLE = ("Ada Quill", "Bo Larkin", "Cleo Marsh", "Dov Tamsin", "Edie Frost", "Finn Abara")


@pytest.fixture
def connection(base_url: str) -> Iterator[BreakableConnection]:
    """The network between the phone and the server."""
    opened = BreakableConnection()
    opened.to = urlsplit(base_url).port or 0
    yield opened
    opened.close()


def two_nights(store: Store) -> int:
    """The past night of six players, and a planned one without any; returns the organizer."""
    organizer_id = an_organizer(store, 1)
    for name in ("Last week", "Tonight"):
        send(store, organizer_id, "/api/tournaments", {"name": name, "type": "matchplay"})
    send(store, organizer_id, "/api/tournaments/1/players", {"players": [{"name": name} for name in PEOPLE]})
    return organizer_id


def send(store: Store, by: int, path: str, body: object) -> None:
    status, answer, _ = build.do(store, "POST", path, body, by=by, now=datetime.now(UTC))
    assert status < 300, answer


def here(store: Store) -> list[str]:
    """The names of the players of tonight, in the order in which they were added."""
    night = night_of(store, 2)
    ids = {entrant.player_id for entrant in night.entrants}
    names = dict(enumerate(PEOPLE, start=1))
    return [names.get(player_id, str(player_id)) for player_id in sorted(ids)]


def actions_of_tonight(store: Store) -> int:
    columns = tables.journal.c
    rows = select(columns.action_id).distinct().where(columns.tournament_id == 2)
    with store.read() as db:
        return len(db.execute(rows).all())


def tick(phone: BrowserPage, *names: str) -> None:
    for name in names:
        phone.page.wait_for_timeout(LOOK_MILLISECONDS)
        phone.page.click(f"#pick label >> text={name}")
    phone.page.wait_for_timeout(LOOK_MILLISECONDS)
    phone.page.click("#pick >> text=Add selected")


def untick_all(phone: BrowserPage) -> None:
    phone.page.evaluate("document.querySelectorAll('#pick input:checked').forEach(box => box.click())")


def bar_says(phone: BrowserPage, text: str) -> None:
    phone.page.wait_for_selector(f"{BAR} >> text={text}", timeout=60_000)


def mend(phone: BrowserPage, connection: BreakableConnection) -> None:
    connection.mend()
    phone.page.evaluate("dispatchEvent(new Event('online'))")


def test_who_is_here_is_ticked_in_a_cellar_and_added_once(
    store: Store, browser: Browser, connection: BreakableConnection, tmp_path: Path
) -> None:
    two_nights(store)
    context = browser.browser_type.launch_persistent_context(
        tmp_path / "phone", executable_path="/usr/bin/chromium", args=ARGUMENTS, viewport=PHONE
    )
    phone = chromium.watched(context, connection.url)
    on_the_console(phone, "/t/2/run")
    phone.go(PAGE)
    for path in (PAGE, "/t/2/run/arenas"):
        phone.wait_for(lambda: phone.page.evaluate(KEPT, path))  # noqa: B023  # asked at once
    connection.cut()
    before = actions_of_tonight(store)
    phone.page.reload()
    untick_all(phone)
    tick(phone, "Dov Tamsin", "Bo Larkin")
    bar_says(phone, "1 not sent yet")
    # The form takes the next ones while those wait, and shows nobody twice.
    assert phone.page.locator("#pick label").count() == 4
    tick(phone, "Ada Quill")
    bar_says(phone, "2 not sent yet")
    phone.page.fill("#people-names", "Gus Holt\nHana Ito")
    phone.page.wait_for_timeout(LOOK_MILLISECONDS)
    phone.page.click("#people >> text=Add players")
    bar_says(phone, "3 not sent yet")
    assert phone.page.input_value("#people-names") == ""
    phone.page.click(BAR)
    listed = phone.page.locator("#outbox li").all_inner_texts()
    assert ["Bo Larkin, Dov Tamsin" in listed[0], "Gus Holt, Hana Ito" in listed[2]] == [True, True]
    phone.assert_fits()
    phone.assert_usable()
    phone.picture("checkin-320")
    # Another page, a reload: they wait.
    phone.page.click(".bar >> text=Machines")
    bar_says(phone, "3 not sent yet")
    assert here(store) == []
    mend(phone, connection)
    phone.wait_for(lambda: len(here(store)) == 5)
    phone.page.wait_for_selector("#outbox", state="hidden")
    assert here(store)[:3] == ["Ada Quill", "Bo Larkin", "Dov Tamsin"]
    assert actions_of_tonight(store) == before + 3
    context.close()


def test_of_two_who_tick_at_the_door_the_second_adds_the_others(
    store: Store, browser: Browser, connection: BreakableConnection
) -> None:
    organizer_id = two_nights(store)
    context = browser.new_context(viewport=PHONE)
    phone = chromium.watched(context, connection.url)
    on_the_console(phone, "/t/2/run")
    phone.go(PAGE)
    phone.page.wait_for_selector("#feed[data-state=live]")
    connection.cut()
    untick_all(phone)
    tick(phone, "Ada Quill", "Bo Larkin", "Cleo Marsh")
    bar_says(phone, "1 not sent yet")
    send(store, organizer_id, "/api/tournaments/2/players", {"players": [{"playerId": 2}, {"playerId": 3}]})
    mend(phone, connection)
    bar_says(phone, "1 not saved: look")
    assert here(store) == ["Bo Larkin", "Cleo Marsh"]
    phone.page.click(BAR)
    listed = phone.page.inner_text("#outbox li")
    assert "Bo Larkin is in the tournament already" in listed
    assert "In already: Bo Larkin, Cleo Marsh." in listed
    phone.assert_fits()
    phone.assert_usable()
    phone.page.click("#outbox >> text=Add the others")
    phone.page.wait_for_selector("#outbox", state="hidden")
    assert here(store) == ["Ada Quill", "Bo Larkin", "Cleo Marsh"]
    context.close()
