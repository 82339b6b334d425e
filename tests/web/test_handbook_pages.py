"""/handbook serves the built handbook under a strict policy; a clone without it says how to build it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser
from starlette.applications import Starlette

import asgi
from asgi import Reply
from house import built_handbook
from silverball.web import handbook
from silverball.web.app import SecurityHeaders
from web.chromium import DESK, PHONE, watched

# What people type, and the page that must be among the first results.
RESULTS_READ = 5
QUESTIONS = {
    "forgot password": "accounts.html",
    "restore": "backup.html",
    "screenshot": "directors/questions.html",
    "how do I run a league": "directors/league.html",
    "strikes": "formats/knockout.html",
    "Marburg": "directors/glossary.html",
    "progressive strikes": "formats/group_knockout.html",
    "docker": "hosting.html",
    "Windows": "directors/questions.html",
    "IFPA submit": "directors/ifpa.html",
    "flip frenzy": "formats/frenzy.html",
    "bye": "directors/questions.html",
    "tiebreaker": "directors/questions.html",
    "upgrade": "directors/questions.html",
    "raspberry pi": "directors/questions.html",
    "email": "directors/questions.html",
    "custom points": "directors/glossary.html",
    "delete a tournament": "directors/questions.html",
    "late player": "directors/questions.html",
    "late players": "directors/first-night.html",
    "CORS": "interface.html",
    "first night": "directors/first-night.html",
    "which format": "directors/which-format.html",
    "no internet": "directors/cellar.html",
    "wifi": "directors/questions.html",
    "waiting list": "directors/door.html",
    "two tournaments in one room": "running-a-night.html",
    "OBS": "cookbook.html",
    "spreadsheet": "cookbook.html",
    "home assistant": "cookbook.html",
    "2FA": "directors/questions.html",
    "API key": "directors/questions.html",
    "prize money": "prizes.html",
    "merge players": "directors/questions.html",
    "backup": "backup.html",
    "television": "directors/questions.html",
    "WPPR": "directors/glossary.html",
    "time limit": "directors/questions.html",
    "queue": "directors/best-game.html",
    "discord": "directors/questions.html",
    "seeding": "directors/questions.html",
    "QR code": "directors/paper.html",
    "sign up": "directors/door.html",
    "team": "directors/questions.html",
    "broken machine": "directors/questions.html",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built handbook."""
    return built_handbook.build_handbook(tmp_path_factory.mktemp("handbook"))


def served(site: Path) -> SecurityHeaders:
    app = Starlette(routes=handbook.routes(site))
    app.router.redirect_slashes = False
    return SecurityHeaders(app)


def get(site: Path, path: str, **headers: str) -> Reply:
    return asgi.get(
        served(site), path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def test_the_first_page_is_at_the_address_with_a_slash(site: Path) -> None:
    redirect = get(site, "/handbook")
    assert (redirect.status, redirect.headers["location"]) == (307, "/handbook/")
    first = get(site, "/handbook/")
    assert (first.status, first.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert first.body == built_handbook.text_of(site, "index.html").encode()


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("feed.html", "text/html; charset=utf-8"),
        ("search.json", "application/json"),
        ("pages/live-320.png", "image/png"),
        ("assets/javascripts/LICENSE", "text/plain; charset=utf-8"),
    ],
)
def test_each_file_has_its_type_and_an_etag(site: Path, path: str, media_type: str) -> None:
    plain = get(site, f"/handbook/{path}")
    assert (plain.status, plain.headers["content-type"]) == (200, media_type)
    assert "content-encoding" not in plain.headers
    etag = plain.headers["etag"]
    unchanged = get(site, f"/handbook/{path}", if_none_match=etag)
    assert (unchanged.status, unchanged.body) == (304, b"")
    assert unchanged.headers["etag"] == etag


def test_texts_are_sent_as_they_are_stored_to_those_who_accept_it(site: Path) -> None:
    compressed = get(site, "/handbook/search.json", accept_encoding="br, gzip;q=0.5")
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.body == (site / "search.json.gz").read_bytes()
    plain = get(site, "/handbook/search.json", accept_encoding="gzip;q=0")
    assert plain.body == built_handbook.text_of(site, "search.json").encode()


def test_only_this_server_may_be_asked_by_a_page(site: Path) -> None:
    policy = get(site, "/handbook/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "nothing.html",
        "pages",
        "pages/",
        "../handbook.py",
        "%2e%2e/handbook.py",
        "..%2fhandbook.py",
        "pages/../../handbook.py",
        "/etc/passwd",
        "feed.html%00",
        "assets/.%2e/.%2e/handbook.py",
        "a\\b",
        "é.html",
    ],
)
def test_nothing_else_is_served(site: Path, path: str) -> None:
    (site.parent / "handbook.py").write_text("secret")
    assert get(site, f"/handbook/{path}").status == 404


def test_a_clone_without_the_handbook_says_how_to_build_it(tmp_path: Path) -> None:
    for path in ("/handbook/", "/handbook/feed.html"):
        answer = get(tmp_path, path)
        assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert b"run make docs" in answer.body


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address of the handbook alone, listening."""
    config = uvicorn.Config(served(site), host="127.0.0.1", port=0, log_config=None, lifespan="off")
    taken = config.bind_socket()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)
    taken.close()


@pytest.mark.browser
def test_reading_and_searching_break_no_rule_of_the_browser(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=DESK)
    opened = watched(context, address)
    opened.go("/handbook")
    opened.page.click("article a[href$='tool-builders.html']")
    opened.wait_for(lambda: opened.page.url.endswith("/tool-builders.html"))
    # The key works once the script of the page has started.
    opened.page.wait_for_load_state("networkidle")
    opened.page.keyboard.press("/")
    opened.page.keyboard.type("strikes")
    opened.page.wait_for_selector("text=/[0-9]+ results/")
    context.close()
    assert opened.complaints == []


@pytest.mark.browser
def test_the_handbook_has_a_dark_side_and_fits_a_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, color_scheme="dark")
    opened = watched(context, address)
    for path in ("/handbook/", "/handbook/formats/knockout.html", "/handbook/feed.html"):
        opened.go(path)
        opened.assert_fits()
        background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        red, green, blue = (int(part) for part in background[4:-1].split(","))
        assert max(red, green, blue) < 60
    opened.picture("handbook-320")
    context.close()
    assert opened.complaints == []


@pytest.mark.browser
def test_the_search_leads_from_common_questions_to_their_pages(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=DESK)
    opened = watched(context, address)
    opened.go("/handbook/")
    opened.page.wait_for_load_state("networkidle")
    opened.page.keyboard.press("/")
    field = opened.page.get_by_role("combobox")
    results = opened.page.get_by_role("option")
    missed = {}
    for question, expected in QUESTIONS.items():
        field.fill("")
        opened.wait_for(lambda: results.count() == 0)
        field.fill(question)
        opened.wait_for(lambda: results.count() > 0)
        links = results.evaluate_all("links => links.map(link => new URL(link.href).pathname)")
        found = [link.removeprefix("/handbook/") for link in links[:RESULTS_READ]]
        if expected not in found:
            missed[question] = found
    context.close()
    assert missed == {}
