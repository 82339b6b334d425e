"""/docs in a real browser: closed tags, a search over all operations, a token that stays, one host only."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from feed.running_program import admin_token
from silverball.store.database.engine import Store
from web.chromium import DESK, BrowserPage, watched

OPERATION, OPEN_TAG = ".opblock", ".opblock-tag-section.is-open"

# Phrase -> an operation that has it in its path, its title or its name, in small or large letters.
SEARCHES = {
    "webhook": ("POST", "/api/tournaments/{tournamentId}/webhooks"),
    "PINTIPS": ("GET", "/api/pintips"),
    "list_feed_events": ("GET", "/api/tournaments/{tournamentId}/events"),
}

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture
def docs(browser: Browser, base_url: str) -> Iterator[BrowserPage]:
    """The documentation of the interface, which must not complain."""
    context = browser.new_context(viewport=DESK)
    opened = watched(context, base_url)
    opened.go("/docs")
    opened.page.wait_for_selector(".opblock-tag")
    yield opened
    context.close()
    # Also: nothing was asked elsewhere.
    assert opened.complaints == []


def tags_of(docs: BrowserPage) -> list[str]:
    tags: list[str] = docs.page.locator(".opblock-tag").evaluate_all(
        "tags => tags.map(tag => tag.dataset.tag)"
    )
    return tags


def described(docs: BrowserPage) -> dict[str, list[str]]:
    """Operations by tag, as /openapi.json has them."""
    document = docs.page.evaluate("fetch('/openapi.json').then(answer => answer.json())")
    listed: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            listed[operation["tags"][0]].append(f"{method.upper()} {path}")
    return listed


def shown_operations(docs: BrowserPage) -> list[str]:
    rows = docs.page.locator(".opblock-summary")
    shown: list[str] = rows.evaluate_all(
        "rows => rows.map(row => row.querySelector('.opblock-summary-method').textContent + ' '"
        " + row.querySelector('.opblock-summary-path').dataset.path)"
    )
    return shown


def authorize(page: Page, token: str) -> None:
    page.click(".btn.authorize")
    page.fill(".auth-container input", token)
    page.click(".auth-btn-wrapper .authorize")
    page.click(".auth-btn-wrapper .btn-done")


def test_every_tag_is_listed_and_closed(docs: BrowserPage) -> None:
    assert tags_of(docs) == list(described(docs))
    expect(docs.page.locator(OPEN_TAG)).to_have_count(0)
    expect(docs.page.locator(OPERATION)).to_have_count(0)


def test_a_tag_opens_with_its_operations(docs: BrowserPage) -> None:
    docs.page.click('.opblock-tag[data-tag="tournaments"]')
    wanted = described(docs)["tournaments"]
    expect(docs.page.locator(OPERATION)).to_have_count(len(wanted))
    assert sorted(shown_operations(docs)) == sorted(wanted)


def test_the_search_opens_what_fits(docs: BrowserPage) -> None:
    tags = described(docs)
    operations_total = sum(map(len, tags.values()))
    field = docs.page.get_by_label("Search operations")
    for phrase, (method, path) in SEARCHES.items():
        field.fill(phrase)
        expect(docs.page.locator(f'.opblock-summary-path[data-path="{path}"]').first).to_be_visible()
        assert f"{method} {path}" in shown_operations(docs)
        assert len(shown_operations(docs)) < operations_total / 4
    field.fill("no such thing anywhere")
    expect(docs.page.locator(".opblock-tag")).to_have_count(0)
    field.fill("")
    expect(docs.page.locator(".opblock-tag")).to_have_count(len(tags))
    expect(docs.page.locator(OPEN_TAG)).to_have_count(0)


def test_a_token_is_sent_and_kept_by_no_browser(docs: BrowserPage, store: Store) -> None:
    authorize(docs.page, admin_token(store))
    docs.page.wait_for_selector(".btn.authorize.locked")
    assert docs.page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    docs.page.click('.opblock-tag[data-tag="users"]')
    docs.page.click('.opblock-summary-path[data-path="/api/users/profile"]')
    docs.page.click(".try-out__btn")
    docs.page.click(".execute")
    answer = docs.page.locator(".live-responses-table .response")
    expect(answer.locator(".response-col_status")).to_contain_text("200")
    shown = json.loads(answer.locator(".microlight").first.inner_text())
    assert shown["role"] == "organizer"


def test_the_page_leads_to_the_handbook(docs: BrowserPage) -> None:
    link = docs.page.locator(".info a", has_text=re.compile("handbook"))
    assert link.get_attribute("href") == f"{docs.base_url}/handbook/"


def test_everybody_can_use_the_page(docs: BrowserPage, store: Store) -> None:
    # A colour on its way to another is not looked at.
    docs.page.emulate_media(reduced_motion="reduce")
    docs.assert_accessible()
    authorize(docs.page, admin_token(store))
    docs.page.click('.opblock-tag[data-tag="users"]')
    docs.page.click('.opblock-summary-path[data-path="/api/users/profile"]')
    docs.page.click(".try-out__btn")
    docs.page.click(".execute")
    docs.page.wait_for_selector(".live-responses-table .response")
    docs.assert_accessible()
    # The address is that of the operation, though its title is no link.
    assert docs.page.url.endswith("#/users/show_profile")
    docs.page.click('.opblock-tag[data-tag="users"]')
    docs.page.click('.opblock-tag[data-tag="tournaments"]')
    docs.page.locator(".opblock-summary-post").first.click()
    docs.page.click(".try-out__btn")
    docs.page.wait_for_selector(".body-param__text")
    docs.assert_accessible()
    docs.page.click(".btn.authorize")
    docs.page.wait_for_selector(".modal-ux")
    docs.assert_accessible()
