"""Taps at 0 to 800 ms around every change of a page, by a thumb that has aimed before, and what came of them.

While the thumb taps, another device writes as well. The page counts the rows that move from one frame to the
next, and the taps that pulse because they did not count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page

import build
from silverball.rules.model.tournament import Tournament
from silverball.store.database.engine import Store
from web import chromium
from web.chromium import PHONE, BrowserPage
from web.phone import night_of, on_the_console, organizer_of

DELAY_MAX_MILLISECONDS = 800
# Two taps at one spot within this time are one (static/guard.js).
SPOT_PIXELS, SPOT_MILLISECONDS = 30, 620
# Frames without a touch: about two seconds.
IDLE_FRAMES = 120
AT = "/api/tournaments/1"
# Counts, from the first paint on, rows that are elsewhere in the document than a frame before, and pulses.
WATCH = """() => {
  window.watched = { moves: [], pulses: 0, frames: 0 };
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...frames) {
    if (frames[1]?.id === "pulse") window.watched.pulses += 1;
    return animate.apply(this, frames);
  };
  let before = new Map();
  const look = () => {
    const now = new Map();
    for (const row of document.querySelectorAll("[data-row]")) {
      const { x, y, width, height } = row.getBoundingClientRect();
      now.set(row.id, [x + scrollX, y + scrollY, width, height].map(Math.round).join());
    }
    for (const [id, place] of before) {
      if (now.get(id) !== place) window.watched.moves.push(`${id}: ${place} to ${now.get(id)}`);
    }
    before = now;
    window.watched.frames += 1;
    requestAnimationFrame(look);
  };
  window.addEventListener("DOMContentLoaded", () => requestAnimationFrame(look));
}"""
# The middle of a control in the window, once it has been scrolled there.
AIM = """selector => {
  const control = document.querySelector(selector);
  const away = box => box.top < 120 || box.bottom > innerHeight - 90;
  if (away(control.getBoundingClientRect())) control.scrollIntoView({ block: "center", behavior: "instant" });
  const box = control.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
IS_SENT = """() => !document.querySelector("[data-entry=sending], [data-entry=unsent], form.pending")
  && document.querySelector("#outbox")?.hidden !== false"""


@dataclass
class Aim:
    """A control to tap, and whether what it means is so in a tournament."""

    selector: str
    is_written: Callable[[Tournament], bool]


@dataclass
class TapCount:
    """What came of the taps of a kind of control."""

    taps: int = 0
    unwritten: list[str] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)
    pulses: int = 0


class Thumb:
    """A thumb on a phone, which taps where it has aimed, whatever has come there since."""

    def __init__(self, store: Store, browser: Browser, base_url: str, seed: int) -> None:
        self.store = store
        self.dice = Random(seed)
        self.context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
        self.context.add_init_script(f"({WATCH})()")
        self.browser_page: BrowserPage = chromium.watched(self.context, base_url)
        self.page: Page = self.browser_page.page
        self.count = TapCount()
        self.has_clock = False
        self._last = (0.0, 0.0)
        on_the_console(self.browser_page)

    def go(self, path: str = "") -> None:
        """Open a page anew, and wait until it follows the night and has settled."""
        self._note_watched()
        self.browser_page.go(f"/t/1/run{path}")
        self.page.wait_for_selector("#feed[data-state=live]", state="attached")

    def tap(self, selector: str, meanwhile: Callable[[], None] | None = None) -> None:
        """Aim, let others write, and tap somewhere between 0 and 800 ms later."""
        self.page.locator(selector).first.wait_for()
        x, y = self.page.evaluate(AIM, selector)
        if abs(x - self._last[0]) < SPOT_PIXELS and abs(y - self._last[1]) < SPOT_PIXELS:
            self.page.wait_for_timeout(SPOT_MILLISECONDS)
        if meanwhile is not None:
            meanwhile()
        self.page.wait_for_timeout(self.dice.randrange(DELAY_MAX_MILLISECONDS))
        self.page.touchscreen.tap(x, y)
        self._last = (x, y)
        self.count.taps += 1

    def tap_all(self, aims: Sequence[Aim], others: Sequence[Callable[[], None]]) -> None:
        """Tap each, with the writes of others in between, then see what is written."""
        waiting = list(others)
        for aim in aims:
            does_write = bool(waiting) and self.dice.random() < len(others) / max(1, len(aims))
            self.tap(aim.selector, waiting.pop() if does_write else None)
        for write in waiting:
            write()
        self.settle()
        night = night_of(self.store)
        self.count.unwritten += [aim.selector for aim in aims if not aim.is_written(night)]

    def settle(self) -> None:
        """Wait until all that was entered is answered, and watch what moves once nobody taps."""
        self.page.wait_for_function(IS_SENT)
        until = self.page.evaluate("window.watched.frames") + IDLE_FRAMES
        self.page.wait_for_function("until => window.watched.frames > until", arg=until)

    def _note_watched(self) -> None:
        watched = self.page.evaluate("window.watched")
        self.count.moves += watched["moves"]
        self.count.pulses += watched["pulses"]

    def finish(self) -> TapCount:
        self._note_watched()
        assert self.browser_page.complaints == []
        self.context.close()
        return self.count


def write(store: Store, method: str, path: str, body: Any = None) -> Any:
    """A write of another device, which must be taken."""
    status, answer, _ = build.do(
        store, method, AT + path, body, by=organizer_of(store), now=datetime.now(UTC)
    )
    assert status < 300, (path, answer)
    return answer
