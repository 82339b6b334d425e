"""Lost connections: a write is repeated with the same Idempotency-Key, and what never answers is named."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from feed.running_program import admin_token
from servers import Servers
from silverball.store.database.engine import Store
from silverball_client import Conflict, NoAnswer, ServerFault, UnexpectedAnswer
from typed_client.both_clients import KINDS, result
from typed_client.scripted_service import CUT, ScriptedService, answer, json_answer
from web.breakable_connection import BreakableConnection

PATH = "/api/clubs"
CLUB = {"clubId": 1, "userId": 1, "name": "The Drain", "logo": None, "description": None, "location": None}
CREATED = json_answer({"data": CLUB}, 201)
IN_PROGRESS = json_answer({"message": "It is being worked on.", "code": "request-in-progress"}, 409)
BUSY = json_answer({"message": "Service Unavailable", "code": "service-unavailable"}, 504, retry_after="0")


def create_club(client: Any) -> Any:
    return client.clubs.create(name="The Drain")


def show_club(client: Any) -> Any:
    return client.clubs.get(1)


def keys_of(service: ScriptedService) -> list[str | None]:
    return [request.headers.get("idempotency-key") for request in service.requests]


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_is_repeated_with_its_key_after_a_lost_connection(kind: str) -> None:
    with ScriptedService({PATH: [CUT, CREATED]}) as service:
        assert result(kind, service.base_url, create_club).club_id == 1
    first, second = keys_of(service)
    assert first is not None
    assert first == second
    assert [request.body for request in service.requests] == [b'{"name":"The Drain"}'] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_half_an_answer_is_a_lost_connection(kind: str) -> None:
    assert CREATED.content is not None
    half = type(CREATED)(CREATED.content[:-10])
    with ScriptedService({PATH: [half, CUT, CREATED]}) as service:
        # The service of this test goes on after the half; the client does not.
        assert result(kind, service.base_url, create_club, timeout=0.3).club_id == 1
    assert len(set(keys_of(service))) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_cannot_be_decompressed_is_a_lost_one(kind: str) -> None:
    broken = answer(200, b"not gzip", content_type="application/json", content_encoding="gzip")
    with ScriptedService({"/api/clubs/1": [broken, json_answer({"data": CLUB})]}) as service:
        assert result(kind, service.base_url, show_club).club_id == 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_write_has_a_key_of_its_own_or_the_callers(kind: str) -> None:
    def create_three(client: Any) -> Any:
        return client.clubs.create(name="The Drain", idempotency_key="drain-2026")

    with ScriptedService({PATH: [CREATED]}) as service:
        for call in (create_club, create_club, create_three):
            result(kind, service.base_url, call)
    first, second, own = keys_of(service)
    assert first != second
    assert own == "drain-2026"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [CUT, BUSY], ids=["cut", "given up by a proxy"])
def test_a_repeated_write_waits_until_the_first_one_is_done(kind: str, before: Any) -> None:
    with ScriptedService({PATH: [before, IN_PROGRESS, CREATED]}) as service:
        assert result(kind, service.base_url, create_club).club_id == 1
    assert len(set(keys_of(service))) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_first_write_that_somebody_else_is_at_is_a_conflict(kind: str) -> None:
    with ScriptedService({PATH: [IN_PROGRESS]}) as service, pytest.raises(Conflict) as refused:
        result(kind, service.base_url, create_club)
    assert refused.value.code == "request-in-progress"


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_that_is_lost_again_and_again_is_given_up(kind: str) -> None:
    with ScriptedService({PATH: [CUT]}) as service, pytest.raises(NoAnswer, match="does not answer"):
        result(kind, service.base_url, create_club, wait_budget=2)
    # After 0.5 and 1 second there are less than 2 seconds left.
    assert len(service.requests) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_an_address_where_nothing_listens_is_named_at_once(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(NoAnswer, match=address):
        result(kind, address, create_club)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("address", ["127.0.0.1:8000", "ftp://127.0.0.1", "", "http://127.0.0.1:80x"])
def test_what_is_no_address_is_named_at_once(kind: str, address: str) -> None:
    with pytest.raises(NoAnswer, match=f"^{address} does not answer: "):
        result(kind, address, create_club, wait_budget=0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (answer(301, location="https://elsewhere.invalid/"), "redirects to https://elsewhere.invalid/"),
        (
            answer(404, b"<html>", content_type="text/html"),
            "a web page and status 404. Is the address right?",
        ),
        (answer(200, b"<html>", content_type="text/html"), "in an unknown form"),
        (json_answer({"data": {"clubId": "1"}}), "in an unknown form"),
        (answer(200, b"\xff"), "in an unknown form"),
    ],
    ids=["redirect", "page not found", "page", "other shape", "no text"],
)
def test_what_is_no_silverball_is_named(kind: str, given: Any, sentence: str) -> None:
    with ScriptedService({"/api/clubs/1": [given]}) as service, pytest.raises(UnexpectedAnswer) as refused:
        result(kind, service.base_url, show_club)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxys_page_for_a_busy_service_is_waited_out(kind: str) -> None:
    page = answer(502, b"<html>", content_type="text/html", retry_after="0")
    with ScriptedService({"/api/clubs/1": [page, json_answer({"data": CLUB})]}) as service:
        assert result(kind, service.base_url, show_club).club_id == 1
    with ScriptedService({"/api/clubs/1": [page]}) as service, pytest.raises(ServerFault, match="502"):
        result(kind, service.base_url, show_club, wait_budget=0)


@pytest.fixture
def server(database_url: str) -> Iterator[Servers]:
    own = Servers(database_url)
    own.start()
    yield own
    own.close()


class AnswersLost(BreakableConnection):
    """Forwards a request to the server and drops the answer, as long as `is_lossy`."""

    is_lossy = True

    async def _pump(self, reader: Any, writer: Any, *, is_asked: bool = False) -> None:
        if not is_asked and self.is_lossy:
            # The server has answered, so the change is stored.
            await reader.read(65_536)
            self.is_lossy = False
            writer.transport.abort()
            return
        await super()._pump(reader, writer, is_asked=is_asked)


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_whose_answer_is_lost_takes_effect_once(kind: str, store: Store, server: Servers) -> None:
    token = admin_token(store)
    connection = AnswersLost()
    connection.to = server.port
    try:
        created = result(
            kind, connection.url, lambda client: client.arenas.create(name="Meteor Shower"), token=token
        )
        arenas = result(kind, connection.url, lambda client: client.arenas.list(), token=token)
    finally:
        connection.close()
    assert not connection.is_lossy
    assert [arena.arena_id for arena in arenas] == [created.arena_id]
