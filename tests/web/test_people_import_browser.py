"""Lists of people and machines in a real browser: usable on a phone, and honest without a network."""

from pathlib import Path
from typing import Any

import pytest

import build
from service.sheets.spreadsheets import an_xlsx
from silverball.store.database.engine import Store
from web import layout
from web.chromium import BrowserPage
from web.phone import an_organizer, night_of, on_the_console

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]
ROWS: list[list[Any]] = [
    ["Name", "IFPA", "Town"],
    ["Ada Quill", 7001, "Rome"],
    ["Bo Larkin", "", ""],
    ["bo larkin", "", ""],
]


def look(browser_page: BrowserPage) -> None:
    page = browser_page.page
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    browser_page.assert_usable()
    browser_page.assert_fits()
    assert layout.faults_of(page) == [], page.url


def test_a_file_is_looked_at_on_a_phone_and_needs_the_network(
    store: Store, browser_page: BrowserPage, tmp_path: Path
) -> None:
    organizer_id = an_organizer(store)
    body = {"name": "Thursday", "type": "group_matchplay"}
    assert build.do(store, "POST", "/api/tournaments", body, by=organizer_id)[0] == 201
    file = tmp_path / "players.xlsx"
    file.write_bytes(an_xlsx({"Players": ROWS}))
    on_the_console(browser_page)
    page = browser_page.page
    for path in ("/t/1/run/import", "/home/players/import", "/t/1/run/machines", "/home/arenas/import"):
        browser_page.go(path)
        look(browser_page)
    browser_page.go("/t/1/run/import")
    page.set_input_files("#file-file", file)
    page.context.set_offline(True)
    page.click("text=Look at the file")
    page.wait_for_selector("#file .sending >> text=A file needs the network")
    page.context.set_offline(False)
    page.click("text=Look at the file")
    page.wait_for_selector("text=3 rows")
    look(browser_page)
    page.click("#row-3 label:has-text('One person twice')")
    page.click("text=Add them to the tournament")
    browser_page.wait_for(lambda: len(night_of(store).entrants) == 2)
    browser_page.go("/t/1/run/machines")
    page.fill("#read-text", "Machine\tOPDB id\nMeteor Shower\t\nNight Ferry\t\nNight Ferry\t\nx\tnonsense")
    page.click("text=Look at it")
    page.wait_for_selector("text=4 machines")
    look(browser_page)
    assert browser_page.complaints == []
