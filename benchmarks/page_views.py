"""How soon a page shows something: on a slow connection the first time, and from the service worker.

The first views are those of browsers that have stored nothing. The slow connection is that of Chromium's own
emulation, which covers a page, but not its service worker: the latter is timed without any network.
"""

import statistics
from collections.abc import Callable, Iterator
from typing import Any

from run import Row

TIMES = 7
PHONE = {"width": 390, "height": 844}
# 400 kbit/s, and 400 ms a request.
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
FIRST_VIEW_MS_MAX = 3_000
KEPT_VIEW_MS_MAX = 300
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length > 0"
PAINTED_AT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
# The night is stored once its page and those beside it are.
IS_KEPT = """async (path) => {
  await navigator.serviceWorker.ready;
  const cache = await caches.open("silverball-pages");
  return navigator.serviceWorker.controller !== null && (await cache.match(path)) !== undefined;
}"""
SignIn = Callable[[Any, str], None]


def view_rows(browser: Any, base_url: str, page: str, sign_in: SignIn) -> Iterator[Row]:
    """Time the first and the stored views of a tournament's pages."""
    signed_in = browser.new_context(viewport=PHONE)
    sign_in(signed_in.new_page(), base_url)
    cookies = signed_in.storage_state()
    first_views = {
        "live page": [_first_view(browser, f"{base_url}{page}") for _ in range(TIMES)],
        "console's Now": [_first_view(browser, f"{base_url}{page}/run", cookies) for _ in range(TIMES)],
    }
    for name, milliseconds in first_views.items():
        yield _row(f"{name}, first view at 400 kbit/s and 400 ms a request", milliseconds, FIRST_VIEW_MS_MAX)
    kept = _kept_views(signed_in, f"{base_url}{page}/run", f"{page}/run")
    yield _row("console's Now without a network, from the service worker", kept, KEPT_VIEW_MS_MAX)
    signed_in.close()


def _row(what: str, milliseconds: list[float], bound: int) -> Row:
    slowest = max(milliseconds)
    text = f"{statistics.median(milliseconds):.0f} ms, the slowest of {len(milliseconds)} {slowest:.0f} ms"
    return Row(what, text, f"<= {bound} ms", is_met=slowest <= bound)


def _first_view(browser: Any, url: str, cookies: Any = None) -> float:
    """The milliseconds until a browser that has stored nothing but the sign-in shows something."""
    context = browser.new_context(viewport=PHONE, storage_state=cookies)
    page = context.new_page()
    connection = context.new_cdp_session(page)
    connection.send("Network.enable")
    connection.send("Network.emulateNetworkConditions", SLOW)
    milliseconds = _painted_after(page, url)
    context.close()
    return milliseconds


def _kept_views(context: Any, url: str, path: str) -> list[float]:
    """The same without a network, of pages that the browser has shown before."""
    page = context.new_page()
    page.goto(url)
    # The page after the first is the first that the service worker sees.
    page.goto(url)
    page.wait_for_function(IS_KEPT, arg=path)
    context.set_offline(True)
    return [_painted_after(context.new_page(), url) for _ in range(TIMES)]


def _painted_after(page: Any, url: str) -> float:
    page.goto(url, wait_until="commit", timeout=60_000)
    page.wait_for_function(PAINTED, timeout=60_000)
    return float(page.evaluate(PAINTED_AT))
