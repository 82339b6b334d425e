"""Phones of directors with touch screens: two taps at one spot wait until they count as two."""

import math
import time
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from web import layout
from web.chromium import watched
from web.visitor import PASSWORD

WIDTH = 320
# What static/guard.js takes for two taps at one spot.
SPOT_PIXELS, SPOT_SECONDS = 24, 0.65
PATIENCE = 60_000


class TouchScreen:
    """A phone of 320 px whose owner is signed in to the console of one tournament."""

    def __init__(self, browser: Browser, base_url: str, email: str, tournament_id: int = 1) -> None:
        self.context: BrowserContext = layout.open_context(
            browser, WIDTH, "DejaVu Sans", has_touch=True, is_mobile=True
        )
        self._watched = watched(self.context, base_url)
        self.page: Page = self._watched.page
        self.complaints = self._watched.complaints
        self.at = f"/t/{tournament_id}/run"
        self.taps = 0
        self._last = (0.0, 0.0, 0.0)
        self._watched.go(self.at)
        self.page.fill("#email", email)
        self.page.fill("#password", PASSWORD)
        self.tap("main button")
        self.page.wait_for_selector("#email", state="detached")

    def go(self, path: str = "") -> None:
        """Open a page of the console by its address, and wait until it follows the tournament."""
        self._watched.go(self.at + path)
        try:
            self.page.wait_for_selector("#feed[data-state=live]", state="attached", timeout=PATIENCE)
        except PlaywrightTimeoutError as error:
            raise AssertionError(f"{path} does not follow: {self.complaints}") from error

    def tap(self, selector: str | Locator) -> None:
        """Tap the first that matches, as soon as it can be seen."""
        found = self.page.locator(selector).first if isinstance(selector, str) else selector
        # What somebody else did may redraw the page meanwhile; an element that is gone has no box.
        box = None
        while box is None:
            found.wait_for(timeout=PATIENCE)
            found.evaluate("element => element.scrollIntoView({ block: 'center', behavior: 'instant' })")
            box = found.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        last_x, last_y, tapped_at = self._last
        early = SPOT_SECONDS - (time.monotonic() - tapped_at)
        if early > 0 and math.hypot(x - last_x, y - last_y) < SPOT_PIXELS:
            self.page.wait_for_timeout(early * 1000)
        found.tap(timeout=PATIENCE)
        self.taps += 1
        self._last = (x, y, time.monotonic())

    def fill(self, selector: str, text: str) -> None:
        """Tap into a field and type."""
        self.tap(selector)
        self.page.locator(selector).first.fill(text)

    def sees(self, text: Any) -> None:
        expect(self.page.locator("main").get_by_text(text).first).to_be_visible(timeout=PATIENCE)

    def assert_well_laid_out(self) -> None:
        """Assert that no word is split, nothing is cut, and nothing overlaps."""
        faults = layout.faults_of(self.page)
        assert not faults, f"{self.page.url}: {faults}"

    def close(self) -> None:
        self.context.close()
