"""The list of tournaments. Source: interface 4.6; interface.md 2, rows 6, 8, 9, 10, 23, 24."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.generated.words import TOURNAMENT_TYPES


@pytest.fixture
def organizer(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def add_tournament(store: Store, organizer: int, **values: Any) -> int:
    return build.row(store, tables.tournament, organizer_id=organizer, **values)


def listed_ids(store: Store, query: str, by: int) -> list[int]:
    status, body = build.ask(store, f"/api/tournaments?{query}", by=by)
    assert status == 200, body
    return [tournament["tournamentId"] for tournament in body["data"]]


def test_the_newest_come_first_and_test_tournaments_are_listed_as_such(store: Store, organizer: int) -> None:
    made = [add_tournament(store, organizer, test=number == 1) for number in range(3)]
    assert listed_ids(store, "", organizer) == made[::-1]
    _, body = build.ask(store, "/api/tournaments", by=organizer)
    assert [tournament["test"] for tournament in body["data"]] == [False, True, False]


def test_items_have_the_organizer_and_the_location_if_any(store: Store, organizer: int) -> None:
    location_id = build.row(store, tables.location, organizer_id=organizer)
    add_tournament(store, organizer)
    add_tournament(store, organizer, location_id=location_id)
    _, body = build.ask(store, "/api/tournaments", by=organizer)
    here, nowhere = body["data"]
    assert here["organizer"]["userId"] == nowhere["organizer"]["userId"] == organizer
    assert here["location"]["locationId"] == location_id
    assert "location" not in nowhere
    assert "players" not in here


@pytest.mark.both_databases
def test_each_filter_narrows_and_filters_add_up(store: Store, organizer: int) -> None:
    other = build.a_user(store)
    series_id = build.row(store, tables.series, organizer_id=organizer)
    planned = add_tournament(store, organizer, status="planned", series_id=series_id)
    golf = add_tournament(store, other, type="golf", series_id=series_id)
    plain = add_tournament(store, other)
    assert listed_ids(store, f"owner={organizer}", other) == [planned]
    assert listed_ids(store, f"series={series_id}", other) == [golf, planned]
    assert listed_ids(store, "status=planned", other) == [planned]
    assert listed_ids(store, "type=golf", other) == [golf]
    assert listed_ids(store, f"series={series_id}&owner={other}", other) == [golf]
    assert listed_ids(store, f"series={series_id}&type=knockout", other) == []
    assert listed_ids(store, "type=tournaments", other) == [plain, golf, planned]
    assert listed_ids(store, "owner=99999999", other) == []


def test_every_format_is_a_filter(store: Store, organizer: int) -> None:
    made = {type_: add_tournament(store, organizer, type=type_) for type_ in TOURNAMENT_TYPES}
    assert len(made) == 21
    for type_, tournament_id in made.items():
        assert listed_ids(store, f"type={type_}", organizer) == [tournament_id]


def test_played_lists_tournaments_of_the_users_claimed_players(store: Store, organizer: int) -> None:
    user_id = build.a_user(store)
    first, second, _ = (add_tournament(store, organizer) for _ in range(3))
    for tournament_id in (first, second):
        for _ in range(2):
            player_id = build.a_player(store, organizer, claimed_by=user_id)
            build.row(store, tables.entrant, tournament_id=tournament_id, player_id=player_id)
    assert listed_ids(store, f"played={user_id}", organizer) == [second, first]
    assert listed_ids(store, f"played={organizer}", organizer) == []
    assert listed_ids(store, "played=99999999", organizer) == []


def test_the_envelope_is_the_simple_one(store: Store, organizer: int) -> None:
    for _ in range(3):
        add_tournament(store, organizer)
    url = f"{build.BASE_URL}/api/tournaments"
    _, body = build.ask(store, f"/api/tournaments?limit=1&page=2&owner={organizer}", by=organizer)
    kept = f"{url}?limit=1&owner={organizer}&page="
    assert body["links"] == {"first": f"{kept}1", "last": None, "prev": f"{kept}1", "next": f"{kept}3"}
    assert body["meta"] == {
        "current_page": 2,
        "current_page_url": f"{kept}2",
        "from": 2,
        "path": url,
        "per_page": "1",
        "to": 2,
        "last_page": 3,
        "total": 3,
    }


def test_per_page_is_a_text_only_when_a_limit_was_given(store: Store, organizer: int) -> None:
    for query, shown in (("", 25), ("limit=25", "25"), ("limit=100", "100"), ("limit=1", "1")):
        _, body = build.ask(store, f"/api/tournaments?{query}", by=organizer)
        assert body["meta"]["per_page"] == shown


def test_pages_reach_the_ten_thousandth_row(store: Store, organizer: int) -> None:
    for query, status in (("limit=100&page=100", 200), ("limit=100&page=101", 403), ("page=401", 403)):
        assert build.ask(store, f"/api/tournaments?{query}", by=organizer)[0] == status
