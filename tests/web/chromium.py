"""A real browser with a small screen, which records every error and every request to other hosts."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from silverball import app
from silverball.cli.server import DrainingServer
from silverball.feed.feed import FeedService
from silverball.feed.socket import protocol_class
from silverball.settings import Settings
from silverball.store.database.engine import Store
from web.visitor import EMAIL, PASSWORD

ROOT = Path(__file__).parents[2]
AXE = ROOT / "tests" / "clients" / "node_modules" / "axe-core" / "axe.min.js"
# A folder for screenshots, such as those in docs/pages.
PICTURES = os.environ.get("SILVERBALL_PICTURES")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE: Any = {"width": 320, "height": 640}
DESK: Any = {"width": 1280, "height": 800}
TABS_MAX = 60
# A browser waits this long for what must come, on a machine that is busy with other work.
PATIENCE_MILLISECONDS = 120_000
LOOKS_MAX = PATIENCE_MILLISECONDS // 50
expect.set_options(timeout=PATIENCE_MILLISECONDS)


@dataclass
class BrowserPage:
    """A page in the browser, with its errors and its requests to other hosts."""

    base_url: str
    page: Page
    complaints: list[str]

    def assert_fits(self) -> None:
        """Assert that the page is not wider than the screen."""
        width, screen = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert self.page.viewport_size is not None
        wide = self.page.evaluate(WIDE) if width > screen else []
        assert width <= screen == self.page.viewport_size["width"], f"{self.page.url}: {wide}"

    def tab_to(self, selector: str) -> None:
        """Move the focus to an element with the tab key, and assert that the focus is visible."""
        for _ in range(TABS_MAX):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                assert self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached with the keyboard")

    def type(self, selector: str, text: str) -> None:
        self.tab_to(selector)
        self.page.keyboard.type(text)

    def press(self, selector: str, key: str = "Enter") -> None:
        self.tab_to(selector)
        self.page.keyboard.press(key)

    def sign_in(self, password: str = PASSWORD) -> None:
        self.page.goto(f"{self.base_url}/account")
        self.page.fill("#email", EMAIL)
        self.page.fill("#password", password)
        self.click("main button")

    def click(self, selector: str) -> None:
        """Click an element that leads to another page, and wait for that page."""
        with self.page.expect_navigation():
            self.page.click(selector)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.base_url}{path}")

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition holds. Raises AssertionError when it never does."""
        for _ in range(LOOKS_MAX):
            if holds():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it never came about at {self.page.url}: {self.page.inner_text('body')[:800]}")

    def picture(self, name: str) -> None:
        """Save a screenshot, when a folder for them is set."""
        if PICTURES:
            self.page.evaluate("scrollTo(0, 0)")
            self.page.screenshot(path=Path(PICTURES) / f"{name}.png")

    def assert_usable(self) -> None:
        """Assert that axe finds no serious fault, and that all buttons are large enough to tap."""
        self.assert_accessible()
        assert self.page.evaluate(SMALL) == [], self.page.url

    def assert_accessible(self) -> None:
        """Assert that axe finds no serious fault."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed here (npm ci --prefix tests/clients)")
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run().then(done => done.violations)")
        serious = [violation for violation in found if violation["impact"] in {"serious", "critical"}]
        told = [(violation["id"], [node["html"] for node in violation["nodes"]][:3]) for violation in serious]
        assert told == [], (self.page.url, told)


# Elements that reach beyond the screen.
WIDE = """() => [...document.body.querySelectorAll("*")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => `${one.tagName}.${one.className} in ${one.parentElement.className}`).slice(0, 12)"""
# Elements to tap that are less than 44 pixels high, except links inside a sentence.
SMALL = """() => [...document.querySelectorAll(
    "main button, main select, main input:not([type=hidden], [type=checkbox], [type=radio]), main summary,"
    + " main nav:not(.letters) a, main a.button, main a.row, main .choice")]
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 44)
  .map(one => one.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("Chromium is not installed here (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield opened
        opened.close()


@contextmanager
def running_site(store: Store, **values: Any) -> Iterator[str]:
    """The address of the whole program, listening, with these settings."""
    config = uvicorn.Config("", host="127.0.0.1", port=0, log_config=None)
    taken = config.bind_socket()
    address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    settings = Settings(base_url=address, **values)
    broadcast = FeedService(store, settings)
    config.app = app.build(store, settings, broadcast=broadcast)
    config.ws = protocol_class(broadcast.feed)
    server = DrainingServer(config, lambda: None, broadcast)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(60)
        taken.close()


@pytest.fixture
def base_url(store: Store) -> Iterator[str]:
    """The address of the whole program, listening."""
    with running_site(store) as address:
        yield address


@pytest.fixture
def browser_page(browser: Browser, base_url: str) -> Iterator[BrowserPage]:
    """A page on a small screen."""
    context = browser.new_context(viewport=PHONE, permissions=["clipboard-read", "clipboard-write"])
    yield watched(context, base_url)
    context.close()


def watched(context: BrowserContext, base_url: str) -> BrowserPage:
    """A new page that records its errors."""
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    page = context.new_page()
    look_before_tapping(page)
    result = BrowserPage(base_url, page, [])
    page.on("console", lambda message: _say(result, message.text, message.location.get("url", "")))
    page.on("pageerror", lambda error: result.complaints.append(str(error)))
    page.on("requestfailed", lambda request: _complain(result, request.url, request.failure))
    page.on("request", lambda sent: _only_ours(result, sent.url))
    page.on("dialog", lambda dialog: _dismiss(result, dialog))
    return result


def look_before_tapping(page: Page) -> None:
    """Let every tap wait, as a person who looks, until what it is aimed at has stood still."""
    page.add_locator_handler(page.locator("html[data-settling]"), lambda: None)


def _say(browser_page: BrowserPage, text: str, url: str) -> None:
    # The browser leaves the cursor where it is when a user types before autofocus.
    if not text.startswith("Autofocus processing was blocked"):
        browser_page.complaints.append(f"{text} {url}" if text.startswith("Failed to load") else text)


def _dismiss(browser_page: BrowserPage, dialog: Any) -> None:
    browser_page.complaints.append(f"dialog: {dialog.message}")
    dialog.dismiss()


def _complain(browser_page: BrowserPage, url: str, failure: str | None) -> None:
    # Leaving a page aborts its open requests.
    if failure != "net::ERR_ABORTED":
        browser_page.complaints.append(f"failed: {url} ({failure})")


def _only_ours(browser_page: BrowserPage, url: str) -> None:
    if not url.startswith(browser_page.base_url):
        browser_page.complaints.append(f"asked elsewhere: {url}")
