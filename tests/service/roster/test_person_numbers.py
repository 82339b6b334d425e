"""One number is one person in an organizer's book, at every door of the organizer."""

from threading import Barrier, Thread
from typing import Any

import pytest
from sqlalchemy import func, select

import build
from service.desk import Desk, a_desk
from silverball import app
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store

NUMBER = 12345


def players_in_book(store: Store) -> int:
    with store.read() as db:
        return db.execute(select(func.count()).select_from(tables.player)).scalar_one()


def ada(desk: Desk, **values: Any) -> int:
    return build.a_player(
        desk.store, desk.night.organizer_id, **{"name": "Ada Quill", "ifpa_id": NUMBER, **values}
    )


@pytest.mark.both_databases
def test_a_number_of_the_book_is_that_player(store: Store) -> None:
    desk = a_desk(store)
    player_id = ada(desk)
    before = players_in_book(store)
    for entrant in (
        {"ifpaId": NUMBER},
        {"ifpaId": NUMBER, "name": "Quill, Ada"},
        {"ifpaId": NUMBER, "name": "ada  quil"},
        {"ifpaId": NUMBER, "name": "Somebody Else", "numberWins": True},
    ):
        shown = desk.do_and_undo("POST", "/players", {"players": [entrant]})["data"]
        assert [each["playerId"] for each in shown] == [player_id]
    assert players_in_book(store) == before
    answer = desk.expect_refusal(409, "POST", "/players", {"ifpaId": NUMBER, "name": "Bo Larkin"})
    assert answer["code"] == "number-of-somebody-else"
    assert f"player {player_id} in the book" in answer["message"].lower()


@pytest.mark.both_databases
def test_a_confirmed_number_counts_and_a_claimed_one_does_not(store: Store) -> None:
    desk = a_desk(store)
    claimed = build.a_user(store, ifpa_id=777)
    confirmed = build.a_user_with_number(store, ifpa_id=NUMBER, profile_opt_out=True)
    ada(desk, ifpa_id=None, name="Claims Much", claimed_by=claimed)
    player_id = ada(desk, ifpa_id=None, claimed_by=confirmed)
    shown = desk.do_and_undo("POST", "/players", {"ifpaId": NUMBER})["data"]
    # A hidden number is matched and not shown.
    assert (shown["playerId"], shown["ifpaId"]) == (player_id, None)
    answer = desk.expect_refusal(422, "POST", "/players", {"players": [{"ifpaId": NUMBER}, {"ifpaId": 777}]})
    assert list(answer["errors"]) == ["players.1.name"]
    # Who has the number in the book comes first.
    own = ada(desk, name="Ada Q.")
    assert desk.do_and_undo("POST", "/players", {"ifpaId": NUMBER})["data"]["playerId"] == own


def test_a_number_alone_takes_its_name_from_the_federations_file(store: Store) -> None:
    desk = a_desk(store)
    build.a_federation_record(store, NUMBER, "Ada Quill")
    shown = desk.ok("POST", "/players", {"players": [{"ifpaId": NUMBER}]})["data"]
    assert [(each["name"], each["ifpaId"]) for each in shown] == [("Ada Quill", NUMBER)]
    answer = desk.expect_refusal(422, "POST", "/players", {"ifpaId": 999})
    assert list(answer["errors"]) == ["name"]


def test_a_number_that_two_of_the_book_have_is_refused_with_both(store: Store) -> None:
    desk = a_desk(store)
    both = [ada(desk), ada(desk, name="A. Quill")]
    answer = desk.expect_refusal(409, "POST", "/players", {"ifpaId": NUMBER})
    assert answer["code"] == "number-not-unique"
    assert all(str(player_id) in answer["message"] for player_id in both)


@pytest.mark.both_databases
def test_nobody_is_in_a_tournament_twice(store: Store) -> None:
    desk = a_desk(store)
    twice = {"players": [{"ifpaId": NUMBER, "name": "Ada Quill"}, {"ifpaId": NUMBER, "name": "A. Quill"}]}
    assert desk.expect_refusal(409, "POST", "/players", twice)["code"] == "player-entered-already"
    player_id = desk.ok("POST", "/players", {"ifpaId": NUMBER, "name": "Ada Quill"})["data"]["playerId"]
    answer = desk.expect_refusal(409, "POST", "/players", {"ifpaId": NUMBER})
    assert answer["code"] == "player-entered-already"
    assert answer["message"].startswith(f"Player {player_id} is in the tournament already")
    # The same number under another entry of the book, as an import may have left it.
    other = ada(desk, name="A. Quill")
    answer = desk.expect_refusal(409, "POST", "/players", {"playerId": other})
    assert answer["code"] == "player-entered-already"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"numberWins": True},
        {"ifpaId": None},
        {"playerId": 1, "name": "Ada Quill"},
        {"playerId": 1, "ifpaId": NUMBER},
        {"players": [{"ifpaId": NUMBER}], "strikes": 0},
        {"ifpaId": 0, "name": "Ada Quill"},
    ],
)
def test_a_body_that_names_nobody_or_two_is_refused(store: Store, body: dict[str, Any]) -> None:
    assert a_desk(store).expect_refusal(422, "POST", "/players", body)["errors"]


def test_the_book_itself_takes_a_number_once(store: Store) -> None:
    desk = a_desk(store)
    player_id, organizer = ada(desk), desk.callers["owner"]

    def send(method: str, path: str, body: Any) -> tuple[int, Any]:
        status, answer, _ = build.do(store, method, path, body, by=organizer)
        return status, answer

    before = players_in_book(store)
    status, answer = send("POST", "/api/players", {"name": "A. Quill", "ifpaId": NUMBER})
    assert (status, answer["data"]["playerId"], answer["data"]["name"]) == (201, player_id, "Ada Quill")
    status, answer = send("POST", "/api/players", {"name": "Bo Larkin", "ifpaId": NUMBER})
    assert (status, answer["code"]) == (409, "number-of-somebody-else")
    other = build.a_player(store, desk.night.organizer_id, name="Bo Larkin")
    status, answer = send("PATCH", f"/api/players/{other}", {"ifpaId": NUMBER})
    assert (status, answer["code"]) == (409, "number-of-somebody-else")
    assert send("PATCH", f"/api/players/{player_id}", {"ifpaId": NUMBER})[0] == 200
    assert players_in_book(store) == before + 1


@pytest.mark.both_databases
def test_two_requests_at_once_make_one_person(store: Store) -> None:
    desk = a_desk(store)
    before, at_once = players_in_book(store), Barrier(4)
    api, found = app.build_api(store, Settings(base_url=build.BASE_URL), now=lambda: build.NOW), []

    def add() -> None:
        at_once.wait()
        body = {"name": "Ada Quill", "ifpaId": NUMBER}
        _, answer, _ = build.send(api, "POST", "/api/players", body, by=desk.callers["owner"])
        found.append(answer["data"]["playerId"])

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found)), players_in_book(store)) == (4, 1, before + 1)
