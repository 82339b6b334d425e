"""An organizer's phone, and tournaments for it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import Page
from sqlalchemy import select

import build
from silverball.rules.model.tournament import Tournament
from silverball.service.core import loaded
from silverball.store import tables
from silverball.store.database.engine import Store
from web.chromium import BrowserPage
from web.visitor import EMAIL, PASSWORD, an_account

# Longer than the time in which two taps at one spot are one (static/guard.js).
LOOK_MILLISECONDS = 650
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
NAMES = [
    *("Ada Quill", "Bo Larkin", "Cleo Marsh", "Dov Tamsin", "Edie Frost", "Finn Abara", "Greta Holm"),
    *("Hugo Pell", "Ines Corva", "Jun Okada", "Kit Farrow", "Lena Voss", "Milo Brandt", "Nora Sable"),
    *("Otto Wren", "Pia Lund"),
]
MACHINES = (
    "Meteor Shower",
    "The Lighthouse",
    "Dragon Alley",
    "Static Garden",
    "Copper Canyon",
    "Night Ferry",
)


def an_organizer(store: Store, machines: int = len(MACHINES)) -> int:
    """An account with machines in its book."""
    user_id = an_account(store, name="Olga Ramp", role="organizer")
    for name in MACHINES[:machines]:
        build.an_arena(store, user_id, name=name)
    return user_id


def night_of(store: Store, tournament_id: int = 1) -> Tournament:
    with store.read() as db:
        return loaded.load_tournament(db, tournament_id)


class Phone:
    """A phone that counts its taps."""

    def __init__(self, browser_page: BrowserPage) -> None:
        self.browser_page = browser_page
        self.taps = 0

    def tap(self, selector: str) -> None:
        """Tap as a person does, who looks first: a second tap at one spot at once would be left out."""
        self.taps += 1
        control = self.browser_page.page.locator(selector).first
        # Where it is out of sight, a person scrolls before they aim.
        control.scroll_into_view_if_needed(timeout=60_000)
        self.browser_page.page.wait_for_timeout(LOOK_MILLISECONDS)
        control.click(timeout=60_000)

    def type(self, text: str) -> None:
        self.browser_page.page.keyboard.type(text)


def first_pairing(phone: Phone, names: Sequence[str]) -> None:
    """Go from the start page, signed out, to an open round."""
    page = phone.browser_page.page
    phone.browser_page.go("/")
    phone.tap("text=Run a tournament")
    page.wait_for_selector("#email:focus")
    phone.type(EMAIL)
    phone.tap("#password")
    phone.type(PASSWORD)
    phone.tap("main button")
    phone.tap("text=New tournament")
    phone.tap("main >> text=Group match play")
    page.wait_for_selector("#new-name:focus")
    phone.type("Thursday at the Drain")
    phone.tap("text=Create tournament")
    page.wait_for_url("**/t/1/run")
    phone.tap("#people-names")
    page.keyboard.insert_text("\n".join(names))
    phone.tap("text=Add players")
    page.wait_for_selector("text=/^16 so far/")
    phone.tap("#lineup >> text=Add selected")
    page.wait_for_selector("text=/^6 so far/")
    phone.browser_page.picture("planned-320")
    phone.tap("text=Start with 16 players")
    page.wait_for_selector("text=Open round 1")
    phone.tap("text=Open round 1")
    page.wait_for_selector("text=4 open games")


def tap_results(browser_page: BrowserPage, store: Store) -> None:
    """Record all open games by tapping the players in order, the lower id first."""
    page = browser_page.page
    for game in [game for game in night_of(store).games if game.status == "started"]:
        form = page.locator(f"#result-{game.game_id}")
        open_entry(page, game.game_id)
        order = sorted(game.player_ids)
        for player_id in order[:-1]:
            form.locator(".place", has=page.locator(f"[name=place-{player_id}]")).locator(".tap").click()
        # On a busy machine a click can be quicker than the frame in which the page sees that Save is new.
        page.evaluate(TWO_FRAMES)
        form.locator("button:has-text('Save')").click()
        page.wait_for_selector(f"#game-{game.game_id}.done")


def open_entry(page: Page, game_id: int) -> None:
    """Open the page on which the order of a group is tapped."""
    page.click(f"#game-{game_id} .four")
    page.wait_for_selector(f"#entry-{game_id}[open]")


def a_night(
    store: Store, type_: str = "matchplay", players: int = 4, arenas: int = 4, **settings: Any
) -> list[int]:
    """A tournament with an open round and an organizer who can sign in; returns the first game's players."""
    started(store, type_, players, arenas, **settings)
    path, by, now = "/api/tournaments/1/rounds", organizer_of(store), datetime.now(UTC)
    status, answer, _ = build.do(store, "POST", path, {}, by=by, now=now)
    assert status == 201, answer
    return list(night_of(store).games[0].player_ids)


def organizer_of(store: Store) -> int:
    return int(night_of(store).details["organizer_id"])


def started(store: Store, type_: str, players: int, arenas: int, **settings: Any) -> None:
    """A started tournament."""
    organizer_id = an_organizer(store, 0)
    ids = [build.an_arena(store, organizer_id, name=f"Machine {n + 1}") for n in range(arenas)]
    named = [{"name": f"Player {n + 1}"} for n in range(players)]
    at = "/api/tournaments/1"
    for path, body in (
        ("/api/tournaments", {"name": "Thursday", "type": type_, **settings}),
        (f"{at}/players", {"players": named}),
        (f"{at}/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in ids]}),
        (f"{at}/start", None),
    ):
        status, answer, _ = build.do(store, "POST", path, body, by=organizer_id, now=datetime.now(UTC))
        assert status < 300, answer


def on_the_console(browser_page: BrowserPage, path: str = "/t/1/run") -> None:
    """Sign in and go to a page of the console."""
    browser_page.go(path)
    browser_page.page.fill("#email", EMAIL)
    browser_page.page.fill("#password", PASSWORD)
    browser_page.page.click("main button")
    browser_page.page.wait_for_url(f"**{path}")
    # The groups of the settings.
    browser_page.page.evaluate(
        "document.querySelectorAll('details.group').forEach(group => group.open = true)"
    )


def actions(store: Store) -> int:
    with store.read() as db:
        return len(db.execute(select(tables.journal.c.action_id).distinct()).all())
