"""The pages of a mirror whose other side is lost, as measured pictures: four fonts on the smallest phone."""

import pytest
from playwright.sync_api import Browser

from silverball.service.moving import writes as moving_writes
from silverball.store.database.engine import Store
from web import layout
from web.chromium import PICTURES
from web.test_layout_browser import a_night_of, assert_well_laid_out, sign_in
from web.test_mirror_pages import LOST_AT

HOST = "tournaments.league-of-the-northern-lakes.example:8443"
SCREENS = [
    *((320, font, scheme) for font, scheme in zip(layout.FONTS, ("light", "dark") * 2, strict=True)),
    (1280, "Inter", "light"),
]

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def test_the_note_of_a_lost_mirror_fits_every_page(store: Store, browser: Browser, base_url: str) -> None:
    a_night_of(store, "matchplay", 8)
    with store.write(1) as transaction:
        moving_writes.begin_mirror(transaction, 1, HOST, 4711)
        moving_writes.note_loss(transaction, 1, LOST_AT)
    for width, font, scheme in SCREENS:
        context = layout.open_context(browser, width, font, scheme)
        page = context.new_page()
        sign_in(page, base_url)
        paths = [f"/t/1{path}" for path in ("", "/wall", "/run")]
        assert_well_laid_out(page, base_url, paths)
        for path in paths:
            page.goto(f"{base_url}{path}")
            note = page.locator(".mirror .badge")
            assert note.inner_text() == "as of 22:41"
            assert note.evaluate("note => note.getBoundingClientRect().right <= innerWidth")
            if PICTURES:
                name = path.strip("/").replace("/", "-")
                page.screenshot(path=f"{PICTURES}/mirror-{name}-{width}-{font}-{scheme}.png")
        context.close()
