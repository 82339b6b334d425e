"""An organizer with a phone, and nights for it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

import build
from silverball.rules.model.tournament import Tournament
from silverball.service.core import enact
from silverball.store import tables
from silverball.store.engine import Store
from web.browsing import Shown
from web.visitor import EMAIL, PASSWORD, an_account

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
        return enact.load_tournament(db, tournament_id)


class Thumb:
    """Somebody with a phone: every tap is counted."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.taps = 0

    def tap(self, selector: str) -> None:
        self.taps += 1
        self.shown.page.locator(selector).first.click(timeout=5000)

    def type(self, text: str) -> None:
        self.shown.page.keyboard.type(text)


def first_pairing(thumb: Thumb, names: Sequence[str]) -> None:
    """From the first page of the site, signed out, to an open round."""
    page = thumb.shown.page
    thumb.shown.go("/")
    thumb.tap("text=Run a tournament")
    page.wait_for_selector("#email:focus")
    thumb.type(EMAIL)
    thumb.tap("#password")
    thumb.type(PASSWORD)
    thumb.tap("main button")
    thumb.tap("text=New tournament")
    thumb.tap("main >> text=Group match play")
    page.wait_for_selector("#new-name:focus")
    thumb.type("Thursday at the Drain")
    thumb.tap("text=Create tournament")
    page.wait_for_url("**/t/1/run")
    thumb.tap("#people-names")
    page.keyboard.insert_text("\n".join(names))
    thumb.tap("text=Add players")
    page.wait_for_selector("text=/^16 so far/")
    thumb.tap("#lineup >> text=Add those ticked")
    page.wait_for_selector("text=/^6 so far/")
    thumb.shown.picture("planned-320")
    thumb.tap("text=Start with 16 players")
    page.wait_for_selector("text=Open round 1")
    thumb.tap("text=Open round 1")
    page.wait_for_selector("text=4 open games")


def tap_results(shown: Shown, store: Store) -> None:
    """Every open game, by tapping the players in finishing order: the lower id is better."""
    page = shown.page
    for game in [one for one in night_of(store).games if one.status == "started"]:
        form = page.locator(f"#result-{game.game_id}")
        order = sorted(game.player_ids)
        for player_id in order[:-1]:
            form.locator(".place", has=page.locator(f"[name=place-{player_id}]")).locator(".tap").click()
        form.locator("button:has-text('Save')").click()
        shown.wait_for(lambda: not form.count())  # noqa: B023  # asked at once


def a_night(
    store: Store, type_: str = "matchplay", players: int = 4, arenas: int = 4, **settings: Any
) -> list[int]:
    """A tournament with an open round, of somebody who can sign in; the players of its first game."""
    started(store, type_, players, arenas, **settings)
    path, by, now = "/api/tournaments/1/rounds", organizer_of(store), datetime.now(UTC)
    status, answer, _ = build.do(store, "POST", path, {}, by=by, now=now)
    assert status == 201, answer
    return list(night_of(store).games[0].player_ids)


def organizer_of(store: Store) -> int:
    return int(night_of(store).details["organizer_id"])


def started(store: Store, type_: str, players: int, arenas: int, **settings: Any) -> None:
    """A tournament that has begun."""
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


def on_the_console(shown: Shown, path: str = "/t/1/run") -> None:
    """Signed in, and there."""
    shown.go(path)
    shown.page.fill("#email", EMAIL)
    shown.page.fill("#password", PASSWORD)
    shown.page.click("main button")
    shown.page.wait_for_url(f"**{path}")


def actions(store: Store) -> int:
    with store.read() as db:
        return len(db.execute(select(tables.journal.c.action_id).distinct()).all())
