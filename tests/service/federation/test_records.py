"""The federation's records: stored whole, shown beside a user, used for seeds. Source: interface 2.4."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

import build
from selection import examples
from service.federation.invented_record import ADA
from silverball.service.outlook import writes as outlook_writes
from silverball.service.outlook.reads import estimates
from silverball.service.outlook.reads.estimates import FederationRanks
from silverball.service.outlook.writes import NewRecord
from silverball.store import tables
from silverball.store.database.engine import Store

LATER = datetime(2026, 4, 1, tzinfo=UTC)
SHOWN = {
    "ifpaId": 101,
    "name": "Ada Quill",
    "rank": 12,
    "rating": 1712.5,
    "ratingRank": 40,
    "womensRank": 3,
    "totalEvents": 77,
    "initials": "AQ",
    "city": "Harbour Town",
    "state": "NV",
    "countryCode": "US",
    "countryName": "United States",
    "updatedAt": "2024-01-04T06:16:55.000000Z",
}


def keep(store: Store, *records: NewRecord) -> None:
    with store.write() as transaction:
        outlook_writes.store_records(transaction.connection, records, now=build.NOW)


def user_with(store: Store, ifpa_id: int | None, **values: Any) -> int:
    return build.a_user(store, name="Ada", ifpa_id=ifpa_id, **values)


def ifpa_of(store: Store, user_id: int, query: str = "?includeIfpa=true", by: Any = 1) -> Any:
    status, body = build.ask(store, f"/api/users/{user_id}{query}", by=by)
    assert status == 200
    return body["ifpa"]


def test_a_user_is_shown_with_their_record_on_request(store: Store) -> None:
    keep(store, ADA)
    user_id = user_with(store, 101)
    assert ifpa_of(store, user_id) == SHOWN
    assert ifpa_of(store, user_id, "") is None
    assert ifpa_of(store, user_id, "?includeIfpa=false") is None


@pytest.mark.parametrize("ifpa_id", [None, 999])
def test_a_user_without_a_record_has_none(store: Store, ifpa_id: int | None) -> None:
    keep(store, ADA)
    assert ifpa_of(store, user_with(store, ifpa_id)) is None


def test_a_hidden_profile_hides_the_record(store: Store) -> None:
    keep(store, ADA)
    user_id = user_with(store, 101, profile_opt_out=True)
    assert ifpa_of(store, user_id) is None
    assert ifpa_of(store, user_id, by=build.caller(user_id, is_hidden=True)) == SHOWN


def test_missing_values_are_zero_or_empty_and_only_ranks_are_null(store: Store) -> None:
    keep(store, NewRecord(ifpa_id=7, name="Bo Larkin", rank=0, womens_rank=0, rating_rank=0))
    assert ifpa_of(store, user_with(store, 7)) == {
        "ifpaId": 7,
        "name": "Bo Larkin",
        "rank": None,
        "rating": 0,
        "ratingRank": 0,
        "womensRank": None,
        "totalEvents": 0,
        **dict.fromkeys(("initials", "city", "state", "countryCode", "countryName"), ""),
        "updatedAt": "2026-03-05T19:30:00.000000Z",
    }


def test_a_record_replaces_the_earlier_one_completely(store: Store) -> None:
    keep(store, ADA)
    keep(store, NewRecord(ifpa_id=101, name="Ada Pike", rank=11, updated_at=LATER))
    shown = ifpa_of(store, user_with(store, 101))
    assert (shown["name"], shown["rank"], shown["womensRank"], shown["city"]) == ("Ada Pike", 11, None, "")
    with store.read() as db:
        assert estimates.record_count(db) == 1
        assert estimates.ifpa_ids_by_name(db, ["ada quill", "ada pike"]) == {"ada pike": 101}


def test_only_known_players_have_ranks(store: Store) -> None:
    keep(store, ADA, NewRecord(ifpa_id=102, name="Bo Larkin"))
    with store.read() as db:
        assert estimates.ranks_by_ifpa(db, [101, 102, 103]) == {
            101: FederationRanks(rank=12, womens_rank=3),
            102: FederationRanks(rank=None, womens_rank=None),
        }
        assert estimates.ranks_by_ifpa(db, []) == {}
        assert estimates.published_record(db, 103) is None


@pytest.mark.both_databases
def test_more_records_than_one_statement_can_hold_are_found(store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(estimates, "AT_ONCE", 2)
    keep(store, *(NewRecord(ifpa_id=n, name=f"Player {n}") for n in range(1, 8)))
    with store.read() as db:
        assert [record.ifpa_id for record in estimates.records_by_ifpa(db, range(1, 12))] == list(range(1, 8))
        assert len(estimates.ifpa_ids_by_name(db, [f"player {n}" for n in range(1, 12)])) == 7


RECORDS = st.builds(
    NewRecord,
    ifpa_id=st.integers(1, 2**63 - 1),
    name=st.text("abcÅß'- 中", min_size=1, max_size=20),
    rank=st.none() | st.integers(1, 10**8),
    womens_rank=st.none() | st.integers(1, 10**8),
    rating=st.none() | st.floats(0, 10_000),
    rating_rank=st.none() | st.integers(1, 10**8),
    total_events=st.none() | st.integers(0, 10**8),
    city=st.none() | st.text('xyzÖ ,"', max_size=20),
    updated_at=st.datetimes(datetime(1900, 1, 2), datetime(2199, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # bounds have no zone
)


@pytest.mark.both_databases
@given(st.lists(RECORDS, max_size=5, unique_by=lambda record: record.ifpa_id))
@settings(
    max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_stored_records_are_found_again(store: Store, records: list[NewRecord]) -> None:
    with store.write() as transaction:
        transaction.connection.execute(delete(tables.federation_player))
        outlook_writes.store_records(transaction.connection, records, now=build.NOW)
    with store.read() as db:
        found = estimates.records_by_ifpa(db, [record.ifpa_id for record in records])
    stored = {record.ifpa_id: msgspec.structs.asdict(record) for record in records}
    assert {record.ifpa_id: msgspec.structs.asdict(record) for record in found} == stored


def a_planned_night(store: Store, seeding: str) -> build.Night:
    """Four players: ranked 12 (by the claimed user's number), 5, not at all, 9; the women 3 and 8."""
    keep(
        store,
        ADA,
        NewRecord(ifpa_id=102, name="Bo Larkin", rank=5),
        NewRecord(ifpa_id=104, name="Edie Frost", rank=9, womens_rank=8),
    )
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    night = build.a_tournament(
        store,
        players=0,
        organizer_id=organizer_id,
        type="knockout",
        status="planned",
        settings={"seeding": seeding},
    )
    claimant = user_with(store, 101)
    people: tuple[dict[str, Any], ...] = ({"claimed_by": claimant}, {"ifpa_id": 102}, {}, {"ifpa_id": 104})
    for place, person in enumerate(people):
        player_id = build.a_player(store, organizer_id, name=f"Player {place}", **person)
        night.player_ids.append(player_id)
        build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id, place=place)
    return night


@pytest.mark.both_databases
@pytest.mark.parametrize(("seeding", "best_first"), [("ifpa", [1, 3, 0, 2]), ("ifpa_womens", [0, 3])])
def test_seeding_by_the_federation_uses_its_ranks(store: Store, seeding: str, best_first: list[int]) -> None:
    night = a_planned_night(store, seeding)
    path = f"/api/tournaments/{night.tournament_id}"
    status, body, _ = build.do(store, "POST", f"{path}/start", by=night.organizer_id)
    assert status == 200, body
    _, shown = build.ask(store, f"{path}?includePlayers=true", by=night.organizer_id)
    seeds = {player["playerId"]: player["tournamentPlayer"]["seed"] for player in shown["data"]["players"]}
    ordered = sorted(night.player_ids, key=lambda player_id: seeds[player_id])
    assert [night.player_ids.index(player_id) for player_id in ordered][: len(best_first)] == best_first
    assert sorted(seeds.values()) == [1, 2, 3, 4]
