"""The public pages in a real browser: they follow the night, whatever happens to the connection."""

import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from web.browsing import AXE, DESK, PHONE, PICTURES
from web.evening import NAMES, Evening
from web.public import names_that_are_taken

SCREENS: dict[str, Any] = {"phone": PHONE, "desk": DESK}
HIDDEN_BEYOND = """() => {
  const all = document.documentElement;
  return [all.scrollHeight - innerHeight, all.scrollWidth - innerWidth];
}"""
ASKED_FOR_HEAD = """() => performance.getEntriesByType("resource")
  .filter(one => one.name.endsWith("part=head")).length"""
LETTERS = """() => [...document.querySelectorAll(".board li, .call li, .when, h2")]
  .map(one => parseFloat(getComputedStyle(one).fontSize) / innerHeight)"""
# Long enough for every way of connecting to be tried again.
SECONDS_MAX = 20_000
CUT_SECONDS = 20
SERIOUS = {"serious", "critical"}

pytestmark = [
    pytest.mark.browser,
    # A browser sees no difference between the databases.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


class Elsewhere(ThreadingHTTPServer):
    """Another site, with one page."""

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
        """Nobody reads it."""


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere(("127.0.0.1", 0), OnePage) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield site
        site.shutdown()
        thread.join()


class Screen:
    """A page of the tournament that complains about nothing and is never loaded again."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.sockets: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("websocket", lambda socket: self.sockets.append(socket.url))

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.page.evaluate("window.wasNeverReloaded = true")

    def is_live(self, within: int = SECONDS_MAX) -> None:
        expect(self.page.locator("#feed")).to_have_attribute("data-state", "live", timeout=within)

    def shows(self, text: str, within: int = SECONDS_MAX) -> None:
        expect(self.page.locator("main")).to_contain_text(text, timeout=within)

    def was_never_reloaded(self) -> None:
        assert self.page.evaluate("window.wasNeverReloaded") is True

    def fits(self) -> None:
        width, screen = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= screen

    def picture(self, name: str) -> None:
        """Keep what is seen for the documentation, when asked to."""
        if PICTURES:
            # Everything is there, and a clock has something to show.
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


def size_of(screen: Screen) -> str:
    assert screen.page.viewport_size is not None
    return str(screen.page.viewport_size["width"])


def running(evening: Evening, **settings: Any) -> list[Any]:
    """A night of two rounds, the first of which is played."""
    evening.create("group_matchplay", duration=5, playoffsCutoffs=CUTOFFS, **settings)
    evening.start()
    for game in evening.open_round():
        evening.finish(game)
    return evening.open_round()


CUTOFFS = [{"index": 0, "value": 4, "cumulative": 4, "text": "A final", "color": None}]


def test_the_live_page_tells_a_night_without_being_loaded_again(evening: Evening, screen: Screen) -> None:
    evening.create("group_matchplay", duration=5, playoffsCutoffs=CUTOFFS)
    screen.open(evening.page)
    screen.is_live()
    screen.shows("Nobody has a place yet")
    evening.start()
    games = evening.open_round()
    screen.shows("Round 1")
    expect(screen.page.locator("#part-now .call")).to_have_count(2)
    screen.fits()
    page = screen.page
    page.locator(".rounds a").first.focus()
    page.evaluate("scrollTo(0, 300)")
    for game in games:
        evening.finish(game)
    expect(page.locator("tr.cut")).to_contain_text("A final", timeout=SECONDS_MAX)
    expect(page.locator(".rounds a").first).to_be_focused()
    assert page.evaluate("scrollY") == 300
    evening.open_round()
    evening.say("Coffee at ten <b>!")
    screen.shows("Coffee at ten <b>!")
    expect(page.locator(".when time")).to_have_text(re.compile(r"00:0\d"))
    screen.picture(f"live-{size_of(screen)}")
    for game in evening.open_games():
        evening.finish(game)
    evening.here("POST", "/complete")
    screen.shows("Won by")
    screen.fits()
    screen.was_never_reloaded()
    assert screen.complaints == []


def test_a_killed_server_is_waited_for_and_nothing_is_missed(evening: Evening, desk: Screen) -> None:
    games = running(evening)
    desk.open(evening.page)
    desk.is_live()
    evening.line.cut()
    evening.kill_server()
    expect(desk.page.locator("#feed")).to_have_attribute("data-state", "offline", timeout=SECONDS_MAX)
    evening.start_server()
    evening.finish(games[0])
    evening.say("Back at eight")
    time.sleep(CUT_SECONDS)
    evening.line.mend()
    desk.is_live()
    desk.shows("Back at eight")
    expect(desk.page.locator("#part-now .call")).to_have_count(1)
    desk.was_never_reloaded()


def test_a_line_that_went_dead_in_silence_is_noticed_on_waking_up(evening: Evening, desk: Screen) -> None:
    running(evening)
    desk.open(evening.page)
    desk.is_live()
    evening.line.freeze()
    evening.say("While you slept")
    desk.page.evaluate("window.dispatchEvent(new Event('online'))")
    # The socket did not answer: it is given up though nobody closed it.
    expect(desk.page.locator("#feed")).not_to_have_attribute("data-state", "live", timeout=SECONDS_MAX)
    evening.line.mend()
    desk.shows("While you slept")
    desk.is_live()
    assert len(desk.sockets) > 1
    desk.was_never_reloaded()


@pytest.mark.parametrize("blocked", [(b"GET /app/",), (b"GET /app/", b"GET /api/")])
def test_where_no_socket_passes_there_are_other_ways(
    evening: Evening, desk: Screen, blocked: tuple[bytes, ...]
) -> None:
    """Server-sent events first, then asking every ten seconds."""
    running(evening)
    evening.line.blocked = blocked
    desk.open(evening.page)
    desk.is_live()
    evening.say("It came another way")
    desk.shows("It came another way")
    desk.was_never_reloaded()


def test_the_wall_follows_results_and_never_scrolls(evening: Evening, screen: Screen) -> None:
    games = running(evening)
    screen.open(f"{evening.page}/wall")
    screen.is_live()
    page = screen.page
    before = page.locator(".board").inner_text()
    for game in games:
        evening.finish(game)
    expect(page.locator(".board")).not_to_have_text(before, use_inner_text=True, timeout=SECONDS_MAX)
    evening.open_round()
    screen.shows("Round 3")
    screen.shows("Biggest movers")
    assert page.evaluate(HIDDEN_BEYOND) == [0, 0]
    screen.picture(f"wall-{size_of(screen)}")
    screen.was_never_reloaded()
    assert screen.complaints == []


def test_the_wall_can_be_read_from_the_other_side_of_the_hall(evening: Evening, desk: Screen) -> None:
    """Letters of a twentieth of the screen: 25 mm on a television of half a metre, for five metres."""
    running(evening)
    desk.open(f"{evening.page}/wall")
    sizes = desk.page.evaluate(LETTERS)
    assert len(sizes) > 8
    assert min(sizes) >= 0.05


def test_the_pages_of_the_wall_turn_until_everybody_was_seen(evening: Evening, desk: Screen) -> None:
    names = tuple(f"Player {n:02}" for n in range(40))
    evening.create("group_matchplay", names, duration=5)
    evening.start()
    page = desk.page
    page.clock.install()
    desk.open(f"{evening.page}/wall")
    page.clock.run_for(1000)
    seen: set[str] = set()
    for _ in range(12):
        seen |= {name for name in names if name in page.locator(".board").inner_text()}
        page.clock.run_for(8000)
    assert seen == set(names)
    assert page.evaluate(HIDDEN_BEYOND) == [0, 0]


def test_a_wall_of_an_old_version_loads_itself_again_once(evening: Evening, desk: Screen) -> None:
    running(evening)
    desk.open(f"{evening.page}/wall")
    desk.is_live()
    desk.page.evaluate("document.querySelector('main').dataset.version = 'of last week'")
    with desk.page.expect_navigation():
        evening.say("A new version")
    desk.is_live()
    desk.open(f"{evening.page}/wall")
    desk.is_live()
    desk.page.evaluate("document.querySelector('main').dataset.version = 'of last week'")
    evening.say("Two nodes of two versions")
    desk.shows("Two nodes of two versions")
    desk.was_never_reloaded()


def test_the_overlay_shows_what_its_address_chooses_and_lets_the_picture_through(
    evening: Evening, screen: Screen
) -> None:
    games = running(evening)
    screen.open(f"{evening.page}/overlay?show=standings,now&top=3&side=right")
    screen.is_live()
    page = screen.page
    assert page.locator(".part").count() == 2
    assert page.locator(".board li").count() == 3
    grounds = "[document.documentElement, document.body].map(one => getComputedStyle(one).backgroundColor)"
    assert page.evaluate(grounds) == ["rgba(0, 0, 0, 0)"] * 2
    evening.finish(games[0])
    expect(page.locator(".call")).to_have_count(1, timeout=SECONDS_MAX)
    screen.fits()
    screen.picture(f"overlay-{size_of(screen)}")
    assert screen.complaints == []


def test_the_snippet_shows_the_tournament_on_the_page_of_somebody_else(
    evening: Evening, screen: Screen, elsewhere: Elsewhere
) -> None:
    running(evening)
    screen.open(evening.page)
    snippet = screen.page.input_value("#snippet")
    other = screen.page.context.new_page()
    elsewhere.body = snippet
    other.goto(elsewhere.url)
    frame = other.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text("Friday at the Drain")
    expect(frame.locator("#feed")).to_have_attribute("data-state", "live", timeout=SECONDS_MAX)
    evening.say("Seen elsewhere")
    expect(frame.locator(".motd")).to_have_text("Seen elsewhere", timeout=SECONDS_MAX)
    embedded = Screen(screen.page.context.new_page())
    embedded.open(f"{evening.page}/embed")
    embedded.is_live()
    embedded.fits()
    embedded.picture(f"embed-{size_of(screen)}")
    assert embedded.complaints == []
    # Only that page may be framed.
    elsewhere.body = snippet.replace("/embed", "")
    with other.expect_console_message(lambda said: "frame-ancestors 'none'" in said.text):
        other.goto(elsewhere.url)


def test_a_hundred_hostile_names_are_text(evening: Evening, desk: Screen) -> None:
    names = names_that_are_taken()
    assert len(names) > 80
    evening.create("group_matchplay", names, machines=names[:30], duration=3)
    evening.start()
    desk.page.on("dialog", lambda dialog: desk.complaints.append(dialog.message))
    for path in ("", "/wall", "/overlay?show=head,standings,now,movers&top=0", "/embed"):
        desk.open(evening.page + path)
        desk.is_live()
        said = f"{names[0]} on {path}"
        evening.say(said)
        desk.shows(said)
        shown = desk.page.locator("main").text_content() or ""
        assert [name for name in names if " ".join(name.split()) not in " ".join(shown.split())] == []
        assert (
            desk.page.locator("main :is(img, script, svg, iframe, style, form, math, b, object)").count() == 0
        )
    assert desk.complaints == []


def test_a_storm_of_news_is_few_requests(evening: Evening, desk: Screen) -> None:
    running(evening)
    desk.open(evening.page)
    desk.is_live()
    began = time.monotonic()
    for n in range(40):
        evening.say(f"Storm {n}")
    desk.shows("Storm 39")
    desk.page.wait_for_timeout(2500)
    asked = desk.page.evaluate(ASKED_FOR_HEAD)
    # One for each 300 ms, and one more after it became quiet.
    assert 2 <= asked <= (time.monotonic() - began) / 0.3 + 2
    assert asked < 20


def test_a_wall_that_hangs_all_night_does_not_grow(evening: Evening, desk: Screen) -> None:
    """News and lost connections leave neither elements nor listeners behind."""
    running(evening)
    desk.open(f"{evening.page}/wall")
    desk.is_live()
    session = desk.page.context.new_cdp_session(desk.page)

    def used() -> tuple[int, int]:
        session.send("HeapProfiler.collectGarbage")
        counted = session.send("Memory.getDOMCounters")
        return counted["nodes"], counted["jsEventListeners"]

    def hour(number: int) -> None:
        for n in range(10):
            evening.say(f"Hour {number}, message {n}")
        evening.line.cut()
        expect(desk.page.locator("#feed")).not_to_have_attribute("data-state", "live", timeout=SECONDS_MAX)
        evening.line.mend()
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_checker_of_accessibility_finds_nothing_serious(
    evening: Evening, desk: Screen, scheme: Any
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed here (npm ci --prefix tests/clients)")
    running(evening)
    desk.page.emulate_media(color_scheme=scheme)
    for path in ("", "/wall", "/overlay?show=head,standings,now,movers", "/embed"):
        desk.open(evening.page + path)
        desk.is_live()
        desk.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = desk.page.evaluate("axe.run().then(said => said.violations)")
        faults = [
            (one["id"], [node["html"] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in {"serious", "critical"}
        ]
        assert faults == [], path


def test_printed_the_live_page_shows_the_table_and_nothing_to_click(evening: Evening, desk: Screen) -> None:
    running(evening)
    desk.open(evening.page)
    desk.page.emulate_media(media="print")
    assert desk.page.is_visible("text=Standings")
    assert not any(desk.page.is_visible(one) for one in (".rounds", "#feed", "#snippet", "header nav"))


def bracket(evening: Evening, kind: str, players: int = 8) -> None:
    """A bracket with half of its first round played."""
    evening.create(kind, tuple(f"{name} {n}" for n in range(2) for name in NAMES)[:players])
    evening.start()
    for game in evening.open_games()[: players // 4]:
        evening.finish(game)


@pytest.mark.parametrize("kind", ["bracket", "double_bracket"])
def test_a_bracket_scrolls_in_its_own_box_and_follows_the_night(
    evening: Evening, screen: Screen, kind: str
) -> None:
    bracket(evening, kind)
    screen.open(evening.page)
    screen.is_live()
    screen.fits()
    page = screen.page
    box = page.locator("#part-tree .scroll").first
    columns = page.locator("#part-tree .tree").first.locator(".column")
    tops = [one.bounding_box() for one in columns.all()]
    assert len({one["y"] for one in tops if one}) == 1
    box.focus()
    page.keyboard.press("End")
    box.evaluate("one => one.scrollTo(200, 0)")
    scrolled = box.evaluate("one => one.scrollLeft")
    won = page.locator("#part-tree .won")
    before = won.count()
    evening.finish(evening.open_games()[0])
    expect(won).to_have_count(before + 1, timeout=SECONDS_MAX)
    assert box.evaluate("one => one.scrollLeft") == scrolled
    box.scroll_into_view_if_needed()
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{kind.replace('_', '-')}-{size_of(screen)}.png")
    screen.was_never_reloaded()
    assert screen.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["bracket", "double_bracket", "group_bracket"])
def test_a_bracket_is_open_to_everybody(evening: Evening, desk: Screen, kind: str, scheme: Any) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed here (npm ci --prefix tests/clients)")
    if kind == "group_bracket":
        evening.create(kind, bracketSize=8)
        evening.start()
        evening.open_round()
    else:
        bracket(evening, kind)
    desk.page.emulate_media(color_scheme=scheme)
    for path in ("", "/wall"):
        desk.open(evening.page + path)
        desk.is_live()
        desk.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = desk.page.evaluate("axe.run().then(said => said.violations)")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS] == []


def test_a_bracket_on_the_wall_can_be_read_and_turns(evening: Evening, screen: Screen) -> None:
    bracket(evening, "double_bracket", 16)
    page = screen.page
    page.clock.install()
    screen.open(f"{evening.page}/wall")
    page.clock.run_for(1000)
    if size_of(screen) != str(PHONE["width"]):
        assert min(page.evaluate(LETTERS)) >= 0.05
    seen: set[str] = set()
    for _ in range(16):
        shown = page.locator(".board").inner_text()
        seen |= {f"{name} {n}" for n in range(2) for name in NAMES if f"{name} {n}" in shown}
        assert page.evaluate(HIDDEN_BEYOND) == [0, 0]
        page.clock.run_for(8000)
    assert len(seen) == 16
    screen.picture(f"wall-bracket-{size_of(screen)}")
    assert screen.complaints == []


def test_without_scripts_a_bracket_is_drawn_all_the_same(evening: Evening, browser: Browser) -> None:
    bracket(evening, "bracket")
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    plain = Screen(context.new_page())
    plain.page.goto(evening.page)
    expect(plain.page.locator("#part-tree .match")).to_have_count(9)
    plain.fits()
    context.close()
