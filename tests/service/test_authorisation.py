"""Who may read what: every route for nobody, a reader, the owner, another organizer and an admin.

A route without a row here fails the build, so nobody can forget to decide.
"""

from dataclasses import dataclass
from typing import Any

import pytest

import build
from silverball import app
from silverball.kit.http import Access, endpoints_of
from silverball.service.access import ABILITIES, Caller
from silverball.store import tables
from silverball.store.engine import Store

IDENTITIES = ("nobody", "reader", "owner", "other", "admin")

# Route -> statuses for the five identities, as a private server answers.
OWN = (401, 200, 200, 200, 200)
TOKEN = (401, 200, 200, 200, 200)
OPEN = (401, 200, 200, 200, 200)
TABLE: dict[str, tuple[Access, tuple[int, int, int, int, int]]] = {
    "/api/arenas": (Access.OWN, OWN),
    "/api/locations": (Access.OWN, OWN),
    "/api/players": (Access.OWN, OWN),
    "/api/dashboard": (Access.OWN, OWN),
    "/api/users/profile": (Access.OWN, OWN),
    "/api/arenas/resolve-unknown": (Access.TOKEN, TOKEN),
    "/api/players/resolve-unknown": (Access.TOKEN, TOKEN),
    "/api/users/resolve-unknown": (Access.TOKEN, TOKEN),
    "/api/games": (Access.TOKEN, TOKEN),
    "/api/events": (Access.TOKEN, TOKEN),
    "/api/events/{event_id}": (Access.TOKEN, TOKEN),
    "/api/clubs/{club_id}": (Access.TOKEN, TOKEN),
    "/api/search": (Access.OPENABLE, OPEN),
    "/api/users/{user_id}": (Access.OPENABLE, OPEN),
    "/api/series": (Access.OPENABLE, OPEN),
    "/api/series/{series_id}": (Access.OPENABLE, OPEN),
    "/api/series/{series_id}/stats": (Access.OPENABLE, OPEN),
    "/api/series/{series_id}/stats/attendance": (Access.OPENABLE, OPEN),
    "/api/tournaments": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/journal": (Access.OWN, (401, 403, 200, 403, 200)),
    "/api/tournaments/{tournament_id}/standings": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/rounds": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/games": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/games/csv": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/games/{game_id}": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/players/resolve-unknown": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/players/csv": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/entries/csv": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/arenas/resolve-unknown": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/arenas/bgsummary": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/arenas/{arena_id}/bgdetails": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/single-player-games": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/single-player-games/csv": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/single-player-games/top-scores": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/single-player-games/{single_player_game_id}": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/cards": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/cards/{card_id}": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/queues": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/frenzy": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/max-matchplay": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/amazing-race": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/summary/arenas": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/summary/player-arenas": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/summary/matches": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/stats/matchplay": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/stats/rounds": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/stats/arenas": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/stats/players": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/stats/matches": (Access.OPENABLE, OPEN),
    "/api/tournaments/{tournament_id}/stats/bestgame": (Access.OPENABLE, OPEN),
}

QUERIES = {
    "/api/arenas/resolve-unknown": "?arenas=1",
    "/api/players/resolve-unknown": "?players=1",
    "/api/users/resolve-unknown": "?users=1",
    "/api/tournaments/{tournament_id}/players/resolve-unknown": "?players=1",
    "/api/tournaments/{tournament_id}/arenas/resolve-unknown": "?arenas=1",
    "/api/games": "?tournaments=1",
    "/api/search": "?query=a&type=users",
    "/api/series/{series_id}/stats/attendance": "?count=1",
}
# The format that has what the path shows; group_knockout for all others.
FORMATS = {
    "bgsummary": "best_game",
    "bgdetails": "best_game",
    "bestgame": "best_game",
    "queues": "best_game",
    "single-player-games": "best_game",
    "cards": "card_best_game",
    "frenzy": "frenzy",
    "max-matchplay": "max_matchplay",
    "amazing-race": "amazingrace",
}


@dataclass(frozen=True)
class World:
    """One object of every kind, all owned by one organizer."""

    ids: dict[str, dict[str, int]]
    callers: dict[str, Caller | None]


def _night(store: Store, organizer_id: int, kind: str) -> dict[str, int]:
    night = build.a_tournament(store, type=kind, organizer_id=organizer_id)
    tournament_id = night.tournament_id
    round_id = build.a_round(store, tournament_id)
    game_id = build.a_game(store, tournament_id, night.player_ids[:2], round_id=round_id)
    common = {"tournament_id": tournament_id, "player_id": night.player_ids[0]}
    card_id = build.row(store, tables.card, **common)
    attempt_id = build.row(store, tables.single_player_game, **common, arena_id=night.arena_ids[0])
    return {
        "tournament_id": tournament_id,
        "game_id": game_id,
        "card_id": card_id,
        "single_player_game_id": attempt_id,
        "arena_id": night.arena_ids[0],
    }


@pytest.fixture
def world(store: Store) -> World:
    owner = build.a_user(store, name="Olga Ramp", role="organizer")
    reader = build.a_user(store, name="Rea Der")
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    admin = build.a_user(store, name="Ada Min", role="admin")
    kinds = {"group_knockout", *FORMATS.values()}
    ids = {kind: _night(store, owner, kind) for kind in sorted(kinds)}
    common = {
        "user_id": owner,
        "series_id": build.row(store, tables.series, organizer_id=owner),
        "event_id": build.row(store, tables.occasion, organizer_id=owner),
        "club_id": build.row(store, tables.club, user_id=owner),
    }
    build.row(store, tables.location, organizer_id=owner, name="CANARY location")
    for kind in ids:
        ids[kind] |= common
    callers = {
        "nobody": None,
        "reader": build.caller(reader),
        "owner": build.caller(owner, role="organizer", ability="manage"),
        "other": build.caller(other, role="organizer", ability="manage"),
        "admin": build.caller(admin, role="admin", ability="admin"),
    }
    return World(ids, callers)


def _concrete(path: str, world: World) -> str:
    kind = next((kind for word, kind in FORMATS.items() if f"/{word}" in path), "group_knockout")
    return path.format(**world.ids[kind]) + QUERIES.get(path, "")


def test_every_route_has_decided_who_may_read_it() -> None:
    reading = [one for one in endpoints_of(*app.ROUTE_MODULES) if not one.is_write]
    declared = {one.path: one.access for one in reading}
    assert declared == {path: access for path, (access, _) in TABLE.items()}


def test_every_route_that_writes_needs_an_ability_that_there_is() -> None:
    writing = [one for one in endpoints_of(*app.ROUTE_MODULES) if one.is_write]
    assert {one.ability for one in writing} <= set(ABILITIES)


def test_every_cell_of_the_table_holds(store: Store, world: World) -> None:
    found: dict[str, Any] = {}
    for path, (_, expected) in TABLE.items():
        asked = _concrete(path, world)
        got = tuple(build.ask(store, asked, by=world.callers[who])[0] for who in IDENTITIES)
        if got != expected:
            found[asked] = got
    assert found == {}


def test_a_public_server_opens_the_openable_routes_and_no_others(store: Store, world: World) -> None:
    found: dict[str, Any] = {}
    for path, (access, _) in TABLE.items():
        asked = _concrete(path, world)
        status, _body = build.ask(store, asked, public_read=True)
        if status != (200 if access is Access.OPENABLE else 401):
            found[asked] = status
    assert found == {}


@pytest.mark.parametrize(
    "path", [path for path, (access, _) in TABLE.items() if access is Access.OWN and "{" not in path]
)
def test_owned_lists_show_nothing_of_somebody_else(store: Store, world: World, path: str) -> None:
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
    store: Store, world: World, path: str, key: str
) -> None:
    ids = world.ids["group_knockout"]
    foreign = ids.get(key, 1)
    status, body = build.ask(store, f"{path}{foreign}", by=world.callers["other"])
    assert (status, body["data"]) == (200, [])
