"""WPPR estimates over HTTP. Source: ratings, B.2; interface 4.8."""

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest

import build
from golden.keys import keys_of
from golden.shapes import sample
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.federation import WpprEstimate

PATH = "/api/ifpa/wppr-estimator"
READER = build.caller(1)
ONE_OF = "Give exactly one of tournamentId, seriesId, and a list (ifpaIds, names or both)."


def ask(store: Store, sent: Any = None, query: str = "", by: AuthenticatedCaller = READER) -> Any:
    status, answered, _ = build.do(store, "POST", PATH + query, sent, by=by)
    assert status == 200, answered
    return answered


def expect_refusal(store: Store, sent: Any = None, query: str = "") -> tuple[int, Any]:
    status, answered, _ = build.do(store, "POST", PATH + query, sent, by=READER)
    return status, answered


@pytest.fixture
def book(store: Store) -> Store:
    """Six invented records."""
    build.a_federation_record(store, 101, "Ada Quill", rank=146, womens_rank=30, rating=1432.69)
    build.a_federation_record(store, 102, "Zoë O'Neil-Märsh", rank=2020, rating=1349.44)
    build.a_federation_record(store, 103, "Bo Larkin", rank=9, rating=1700.0)
    build.a_federation_record(store, 104, "Bo Larkin", rank=9000, rating=None)
    build.a_federation_record(store, 105, "Newt Comer", total_events=1)
    build.a_federation_record(store, 106, "!!!")
    return store


def names_of(answered: Any) -> list[str]:
    return [player["name"] for player in answered["players"]]


def test_an_answer_has_the_observed_shape(book: Store) -> None:
    answered = ask(book, {"ifpaIds": [101, 102]})
    observed = json.loads(sample("wppr-estimator"))
    assert keys_of(answered) == keys_of(observed)
    assert list(answered["players"][0]) == list(observed["players"][0])
    read = msgspec.json.decode(json.dumps(answered), type=WpprEstimate, strict=True)
    assert json.loads(msgspec.json.encode(read)) == answered


def test_the_observed_player_has_the_observed_values(store: Store) -> None:
    build.a_federation_record(
        store, 38773, "Player Name", rank=2020, rating=1432.69, total_events=320, updated_at=build.NOW
    )
    (shown,) = ask(store, {"ifpaIds": [38773]})["players"]
    (observed,) = json.loads(sample("wppr-estimator"))["players"]
    moment = {"updatedAt": "2026-03-05 19:30:00Z"}
    assert shown == observed | moment
    # 0, not 0.0: clients in typed languages distinguish them.
    assert json.dumps(shown) == json.dumps(observed | moment)


def test_numbers_and_names_form_one_list(book: Store) -> None:
    answered = ask(book, {"ifpaIds": [102, 101, 101, 999], "names": ["ada  QUILL", "Newt Comer"]})
    # By rank, unranked players last; repeated players count once; unknown numbers are left out.
    assert [player["ifpaId"] for player in answered["players"]] == [101, 102, 105]
    assert answered["unresolvedNames"] == []
    assert (answered["baseValue"], answered["womensBaseValue"]) == (1, 1.5)
    assert answered["rankValue"] == 0.4049227672351303
    assert answered["ratingValue"] == 0.08037734375000005 + 0.03485000000000005
    assert answered["wpprValue"] == 1 + answered["ratingValue"] + answered["rankValue"]
    assert answered["standingsOrder"] is None


def test_a_player_with_too_few_events_adds_to_the_womens_value_only(book: Store) -> None:
    answered = ask(book, {"ifpaIds": [105]})
    (shown,) = answered["players"]
    assert (shown["baseValue"], shown["womensBaseValue"]) == (0, 0.5)
    assert (shown["ratingValueIncluded"], shown["rankValueIncluded"]) == (False, False)
    assert (shown["rank"], shown["rating"], shown["totalEvents"]) == (None, None, 1)
    assert (answered["wpprValue"], answered["womensWpprValue"]) == (0, 0.5)


@pytest.mark.parametrize(
    ("name", "ifpa_ids"),
    [
        ("zoe oneil marsh", [102]),
        ("ZOË O\u2019NEIL-MÄRSH", [102]),
        ("Zoe  O'Neil Marsh.", [102]),
        ("Zoe", []),
        ("Marsh Zoe ONeil", []),
        # Two records have this name.
        ("Bo Larkin", []),
        ("???", []),
    ],
)
def test_a_name_matches_completely_in_any_spelling_and_only_if_unique(
    book: Store, name: str, ifpa_ids: list[int]
) -> None:
    answered = ask(book, {"names": [name]})
    assert [player["ifpaId"] for player in answered["players"]] == ifpa_ids
    assert answered["unresolvedNames"] == ([] if ifpa_ids else [name])


@pytest.mark.parametrize(
    "query",
    [
        "?names=Ada%20Quill&names=Newt%20Comer",
        "?names[]=Ada%20Quill&names[]=Newt%20Comer",
        "?ifpaIds=101,105",
        "?ifpaIds=101&ifpaIds=105",
        "?ifpaIds=101&names=newt+comer",
    ],
)
def test_parameters_may_stand_in_the_query(book: Store, query: str) -> None:
    assert names_of(ask(book, query=query)) == ["Ada Quill", "Newt Comer"]
    assert names_of(ask(book, {}, query)) == ["Ada Quill", "Newt Comer"]


@pytest.mark.parametrize(
    ("sent", "query", "field"),
    [
        (None, "", "tournamentId"),
        ({}, "", "tournamentId"),
        ({"ifpaIds": [], "names": []}, "", "tournamentId"),
        ({"tournamentId": 1, "seriesId": 1}, "", "seriesId"),
        ({"tournamentId": 1, "names": ["Bo"]}, "", "tournamentId"),
        ({"seriesId": 1, "ifpaIds": [1]}, "", "seriesId"),
        ({"tournamentId": 1}, "?ifpaIds=1", "tournamentId"),
        ({"tournamentId": 1, "seriesId": 1, "names": ["Bo"]}, "", "seriesId"),
    ],
)
def test_exactly_one_selector_is_given(store: Store, sent: Any, query: str, field: str) -> None:
    assert expect_refusal(store, sent, query) == (
        422,
        {"message": ONE_OF, "code": "not-exactly-one-selector", "errors": {field: [ONE_OF]}},
    )


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"tournamentId": "first"}, "tournamentId"),
        ({"seriesId": 0}, "seriesId"),
        ({"ifpaIds": [1, "x"]}, "ifpaIds"),
        ({"ifpaIds": [2**63]}, "ifpaIds.0"),
        ({"ifpaIds": list(range(1, 1002))}, "ifpaIds"),
        ({"names": ["a" * 101]}, "names"),
        ({"names": ["Bo"] * 1001}, "names"),
        ({"names": [["Bo"]]}, "names"),
    ],
)
def test_an_invalid_selector_is_named(store: Store, sent: Any, field: str) -> None:
    status, answered = expect_refusal(store, sent)
    assert (status, list(answered["errors"])) == (422, [field])


@pytest.mark.parametrize(("field", "model"), [("tournamentId", "Tournament"), ("seriesId", "Series")])
def test_an_unknown_tournament_or_series_is_not_found(store: Store, field: str, model: str) -> None:
    status, answered = expect_refusal(store, {field: 99})
    assert (status, answered["message"]) == (404, f"No query results for model [App\\Models\\{model}] 99")


def a_night(store: Store, **values: Any) -> build.Night:
    """Ada by the book's number, Zoë by the number of the claiming user, a stranger, a number without a
    record."""
    night = build.a_tournament(store, players=0, **values)
    user_id = build.a_user(store, name="Zoë", ifpa_id=102)
    people: tuple[dict[str, Any], ...] = (
        {"name": "Ada Q", "ifpa_id": 101},
        {"name": "Zoe M", "claimed_by": user_id},
        {"name": "Stranger"},
        {"name": "Forgotten", "ifpa_id": 999},
    )
    for place, person in enumerate(people):
        player_id = build.a_player(store, night.organizer_id, **person)
        night.player_ids.append(player_id)
        build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id, place=place)
    return night


def rank_all(store: Store, night: build.Night) -> None:
    """Store standings in reverse order of the list."""
    for position, player_id in enumerate(reversed(night.player_ids), start=1):
        where = {"tournament_id": night.tournament_id, "player_id": player_id}
        build.row(store, tables.standing, **where, position=position, points=Decimal(9 - position), row={})


def test_a_tournament_is_worth_the_sum_of_its_players(book: Store) -> None:
    night = a_night(book)
    answered = ask(book, {"tournamentId": night.tournament_id})
    assert [player["ifpaId"] for player in answered["players"]] == [101, 102]
    # Names come from the federation's records, else from the organizer's book.
    assert names_of(answered) == ["Ada Quill", "Zoë O'Neil-Märsh"]
    assert answered["unresolvedNames"] == ["Stranger", "Forgotten"]
    assert answered["standingsOrder"] is None
    listed = ask(book, {"ifpaIds": [101, 102]})
    assert {**answered, "unresolvedNames": []} == listed


def test_a_completed_tournament_has_the_order_of_its_standings(book: Store) -> None:
    night = a_night(book, status="completed")
    rank_all(book, night)
    answered = ask(book, {"tournamentId": night.tournament_id})
    assert answered["standingsOrder"] == ["Forgotten", "Stranger", "Zoe M", "Ada Q"]


@pytest.mark.both_databases
def test_entrants_who_left_before_their_first_game_do_not_count_later_leavers_do(book: Store) -> None:
    night = a_night(book, status="completed")
    entrant = {"tournament_id": night.tournament_id, "status": "inactive"}
    early = build.a_player(book, night.organizer_id, name="Early", ifpa_id=103)
    late = build.a_player(book, night.organizer_id, name="Late", ifpa_id=104)
    for place, player_id in ((8, early), (9, late)):
        build.row(book, tables.entrant, player_id=player_id, place=place, **entrant)
    standing = {"tournament_id": night.tournament_id, "position": 5, "points": Decimal(0), "row": {}}
    build.row(book, tables.standing, player_id=late, **standing)
    answered = ask(book, {"tournamentId": night.tournament_id})
    assert [player["ifpaId"] for player in answered["players"]] == [101, 102, 104]


def test_a_series_is_worth_the_sum_of_the_players_of_all_tournaments(book: Store) -> None:
    organizer_id = build.a_user(book, name="Olga Ramp", role="organizer")
    series_id = build.row(book, tables.series, organizer_id=organizer_id)
    first = a_night(book, organizer_id=organizer_id, series_id=series_id, status="completed")
    rank_all(book, first)
    second = build.a_tournament(book, players=0, organizer_id=organizer_id, series_id=series_id)
    # Ada entered under another name.
    for name, ifpa_id in (("A. Quill", 101), ("Newt", 105)):
        player_id = build.a_player(book, organizer_id, name=name, ifpa_id=ifpa_id)
        build.row(book, tables.entrant, tournament_id=second.tournament_id, player_id=player_id, place=0)
    build.a_tournament(book, organizer_id=organizer_id)
    answered = ask(book, {"seriesId": series_id})
    assert [player["ifpaId"] for player in answered["players"]] == [101, 102, 105]
    assert answered["unresolvedNames"] == ["Stranger", "Forgotten"]
    assert answered["standingsOrder"] is None


@pytest.mark.both_databases
def test_a_completed_series_has_the_order_of_its_standings(book: Store) -> None:
    organizer_id = build.a_user(book, name="Olga Ramp", role="organizer")
    series_id = build.row(book, tables.series, organizer_id=organizer_id, status="completed")
    night = a_night(book, organizer_id=organizer_id, series_id=series_id, status="completed")
    rank_all(book, night)
    answered = ask(book, {"seriesId": series_id})
    assert answered["standingsOrder"] == ["Forgotten", "Stranger", "Zoe M", "Ada Q"]


def test_a_hidden_profile_is_a_name_without_a_record_for_others(book: Store) -> None:
    night = build.a_tournament(book, players=0)
    user_id = build.a_user(book, name="Ada", ifpa_id=101, profile_opt_out=True)
    player_id = build.a_player(book, night.organizer_id, name="Ada Hidden", ifpa_id=101, claimed_by=user_id)
    build.row(book, tables.entrant, tournament_id=night.tournament_id, player_id=player_id, place=0)
    sent = {"tournamentId": night.tournament_id}
    organizer = build.caller(night.organizer_id, role="organizer", ability="manage")
    for viewer in (READER, organizer):
        answered = ask(book, sent, by=viewer)
        assert (answered["players"], answered["unresolvedNames"]) == ([], ["Ada Hidden"])
        # Not even the sums reveal the record.
        assert answered["wpprValue"] == answered["womensWpprValue"] == 0
        assert "Quill" not in json.dumps(answered)
    own_view = build.caller(user_id, is_hidden=True)
    admin = build.caller(build.a_user(book, role="admin"), role="admin", ability="admin")
    for viewer in (own_view, admin):
        assert names_of(ask(book, sent, by=viewer)) == ["Ada Quill"]


def test_a_tournament_without_players_is_worth_nothing(store: Store) -> None:
    night = build.a_tournament(store, players=0)
    answered = ask(store, {"tournamentId": night.tournament_id})
    assert (answered["players"], answered["wpprValue"]) == ([], 0)
    assert isinstance(answered["wpprValue"], int)


@pytest.mark.both_databases
def test_a_thousand_names_are_found_in_one_request(store: Store) -> None:
    for ifpa_id in (1, 500, 1000):
        build.a_federation_record(store, ifpa_id, f"Player Number {ifpa_id}", rank=ifpa_id)
    answered = ask(store, {"names": [f"Player Number {n}" for n in range(1, 1001)]})
    assert len(answered["players"]) == 3
    assert len(answered["unresolvedNames"]) == 997
