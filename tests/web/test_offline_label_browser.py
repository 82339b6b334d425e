"""The label of a lost connection leaves the names in the header of the console readable."""

import pytest
from playwright.sync_api import Browser

from silverball.store.database.engine import Store
from web import layout
from web.test_layout_browser import a_night_of, sign_in

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

SHOW_LABEL = """text => {
  const feed = document.getElementById("feed");
  feed.dataset.state = "offline";
  feed.lastElementChild.textContent = text;
}"""
# The right edges of the header's texts, and the left edge of the label.
EDGES = """() => [
  ...[...document.querySelectorAll(".night h1, .night p")].map((text) => text.getBoundingClientRect().right),
  document.querySelector("#feed > :last-child").getBoundingClientRect().left,
]"""


@pytest.mark.parametrize("width", layout.WIDTHS)
@pytest.mark.parametrize("font", ["DejaVu Sans", "Inter"])
def test_no_name_lies_below_the_label(
    store: Store, browser: Browser, base_url: str, width: int, font: str
) -> None:
    a_night_of(store, "matchplay", 4)
    context = layout.open_context(browser, width, font)
    page = context.new_page()
    sign_in(page, base_url)
    page.goto(f"{base_url}/t/1/run")
    page.wait_for_selector("#feed[data-state=live]", state="attached")
    page.evaluate(SHOW_LABEL, "Offline · as of 22:41")
    *texts, label = page.evaluate(EDGES)
    assert max(texts) <= label
    assert layout.faults_of(page) == []
    context.close()
