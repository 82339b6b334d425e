"""Two tournaments in one room on the organizer's console, measured and switched by touch."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import build
from silverball.jobs.call_waiting import RoomCaller
from silverball.store.database.engine import Store
from web import layout
from web.phone import MACHINES, NAMES, an_organizer
from web.test_layout_browser import assert_well_laid_out, sign_in

SCREENS = [(320, "DejaVu Sans", "light"), (320, "Inter", "dark"), (1280, "Liberation Sans", "dark")]
PICTURES = os.environ.get("SILVERBALL_ROOM_PICTURES")
MAIN, WOMENS = "Thursday at the Drain and Flipper", "Women's at the Drain and Flipper"

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def a_room(store: Store) -> None:
    """Main (tournament 1) with 16 players, and a women's (2) with six of them, both in their first round."""
    organizer_id = an_organizer(store, 0)
    arenas = [build.an_arena(store, organizer_id, name=name) for name in MACHINES]

    def ask(method: str, path: str, body: Any = None) -> Any:
        status, answer, _ = build.do(store, method, path, body, by=organizer_id)
        assert status < 300, answer
        return answer

    player_ids: list[int] = []
    for number, (name, type_) in enumerate(((MAIN, "group_matchplay"), (WOMENS, "matchplay")), start=1):
        at = f"/api/tournaments/{number}"
        ask("POST", "/api/tournaments", {"name": name, "type": type_})
        people: list[Any] = [{"playerId": each} for each in player_ids[:6]] or [
            {"name": each} for each in NAMES
        ]
        added = ask("POST", f"{at}/players", {"players": people})["data"]
        player_ids = player_ids or [player["playerId"] for player in added]
        ask("POST", f"{at}/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in arenas]})
    entries = [{"tournamentId": 1}, {"tournamentId": 2}]
    ask("POST", "/api/events", {"name": "Room", "startUtc": "2026-03-07T18:00:00Z", "tournaments": entries})
    for number in (1, 2):
        ask("POST", f"/api/tournaments/{number}/start")
        ask("POST", f"/api/tournaments/{number}/rounds", {})
    RoomCaller(store).call_due()


@pytest.fixture(params=SCREENS, ids=lambda screen: "-".join(map(str, screen)))
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page in a window of one width, font and theme."""
    context = layout.open_context(browser, *request.param)
    yield context.new_page()
    context.close()


def test_the_console_says_who_and_what_is_busy_and_switches_in_one_tap(
    store: Store, base_url: str, screen: Page
) -> None:
    a_room(store)
    sign_in(screen, base_url)
    paths = [f"/t/{number}/run{view}" for number in (1, 2) for view in ("", "/players", "/arenas")]
    assert_well_laid_out(screen, base_url, paths)
    if PICTURES:
        for path in paths:
            screen.goto(f"{base_url}{path}")
            width = screen.viewport_size["width"] if screen.viewport_size else 0
            screen.screenshot(path=Path(PICTURES) / f"{width}{path.replace('/', '-')}.png", full_page=False)
    screen.goto(f"{base_url}/t/2/run")
    reasons = screen.locator(".game .waits").all_inner_texts()
    assert len(reasons) == 3
    assert all(MAIN in reason for reason in reasons)
    if screen.viewport_size == {"width": 320, "height": 568}:
        # Three open games stay in sight above the bar at the bottom.
        bottom = screen.locator(".games > li").nth(2).bounding_box()
        assert bottom is not None
        assert bottom["y"] + 44 <= 568 - 56
    screen.click(".rooms a:has-text('Thursday')")
    screen.wait_for_url("**/t/1/run")
    assert screen.locator("h1").inner_text() == MAIN
    screen.goto(f"{base_url}/t/2/run/players")
    assert "playing in Thursday" in screen.locator("main").inner_text()
    screen.goto(f"{base_url}/t/2/run/arenas")
    assert "in use in Thursday" in screen.locator("main").inner_text()
