"""Every page in both themes, in a table that each new page must be in: axe finds nothing serious, and the
layout breaks no measured rule.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser
from pyotp import TOTP
from sqlalchemy import update

import build
from selection import IS_ALL
from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.web.app import declared_pages
from silverball.web.book.sections import SECTIONS
from silverball.web.console.views import VIEWS
from silverball.web.live.views import PATHS
from smtp_server import SmtpServer
from web import chromium, layout
from web.chromium import PICTURES, BrowserPage
from web.phone import a_night, night_of, on_the_console
from web.test_machine_page import give_tips
from web.visitor import EMAIL, Visitor, an_account

# Views that show what their address names.
VIEWS_OF_SOMETHING = {"", "game", "attempt", "correct", "player"}
CONSOLE = "/t/{tournament_id}/run/{view}"
# Pages of a game or a player, which the address names.
OF_ONE_THING = {"game", "attempt", "correct", "player", "gone"}
# Path of a page -> its addresses to look at, as a guest. `{late}` is a tournament with open registration,
# `{over}` a completed one, `{scores}` one of single games.
FOR_GUESTS = {
    "/": ("/",),
    "/users/{user_id}": ("/users/1",),
    "/users/{user_id}/nights": ("/users/1/nights",),
    "/s/{series_id}": ("/s/{series}",),
    "/machines/{opdb_id}": ("/machines/G4ODR",),
    "/style": ("/style",),
    "/site": ("/site",),
    "/account/sign-in": ("/account/sign-in",),
    "/account/sign-in/code": ("/account/sign-in/code",),
    "/account/link": ("/account/link?link=expired",),
    "/d": ("/d", "/d?link=revoked"),
    "/t/{tournament_id}": ("/t/1", "/t/1?at=3", "/t/{over}", "/t/99"),
    "/t/{tournament_id}/wall": ("/t/1/wall", "/t/1/wall?theme=light"),
    "/t/{tournament_id}/overlay": ("/t/1/overlay", "/t/1/overlay?parts=now,movers,third"),
    "/t/{tournament_id}/draws": ("/t/1/draws",),
    "/t/{tournament_id}/points": ("/t/1/points",),
    "/t/{tournament_id}/embed": ("/t/1/embed",),
    "/t/{tournament_id}/summary": ("/t/{over}/summary",),
    "/t/{tournament_id}/print": ("/t/1/print",),
    "/t/{tournament_id}/print/round": ("/t/1/print/round",),
    "/t/{tournament_id}/print/scores": ("/t/1/print/scores",),
    "/t/{tournament_id}/print/names": ("/t/1/print/names",),
    "/t/{tournament_id}/players/{player_id}": ("/t/1/players/{player}", "/t/1/players/{player}?code={code}"),
    "/t/{tournament_id}/games/{game_id}": ("/t/1/games/{game}",),
    "/t/{tournament_id}/sign-up": ("/t/{late}/sign-up?code={late_code}", "/t/{late}/sign-up"),
}
# The same for the organizer of the nights, who is an administrator of the site.
FOR_ACCOUNTS = {
    "/account": ("/account",),
    "/account/profile": ("/account/profile",),
    "/account/entries": ("/account/entries", "/account/entries?q=player"),
    "/account/data": ("/account/data",),
    "/account/password": ("/account/password",),
    "/account/two-step": ("/account/two-step",),
    "/account/accounts": ("/account/accounts", "/account/accounts?q=olga"),
    "/account/audit": ("/account/audit",),
    "/account/site": ("/account/site",),
    "/account/numbers": ("/account/numbers", "/account/numbers?status=confirmed"),
    "/account/history": ("/account/history",),
    "/run": ("/run",),
    "/run/new": ("/run/new", "/run/new?type=group_matchplay", "/run/new?like=1"),
    "/run/plan": ("/run/plan",),
    "/direct": ("/direct", "/direct?link=used"),
    "/home": ("/home",),
    "/home/{section}": tuple(f"/home/{section}" for section in SECTIONS),
    "/home/{section}/{item_id}": (
        "/home/players/{player}",
        "/home/arenas/{arena}",
        "/home/locations/{location}",
        "/home/series/{series}",
    ),
    "/home/actions": ("/home/actions",),
    "/home/players/import": ("/home/players/import",),
    "/home/arenas/import": ("/home/arenas/import",),
    "/t/{tournament_id}/run/machines": ("/t/1/run/machines",),
    "/t/{tournament_id}/run/import": ("/t/1/run/import",),
    "/t/{tournament_id}/print/codes": ("/t/1/print/codes",),
    "/t/{tournament_id}/run": ("/t/1/run", "/t/{late}/run", "/t/{over}/run", "/t/{scores}/run", "/t/99/run"),
    CONSOLE: (
        *(
            f"/t/1/run/{view}"
            for view in VIEWS
            if view not in {"", "game", "attempt", "correct", "player", "gone"}
        ),
        *("/t/1/run/game?game={game}", "/t/1/run/correct?game={game}", "/t/1/run/player?player={player}"),
        "/t/1/run/gone?game={game}",
        *("/t/{scores}/run/attempt?attempt={attempt}", "/t/{scores}/run/arenas", "/t/{late}/run/door"),
        *("/t/{over}/run/federation", "/t/{over}/run/standings", "/t/{over}/run/correct?game={over_game}"),
    ),
}
# Looked at where they can be reached, by the tests below.
ELSEWHERE = {
    "/account/first": "while there is no account",
    "/account/forgotten": "where mails are sent",
    "/t/{tournament_id}/sign-up/{sign_up_id}": "after a sign-up",
}
# Addresses that lead elsewhere for good, with a slash at the end or without.
MOVED = {route.path for route in declared_pages() if route.has_slash_twin}
# Paths that answer with a file, or lead to a page of this table.
FILES_AND_WAYS = {
    "/users/{user_id}/rating.svg",
    "/users/{user_id}/calendar.ics",
    "/users/{user_id}/nights.atom",
    "/s/{series_id}/federation.csv",
    "/t/{tournament_id}/podium.svg",
    "/t/{tournament_id}/podium.png",
    "/t/{tournament_id}/standings.csv",
    "/t/{tournament_id}/players/{player_id}/report",
    "/t/{tournament_id}/games/{game_id}/report",
    "/t/{tournament_id}/run/do/{action}",
    "/t/{tournament_id}/run/webhooks/{webhook_id}/secret",
    "/t/{tournament_id}/run/prizes/csv",
    "/t/{tournament_id}/run/federation/choice",
    "/t/{tournament_id}/run/federation/csv",
    "/t/{tournament_id}/run/door/csv",
    "/t/{tournament_id}/device/stop",
    "/home/do/{action}",
    "/account/sign-out",
    "/account/tokens",
    "/account/tokens/{token_id}/rotate",
    "/account/tokens/{token_id}/revoke",
    "/account/entries/do/{action}",
    "/account/data.zip",
    "/account/sessions/end",
    "/account/delete",
    *(f"/account/accounts/{{user_id}}/{form}" for form in ("suspend", "unsuspend", "role", "recovery")),
    *("/account/accounts/invite", "/account/accounts/links/{label}/withdraw", "/account/accounts/two-step"),
    *(f"/account/history/{form}" for form in ("start", "stop", "continue", "give-up", "report")),
    *(f"/account/numbers/{form}" for form in ("confirm", "confirm-shown", "take-back", "withdraw")),
    *(f"/account/site/{form}" for form in ("details", "mail", "backup")),
    *MOVED,
    *(f"/account/two-step/{form}" for form in ("begin", "confirm", "off")),
}
PHONE_WIDTH, DESK_WIDTH = 320, 1280
# Each page in both themes; `make test-all` looks at both in both windows.
SCREENS = [(PHONE_WIDTH, "light"), (DESK_WIDTH, "dark")]
# The pictures of docs/pages are of the other two.
if IS_ALL or PICTURES:
    SCREENS += [(PHONE_WIDTH, "dark"), (DESK_WIDTH, "light")]
IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"
# Chromium logs the status of pages that are not there, or not yet; a busy server is asked again.
EXPECTED_COMPLAINT = re.compile(r"status of (4\d\d|503)")

# The database makes no difference to a browser.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
pytestmark = pytest.mark.sample(1)


def send(store: Store, method: str, path: str, body: Any = None) -> Any:
    """The data of an answer to the organizer."""
    status, answer, _ = build.do(store, method, path, body, by=1, now=datetime.now(UTC))
    assert status < 300, answer
    return answer and answer["data"]


def a_planned_night(store: Store, type_: str, arena_id: int, **settings: Any) -> int:
    """A tournament of two players with a machine, which is not started."""
    made = send(store, "POST", "/api/tournaments", {"name": "Friday", "type": type_, **settings})
    at = f"/api/tournaments/{made['tournamentId']}"
    send(store, "POST", f"{at}/players", {"players": [{"name": "Ada Quill"}, {"name": "Bo Larkin"}]})
    send(store, "POST", f"{at}/arenas", {"arenas": [{"arenaId": arena_id}]})
    return int(made["tournamentId"])


@pytest.fixture
def ids(store: Store) -> dict[str, Any]:
    """Nights of each state and kind with the organizer's things around them, by their names in the table."""
    player_id, *_ = a_night(store, "group_knockout", players=8)
    with store.write() as transaction:
        transaction.connection.execute(update(tables.user).values(role="admin"))
    build.a_user(store, name="Vic Tor", email="vic@silverball.test", ifpa_id=38773)
    give_tips(store, "Shoot the comet.")
    arena_id = night_of(store).lineup[0].arena_id
    series_id = send(store, "POST", "/api/series", {"name": "Autumn"})["seriesId"]
    over = a_planned_night(store, "matchplay", arena_id, seriesId=series_id)
    send(store, "POST", f"/api/tournaments/{over}/start")
    send(store, "POST", f"/api/tournaments/{over}/rounds", {})
    game = night_of(store, over).games[0]
    result = {"resultPositions": list(game.player_ids)}
    send(store, "PUT", f"/api/tournaments/{over}/games/{game.game_id}/result", result)
    send(store, "POST", f"/api/tournaments/{over}/complete")
    scores = a_planned_night(store, "best_game", arena_id, useQueues=True, suggestions="disabled")
    send(store, "POST", f"/api/tournaments/{scores}/start")
    ada = night_of(store, scores).active_ids[0]
    attempt = {"playerId": ada, "arenaId": arena_id, "score": 500}
    attempt_id = send(store, "POST", f"/api/tournaments/{scores}/single-player-games", attempt)
    late = a_planned_night(store, "matchplay", arena_id)
    registration = {"status": "active", "playerLimit": 2, "hasWaitlist": True, "publicList": True}
    send(store, "PATCH", f"/api/tournaments/{late}", {"rsvpConfiguration": registration})
    manager = build.caller(1, role="organizer", ability="manage")
    return {
        "player": player_id,
        "game": night_of(store).games[0].game_id,
        "arena": arena_id,
        "location": send(store, "POST", "/api/locations", {"name": "The Drain"})["locationId"],
        "series": series_id,
        "over": over,
        "over_game": game.game_id,
        "scores": scores,
        "attempt": attempt_id["singlePlayerGameId"],
        "late": late,
        "late_code": build.ask(store, f"/api/tournaments/{late}/sign-ups", by=manager)[1]["data"]["code"],
    }


@pytest.fixture(params=SCREENS, ids=str)
def screen(request: pytest.FixtureRequest, browser: Browser, base_url: str) -> Iterator[BrowserPage]:
    """A page in a window of one width and theme."""
    width, scheme = request.param
    size = chromium.PHONE if width == PHONE_WIDTH else chromium.DESK
    context = browser.new_context(viewport=size, color_scheme=scheme)
    opened = chromium.watched(context, base_url)
    yield opened
    complaints = [complaint for complaint in opened.complaints if not EXPECTED_COMPLAINT.search(complaint)]
    context.close()
    assert complaints == []


def look(screen: BrowserPage) -> None:
    """Assert that axe finds nothing serious (WCAG 2.2 AA) and the layout breaks no rule, with all open."""
    screen.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    screen.assert_usable()
    screen.assert_fits()
    assert layout.faults_of(screen.page) == [], screen.page.url


def test_each_page_is_in_the_table() -> None:
    pages = {page.path for page in declared_pages() if page.method == "GET"}
    tables_of_pages = (FOR_GUESTS, FOR_ACCOUNTS, ELSEWHERE, FILES_AND_WAYS)
    listed = [path for table in tables_of_pages for path in table]
    assert sorted(listed) == sorted({*pages, *PATHS})
    views = {address.partition("?")[0].rpartition("/")[2] for address in FOR_ACCOUNTS[CONSOLE]}
    assert views == {*VIEWS} - {""}
    items = {address.split("/")[2] for address in FOR_ACCOUNTS["/home/{section}/{item_id}"]}
    assert items == {*SECTIONS}


@on_sqlite
def test_files_and_ways_are_no_pages(store: Store, ids: dict[str, Any], visitor: Visitor) -> None:
    visitor.sign_in_anew(EMAIL)
    things = {"tournament_id": ids["over"], "user_id": 1, "series_id": ids["series"], "opdb_id": "G4ODR"}
    for path in FILES_AND_WAYS - set(PATHS):
        address = re.sub(r"\{(\w+)\}", lambda name: str(things.get(name[1], 1)), path)
        answer = visitor.get(address)
        is_page = answer.status_code == 200 and "text/html" in answer.headers["content-type"]
        assert not is_page, path


@on_sqlite
def test_everybody_can_use_the_pages_for_guests(
    store: Store, ids: dict[str, Any], screen: BrowserPage
) -> None:
    ids["code"] = "worn-out"
    for addresses in FOR_GUESTS.values():
        for address in addresses:
            screen.go(address.format_map(ids))
            look(screen)


@on_sqlite
def test_everybody_can_use_the_pages_of_accounts(
    store: Store, ids: dict[str, Any], screen: BrowserPage
) -> None:
    # Codes are made where players may report.
    organizer = build.caller(1, role="organizer", ability="manage")
    assert (
        build.do(store, "PATCH", "/api/tournaments/1", {"suggestions": "automatic"}, by=organizer)[0] == 200
    )
    on_the_console(screen, "/t/1/run/settings")
    screen.click("text=Make codes")
    for addresses in FOR_ACCOUNTS.values():
        for address in addresses:
            screen.go(address.format_map(ids))
            look(screen)
    with store.read() as db:
        codes = users_reads.current_codes(db, 1)
    assert codes is not None
    _take_pictures(screen)
    screen.go(f"/t/1/players/{ids['player']}?code={codes.player_code(ids['player'])}")
    look(screen)


def _take_pictures(screen: BrowserPage) -> None:
    """Take the pictures of docs/pages, when a folder for them is set."""
    width, scheme = screen.page.evaluate("innerWidth"), screen.page.evaluate(IS_DARK)
    pictures = {
        (DESK_WIDTH, False): {"round-1280": "/t/1/run", "new-1280": "/run/new?type=group_matchplay"},
        (DESK_WIDTH, True): {"accounts-1280": "/account/accounts"},
        (PHONE_WIDTH, False): {"account-320": "/account", "two-step-320": "/account/two-step"},
        (PHONE_WIDTH, True): {"dark-320": "/t/1/run", "home-320": "/"},
    }
    for name, path in pictures.get((width, scheme), {}).items():
        screen.go(path)
        screen.picture(name)


@on_sqlite
def test_everybody_can_use_what_the_forms_of_an_account_answer(
    store: Store, ids: dict[str, Any], screen: BrowserPage
) -> None:
    """A refused sign-in, a new token, an invitation, links of devices and directors, codes."""
    page = screen.page
    screen.sign_in("wrong password")
    look(screen)
    screen.sign_in()
    page.fill("#name", "Score board")
    screen.click("text=Create token")
    look(screen)
    screen.go("/account/accounts")
    screen.click("text=Make an invitation")
    look(screen)
    invitation = "/account/link" + linked(page.content(), "/account/link")
    screen.go("/t/1/run/settings#keepers")
    page.fill("#device-name", "Tablet")
    page.click("text=Make a link")
    page.wait_for_selector("#link")
    look(screen)
    screen.click("text=The device has it")
    page.click("summary:has-text('Directors, scorekeepers, devices')")
    page.click("text=Invite a director")
    page.wait_for_selector("text=shown only this once")
    look(screen)
    direction = "/direct" + linked(page.content(), "/direct")
    screen.go("/account/two-step")
    screen.click("text=Turn it on")
    look(screen)
    page.fill("#code", TOTP(page.input_value("#secret").replace(" ", "")).now())
    screen.click("text=Turn two-step sign-in on")
    recovery_code = page.input_value("#codes").split("\n")[0]
    look(screen)
    screen.go("/account/two-step")
    look(screen)
    screen.go("/account")
    screen.click("form[action='/account/sign-out'] button")
    screen.go(invitation)
    look(screen)
    screen.sign_in()
    look(screen)
    page.fill("#code", recovery_code)
    screen.click("main button")
    screen.go(direction)
    look(screen)


def linked(html: str, path: str) -> str:
    """The query of the link with this path that a page shows once."""
    found = re.search(rf"{path}(\?link=\w{{40}})", html)
    assert found is not None
    return found[1]


@on_sqlite
def test_everybody_can_sign_up_and_make_the_first_account(
    store: Store, request: pytest.FixtureRequest, screen: BrowserPage
) -> None:
    screen.go("/account/first")
    look(screen)
    ids = request.getfixturevalue("ids")
    screen.go(f"/t/{ids['late']}/sign-up?code={ids['late_code']}")
    screen.page.fill("[name=name]", "Cleo Marsh")
    screen.page.click("main form button")
    screen.page.wait_for_selector("[role=status]")
    look(screen)
    own_page = screen.page.get_attribute("a[href*='own=']", "href")
    assert own_page is not None
    screen.go(own_page)
    look(screen)


@on_sqlite
def test_everybody_can_get_a_new_password_by_mail(store: Store, screen: BrowserPage) -> None:
    an_account(store)
    page = screen.page
    with SmtpServer() as smtp:
        server = f"smtp://127.0.0.1:{smtp.port}?tls=off"
        mail = {"mail_server": server, "mail_sender": "night@silverball.test"}
        with chromium.running_site(store, **mail) as screen.base_url:
            screen.go("/account/sign-in")
            look(screen)
            screen.click("text=Forgot your password?")
            look(screen)
            page.fill("#email", EMAIL)
            screen.click("text=Send me a link")
            look(screen)
            screen.wait_for(lambda: bool(smtp.mails))
            link = "/account/link" + linked(smtp.mails[0].text, "/account/link")
            screen.go(link)
            look(screen)
            for field in ("#new", "#again"):
                page.fill(field, "a plain wooden flipper")
            screen.click("text=Set the password")
            page.wait_for_selector("text=The new password is set.")
            screen.go(link)
            look(screen)
