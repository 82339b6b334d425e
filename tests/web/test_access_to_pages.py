"""Who may open and send which page: guests, strangers, the organizer, an administrator.

The rows come from the pages themselves: a new page is in here, and is closed to guests unless it says so.
"""

import re
from collections import defaultdict
from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.web.app import declared_pages
from web.visitor import Visitor, an_account

PAGES = declared_pages()
# Pages of one organizer's own things, by what their path begins with.
OWNED = ("/t/{tournament_id}/run", "/t/{tournament_id}/device", "/home/{section}/{item_id}")
# Open to every account, as the interface is.
FOR_ACCOUNTS = {"/s/{series_id}/federation.csv"}
FOR_ADMINISTRATORS = ("/account/audit", "/account/numbers", "/account/accounts", "/account/site")
EMAILS = {name: f"{name}@silverball.test" for name in ("owner", "stranger", "admin")}
# What a stranger would write if they could.
MALLORY = {"name": "Mallory", "user_id": "1", "number": "17"}
# Rows that a refused request may write: who signed in, and that somebody was refused.
KEPT_ABOUT_REQUESTS = {"session", "sign_in_failure", "audit_entry", "known_browser", "site_value", "world"}


def rows_that_count(store: Store) -> dict[str, list[Any]]:
    with store.read() as db:
        return {
            table.name: list(db.execute(select(table)))
            for table in tables.metadata.sorted_tables
            if table.name not in KEPT_ABOUT_REQUESTS
        }


@pytest.fixture
def addresses(store: Store) -> dict[str, str]:
    """The path of every page with the ids of one organizer's things."""
    owner = an_account(store, name="Olga Ramp", email=EMAILS["owner"], role="organizer")
    an_account(store, name="Otto Tilt", email=EMAILS["stranger"], role="organizer")
    an_account(store, name="Ada Min", email=EMAILS["admin"], role="admin")
    night = build.a_tournament(store, organizer_id=owner)
    ids: dict[str, Any] = {
        "tournament_id": night.tournament_id,
        "user_id": owner,
        "player_id": night.player_ids[0],
        "game_id": build.a_game(store, night.tournament_id, night.player_ids[:2]),
        "series_id": build.row(store, tables.series, organizer_id=owner),
        "webhook_id": build.row(store, tables.webhook, tournament_id=night.tournament_id),
        "section": "players",
        "item_id": night.player_ids[0],
        "view": "settings",
        "action": "complete",
        "opdb_id": "G4ODR",
    }
    return {page.path: page.path.format_map(defaultdict(lambda: 1, ids)) for page in PAGES}


def test_guests_open_what_is_for_guests_and_are_asked_to_sign_in_elsewhere(
    visitor: Visitor, addresses: dict[str, str]
) -> None:
    for page in PAGES:
        # There are accounts, so nobody becomes the first one.
        if page.method == "GET" and page.path != "/account/first":
            reply = visitor.get(addresses[page.path])
            is_asked = reply.status_code == 303 and "/account/sign-in" in reply.headers["location"]
            assert is_asked is not page.for_guests, (page.path, reply.status_code)
            assert reply.status_code < 500, page.path


def test_strangers_see_nothing_of_an_organizers_own_pages(
    visitor: Visitor, addresses: dict[str, str]
) -> None:
    seen = {}
    for name, email in EMAILS.items():
        visitor.sign_in_anew(email)
        for page in PAGES:
            if page.method == "GET" and page.path.startswith((*OWNED, *FOR_ADMINISTRATORS)):
                seen[name, page.path] = visitor.get(addresses[page.path]).status_code
    for (name, path), status in seen.items():
        if name == "stranger" or (name == "owner" and path in FOR_ADMINISTRATORS):
            # 303 leads from the address of a form to its page, which is in here, too.
            assert status in (303, 403, 404), (name, path, status)
        else:
            assert status in (200, 303), (name, path, status)


@pytest.mark.parametrize("who", ["guest", "stranger"])
def test_forms_of_others_change_nothing(
    store: Store, visitor: Visitor, addresses: dict[str, str], who: str
) -> None:
    csrf = "guessed"
    if who == "stranger":
        visitor.sign_in_anew(EMAILS["stranger"])
        csrf = visitor.csrf()
    before = rows_that_count(store)
    for page in PAGES:
        is_others = page.path.startswith((*OWNED, *FOR_ADMINISTRATORS))
        is_reached = page.for_guests or who == "guest" or is_others
        if page.method == "POST" and is_reached:
            reply = visitor.post(addresses[page.path], data={"csrf": csrf, **MALLORY})
            assert 300 <= reply.status_code < 500, (page.path, reply.status_code)
    assert rows_that_count(store) == before


def test_a_form_without_its_secret_changes_nothing(
    store: Store, visitor: Visitor, addresses: dict[str, str]
) -> None:
    for name in ("owner", "admin"):
        visitor.sign_in_anew(EMAILS[name])
        before = rows_that_count(store)
        for page in PAGES:
            if page.method == "POST":
                for csrf in ({}, {"csrf": "guessed"}):
                    reply = visitor.post(addresses[page.path], data={**csrf, "name": "Mallory"})
                    assert reply.status_code in (303, 400, 403, 409, 419), (page.path, reply.status_code)
        assert rows_that_count(store) == before


def test_paths_that_are_the_organizers_own_are_known_here() -> None:
    own = {page.path for page in PAGES if not page.for_guests and re.match(r"/t/|/s/", page.path)}
    assert {path for path in own if not path.startswith(OWNED)} == FOR_ACCOUNTS
