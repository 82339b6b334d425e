"""Pages and components look as they did: pictures that are kept, on a phone, on a desktop and on a wall.

`SILVERBALL_RECORD_PICTURES=1` renews those that differ more than they may, and says which.
"""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser
from sqlalchemy import update

from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from web import pictures
from web.director import Director
from web.phone import MACHINES, NAMES
from web.public_visitor import PublicVisitor
from web.visitor import Visitor

PHONE, DESK, TELEVISION = (390, 844), (1280, 800), (1920, 1080)
COMPONENTS = ("Text", "Ways", "Entry", "Form", "Calls", "Glass", "Standings", "Icons", "Bracket", "Table")
# A night of groups in its first round, with a third of its games done: picture -> address.
OF_GROUPS = {
    "live": "/t/1",
    "live-by-name": "/t/1?by=name",
    "points": "/t/1/points",
    "embed": "/t/1/embed",
    "player": "/t/1/players/2",
    "match": "/t/1/games/1",
    "now": "/t/1/run",
    "standings": "/t/1/run/standings",
    "players": "/t/1/run/players",
    "machines": "/t/1/run/arenas",
    "results": "/t/1/run/results",
    "more": "/t/1/run/more",
    "settings": "/t/1/run/settings",
    "new": "/run/new",
    "nights": "/run",
    "book": "/home/players",
    "account": "/account",
    "home": "/",
}
OF_A_BRACKET = {"bracket-live": "/t/1", "bracket-now": "/t/1/run"}
ON_A_DESK = ("live", "now", "players", "settings", "standings", "home", "nights", "player", "machines")
# What a page must not do, as rules for its sheet: picture -> rules.
PLANTED = {
    "bracket-live": ".goes::after { padding: 0 1rem }",
    "now": ".undo button { position: absolute; left: 2rem }",
}

pytestmark = pytest.mark.browser
# The database makes no difference to a browser.
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture(scope="module")
def still() -> Iterator[Browser]:
    """A browser that draws as the kept pictures were drawn."""
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed here (Debian: apt-get install chromium)")
    with pictures.still_browser() as opened:
        if why := pictures.what_differs_here(opened):
            pytest.skip(why)
        yield opened


class Site(Director):
    """An organizer with fixed dice, and all pages as they see them: one's own, and those for everybody."""

    def __init__(self, store: Store, visitor: Visitor) -> None:
        super().__init__(store, visitor)
        self.public = PublicVisitor(store)
        # A browser has the loop of this thread.
        self.beside = ThreadPoolExecutor(1)

    def find_page(self, path: str) -> tuple[str, bytes]:
        """The answer of the organizer's pages, or of the front door, which has the others."""
        own = self.visitor.get(path)
        if own.status_code == HTTPStatus.OK:
            return own.headers["content-type"], own.content
        other = self.beside.submit(self.public.get, path).result()
        assert other.status == HTTPStatus.OK, path
        return other.headers["content-type"], other.body


@pytest.fixture
def place(store: Store) -> Iterator[Site]:
    """A site on which everything comes as it did before."""
    with Visitor(store, base_url=pictures.SITE, dice=Random(43)) as visitor:
        opened = Site(store, visitor)
        yield opened
        opened.beside.shutdown()
        opened.public.close()


def begin(director: Director, type_: str, players: int) -> None:
    """Open the first round of a night, and finish a third of its games."""
    director.create(type_)
    with director.store.write() as transaction:
        transaction.connection.execute(update(tables.tournament).values(engine={"dice_seed": "kept"}))
        revisions.raise_tournaments(transaction, [director.tournament_id])
    director.send("people", names="\n".join(NAMES[:players]))
    director.send("machine", names="\n".join(MACHINES))
    director.send("start")
    if not director.open_games():
        director.send("round-open")
    for game in director.open_games()[::3]:
        director.finish(game)


def faults_on_pages(
    still: Browser, place: Site, addresses: dict[str, str], failed: Path, rules: str = ""
) -> list[str]:
    """What differs on a phone in daylight, and on a desk in the dark."""
    faults = []
    with pictures.page_of(still, place.find_page, *PHONE, more_rules=rules) as page:
        for name, address in addresses.items():
            page.goto(f"{pictures.SITE}{address}")
            faults += pictures.compare(f"{name}-{PHONE[0]}", pictures.picture_of(page), failed)
    with pictures.page_of(still, place.find_page, *DESK, scheme="dark", more_rules=rules) as page:
        for name in (name for name in addresses if name in ON_A_DESK or name == "bracket-live"):
            page.goto(f"{pictures.SITE}{addresses[name]}")
            faults += pictures.compare(f"{name}-{DESK[0]}", pictures.picture_of(page), failed)
    return faults


def faults_on_the_wall(still: Browser, place: Site, name: str, failed: Path) -> list[str]:
    with pictures.page_of(still, place.find_page, *TELEVISION, runs_scripts=True) as page:
        page.goto(f"{pictures.SITE}/t/1/wall")
        return pictures.compare(name, pictures.picture_of(page), failed)


@on_sqlite
def test_each_component_looks_as_it_did(still: Browser, place: Site, tmp_path: Path) -> None:
    faults = []
    with pictures.page_of(still, place.find_page, *PHONE) as page:
        page.goto(f"{pictures.SITE}/style")
        for name in COMPONENTS:
            part = page.locator(f"[aria-label='{name}, light']")
            faults += pictures.compare(f"part-{name.lower()}", pictures.picture_of(part), tmp_path)
    assert faults == []


@on_sqlite
def test_the_pages_of_a_night_look_as_they_did(still: Browser, place: Site, tmp_path: Path) -> None:
    begin(place, "group_matchplay", 16)
    assert faults_on_pages(still, place, OF_GROUPS, tmp_path) == []
    assert faults_on_the_wall(still, place, "wall", tmp_path) == []


@on_sqlite
def test_the_pages_of_a_bracket_look_as_they_did(still: Browser, place: Site, tmp_path: Path) -> None:
    begin(place, "double_bracket", 8)
    assert faults_on_pages(still, place, OF_A_BRACKET, tmp_path) == []
    assert faults_on_the_wall(still, place, "bracket-wall", tmp_path) == []


@on_sqlite
@pytest.mark.skipif(pictures.IS_RECORDING, reason="a fault is not recorded")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_seen(still: Browser, place: Site, tmp_path: Path, name: str) -> None:
    has_bracket = name in OF_A_BRACKET
    begin(place, "double_bracket" if has_bracket else "group_matchplay", 8 if has_bracket else 16)
    address = {name: (OF_GROUPS | OF_A_BRACKET)[name]}
    assert faults_on_pages(still, place, address, tmp_path, PLANTED[name]) != []


def test_the_pictures_are_few_and_small() -> None:
    kept = list(pictures.FOLDER.glob("*.png"))
    assert 0 < len(kept) <= 60
    assert sum(file.stat().st_size for file in kept) <= 3_000_000
