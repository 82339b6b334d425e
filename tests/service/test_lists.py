"""Limits, pages and order of the lists. Source: interface 8; interface.md 2, rows 6 to 10 and 23."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store

TOO_BIG = 2**63
IDS_26 = ",".join(str(number) for number in range(1, 27))
IDS_25 = ",".join(str(number) for number in range(1, 26))
PAGED = (
    "/api/arenas",
    "/api/locations",
    "/api/players",
    "/api/tournaments",
    "/api/series",
    "/api/events",
    "/api/search?type=users&query=x",
)
ID_LISTS = (
    ("/api/arenas", "arenas"),
    ("/api/locations", "locations"),
    ("/api/players", "players"),
    ("/api/arenas/resolve-unknown", "arenas"),
    ("/api/players/resolve-unknown", "players"),
    ("/api/users/resolve-unknown", "users"),
    ("/api/tournaments/{tournament}/arenas/resolve-unknown", "arenas"),
    ("/api/tournaments/{tournament}/players/resolve-unknown", "players"),
)
ITEMS = {
    "/api/users/{}": "User",
    "/api/tournaments/{}": "Tournament",
    "/api/tournaments/{}/arenas/resolve-unknown?arenas=1": "Tournament",
    "/api/tournaments/{}/players/resolve-unknown?players=1": "Tournament",
    "/api/series/{}": "Series",
    "/api/series/{}?includeDetails=1": "Series",
    "/api/series/{}/stats": "Series",
    "/api/series/{}/stats/attendance?count=1": "Series",
    "/api/events/{}": "Event",
    "/api/clubs/{}": "Club",
}

BAD_FILTERS = (
    ("/api/arenas", "status", "broken"),
    ("/api/players", "status", "Active"),
    ("/api/locations", "status", "1"),
    ("/api/tournaments", "limit", "many"),
    ("/api/tournaments", "limit", "2.5"),
    ("/api/tournaments", "owner", TOO_BIG),
    ("/api/tournaments", "playedOrOrganized", "1.5"),
    ("/api/tournaments", "playedOrOrganized", 0),
    ("/api/tournaments", "played", "user2"),
    ("/api/tournaments", "series", 0),
    ("/api/series", "status", "started"),
    ("/api/series", "owner", TOO_BIG),
    ("/api/search?query=x", "type", "players"),
    ("/api/search?type=users", "query", "x" * 101),
)


@pytest.fixture
def night(store: Store) -> build.Night:
    return build.a_tournament(store)


def ask(store: Store, night: build.Night, path: str, **query: object) -> tuple[int, Any]:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    path = path.format(tournament=night.tournament_id)
    joined = f"{path}{'&' if '?' in path else '?'}{text}" if text else path
    return build.ask(store, joined, by=night.organizer_id)


def test_twenty_six_ids_are_refused_by_name_and_twenty_five_are_not(store: Store, night: build.Night) -> None:
    for path, name in ID_LISTS:
        status, body = ask(store, night, path, **{name: IDS_26})
        assert status == 422
        assert body["errors"] == {name: [f"The {name} field must not have more than 25 items."]}
        assert ask(store, night, path, **{name: IDS_25})[0] == 200


def test_a_malformed_id_is_refused_by_name(store: Store, night: build.Night) -> None:
    for path, name in ID_LISTS:
        for ids in (TOO_BIG, 10**22, 0, -1, "1.5", "abc", "ÅÄÖ", "1;2"):
            status, body = ask(store, night, path, **{name: ids})
            assert (status, list(body["errors"])) == (422, [name]), (path, ids)


def test_resolve_unknown_needs_ids_and_leaves_out_unknown_ones(store: Store, night: build.Night) -> None:
    for path, name in ((path, name) for path, name in ID_LISTS if "unknown" in path):
        status, body = ask(store, night, path)
        assert (status, body["message"]) == (422, f"The {name} field is required.")
        assert ask(store, night, path, **{name: f"{2**63 - 1},99999999"}) == (200, {"data": []})


def test_a_malformed_page_number_is_refused(store: Store, night: build.Night) -> None:
    for path in PAGED:
        for page in (0, -1, "x", "1.0", "ü"):
            status, body = ask(store, night, path, page=page)
            assert (status, list(body["errors"])) == (422, ["page"]), (path, page)


def test_a_page_past_the_end_is_empty(store: Store, night: build.Night) -> None:
    for path in PAGED:
        status, body = ask(store, night, path, page=20)
        assert (status, body["data"]) == (200, []), path
        assert (body["meta"]["from"], body["meta"]["to"]) == (None, None), path


def test_deep_pagination_is_refused(store: Store, night: build.Night) -> None:
    for path in PAGED:
        for page in (402, 2**62, 10**24):
            status, body = ask(store, night, path, page=page)
            assert (status, body["message"]) == (403, "Do not scrape data by paginating deeply."), path


def test_a_limit_outside_1_to_100_falls_back_to_25(store: Store, night: build.Night) -> None:
    for limit in (0, -1, 101, TOO_BIG):
        status, body = ask(store, night, "/api/tournaments", limit=limit)
        # The number of an answer without a limit: the one sent had no effect.
        assert (status, body["meta"]["per_page"]) == (200, 25), limit


def test_a_malformed_filter_is_refused_by_name(store: Store, night: build.Night) -> None:
    for path, name, text in BAD_FILTERS:
        status, body = ask(store, night, path, **{name: text})
        assert (status, list(body["errors"])) == (422, [name]), (path, text)


def test_a_missing_object_is_not_found(store: Store, night: build.Night) -> None:
    for path, model in ITEMS.items():
        for key in ("99999999", str(2**63 - 1), str(TOO_BIG), "0", "abc", "1.5", "-1", "٣"):
            status, body = ask(store, night, path.format(key))
            wanted = f"No query results for model [App\\Models\\{model}] {key}"
            assert (status, body["message"]) == (404, wanted), path


@pytest.mark.both_databases
def test_unknown_parameters_and_empty_ones_change_nothing(store: Store, night: build.Night) -> None:
    for path in (*PAGED, "/api/dashboard", "/api/users/profile"):
        _, plain = ask(store, night, path)
        status, body = ask(store, night, path, status="", includeEverything="true", colour="ü", page="")
        assert (status, body.get("data")) == (200, plain.get("data")), path


@pytest.mark.parametrize(
    ("path", "key", "table", "per_page"),
    [
        ("/api/arenas", "arenaId", tables.arena, 100),
        ("/api/players", "playerId", tables.player, 100),
        ("/api/locations", "locationId", tables.location, 500),
    ],
)
def test_an_owned_list_is_ascending_in_full_pages_of_its_size(
    store: Store, path: str, key: str, table: Any, per_page: int
) -> None:
    owner, other = build.a_user(store), build.a_user(store)
    values = {**build.DEFAULTS[table.name]}
    with store.write() as transaction:
        transaction.connection.execute(table.insert(), [{**values, "organizer_id": other}])
        transaction.connection.execute(table.insert(), [{**values, "organizer_id": owner}] * (per_page + 1))
    _, first = build.ask(store, path, by=owner)
    ids = [item[key] for item in first["data"]]
    assert (len(ids), ids) == (per_page, sorted(ids))
    assert (first["meta"]["per_page"], first["meta"]["total"], first["meta"]["last_page"]) == (
        per_page,
        per_page + 1,
        2,
    )
    assert first["links"]["next"] == f"{build.BASE_URL}{path}?page=2"
    _, second = build.ask(store, f"{path}?page=2", by=owner)
    assert [item[key] for item in second["data"]] == [ids[-1] + 1]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("path", "name", "key", "table"),
    [
        ("/api/arenas", "arenas", "arenaId", tables.arena),
        ("/api/players", "players", "playerId", tables.player),
        ("/api/locations", "locations", "locationId", tables.location),
    ],
)
def test_an_owned_list_holds_only_what_is_the_callers_own(
    store: Store, path: str, name: str, key: str, table: Any
) -> None:
    owner, other = build.a_user(store), build.a_user(store)
    own = build.row(store, table, organizer_id=owner)
    inactive = build.row(store, table, organizer_id=owner, status="inactive")
    foreign = build.row(store, table, organizer_id=other)

    def ids(query: str, by: int = owner) -> list[int]:
        _, body = build.ask(store, f"{path}?{query}", by=by)
        return [item[key] for item in body["data"]]

    assert ids("") == [own, inactive]
    assert ids("", by=other) == [foreign]
    assert ids("status=inactive") == [inactive]
    assert ids(f"{name}={foreign},{own},{own}") == [own]
    assert ids(f"{name}={foreign}") == []


@pytest.mark.parametrize("path", ["/api/arenas", "/api/players", "/api/locations", "/api/dashboard"])
def test_an_owned_list_needs_a_token_even_on_a_public_server(store: Store, path: str) -> None:
    assert build.ask(store, path, public_read=True)[0] == 401
