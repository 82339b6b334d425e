"""Search. Source: interface.md 1 and 2, rows 6, 9, 20, 23."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store

KEYS = {"users": "userId", "tournaments": "tournamentId", "series": "seriesId"}


def found_ids(store: Store, by: int, kind: str, query: str) -> list[int]:
    status, body = build.ask(store, f"/api/search?type={kind}&query={query}", by=by)
    assert status == 200, body
    return [result[KEYS[kind]] for result in body["data"]]


def make(store: Store, kind: str, name: str, organizer: int) -> int:
    if kind == "users":
        return build.a_user(store, name=name)
    table = tables.tournament if kind == "tournaments" else tables.series
    return build.row(store, table, name=name, organizer_id=organizer)


@pytest.mark.parametrize("kind", sorted(KEYS))
def test_search_ignores_case_and_accents(store: Store, kind: str) -> None:
    organizer = build.a_user(store, name="Olga Ramp")
    asa = make(store, kind, "Åsa Öst", organizer)
    make(store, kind, "Bo Larkin", organizer)
    for query in ("asa", "%C3%85SA", "ost", "A%20O", "Åsa"):
        assert found_ids(store, organizer, kind, query) == [asa], query
    assert found_ids(store, organizer, kind, "nobody") == []


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", sorted(KEYS))
def test_wildcards_are_ordinary_characters(store: Store, kind: str) -> None:
    organizer = build.a_user(store, name="Olga Ramp")
    percent = make(store, kind, "100% Tilt", organizer)
    underscore = make(store, kind, "under_score", organizer)
    make(store, kind, "1000 Tilts undersscore", organizer)
    assert found_ids(store, organizer, kind, "100%25") == [percent]
    assert found_ids(store, organizer, kind, "r_s") == [underscore]
    assert found_ids(store, organizer, kind, "';--") == []


def test_users_ascend_by_id_tournaments_and_series_are_newest_first(store: Store) -> None:
    organizer = build.a_user(store)
    for kind in sorted(KEYS):
        made = [make(store, kind, f"Same {number}", organizer) for number in range(3)]
        assert found_ids(store, organizer, kind, "same") == (made if kind == "users" else made[::-1])


def test_placeholders_and_users_who_hide_are_found_by_name(store: Store) -> None:
    named = build.a_user(store, name="Pim Place", placeholder=True)
    hidden = build.a_user(store, name="Pim Hidden", profile_opt_out=True, ratings_opt_out=True)
    assert found_ids(store, named, "users", "pim") == [named, hidden]


@pytest.mark.both_databases
def test_a_hidden_field_cannot_be_searched_for(store: Store) -> None:
    user_id = build.a_user(store, name="Pim", initials="XYZ", pronouns="they", location="Springfield")
    for query in ("xyz", "they", "springfield"):
        assert found_ids(store, user_id, "users", query) == []


@pytest.mark.both_databases
def test_a_found_tournament_or_series_is_a_list_item(store: Store) -> None:
    night = build.a_tournament(store)
    _, body = build.ask(store, "/api/search?type=tournaments&query=thurs", by=night.organizer_id)
    _, listed = build.ask(store, "/api/tournaments", by=night.organizer_id)
    assert body["data"] == listed["data"]
    build.row(store, tables.series, organizer_id=night.organizer_id)
    _, body = build.ask(store, "/api/search?type=series&query=league", by=night.organizer_id)
    _, listed = build.ask(store, "/api/series", by=night.organizer_id)
    assert body["data"] == listed["data"]


def test_a_page_holds_25(store: Store) -> None:
    made = [build.a_user(store, name=f"Same {number}") for number in range(26)]
    _, body = build.ask(store, "/api/search?type=users&query=same&page=2", by=made[0])
    assert [user["userId"] for user in body["data"]] == made[25:]
    assert (body["meta"]["per_page"], body["meta"]["total"]) == (25, 26)
    assert body["links"]["prev"].endswith("/api/search?type=users&query=same&page=1")


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ("", {"query": ["The query field is required."], "type": ["The type field is required."]}),
        ("?query=x", {"type": ["The type field is required."]}),
        ("?query=%20&type=users", {"query": ["The query field is required."]}),
        ("?query=x&type=players", {"type": ["The selected type is invalid."]}),
    ],
)
def test_a_search_without_query_or_type_is_refused(store: Store, query: str, errors: dict[str, Any]) -> None:
    status, body = build.ask(store, f"/api/search{query}", by=build.a_user(store))
    assert (status, body["errors"]) == (422, errors)
