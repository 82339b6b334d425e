"""The page of webhooks in a real browser: accessibility, and creating a webhook."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from web.chromium import DESK, PHONE, BrowserPage, watched
from web.phone import a_night, on_the_console

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]
PAGE = "/t/1/run/webhooks"
# This delivery is not due while the test runs.
RESTING = build.NOW + timedelta(days=36_500)
ROWS: tuple[dict[str, Any], ...] = (
    {"name": "Club chat", "form": "text", "rest_until": RESTING},
    {"name": "Score board", "is_active": False, "stopped_reason": "Nothing has arrived for 5 days."},
    {
        "name": "W" * 100,
        "url": f"https://hooks.example.org/{'x' * 400}",
        "failing_since": build.NOW,
        "rest_until": RESTING,
    },
)


def some_webhooks(store: Store) -> None:
    for number, values in enumerate(ROWS, start=1):
        with store.read() as db:
            own = select(tables.tournament.c.epoch, tables.tournament.c.seq)
            epoch, seq = db.execute(own).one()
        build.row(store, tables.webhook, tournament_id=1, epoch=epoch, seq=seq, **values)
        build.row(store, tables.webhook_delivery, webhook_id=number, status="delivered", tries=1)
        build.row(
            store,
            tables.webhook_delivery,
            webhook_id=number,
            status="failed",
            event="SinglePlayerGameCreatedOrUpdated",
            reason="The host cannot be found or does not answer.",
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["320", "1280"])
def test_the_page_is_usable_by_everybody(
    store: Store, browser: Browser, base_url: str, size: Any, scheme: Any
) -> None:
    a_night(store)
    some_webhooks(store)
    context = browser.new_context(viewport=size, color_scheme=scheme)
    browser_page = watched(context, base_url)
    on_the_console(browser_page, PAGE)
    for summary in browser_page.page.query_selector_all("summary"):
        summary.evaluate("one => one.parentElement.open = true")
    browser_page.assert_usable()
    browser_page.assert_fits()
    if scheme == "light" and size == PHONE:
        browser_page.go(PAGE)
        browser_page.picture("webhooks-320")
    assert browser_page.complaints == []
    context.close()


def test_a_webhook_is_created_and_its_secret_is_shown_once(store: Store, browser_page: BrowserPage) -> None:
    a_night(store)
    on_the_console(browser_page, PAGE)
    browser_page.page.fill("#webhook-url", "https://hooks.example.org/in")
    browser_page.page.fill("#webhook-name", "Score board")
    browser_page.page.select_option("#webhook-kind", "events")
    browser_page.page.click("#webhook > button")
    browser_page.page.wait_for_selector("#webhook-secret-1")
    browser_page.page.click("#webhook-secret-1 button")
    browser_page.page.wait_for_selector("#secret")
    assert browser_page.page.input_value("#secret").startswith("whsec_")
    browser_page.assert_usable()
    browser_page.page.click("main a.button")
    browser_page.page.wait_for_url(f"**{PAGE}")
    assert "whsec_" not in browser_page.page.content()
    assert browser_page.complaints == []
