"""Home, account, profile, series and print in a real browser: small, large, dark."""

import zipfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from web import chromium
from web.chromium import DESK, PHONE, BrowserPage
from web.visitor import PASSWORD, an_account

NAMES = (
    "Ada Quill",
    "Bo Larkin",
    "Cleo Marsh",
    "Dov Tamsin",
    "Edie Frost",
    "Finn Abara",
    "Greta Holm",
    "Hugo Pell",
)
MACHINES = ("Meteor Shower", "The Lighthouse", "Dragon Alley", "Static Garden")
# The pages with screenshots in the documents.
PICTURES = ("profile-320", "series-1280", "book-320", "players-320", "sheet-names-1280", "entrant-320")
LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff" * 2

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@dataclass(frozen=True)
class World:
    """An organizer with a series: two completed tournaments, and one with an open round."""

    organizer_id: int
    user_ids: list[int]
    player_ids: list[int]
    series_id: int
    # The running tournament.
    tournament_id: int


def a_world(store: Store) -> World:
    organizer_id = an_account(store, name="Olga Ramp", role="organizer", location="Malmö", flag="se")
    location = {"organizer_id": organizer_id, "name": "The Drain", "address": "1 Pipe Street, Malmö"}
    location_id = build.row(store, tables.location, **location)
    series_id = build.row(store, tables.series, organizer_id=organizer_id, removed_results=-2)
    users = [build.a_user(store, name=name, initials=name[:3].upper()) for name in NAMES]
    players = [
        build.a_player(store, organizer_id, name=name, claimed_by=user_id)
        for name, user_id in zip(NAMES, users, strict=True)
    ]
    arenas = [build.an_arena(store, organizer_id, name=name) for name in MACHINES]
    own = {
        "organizer_id": organizer_id,
        "series_id": series_id,
        "location_id": location_id,
        "type": "matchplay",
    }
    nights = []
    for number, status in enumerate(("completed", "completed", "started")):
        start = f"2026-03-{5 + 7 * number:02} 20:30:00"
        night = build.row(
            store,
            tables.tournament,
            **own,
            name=f"Winter night {number + 1}",
            status=status,
            start_local=start,
        )
        _a_night(store, night, players[number:] + players[:number], arenas)
        nights.append(night)
    build.a_rating(store, user_id=users[0], name=NAMES[0], name_folded=NAMES[0].lower())
    build.a_player(store, organizer_id, name=LONG_NAME)
    una, entry = build.a_user(store, name="Una Ball"), build.a_player(store, organizer_id, name="Una B.")
    build.row(store, tables.claim, player_id=entry, user_id=una, at=build.NOW)
    return World(organizer_id, users, players, series_id, nights[-1])


def _a_night(store: Store, tournament_id: int, players: list[int], arenas: list[int]) -> None:
    at = {"tournament_id": tournament_id}
    for place, arena_id in enumerate(arenas):
        build.row(store, tables.lineup_arena, **at, arena_id=arena_id, place=place)
    for place, player_id in enumerate(players):
        build.row(store, tables.entrant, **at, player_id=player_id, place=place)
        points = Decimal(len(players) - place)
        build.row(
            store, tables.standing, **at, player_id=player_id, position=place + 1, points=points, row={}
        )
    round_id = build.a_round(store, tournament_id)
    for number, arena_id in enumerate(arenas):
        first, second = players[number], players[-1 - number]
        build.a_game(
            store, tournament_id, [first, second], round_id=round_id, arena_id=arena_id, game_index=number
        )
        for (player_id, opponent_id), wins in (((first, second), 1), ((second, first), 0)):
            row = {"arena_id": arena_id, "games": 1, "wins": wins, "losses": 1 - wins}
            people = {"player_id": player_id, "opponent_id": opponent_id}
            build.row(store, tables.match_summary, **at, **row, **people)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["320", "1280"])
def test_every_page_fits_and_can_be_used_by_everybody(
    store: Store, browser: Browser, base_url: str, size: Any, scheme: Any
) -> None:
    world = a_world(store)
    # In another organizer's book: one player to claim, and one already claimed.
    elsewhere = build.a_tournament(store, organizer_id=build.a_user(store, name=LONG_NAME), players=0)
    for user_id in ([], [world.organizer_id]):
        entry = build.a_player(store, elsewhere.organizer_id, name=LONG_NAME)
        build.row(store, tables.entrant, tournament_id=elsewhere.tournament_id, player_id=entry)
        for each in user_id:
            build.row(store, tables.claim, player_id=entry, user_id=each, at=build.NOW)
    context = browser.new_context(viewport=size, color_scheme=scheme)
    browser_page = chromium.watched(context, base_url)
    browser_page.sign_in()
    night = f"/t/{world.tournament_id}"
    pages = {
        "book": "/home",
        "players": "/home/players",
        "player": f"/home/players/{world.player_ids[0]}?q=wolf",
        "machines": "/home/arenas?machine=x",
        "locations": "/home/locations/1",
        "series-form": f"/home/series/{world.series_id}",
        "profile-form": "/account/profile",
        "data": "/account/data",
        "entries": f"/account/entries?q={LONG_NAME[:5]}",
        "profile": f"/users/{world.user_ids[0]}?against={world.user_ids[7]}",
        "organizer": f"/users/{world.organizer_id}",
        "series": f"/s/{world.series_id}",
        "print": f"{night}/print",
        "sheet-round": f"{night}/print/round",
        "sheet-scores": f"{night}/print/scores",
        "sheet-names": f"{night}/print/names",
        "entrant": f"{night}/players/{world.player_ids[0]}",
    }
    for name, path in pages.items():
        browser_page.go(path)
        browser_page.assert_fits()
        browser_page.assert_usable()
        if scheme == "light" and f"{name}-{size['width']}" in PICTURES:
            browser_page.picture(f"{name}-{size['width']}")
    assert browser_page.complaints == []
    context.close()


def test_an_organizer_keeps_the_book_with_a_thumb(store: Store, browser_page: BrowserPage) -> None:
    world = a_world(store)
    browser_page.sign_in()
    page = browser_page.page
    browser_page.go("/home")
    page.click("text=1 claim waits for you")
    page.click("text=That is right")
    page.wait_for_selector("text=Approved: this player is that account now.")
    page.fill("#new-name", "Ada Q.")
    page.click("#new button")
    page.wait_for_selector("text=Written into your book.")
    page.fill("#q", "ada quill")
    page.click("#search button")
    page.check("#merge [name=playerId]")
    page.click("#merge button")
    page.wait_for_selector("text=They are one now.")
    assert page.url.split("?")[0].endswith(f"/home/players/{world.player_ids[0]}")
    browser_page.assert_fits()
    assert browser_page.complaints == []


def test_a_refused_form_is_still_filled_in_without_scripts(
    store: Store, browser: Browser, base_url: str
) -> None:
    a_world(store)
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    browser_page = chromium.watched(context, base_url)
    browser_page.sign_in()
    browser_page.go("/home/locations")
    page = browser_page.page
    page.fill("#new-name", "The Tilt")
    page.fill("#new-lat", "north")
    page.click("#new button")
    assert "must be a number" in page.inner_text("main")
    assert page.input_value("#new-name") == "The Tilt"
    page.fill("#new-lat", "55,6")
    page.fill("#new-lng", "13")
    page.click("#new button")
    assert "Written into your book." in page.inner_text("main")
    context.close()


def test_a_user_downloads_all_data_and_deletes_the_account(
    store: Store, browser_page: BrowserPage, tmp_path: Path
) -> None:
    user_id = an_account(store, name="Ada Quill")
    browser_page.sign_in()
    page = browser_page.page
    page.click("text=Your data")
    with page.expect_download() as waiting:
        page.click("text=Download your data")
    waiting.value.save_as(tmp_path / "copy.zip")
    with zipfile.ZipFile(tmp_path / "copy.zip") as packed:
        assert "data.json" in packed.namelist()
    page.click("summary:has-text('Delete my account')")
    page.fill("#delete-password", PASSWORD)
    page.check("[name=sure]")
    page.click("text=Delete my account for good")
    page.wait_for_selector("text=Your account is deleted")
    with store.read() as db:
        name = db.execute(select(tables.user.c.name).where(tables.user.c.user_id == user_id)).scalar_one()
    assert name == f"Player {user_id}"
    assert browser_page.complaints == []


def test_paper_has_no_buttons_and_no_menus(store: Store, browser_page: BrowserPage) -> None:
    world = a_world(store)
    browser_page.go(f"/t/{world.tournament_id}/print/names")
    browser_page.page.emulate_media(media="print")
    for selector in ("header nav", ".crumbs", "header button"):
        assert not browser_page.page.locator(selector).is_visible()
    assert browser_page.page.locator(".code svg").first.is_visible()
    assert browser_page.complaints == []
