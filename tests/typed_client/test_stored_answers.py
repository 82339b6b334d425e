"""Answers are kept with their ETags: a 304 brings the kept answer."""

from typing import Any

import pytest

from silverball_client.etags import StoredAnswers
from typed_client.both_clients import KINDS, results
from typed_client.foreign_night import TOURNAMENT_ID, ForeignNight
from typed_client.scripted_service import ScriptedService, answer, json_answer

PATH = "/api/clubs/1"
CLUB = {"clubId": 1, "userId": 1, "name": "The Drain", "logo": None, "description": None, "location": None}
LOCATION = {"locationId": 1, "name": "The Drain", "organizerId": 1, "status": "active", "address": None}


def show_club(client: Any) -> Any:
    return client.clubs.get(1)


def find_locations(client: Any) -> Any:
    return client.locations.list(status="active")


@pytest.mark.parametrize("kind", KINDS)
def test_a_304_is_the_kept_answer(kind: str) -> None:
    first = json_answer({"data": CLUB}, etag='W/"one"')
    second = json_answer({"data": {**CLUB, "name": "The Flipper"}}, etag='W/"two"')
    script = {PATH: [first, answer(304), second, answer(304)]}
    with ScriptedService(script) as service:
        clubs = results(kind, service.base_url, [show_club] * 4)
    assert [club.name for club in clubs] == ["The Drain", "The Drain", "The Flipper", "The Flipper"]
    sent = [request.headers.get("if-none-match") for request in service.requests]
    assert sent == [None, 'W/"one"', 'W/"one"', 'W/"two"']


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_kept_with_its_query(kind: str) -> None:
    listed = json_answer({"data": [LOCATION]}, etag='"list"')
    with ScriptedService({"/api/locations": [listed, listed, answer(304)]}) as service:
        calls = [find_locations, lambda client: client.locations.list(), find_locations]
        found = results(kind, service.base_url, calls)
    assert [[location.location_id for location in locations] for locations in found] == [[1], [1], [1]]
    sent = [request.headers.get("if-none-match") for request in service.requests]
    assert sent == [None, None, '"list"']


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_without_an_etag_is_asked_for_again(kind: str) -> None:
    with ScriptedService({PATH: [json_answer({"data": CLUB})]}) as service:
        results(kind, service.base_url, [show_club] * 2)
    assert [request.headers.get("if-none-match") for request in service.requests] == [None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_without_room_keeps_nothing(kind: str) -> None:
    script = {PATH: [json_answer({"data": CLUB}, etag='"one"')]}
    with ScriptedService(script) as service:
        results(kind, service.base_url, [show_club] * 2, stored_bytes=10)
    assert [request.headers.get("if-none-match") for request in service.requests] == [None, None]


def test_the_answers_used_last_are_kept_within_their_bytes() -> None:
    answers = StoredAnswers(bytes_max=10)
    answers.store("/a", "1", b"aaaa")
    answers.store("/b", "1", b"bbbb")
    assert answers.find("/a") is not None
    answers.store("/c", "1", b"cccc")
    assert [target for target in ("/a", "/b", "/c") if answers.find(target)] == ["/a", "/c"]
    # A newer answer takes the place of the older one, and of its bytes.
    answers.store("/a", "2", b"a")
    answers.store("/d", "1", b"dddd")
    assert [target for target in ("/a", "/c", "/d") if answers.find(target)] == ["/a", "/c", "/d"]
    # What would need all the room is not kept, and an older answer to it neither.
    answers.store("/c", "2", b"c" * 11)
    assert [target for target in ("/a", "/c", "/d") if answers.find(target)] == ["/a", "/d"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_read_after_a_write_asks_for_the_revision_of_the_write(kind: str) -> None:
    night = ForeignNight()
    night.publish()
    path = f"/api/tournaments/{TOURNAMENT_ID}"
    shown = night.answers[path][0]
    body = (shown.content or b"").partition(b"\r\n\r\n")[2]
    changed = answer(200, body, content_type="application/json", x_tournament_revision="7")
    unsaid = answer(200, body, content_type="application/json", x_tournament_revision="\u00b2")

    def update(client: Any) -> Any:
        return client.tournaments.update(TOURNAMENT_ID, name="Friday")

    def show(client: Any) -> Any:
        return client.tournaments.get(TOURNAMENT_ID)

    with ScriptedService({**night.answers, path: [shown, changed, shown, unsaid, shown]}) as service:
        results(kind, service.base_url, [show, update, show, update, show])
        results(kind, service.base_url, [show])
    sent = [request.headers.get("x-tournament-revision") for request in service.requests]
    assert sent == [None, None, "7", None, "7", None]
