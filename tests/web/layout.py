"""Measured rules of a page's layout: words, widths, text boxes, targets, distances, the header."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

# The fonts of phones and of Linux, as pages are looked at in each.
FONTS = ("Inter", "Roboto", "DejaVu Sans", "Liberation Sans")
WIDTHS = (320, 390, 768, 1280, 1920)
HEIGHTS = {320: 568, 390: 844, 768: 1024, 1280: 800, 1920: 1080}
HEADER_MAX = 56
TARGET_MIN = 44
DISTANCE_MIN = 8

SET_FONT = """font => addEventListener("DOMContentLoaded", () => {
  const sheet = document.createElement("style");
  sheet.textContent = `* { font-family: "${font}" !important; }`;
  document.head.append(sheet);
})"""

MEASURE = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")


def open_context(
    browser: Browser, width: int, font: str, scheme: Any = "light", **options: Any
) -> BrowserContext:
    """A window of this width in which every page has this font."""
    size: Any = {"width": width, "height": HEIGHTS[width]}
    # The sheet that sets the font is not one of the site's own.
    context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True, **options)
    context.add_init_script(f'({SET_FONT})("{font}")')
    return context


def faults_of(page: Page) -> list[str]:
    """Faults of the page as it is now."""
    found: list[str] = page.evaluate(MEASURE, [HEADER_MAX, TARGET_MIN, DISTANCE_MIN])
    return found
