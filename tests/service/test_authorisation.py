"""Permissions: every route without a token, for a reader, the owner, another organizer and an admin.

A route without a row here fails the build, so that each one is decided.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

import build
from service.route_permissions import (
    ADMINISTERED,
    ANY_TOKEN,
    FORMATS,
    IDENTITIES,
    LIVE,
    MANAGED,
    OWN,
    QUERIES,
    READ_POSTS,
    SCORED,
    TABLE,
    WORDS,
)
from silverball.kit.http.endpoints import Access, collect_endpoints
from silverball.service.core.access import AuthenticatedCaller, Device, device_caller
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database.engine import Store

PRIZES = {"shares": [6000, 4000], "entry_fee": 500, "is_published": True}


@dataclass(frozen=True)
class OwnedObjects:
    """One object of every kind, all owned by one organizer."""

    ids: dict[str, dict[str, Any]]
    callers: dict[str, AuthenticatedCaller | None]


def _night(store: Store, organizer_id: int, kind: str) -> dict[str, int]:
    # Where a forecast is off, everybody is refused; so are all where the prize money is not published.
    settings = {"scorekeeping": "disabled", "forecast": True}
    night = build.a_tournament(store, type=kind, organizer_id=organizer_id, settings=settings, prizes=PRIZES)
    tournament_id = night.tournament_id
    round_id = build.a_round(store, tournament_id)
    game_id = build.a_game(store, tournament_id, night.player_ids[:2], round_id=round_id)
    common = {"tournament_id": tournament_id, "player_id": night.player_ids[0]}
    card_id = build.row(store, tables.card, **common)
    attempt_id = build.row(store, tables.single_player_game, **common, arena_id=night.arena_ids[0])
    webhook_id = build.row(store, tables.webhook, tournament_id=tournament_id)
    delivery_id = build.row(store, tables.webhook_delivery, webhook_id=webhook_id)
    return {
        "tournament_id": tournament_id,
        "webhook_id": webhook_id,
        "webhook_delivery_id": delivery_id,
        "player_id": night.player_ids[0],
        "game_id": game_id,
        "card_id": card_id,
        "single_player_game_id": attempt_id,
        "arena_id": night.arena_ids[0],
    }


FINISHED = "finished"


@pytest.fixture
def world(store: Store) -> OwnedObjects:
    owner = build.a_user(store, name="Olga Ramp", role="organizer")
    reader = build.a_user(store, name="Rea Der")
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    admin = build.a_user(store, name="Ada Min", role="admin")
    kinds = {"group_knockout", *FORMATS.values()}
    ids: dict[str, dict[str, Any]] = {kind: dict(_night(store, owner, kind)) for kind in sorted(kinds)}
    common = {
        "user_id": owner,
        "series_id": build.row(store, tables.series, organizer_id=owner, status="completed"),
        "event_id": build.row(store, tables.occasion, organizer_id=owner),
        "club_id": build.row(store, tables.club, user_id=owner),
        "rating_submission_id": build.row(store, tables.rating_submission, submitter_id=owner),
        "type": "users",
        "ifpa_id": 77,
        "date": "2026-03-05",
    }
    build.a_rating(store, user_id=owner, ifpa_id=77)
    night = ids["group_knockout"]["tournament_id"]
    line = {"tournament_id": night, "action_id": 1, "change": "TournamentImported", "data": {}}
    build.row(store, tables.journal, **line, source="CANARY source", at=build.NOW)
    build.row(store, tables.location, organizer_id=owner, name="CANARY location")
    build.row(store, tables.bank, organizer_id=owner, name="CANARY bank")
    build.row(store, tables.book_action, user_id=owner, kind="playersImported", data={}, at=build.NOW)
    build.row(store, tables.machine, opdb_id=WORDS["opdb_id"])
    claimed = ids["group_knockout"]["player_id"]
    build.row(store, tables.claim, player_id=claimed, user_id=admin, at=build.NOW)
    hidden = {"name": "CANARY token", "hash": "CANARY hash", "abilities": [], "created_at": build.NOW}
    build.row(store, tables.token, user_id=owner, **hidden)
    for kind in ids:
        ids[kind] |= common
    finished = build.a_tournament(store, organizer_id=owner, status="completed")
    ids[FINISHED] = {**common, "tournament_id": finished.tournament_id}
    callers = {
        "nobody": None,
        "reader": build.caller(reader),
        "owner": build.caller(owner, role="organizer", ability="manage"),
        "other": build.caller(other, role="organizer", ability="manage"),
        "admin": build.caller(admin, role="admin", ability="admin"),
    }
    return OwnedObjects(ids, callers)


def _concrete(path: str, world: OwnedObjects) -> str:
    kind = next((kind for word, kind in FORMATS.items() if f"/{word}" in path), "group_knockout")
    if "federation-results" in path:
        # Only what can no longer change has results for the federation.
        kind = FINISHED
    return path.format(**world.ids[kind], **WORDS) + QUERIES.get(path, "")


def test_every_route_that_reads_has_a_row() -> None:
    endpoints = [endpoint for endpoint in collect_endpoints(*ROUTE_MODULES) if not endpoint.is_write]
    live = {endpoint.path: endpoint.access for endpoint in endpoints if endpoint.is_async}
    assert live == dict.fromkeys(LIVE, Access.ANYONE)
    for verb, rows in (("GET", TABLE), ("POST", READ_POSTS)):
        declared = {
            endpoint.path: endpoint.access
            for endpoint in endpoints
            if endpoint.method == verb and not endpoint.is_async
        }
        assert declared == {path: row[0] for path, row in rows.items()}


def test_every_route_that_writes_has_a_row() -> None:
    endpoints = [endpoint for endpoint in collect_endpoints(*ROUTE_MODULES) if endpoint.is_write]
    wanted = {
        (path, verb): ability
        for ability, rows in (
            ("admin", ADMINISTERED),
            ("manage", MANAGED),
            ("score", SCORED),
            ("read", ANY_TOKEN),
        )
        for path, verbs in rows.items()
        for verb in verbs.split()
    }
    assert {(endpoint.path, endpoint.method): endpoint.ability for endpoint in endpoints} == wanted


def test_writing_needs_a_token_with_enough_ability(store: Store, world: OwnedObjects) -> None:
    owner = world.ids["best_game"]["user_id"]
    unexpected: dict[str, Any] = {}
    for rows, weak in ((ADMINISTERED, "manage"), (MANAGED, "score"), (SCORED, "read")):
        too_weak = build.caller(owner, role="organizer", ability=weak)
        for path, verbs in rows.items():
            address = re.sub(r"\{\w+\}", "1", path)
            got = [
                build.do(store, verb, address, by=by)[0] for verb in verbs.split() for by in (None, too_weak)
            ]
            if got != [401, 403] * len(verbs.split()):
                unexpected[address] = got
    assert unexpected == {}


@pytest.mark.both_databases
def test_writing_needs_ownership(store: Store, world: OwnedObjects) -> None:
    """A path with an id of another owner is refused before the body is read."""
    before = _all_rows(store)
    for path, verbs in (*ADMINISTERED.items(), *MANAGED.items(), *SCORED.items(), *ANY_TOKEN.items()):
        if "{" in path and "claim" not in path:
            for verb in verbs.split():
                kind = next((kind for word, kind in FORMATS.items() if f"/{word}" in path), "group_knockout")
                ids = defaultdict(lambda: 1, world.ids[kind])
                status = build.do(store, verb, path.format_map(ids), by=world.callers["other"])[0]
                assert status in (403, 404, 422), (verb, path)
    assert _all_rows(store) == before


@pytest.mark.parametrize("code", [{}, {"player_id": 1}, {"game_id": 1}], ids=["device", "player", "game"])
def test_a_device_does_what_scorekeepers_do_and_nothing_outside_its_tournament(
    store: Store, world: OwnedObjects, code: dict[str, int]
) -> None:
    device = Device(
        device_id=1,
        tournament_id=build.a_tournament(store).tournament_id,
        organizer_id=world.ids["best_game"]["user_id"],
        **code,
    )
    before = _all_rows(store)
    for path, verbs in MANAGED.items():
        address = re.sub(r"\{\w+\}", "1", path)
        got = {build.do(store, verb, address, by=device_caller(device))[0] for verb in verbs.split()}
        assert got == {403}, path
    for path, verbs in SCORED.items():
        if "{tournament_id}" in path:
            kind = next((kind for word, kind in FORMATS.items() if f"/{word}" in path), "group_knockout")
            for verb in verbs.split():
                address = path.format_map(defaultdict(lambda: 1, world.ids[kind]))
                assert build.do(store, verb, address, by=device_caller(device))[0] in (403, 404, 422), (
                    verb,
                    path,
                )
    assert _all_rows(store) == before


def _all_rows(store: Store) -> list[Any]:
    """Every row of every table, except the counter of commits."""
    with store.read() as db:
        return [
            list(db.execute(select(table)))
            for table in tables.metadata.sorted_tables
            if table.name != "world"
        ]


@pytest.mark.both_databases
def test_every_cell_of_the_table_holds(store: Store, world: OwnedObjects) -> None:
    unexpected: dict[str, Any] = {}
    for path, (_, expected) in TABLE.items():
        address = _concrete(path, world)
        got = tuple(build.ask(store, address, by=world.callers[name])[0] for name in IDENTITIES)
        if got != expected:
            unexpected[address] = got
    assert unexpected == {}


@pytest.mark.parametrize("path", READ_POSTS)
def test_every_token_may_ask_with_a_post_and_nothing_is_changed(
    store: Store, world: OwnedObjects, path: str
) -> None:
    before = _all_rows(store)
    got = [build.do(store, "POST", path, READ_POSTS[path][1], by=world.callers[who])[0] for who in IDENTITIES]
    assert got == [401, 200, 200, 200, 200]
    assert _all_rows(store) == before


@pytest.mark.both_databases
def test_a_public_server_opens_the_openable_routes_and_no_others(store: Store, world: OwnedObjects) -> None:
    unexpected: dict[str, Any] = {}
    for path, (access, _) in TABLE.items():
        address = _concrete(path, world)
        status, _body = build.ask(store, address, public_read=True)
        if status != (200 if access is Access.OPENABLE else 401):
            unexpected[address] = status
    assert unexpected == {}


@pytest.mark.parametrize(
    "path",
    [
        path
        for path, (access, got) in TABLE.items()
        if access is Access.OWN and "{" not in path and got == OWN
    ],
)
def test_owned_lists_show_nothing_of_somebody_else(store: Store, world: OwnedObjects, path: str) -> None:
    owned = str(build.ask(store, path, by=world.callers["owner"])[1])
    for who in ("reader", "other"):
        shown = str(build.ask(store, path, by=world.callers[who])[1])
        assert shown != owned
        for secret in ("CANARY", "Machine 1", "Player 1", "Thursday Strikes", "Olga Ramp"):
            assert secret not in shown


@pytest.mark.parametrize(
    ("path", "key"), [("/api/arenas?arenas=", "arena_id"), ("/api/players?players=", "player_id")]
)
def test_naming_a_foreign_id_in_an_owned_list_finds_nothing(
    store: Store, world: OwnedObjects, path: str, key: str
) -> None:
    ids = world.ids["group_knockout"]
    foreign = ids.get(key, 1)
    status, body = build.ask(store, f"{path}{foreign}", by=world.callers["other"])
    assert (status, body["data"]) == (200, [])
