"""Pages of nights of 8 and 60 people with names of any length and script, by measured rules."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import build
from selection import IS_ALL
from silverball.store.database.engine import Store
from web import layout
from web.phone import night_of
from web.test_layout_browser import a_night_of, assert_well_laid_out, sign_in

SCREENS = (
    [
        (width, font, scheme)
        for width in layout.WIDTHS
        for font in layout.FONTS
        for scheme in ("light", "dark")
    ]
    if IS_ALL
    else [(390, "DejaVu Sans", "dark"), (1920, "Liberation Sans", "light")]
)
# Forty letters, right to left, no letters of ours, a picture.
NAMES = (
    *("Maximiliane Featherstonehaugh-Vandermeer", "נועה אלון", "سلمى نور", "佐倉 ひなた", "한별"),
    *("Kit 🎱 Wilder", "Siobhán Ní Dhara", "Ειρήνη Λευκή"),
    *(f"{first} {last}" for first in ("Ada", "Bo", "Cleo", "Dov") for last in "ABCDEFGHIJKLM"),
)
NIGHTS = [("group_matchplay", 60), ("group_matchplay", 8), ("double_bracket", 24), ("group_bracket", 16)]
# What a page must not do, as a rule for its sheet.
PLANTED = {
    "lines of": ".goes::after { padding: 0 1rem }",
    "beside": ".slot { padding-inline-end: 0.5rem }",
    "lies over": ".places { position: absolute; top: 20rem } .tabs { position: absolute; top: 22rem }",
}

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture(params=SCREENS, ids=lambda screen: "-".join(map(str, screen)))
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page in a window of one width, font and theme."""
    width, font, scheme = request.param
    context = layout.open_context(browser, width, font, scheme)
    yield context.new_page()
    context.close()


def a_crowd(store: Store, type_: str, players: int) -> None:
    """A started night of so many, with half of its first games done."""
    settings: dict[str, Any] = {"bracketSize": players} if type_ == "group_bracket" else {}
    a_night_of(store, type_, players, NAMES, **settings)
    for game in night_of(store).open_games[::2]:
        body = {"resultPositions": list(game.player_ids)}
        path = f"/api/tournaments/1/games/{game.game_id}/result"
        status, answer, _ = build.do(store, "PUT", path, body, by=1)
        assert status == 200, answer


@pytest.mark.sample(3)
@pytest.mark.parametrize(("type_", "players"), NIGHTS)
def test_a_crowd_breaks_no_rule(store: Store, base_url: str, screen: Page, type_: str, players: int) -> None:
    a_crowd(store, type_, players)
    # A bracket on a wall is made for televisions.
    has_wall = "bracket" not in type_ or screen.evaluate("innerWidth") >= 1280
    walls = ["/t/1/wall"] if has_wall else []
    assert_well_laid_out(screen, base_url, ["/", "/t/1", "/t/1?by=name", "/t/1/points", *walls])
    sign_in(screen, base_url)
    assert_well_laid_out(screen, base_url, ["/t/1/run/players", "/t/1/run/door", "/t/1/run/standings"])


@pytest.mark.sample(1)
def test_sixty_are_on_one_wall(store: Store, base_url: str, browser: Browser) -> None:
    a_crowd(store, "group_matchplay", 60)
    for width, height in ((1920, 1080), (3840, 2160)):
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        page.goto(f"{base_url}/t/1/wall")
        page.wait_for_selector("#feed[data-state=live]", state="attached")
        shown = page.locator(".board li:visible")
        assert shown.count() == 60
        foot = page.locator(".part-movers, .follow").last.bounding_box()
        lowest = max(box["y"] + box["height"] for item in shown.all() if (box := item.bounding_box()))
        assert foot is not None
        assert lowest <= foot["y"] + foot["height"]
        context.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(store: Store, base_url: str, browser: Browser, fault: str) -> None:
    a_crowd(store, "double_bracket", 8)
    context = layout.open_context(browser, 1280, "DejaVu Sans")
    page = context.new_page()
    page.goto(f"{base_url}/t/1")
    assert layout.faults_of(page) == []
    page.add_style_tag(content=PLANTED[fault])
    assert any(fault in found for found in layout.faults_of(page))
    context.close()
