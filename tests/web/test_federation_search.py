"""People of the federation's file are found and added where a tournament gets its players."""

from datetime import UTC, datetime

import pytest

import build
from silverball.service.outlook.writes import NewRecord, store_records
from silverball.store.database.engine import Store
from web.director import Director

ADA, BO, ODD = 1001, 1002, 1003


@pytest.fixture
def planned(store: Store, director: Director) -> Director:
    """A director with a planned tournament, on a site that has the federation's file."""
    records = [
        NewRecord(ifpa_id=ADA, name="Ada Quill", city="Oslo", country_name="Norway"),
        NewRecord(ifpa_id=BO, name="Bo Quillfeather"),
        NewRecord(ifpa_id=ODD, name="Åke <b>Quill</b>"),
    ]
    with store.write() as transaction:
        store_records(transaction.connection, records, now=datetime.now(UTC))
    director.create("matchplay")
    return director


def entrant_numbers(director: Director) -> list[tuple[str, int | None]]:
    """Name and number of each player of the tournament, by the interface."""
    path = f"/api/tournaments/{director.tournament_id}/players"
    status, answer, _ = build.do(director.store, "GET", path, None, by=director.user_id)
    assert status == 200
    return [(player["name"], player["ifpaId"]) for player in answer["data"]]


def test_a_search_offers_people_of_the_file_with_place_and_number(planned: Director) -> None:
    page = planned.page("/players?q=quill")
    assert "Ada Quill (Oslo, Norway, number 1001)" in page
    assert "Bo Quillfeather (number 1002)" in page
    assert "<b>Quill" not in page
    assert "Åke" not in planned.page("/players?q=ada")


def test_one_letter_searches_the_book_only(planned: Director) -> None:
    assert "federation&#39;s file</legend>" not in planned.page("/players?q=q")


def test_people_of_the_file_join_with_their_numbers(planned: Director) -> None:
    planned.send("pick", "/players?q=quill", ifpaId=[ADA, BO])
    assert entrant_numbers(planned) == [("Ada Quill", ADA), ("Bo Quillfeather", BO)]
    # They are in the book now, and are not offered a second time.
    page = planned.page("/players?q=quill")
    assert "number 1001" not in page


def test_a_player_of_the_book_with_that_name_is_taken_from_there(planned: Director) -> None:
    known_id = build.a_player(planned.store, planned.user_id, name="Ada Quill")
    planned.send("pick", "/players?q=quill", ifpaId=ADA)
    assert planned.tournament().active_ids == (known_id,)


def test_people_of_book_and_file_are_added_together(planned: Director) -> None:
    known_id = build.a_player(planned.store, planned.user_id, name="Cleo Quill")
    planned.send("pick", "/players?q=quill", playerId=known_id, ifpaId=BO)
    assert [name for name, _ in entrant_numbers(planned)] == ["Cleo Quill", "Bo Quillfeather"]


def test_a_number_that_the_file_does_not_have_is_refused(planned: Director) -> None:
    status, sentence = planned.refused("pick", "/players?q=quill", ifpaId=999)
    assert status == 422
    assert "not in the federation's file" in sentence
    assert planned.tournament().entrants == ()
