"""Settling the players of a submission. Source: ratings, A.5 and A.8."""

import pytest

import build
from service.submissions.sent_documents import (
    LIST,
    NAMES,
    TRUSTED,
    URL,
    a_document,
    an_organizer,
    fetch_documents,
    get_submission,
    send_request,
    submit_document,
    submit_url,
    unknown_players,
)
from silverball.store.database.engine import Store


def test_players_are_matched_by_number_account_or_unique_name(store: Store) -> None:
    user_id = an_organizer(store)
    ada = build.a_user_with_number(store, name="Somebody", ifpa_id=101)
    bo = build.a_user_with_number(store, name="Bo L.", ifpa_id=202)
    cy = build.a_user(store, name="cÿ FENN")
    build.a_player(store, user_id, name="Di Marsh", ifpa_id=404)
    players = [
        {"id": 1, "name": "Ada Quill", "ifpaId": 101},
        {"id": 2, "name": "Bo Larkin", "matchplayUserId": bo},
        {"id": 3, "name": "Cy Fenn"},
        {"id": 4, "name": "Di Marsh", "matchplayUserId": 999},
    ]
    data = submit_document(store, user_id, a_document(players=players))
    assert data["status"] == "ready"
    found = [(player["userId"], player["ifpaId"]) for player in data["players"]]
    assert found == [(ada, 101), (bo, 202), (cy, None), (None, 404)]


def test_an_ambiguous_or_unknown_name_waits_for_the_submitter(store: Store) -> None:
    user_id = an_organizer(store)
    for number in (1, 2):
        build.a_user_with_number(store, name="Ada Quill", ifpa_id=100 + number)
    data = submit_document(store, user_id, unknown_players(*NAMES))
    assert data["status"] == "needs_players"
    assert [(player["userId"], player["ifpaId"]) for player in data["players"]] == [(None, None)] * 4
    status, body = send_request(
        store,
        "POST",
        f"{LIST}/1/ifpa",
        {"players": [{"index": 0, "ifpaId": 102}, {"name": "bo larkin", "ifpaId": 55}]},
        by=user_id,
    )
    assert (status, body["data"]["status"]) == (200, "needs_players")
    assert body["data"]["players"][0]["userId"] == 3
    assert body["data"]["players"][1]["ifpaId"] == 55
    rest = {"players": [{"index": 2, "ifpaId": None}, {"index": 3, "ifpaId": None}]}
    status, body = send_request(store, "POST", f"{LIST}/1/ifpa", rest, by=user_id)
    assert (status, body["data"]["status"]) == (200, "ready")


@pytest.mark.both_databases
def test_a_trusted_submission_is_approved_when_its_last_player_is_settled(store: Store) -> None:
    user_id = an_organizer(store)
    data = submit_document(store, user_id, unknown_players(*NAMES), f"https://{TRUSTED}/a")
    assert data["status"] == "needs_players"
    settled = {"players": [{"index": index, "ifpaId": None} for index in range(4)]}
    assert (
        send_request(store, "POST", f"{LIST}/1/ifpa", settled, by=user_id)[1]["data"]["status"] == "approved"
    )


def test_namesakes_in_one_document_are_settled_by_the_submitter(store: Store) -> None:
    user_id = an_organizer(store)
    build.a_user_with_number(store, name="Ada Quill", ifpa_id=101)
    data = submit_document(store, user_id, unknown_players("Ada Quill", "Ada Quill", "Cy Fenn", "Di Marsh"))
    assert data["status"] == "needs_players"
    by_name = {"players": [{"name": "Ada Quill", "ifpaId": 101}]}
    status, body = send_request(store, "POST", f"{LIST}/1/ifpa", by_name, by=user_id)
    assert status == 422
    assert "several players of this name" in body["errors"]["players.0.name"][0]


def test_an_account_with_another_number_is_left_to_the_submitter(store: Store) -> None:
    user_id = an_organizer(store)
    bo = build.a_user_with_number(store, name="Bo", ifpa_id=202)
    raw = a_document()
    raw["players"][0] = {"id": 1, "name": "Ada Quill", "ifpaId": 101, "matchplayUserId": bo}
    assert submit_document(store, user_id, raw)["status"] == "needs_players"


def test_two_players_who_turn_out_to_be_one_make_a_document_invalid(store: Store) -> None:
    user_id = an_organizer(store)
    bo = build.a_user_with_number(store, name="Bo", ifpa_id=102)
    raw = a_document()
    raw["players"][0] = {"id": 1, "name": "Ada Quill", "matchplayUserId": bo}
    data = submit_document(store, user_id, raw)
    assert data["errors"] == ["players.1: This is the same person as players.0."]


@pytest.mark.parametrize(
    ("players", "field", "sentence"),
    [
        ([], "players", "must have at least 1 items"),
        ([{"index": 4, "ifpaId": 7}], "players.0.index", "There is no player 4"),
        ([{"index": -1, "ifpaId": 7}], "players.0.index", "must be at least 0"),
        ([{"index": 0}], "players.0.ifpaId", "is required"),
        ([{"ifpaId": 7}], "players.0", "by index or by name"),
        ([{"index": 0, "name": "Ada Quill", "ifpaId": 7}], "players.0", "by index or by name"),
        ([{"name": "Nobody", "ifpaId": 7}], "players.0.name", "no player of this name"),
        ([{"index": 0, "ifpaId": 7}, {"index": 0, "ifpaId": 8}], "players.1", "is named twice"),
        ([{"index": 0, "ifpaId": 7}, {"index": 1, "ifpaId": 7}], "players", "cannot both have number 7"),
        ([{"index": 0, "ifpaId": 103}], "players", "cannot both have number 103"),
    ],
)
def test_players_are_settled_all_or_none(
    store: Store, players: list[dict[str, object]], field: str, sentence: str
) -> None:
    user_id = an_organizer(store)
    before = submit_document(store, user_id, a_document())
    status, body = send_request(store, "POST", f"{LIST}/1/ifpa", {"players": players}, by=user_id)
    assert status == 422
    assert sentence in body["errors"][field][0]
    assert get_submission(store, 1) == before


def test_players_are_settled_only_while_the_submission_is_open(store: Store) -> None:
    user_id = an_organizer(store)
    change = {"players": [{"index": 0, "ifpaId": 7}]}
    submit_url(store, user_id)
    status, body = send_request(store, "POST", f"{LIST}/1/ifpa", change, by=user_id)
    assert status == 409
    assert "is fetching" in body["message"]
    fetch_documents(store, {URL: a_document()})
    assert (
        send_request(store, "POST", f"{LIST}/1/ifpa", change, by=user_id)[1]["data"]["players"][0]["ifpaId"]
        == 7
    )
    send_request(store, "DELETE", f"{LIST}/1", by=user_id)
    assert send_request(store, "POST", f"{LIST}/1/ifpa", change, by=user_id)[0] == 409
