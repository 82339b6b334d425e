"""The public pages in a real browser: they stay up to date whatever happens to the connection."""

import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from web.chromium import AXE, DESK, PHONE, PICTURES
from web.public_visitor import names_that_are_taken
from web.server_process import NAMES, LiveServer

SCREENS: dict[str, Any] = {"phone": PHONE, "desk": DESK}
HIDDEN_BEYOND = """() => {
  const all = document.documentElement;
  return [all.scrollHeight - innerHeight, all.scrollWidth - innerWidth];
}"""
ASKED_FOR_HEAD = """() => performance.getEntriesByType("resource")
  .filter(one => new URL(one.name).searchParams.get("part")?.split(",").includes("head")).length"""
ASKED_TOGETHER = """() => performance.getEntriesByType("resource")
  .map(one => new URL(one.name).searchParams.get("part")).filter(Boolean)"""
# 26 pixels at 1080p: part of the height of a screen of 16:9.
LETTER_MIN = 26 / 1080
LETTERS_OF = """(chosen) => [...document.querySelectorAll(chosen)]
  .filter(one => one.checkVisibility())
  .map(one => parseFloat(getComputedStyle(one).fontSize) / Math.min(innerHeight, innerWidth * 9 / 16))"""
LETTERS = ".board li, .drawn-tree .meets li, .call li, .when, h2"
# Long enough to try every kind of connection again.
SECONDS_MAX = 60_000
CUT_SECONDS = 20
# Every five seconds at most, and later on a busy machine.
FORECAST_WITHIN = 60_000
SERIOUS = {"serious", "critical"}

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


class Elsewhere(ThreadingHTTPServer):
    """Another site with one page."""

    body = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class OnePage(BaseHTTPRequestHandler):
    server: Elsewhere

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.server.body.encode())

    def log_message(self, *_: object) -> None:
        """No log."""


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere(("127.0.0.1", 0), OnePage) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield site
        site.shutdown()
        thread.join()


class Screen:
    """A page of the tournament without errors, which is never reloaded."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.sockets: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("websocket", lambda socket: self.sockets.append(socket.url))

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.page.evaluate("window.wasNeverReloaded = true")

    def is_live(self, within: int = SECONDS_MAX) -> None:
        expect(self.page.locator("#feed")).to_have_attribute("data-state", "live", timeout=within)

    def shows(self, text: str, within: int = SECONDS_MAX) -> None:
        # The head of the live page is above its main part.
        expect(self.page.locator("body")).to_contain_text(text, timeout=within)

    def was_never_reloaded(self) -> None:
        assert self.page.evaluate("window.wasNeverReloaded") is True

    def fits(self) -> None:
        width, screen = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= screen

    def picture(self, name: str) -> None:
        """Save a screenshot for the documentation, when a folder for them is set."""
        if PICTURES:
            # All parts are loaded, and the clock is running.
            self.page.wait_for_timeout(5000)
            self.page.evaluate("scrollTo(0, 0)")
            self.page.screenshot(path=Path(PICTURES) / f"{name}.png")


@pytest.fixture(params=sorted(SCREENS))
def screen(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Screen]:
    context = browser.new_context(viewport=SCREENS[request.param])
    yield Screen(context.new_page())
    context.close()


@pytest.fixture
def desk(browser: Browser) -> Iterator[Screen]:
    context = browser.new_context(viewport=SCREENS["desk"])
    yield Screen(context.new_page())
    context.close()


def pass_seconds(screen: Screen) -> None:
    """Let eight seconds pass for the page, and the connection answer in real time.

    Forty seconds of silence, as the page counts them, open a new connection, which the next eight would cut.
    """
    screen.page.clock.run_for(8000)
    screen.is_live()


def size_of(screen: Screen) -> str:
    assert screen.page.viewport_size is not None
    return str(screen.page.viewport_size["width"])


def running(live_server: LiveServer, **settings: Any) -> list[Any]:
    """A tournament with a played and an open round."""
    live_server.create("group_matchplay", duration=5, playoffsCutoffs=CUTOFFS, **settings)
    live_server.start()
    for game in live_server.open_round():
        live_server.finish(game)
    return live_server.open_round()


CUTOFFS = [{"index": 0, "value": 4, "cumulative": 4, "text": "A final", "color": None}]


def test_the_live_page_tells_a_night_without_being_loaded_again(
    live_server: LiveServer, screen: Screen
) -> None:
    live_server.create("group_matchplay", duration=5, playoffsCutoffs=CUTOFFS)
    screen.open(live_server.page)
    screen.is_live()
    screen.shows("Nobody has a place yet")
    live_server.start()
    games = live_server.open_round()
    screen.shows("Round 1")
    expect(screen.page.locator("#part-now .call")).to_have_count(2)
    screen.fits()
    page = screen.page
    page.locator(".rounds a").first.focus()
    page.evaluate("scrollTo(0, 300)")
    for game in games:
        live_server.finish(game)
    expect(page.locator("li.cut")).to_contain_text("A final", timeout=SECONDS_MAX)
    expect(page.locator(".rounds a").first).to_be_focused()
    assert page.evaluate("scrollY") == 300
    live_server.open_round()
    live_server.say("Coffee at ten <b>!")
    screen.shows("Coffee at ten <b>!")
    expect(page.locator(".when time")).to_have_text(re.compile(r"00:0\d"))
    screen.picture(f"live-{size_of(screen)}")
    for game in live_server.open_games():
        live_server.finish(game)
    live_server.ask_tournament("POST", "/complete")
    screen.shows("Winner: ")
    screen.fits()
    screen.was_never_reloaded()
    assert screen.complaints == []


def test_a_killed_server_is_waited_for_and_nothing_is_missed(live_server: LiveServer, desk: Screen) -> None:
    games = running(live_server)
    desk.open(live_server.page)
    desk.is_live()
    live_server.connection.cut()
    live_server.kill_server()
    expect(desk.page.locator("#feed")).to_have_attribute("data-state", "offline", timeout=SECONDS_MAX)
    live_server.start_server()
    live_server.finish(games[0])
    live_server.say("Back at eight")
    time.sleep(CUT_SECONDS)
    live_server.connection.mend()
    desk.is_live()
    desk.shows("Back at eight")
    expect(desk.page.locator("#part-now .call")).to_have_count(1)
    desk.was_never_reloaded()


def test_a_line_that_went_dead_in_silence_is_noticed_on_waking_up(
    live_server: LiveServer, desk: Screen
) -> None:
    running(live_server)
    desk.open(live_server.page)
    desk.is_live()
    live_server.connection.freeze()
    live_server.say("While you slept")
    desk.page.evaluate("window.dispatchEvent(new Event('online'))")
    # The socket does not answer, so it is replaced although it was never closed.
    expect(desk.page.locator("#feed")).not_to_have_attribute("data-state", "live", timeout=SECONDS_MAX)
    live_server.connection.mend()
    desk.shows("While you slept")
    desk.is_live()
    assert len(desk.sockets) > 1
    desk.was_never_reloaded()


@pytest.mark.parametrize("blocked", [(b"GET /app/",), (b"GET /app/", b"GET /api/")])
def test_where_no_socket_passes_there_are_other_ways(
    live_server: LiveServer, desk: Screen, blocked: tuple[bytes, ...]
) -> None:
    """Server-sent events first, then polling."""
    running(live_server)
    live_server.connection.blocked = blocked
    desk.open(live_server.page)
    desk.is_live()
    live_server.say("It came another way")
    desk.shows("It came another way")
    desk.was_never_reloaded()


def test_the_wall_follows_results_and_never_scrolls(live_server: LiveServer, screen: Screen) -> None:
    games = running(live_server)
    screen.open(f"{live_server.page}/wall")
    screen.is_live()
    page = screen.page
    before = page.locator(".board").inner_text()
    for game in games:
        live_server.finish(game)
    expect(page.locator(".board")).not_to_have_text(before, use_inner_text=True, timeout=SECONDS_MAX)
    live_server.open_round()
    screen.shows("Round 3")
    screen.shows("Biggest movers")
    assert page.evaluate(HIDDEN_BEYOND) == [0, 0]
    screen.picture(f"wall-{size_of(screen)}")
    screen.was_never_reloaded()
    assert screen.complaints == []


def test_the_wall_can_be_read_from_the_other_side_of_the_hall(live_server: LiveServer, desk: Screen) -> None:
    """Letters of 26 pixels at 1080p at least, and larger where few games are open."""
    running(live_server)
    desk.open(f"{live_server.page}/wall")
    sizes = desk.page.evaluate(LETTERS_OF, LETTERS)
    assert len(sizes) > 8
    assert min(sizes) >= LETTER_MIN
    cards = desk.page.evaluate(LETTERS_OF, ".call li")
    assert min(cards) >= 1.5 * LETTER_MIN


def test_fifteen_open_games_are_on_one_screen_of_a_television(
    live_server: LiveServer, browser: Browser
) -> None:
    names = tuple(f"Wilhelmina Vanderbilt {n:02}" for n in range(60))
    live_server.create("group_matchplay", names, duration=5)
    live_server.start()
    live_server.open_round()
    context = browser.new_context(viewport={"width": 1920, "height": 1080})
    wall = Screen(context.new_page())
    wall.open(f"{live_server.page}/wall")
    wall.is_live()
    cards = wall.page.locator(".call:visible")
    expect(cards).to_have_count(15)
    assert min(wall.page.evaluate(LETTERS_OF, LETTERS)) >= LETTER_MIN
    # Each name is on one line, and no card is cut by the edge of its list.
    floor = wall.page.locator(".calls").bounding_box()
    assert floor is not None
    for card in cards.all():
        box = card.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= floor["y"] + floor["height"] + 1
    assert wall.page.evaluate(HIDDEN_BEYOND) == [0, 0]
    ground = wall.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(14, 16, 18)"
    wall.picture("wall-60-1920")
    wall.open(f"{live_server.page}/wall?theme=light")
    assert wall.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(236, 238, 240)"
    context.close()


def test_the_overlay_is_readable_on_a_stream(live_server: LiveServer, browser: Browser) -> None:
    running(live_server)
    context = browser.new_context(viewport={"width": 1920, "height": 1080})
    overlay = Screen(context.new_page())
    overlay.open(f"{live_server.page}/overlay?show=head,standings,now,movers")
    # The line that tells of the connection, too.
    overlay.page.evaluate("document.querySelector('#feed').dataset.state = 'connecting'")
    overlay.page.evaluate("document.querySelector('#feed').hidden = false")
    sizes = overlay.page.evaluate(LETTERS_OF, "main :is(p, li, h1, h2, h3)")
    assert min(sizes) * 1080 >= 24
    box = overlay.page.locator(".part").first.bounding_box()
    assert box is not None
    # Televisions may cut off three percent at each edge.
    assert min(box["x"] / 1920, box["y"] / 1080) >= 0.03
    context.close()


def test_the_wall_turns_through_all_players(live_server: LiveServer, desk: Screen) -> None:
    names = tuple(f"Player {n:02}" for n in range(40))
    live_server.create("group_matchplay", names, duration=5)
    live_server.start()
    page = desk.page
    page.clock.install()
    desk.open(f"{live_server.page}/wall")
    desk.is_live()
    page.clock.run_for(1000)
    seen: set[str] = set()
    for _ in range(12):
        seen |= {name for name in names if name in page.locator(".board").inner_text()}
        pass_seconds(desk)
    assert seen == set(names)
    assert page.evaluate(HIDDEN_BEYOND) == [0, 0]


def test_a_wall_of_an_old_version_loads_itself_again_once(live_server: LiveServer, desk: Screen) -> None:
    running(live_server)
    desk.open(f"{live_server.page}/wall")
    desk.is_live()
    desk.page.evaluate("document.querySelector('main').dataset.version = 'of last week'")
    with desk.page.expect_navigation():
        live_server.say("A new version")
    desk.is_live()
    desk.open(f"{live_server.page}/wall")
    desk.is_live()
    desk.page.evaluate("document.querySelector('main').dataset.version = 'of last week'")
    live_server.say("Two nodes of two versions")
    desk.shows("Two nodes of two versions")
    desk.was_never_reloaded()


def test_the_overlay_shows_what_its_address_chooses_and_lets_the_picture_through(
    live_server: LiveServer, screen: Screen
) -> None:
    games = running(live_server)
    screen.open(f"{live_server.page}/overlay?show=standings,now&top=3&side=right")
    screen.is_live()
    page = screen.page
    assert page.locator(".part").count() == 2
    assert page.locator(".board li").count() == 3
    grounds = "[document.documentElement, document.body].map(one => getComputedStyle(one).backgroundColor)"
    assert page.evaluate(grounds) == ["rgba(0, 0, 0, 0)"] * 2
    live_server.finish(games[0])
    expect(page.locator(".call")).to_have_count(1, timeout=SECONDS_MAX)
    screen.fits()
    screen.picture(f"overlay-{size_of(screen)}")
    assert screen.complaints == []


def test_the_snippet_shows_the_tournament_on_another_site(
    live_server: LiveServer, screen: Screen, elsewhere: Elsewhere
) -> None:
    running(live_server)
    screen.open(live_server.page)
    snippet = screen.page.input_value("#snippet")
    other = screen.page.context.new_page()
    elsewhere.body = snippet
    other.goto(elsewhere.url)
    frame = other.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text("Friday at the Drain")
    expect(frame.locator("#feed")).to_have_attribute("data-state", "live", timeout=SECONDS_MAX)
    live_server.say("Seen elsewhere")
    expect(frame.locator(".motd")).to_have_text("Seen elsewhere", timeout=SECONDS_MAX)
    embedded = Screen(screen.page.context.new_page())
    embedded.open(f"{live_server.page}/embed")
    embedded.is_live()
    embedded.fits()
    embedded.picture(f"embed-{size_of(screen)}")
    assert embedded.complaints == []
    # Only that page may be framed.
    elsewhere.body = snippet.replace("/embed", "")
    with other.expect_console_message(lambda message: "frame-ancestors 'none'" in message.text):
        other.goto(elsewhere.url)


def test_a_hundred_hostile_names_are_text(live_server: LiveServer, desk: Screen) -> None:
    names = names_that_are_taken()
    assert len(names) > 80
    live_server.create("group_matchplay", names, machines=names[:30], duration=3)
    live_server.start()
    desk.page.on("dialog", lambda dialog: desk.complaints.append(dialog.message))
    for path in ("", "/wall", "/overlay?show=head,standings,now,movers&top=0", "/embed"):
        desk.open(live_server.page + path)
        desk.is_live()
        label = f"{names[0]} on {path}"
        live_server.say(label)
        desk.shows(label)
        text = desk.page.locator("main").text_content() or ""
        assert [name for name in names if " ".join(name.split()) not in " ".join(text.split())] == []
        assert (
            desk.page.locator(
                "main :is(img, script, .code svg > :not(path), :not(.code) > svg:not(.icon), iframe, style,"
                " form:not([method=get]), math, b, object)"
            ).count()
            == 0
        )
    assert desk.complaints == []


def test_a_storm_of_news_is_few_requests(live_server: LiveServer, desk: Screen) -> None:
    running(live_server)
    desk.open(live_server.page)
    desk.is_live()
    began = time.monotonic()
    for n in range(40):
        live_server.say(f"Storm {n}")
    desk.shows("Storm 39")
    desk.page.wait_for_timeout(2500)
    asked = desk.page.evaluate(ASKED_FOR_HEAD)
    # One fetch in 300 ms, and one more after the last event.
    assert 2 <= asked <= (time.monotonic() - began) / 0.3 + 2
    assert asked < 40


def test_a_result_makes_a_screen_fetch_its_parts_together(live_server: LiveServer, desk: Screen) -> None:
    games = running(live_server)
    desk.open(f"{live_server.page}/wall")
    desk.is_live()
    live_server.finish(games[0])
    desk.page.wait_for_function(f"() => ({ASKED_TOGETHER})().length > 0")
    desk.page.wait_for_timeout(2500)
    asked = [set(names.split(",")) for names in desk.page.evaluate(ASKED_TOGETHER)]
    together = [names for names in asked if "now" in names]
    assert together
    assert all(names >= {"standings", "now", "movers"} for names in together)
    # The forecast is computed in the background, and nobody waits for it.
    assert all(names in ({"forecast"}, names - {"forecast"}) for names in asked)


def test_a_screen_of_a_deleted_tournament_says_that_nothing_is_here(
    live_server: LiveServer, desk: Screen
) -> None:
    live_server.create("group_matchplay")
    desk.page.goto(f"{live_server.page}/wall")
    desk.is_live()
    live_server.ask_tournament("DELETE", "")
    desk.page.wait_for_function('() => document.body.textContent.includes("Nothing is here")')


def test_a_wall_that_hangs_all_night_does_not_grow(live_server: LiveServer, desk: Screen) -> None:
    """Events and lost connections leave neither elements nor listeners behind."""
    running(live_server)
    desk.open(f"{live_server.page}/wall")
    desk.is_live()
    session = desk.page.context.new_cdp_session(desk.page)

    def used() -> tuple[int, int]:
        session.send("HeapProfiler.collectGarbage")
        counted = session.send("Memory.getDOMCounters")
        return counted["nodes"], counted["jsEventListeners"]

    def hour(number: int) -> None:
        for n in range(10):
            live_server.say(f"Hour {number}, message {n}")
        live_server.connection.cut()
        expect(desk.page.locator("#feed")).not_to_have_attribute("data-state", "live", timeout=SECONDS_MAX)
        live_server.connection.mend()
        desk.shows(f"Hour {number}, message 9")
        desk.is_live()

    hour(0)
    nodes, listeners = used()
    for number in range(1, 6):
        hour(number)
    later = used()
    assert later[0] <= nodes + 50
    assert later[1] <= listeners + 5
    desk.was_never_reloaded()


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_checker_of_accessibility_finds_nothing_serious(
    live_server: LiveServer, desk: Screen, scheme: Any
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed here (npm ci --prefix tests/clients)")
    running(live_server)
    desk.page.emulate_media(color_scheme=scheme)
    for path in ("", "/wall", "/overlay?show=head,standings,now,movers", "/embed"):
        desk.open(live_server.page + path)
        desk.is_live()
        desk.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = desk.page.evaluate("axe.run().then(said => said.violations)")
        faults = [
            (violation["id"], [node["html"] for node in violation["nodes"]][:3])
            for violation in found
            if violation["impact"] in {"serious", "critical"}
        ]
        assert faults == [], path


def test_printed_the_live_page_shows_the_table_and_nothing_to_click(
    live_server: LiveServer, desk: Screen
) -> None:
    running(live_server)
    desk.open(live_server.page)
    desk.page.emulate_media(media="print")
    assert desk.page.is_visible("text=Standings")
    assert not any(
        desk.page.is_visible(selector) for selector in (".rounds", "#feed", "#snippet", "header nav")
    )


def bracket(live_server: LiveServer, kind: str, players: int = 8) -> None:
    """A bracket with half of its first round played."""
    live_server.create(kind, tuple(f"{name} {n}" for n in range(2) for name in NAMES)[:players])
    live_server.start()
    for game in live_server.open_games()[: players // 4]:
        live_server.finish(game)


@pytest.mark.parametrize("kind", ["bracket", "double_bracket"])
def test_a_bracket_scrolls_in_its_own_box_and_follows_the_night(
    live_server: LiveServer, screen: Screen, kind: str
) -> None:
    bracket(live_server, kind)
    screen.open(live_server.page)
    screen.is_live()
    screen.fits()
    page = screen.page
    box = page.locator("#part-tree .scroll").first
    columns = page.locator("#part-tree .tree").first.locator(".column")
    tops = [column.bounding_box() for column in columns.all()]
    assert len({top["y"] for top in tops if top}) == 1
    box.focus()
    page.keyboard.press("End")
    box.evaluate("element => element.scrollTo(200, 0)")
    scrolled = box.evaluate("element => element.scrollLeft")
    won = page.locator("#part-tree .won")
    before = won.count()
    live_server.finish(live_server.open_games()[0])
    expect(won).to_have_count(before + 1, timeout=SECONDS_MAX)
    assert box.evaluate("element => element.scrollLeft") == scrolled
    box.scroll_into_view_if_needed()
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{kind.replace('_', '-')}-{size_of(screen)}.png")
    screen.was_never_reloaded()
    assert screen.complaints == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["bracket", "double_bracket", "group_bracket"])
def test_a_bracket_is_open_to_everybody(
    live_server: LiveServer, desk: Screen, kind: str, scheme: Any
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed here (npm ci --prefix tests/clients)")
    if kind == "group_bracket":
        live_server.create(kind, bracketSize=8)
        live_server.start()
        live_server.open_round()
    else:
        bracket(live_server, kind)
    desk.page.emulate_media(color_scheme=scheme)
    for path in ("", "/wall"):
        desk.open(live_server.page + path)
        desk.is_live()
        desk.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = desk.page.evaluate("axe.run().then(said => said.violations)")
        assert [
            (violation["id"], violation["nodes"][0]["html"])
            for violation in found
            if violation["impact"] in SERIOUS
        ] == []


def test_a_bracket_on_the_wall_can_be_read_and_turns(live_server: LiveServer, screen: Screen) -> None:
    bracket(live_server, "double_bracket", 16)
    page = screen.page
    page.clock.install()
    screen.open(f"{live_server.page}/wall")
    screen.is_live()
    page.clock.run_for(1000)
    if size_of(screen) != str(PHONE["width"]):
        assert min(page.evaluate(LETTERS_OF, LETTERS)) >= LETTER_MIN
    seen: set[str] = set()
    for _ in range(16):
        text = page.locator(".drawn-tree").inner_text()
        seen |= {f"{name} {n}" for n in range(2) for name in NAMES if f"{name} {n}" in text}
        assert page.evaluate(HIDDEN_BEYOND) == [0, 0]
        pass_seconds(screen)
    assert len(seen) == 16
    screen.picture(f"wall-bracket-{size_of(screen)}")
    assert screen.complaints == []


def test_without_scripts_a_bracket_is_drawn_all_the_same(live_server: LiveServer, browser: Browser) -> None:
    bracket(live_server, "bracket")
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    plain = Screen(context.new_page())
    plain.page.goto(live_server.page)
    expect(plain.page.locator("#part-tree .match")).to_have_count(9)
    plain.fits()
    context.close()


def up_to_date_forecast(live_server: LiveServer, screen: Screen) -> dict[str, Any]:
    """The forecast that counts all results. Raises AssertionError if it does not come."""
    for _ in range(FORECAST_WITHIN // 200):
        found: dict[str, Any] = live_server.ask_tournament("GET", "/forecast")
        if found["upToDate"]:
            return found
        screen.page.wait_for_timeout(200)
    raise AssertionError("no forecast counts all results")


def test_a_forecast_comes_by_itself_and_is_withdrawn_with_a_line(
    live_server: LiveServer, screen: Screen
) -> None:
    games = running(live_server)
    screen.open(live_server.page)
    screen.is_live()
    expect(screen.page.locator("#part-forecast *")).to_have_count(0)
    live_server.ask_tournament("PATCH", "", {"forecast": True, "duration": 2})
    screen.shows("1,000 simulated nights", FORECAST_WITHIN)
    for game in games[:-1]:
        live_server.finish(game)
    screen.shows("is enough for the top 4", FORECAST_WITHIN)
    expect(screen.page.locator("#part-forecast tbody").first.locator("tr")).to_have_count(8)
    screen.fits()
    # The best player of the open game needs a win only, until they lose all their points.
    listed = up_to_date_forecast(live_server, screen)["players"]
    best = next(row["playerId"] for row in listed if any(fact["fact"] == "place" for fact in row["facts"]))
    live_server.ask_tournament("PATCH", f"/players/{best}", {"pointsAdjustment": -50})
    screen.shows("Withdrawn", FORECAST_WITHIN)
    screen.shows("as points or strikes were adjusted")
    screen.fits()
    if PICTURES:
        screen.page.locator("#part-forecast").screenshot(
            path=Path(PICTURES) / f"forecast-{size_of(screen)}.png"
        )
    screen.page.goto(f"{live_server.page}/wall")
    screen.shows("Withdrawn, as points or strikes were adjusted")
    screen.fits()
    screen.picture(f"wall-forecast-{size_of(screen)}")
    assert screen.complaints == []
