"""Every page as a picture, by measured rules: five widths, four fonts, two themes.

`make test` looks at two widths and two fonts, `make test-all` at all of them.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import build
from selection import IS_ALL
from silverball.store.database.engine import Store
from silverball.web import site
from web import layout
from web.chromium import PICTURES, BrowserPage
from web.phone import MACHINES, NAMES, an_organizer, night_of
from web.visitor import EMAIL, PASSWORD, an_account

SCREENS = (
    [
        (width, font, scheme)
        for width in layout.WIDTHS
        for font in layout.FONTS
        for scheme in ("light", "dark")
    ]
    if IS_ALL
    else [(320, "DejaVu Sans", "light"), (1280, "Liberation Sans", "dark")]
)
LONG_NAMES = ("Sam Featherstonehaugh", "Wilhelmina Vanderbilt-Kowalczyk", "Jona", "Dora Åkesson", *NAMES)
LONG_MACHINES = ("The Machine: Bride of Pin-Bot", "Teenage Mutant Ninja Turtles", *MACHINES)
CONSOLE = (
    *(
        "",
        "/standings",
        "/players",
        "/arenas",
        "/more",
        "/results",
        "/settings",
        "/prizes",
        "/federation",
        "/paper",
        "/webhooks",
        "/journal",
    ),
)
PUBLIC = ("", "/draws", "/points", "/embed", "/sign-up")
SCREENS_OF_A_HALL = ("/wall", "/overlay", "/overlay?parts=now,movers&side=right", "/overlay?parts=third")
PAPER = ("/print", "/print/names", "/print/codes", "/print/round", "/print/scores")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sample(2),
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


def a_night_of(
    store: Store, type_: str, players: int, people: Sequence[str] = LONG_NAMES, **settings: Any
) -> None:
    """A started tournament on machines with long names, with an open round where it has rounds."""
    organizer_id = an_organizer(store, 0)
    arenas = [build.an_arena(store, organizer_id, name=name) for name in LONG_MACHINES]
    names = [{"name": name} for name in people[:players]]
    at = "/api/tournaments/1"
    for path, body in (
        ("/api/tournaments", {"name": "Thursday at the Drain and Flipper", "type": type_, **settings}),
        (f"{at}/players", {"players": names}),
        (f"{at}/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in arenas]}),
        (f"{at}/start", None),
    ):
        status, answer, _ = build.do(store, "POST", path, body, by=organizer_id)
        assert status < 300, answer
    if not night_of(store).rounds and type_ in {"matchplay", "group_matchplay", "knockout"}:
        status, answer, _ = build.do(store, "POST", f"{at}/rounds", {}, by=organizer_id)
        assert status == 201, answer


@pytest.fixture(params=SCREENS, ids=lambda screen: "-".join(map(str, screen)))
def screen(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page in a window of one width, font and theme."""
    width, font, scheme = request.param
    context = layout.open_context(browser, width, font, scheme)
    yield context.new_page()
    context.close()


def sign_in(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/account")
    page.fill("#email", EMAIL)
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/account")


def assert_well_laid_out(page: Page, base_url: str, paths: list[str]) -> None:
    """Assert that no page has a measured fault."""
    faults: list[str] = []
    for path in paths:
        page.goto(f"{base_url}{path}")
        # Everything that opens is looked at open.
        page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        faults += [f"{path}: {fault}" for fault in layout.faults_of(page)]
    assert not faults, "\n".join(faults)


def test_the_pages_of_a_site_and_an_account_break_no_rule(store: Store, base_url: str, screen: Page) -> None:
    an_organizer(store)
    assert_well_laid_out(screen, base_url, ["/", "/account/sign-in", "/t/99", "/d", "/style"])
    sign_in(screen, base_url)
    paths = ["/", "/run", "/run/new", "/run/new?type=group_matchplay", "/run/plan", "/home", "/home/players"]
    paths += [f"/account{path}" for path in ("", "/profile", "/password", "/two-step", "/entries", "/data")]
    assert_well_laid_out(screen, base_url, paths)


def test_the_pages_of_an_administrator_break_no_rule(store: Store, base_url: str, screen: Page) -> None:
    an_account(store, name="Olga Ramp", role="admin")
    for name in LONG_NAMES[:2]:
        build.a_user(store, name=name, email=f"{name.partition(' ')[0].lower()}@pins.example")
    sign_in(screen, base_url)
    paths = ["/accounts", "/accounts?q=1", "/accounts?role=player", "/audit", "/numbers"]
    assert_well_laid_out(screen, base_url, [f"/account{path}" for path in paths])


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("type_", "players", "settings"),
    [
        ("matchplay", 16, {}),
        ("group_matchplay", 16, {}),
        ("golf", 6, {"golfDuration": 2}),
        ("double_bracket", 8, {}),
        ("best_game", 6, {"useQueues": True, "suggestions": "disabled"}),
        ("frenzy", 8, {"frenzyQueueSize": 2}),
    ],
)
def test_the_pages_of_a_night_break_no_rule(
    store: Store, base_url: str, screen: Page, type_: str, players: int, settings: dict[str, Any]
) -> None:
    a_night_of(store, type_, players, **settings)
    night = night_of(store)
    player_id = night.entrants[0].player_id
    paths = [f"/t/1{path}" for path in (*PUBLIC, *SCREENS_OF_A_HALL, *PAPER, f"/players/{player_id}")]
    paths += [f"/t/1/games/{game.game_id}" for game in night.games[:1]]
    assert_well_laid_out(screen, base_url, paths)
    sign_in(screen, base_url)
    paths = ["/users/1/nights"]
    paths += [f"/t/1/run{path}" for path in CONSOLE] + [f"/t/1/run/player?player={player_id}"]
    paths += [f"/t/1/run/game?game={game.game_id}" for game in night.games[:1]]
    assert_well_laid_out(screen, base_url, paths)
    if PICTURES and not IS_ALL:
        screen.goto(f"{base_url}/t/1/run")
        screen.screenshot(
            path=f"{PICTURES}/now-{type_.replace('_', '-')}-{screen.evaluate('innerWidth')}.png"
        )


def test_the_pages_of_a_completed_night_break_no_rule(store: Store, base_url: str, screen: Page) -> None:
    a_night_of(store, "group_matchplay", 8)
    night = night_of(store)
    organizer_id = int(night.details["organizer_id"])
    at = "/api/tournaments/1"
    for game in night.games:
        body = {"resultPositions": list(game.player_ids)}
        build.do(store, "PUT", f"{at}/games/{game.game_id}/result", body, by=organizer_id)
    status, answer, _ = build.do(store, "POST", f"{at}/complete", by=organizer_id)
    assert status < 300, answer
    assert_well_laid_out(screen, base_url, ["/t/1/summary"])
    sign_in(screen, base_url)
    assert_well_laid_out(screen, base_url, ["/t/1/run/federation", "/t/1/run/standings"])


def test_the_pages_of_the_door_break_no_rule(store: Store, base_url: str, screen: Page) -> None:
    organizer_id = an_organizer(store, 0)
    at = "/api/tournaments/1"
    registration = {"status": "active", "playerLimit": 2, "hasWaitlist": True, "publicList": True}
    for method, path, body in (
        ("POST", "/api/tournaments", {"name": "Thursday at the Drain and Flipper", "type": "matchplay"}),
        ("PATCH", at, {"rsvpConfiguration": registration}),
        ("PATCH", f"{at}/sign-ups", {"fee": 1_000, "lateFee": 500}),
    ):
        status, answer, _ = build.do(store, method, path, body, by=organizer_id)
        assert status < 300, answer
    manager = build.caller(organizer_id, role="organizer", ability="manage")
    code = build.ask(store, f"{at}/sign-ups", by=manager)[1]["data"]["code"]
    form = f"/t/1/sign-up?code={code}"
    for number, name in enumerate(LONG_NAMES[:5]):
        screen.goto(f"{base_url}{form}")
        screen.fill("[name=name]", name)
        screen.click("main form button")
        screen.wait_for_selector("[role=status]")
        assert not layout.faults_of(screen), name
        _take_picture(screen, f"signed-up-{number}")
    own_page = screen.get_attribute("a[href*='own=']", "href")
    assert own_page is not None
    assert_well_laid_out(screen, base_url, [own_page])
    _take_picture(screen, "own-place")
    assert_well_laid_out(screen, base_url, [form])
    _take_picture(screen, "sign-up")
    sign_in(screen, base_url)
    person = {"here": True, "payment": {"cents": 1_500, "how": "card"}}
    status, answer, _ = build.do(store, "PUT", f"{at}/sign-ups/untaken/1", person, by=organizer_id)
    assert status == 200, answer
    assert_well_laid_out(screen, base_url, ["/t/1/run/door"])
    _take_picture(screen, "door")


def test_the_games_whose_time_is_up_break_no_rule(store: Store, base_url: str, screen: Page) -> None:
    a_night_of(store, "group_matchplay", 16)
    at = "/api/tournaments/1"
    for method, path, minutes in (("PUT", "", 20), ("POST", "/extend", -240)):
        status, answer, _ = build.do(store, method, f"{at}/timer{path}", {"minutes": minutes}, by=1)
        assert status == 200, answer
    sign_in(screen, base_url)
    assert_well_laid_out(screen, base_url, ["/t/1/run"])
    assert screen.locator(".overdue").count() == 1
    _take_picture(screen, "overdue")
    game_id = night_of(store).open_games[0].game_id
    assert_well_laid_out(screen, base_url, [f"/t/1/run/game?game={game_id}"])
    _take_picture(screen, "game-extra-time")


def _take_picture(page: Page, name: str) -> None:
    if PICTURES and not IS_ALL:
        page.screenshot(path=f"{PICTURES}/{name}-{page.evaluate('innerWidth')}.png", full_page=True)


@pytest.mark.sample(2)
@pytest.mark.parametrize("font", layout.FONTS)
@pytest.mark.parametrize("type_", ["matchplay", "group_matchplay"])
def test_three_open_games_are_seen_on_the_smallest_phone(
    store: Store, browser: Browser, base_url: str, font: str, type_: str
) -> None:
    a_night_of(store, type_, 16, NAMES)
    context = layout.open_context(browser, 320, font)
    page = context.new_page()
    sign_in(page, base_url)
    page.goto(f"{base_url}/t/1/run")
    floor = page.locator(".bar").bounding_box()
    assert floor is not None
    boxes = [row.bounding_box() for row in page.locator(".games > li").all()]
    seen = [box for box in boxes if box is not None and box["y"] + box["height"] <= floor["y"]]
    assert len(seen) >= 3
    context.close()


def test_printed_sheets_have_marks_in_the_middle_where_they_are_folded(
    store: Store, browser: Browser, base_url: str
) -> None:
    a_night_of(store, "group_matchplay", 8)
    page = browser.new_page()
    page.goto(f"{base_url}/t/1/print/scores")
    mark = "side => getComputedStyle(document.querySelector('.sheet'), side).content"
    assert page.evaluate(mark, "::before") == "none"
    page.emulate_media(media="print")
    assert [page.evaluate(mark, side) for side in ("::before", "::after")] == ['""', '""']
    height = page.evaluate("document.querySelector('.sheet').clientHeight")
    top = page.evaluate("getComputedStyle(document.querySelector('.sheet'), '::before').top")
    assert abs(float(top.removesuffix("px")) - height / 2) < 1
    page.close()


def test_every_component_is_shown_in_both_themes(browser_page: BrowserPage) -> None:
    browser_page.go("/style")
    browser_page.assert_usable()
    ground = "theme => getComputedStyle(document.querySelector(`.theme-${theme}`)).backgroundColor"
    assert browser_page.page.evaluate(ground, "light") == "rgb(236, 238, 240)"
    assert browser_page.page.evaluate(ground, "dark") == "rgb(14, 16, 18)"
    templates = Path(site.__file__).parent / "templates"
    shown = (templates / "style.html").read_text(encoding="utf-8")
    macros = re.findall(r"{% macro (\w+)", (templates / "components.html").read_text(encoding="utf-8"))
    assert [name for name in macros if f"components.{name}(" not in shown] == []
    assert browser_page.complaints == []


def test_a_new_tournament_has_the_time_zone_of_the_browser(
    store: Store, browser: Browser, base_url: str
) -> None:
    an_organizer(store)
    context = browser.new_context(timezone_id="Europe/Stockholm")
    page = context.new_page()
    sign_in(page, base_url)
    page.goto(f"{base_url}/run/new?type=matchplay")
    page.wait_for_selector("text=Times are in Europe/Stockholm")
    page.fill("#new-name", "Thursday")
    page.locator("text=Create tournament").first.click()
    page.wait_for_url("**/t/1/run")
    assert night_of(store).details["timezone"] == "Europe/Stockholm"
    context.close()
