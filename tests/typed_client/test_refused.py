"""Refusals of the typed client: their class, status, code, message and fields; and no text has the token."""

import pickle
import traceback
from typing import Any

import pytest

import silverball_client
from silverball_client import AsyncClient, Client, Refused, SilverballError
from silverball_client.errors import REFUSALS, ServerFault, refusal
from silverball_client.exchange import Send
from typed_client.both_clients import KINDS, result
from typed_client.scripted_service import CUT, ScriptedService, answer, json_answer

TOKEN = "7|slv_neverShown"  # of no service
INVALID = {
    "message": "The name field is required. (and 1 more error)",
    "code": "invalid",
    "errors": {"name": ["The name field is required."], "flag": ["Too long.", "Not a flag."]},
}
EVERY_STATUS = [
    *((status, kind.__name__) for status, kind in REFUSALS.items()),
    (418, "Refused"),
    (500, "ServerFault"),
]


def create_club(client: Any) -> Any:
    return client.clubs.create(name="")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("status", "name"), EVERY_STATUS)
def test_a_refusal_has_the_class_of_its_status(kind: str, status: int, name: str) -> None:
    refused_with = json_answer({"message": "No.", "code": "no-way"}, status, retry_after="99")
    with ScriptedService({"/api/clubs": [refused_with]}) as service, pytest.raises(Refused) as refused:
        result(kind, service.base_url, create_club, wait_budget=0)
    error = refused.value
    assert type(error) is getattr(silverball_client, name)
    assert (error.status, error.code, error.message, error.fields) == (status, "no-way", "No.", {})
    assert str(error) == f"No. ({status} no-way)"


@pytest.mark.parametrize("kind", KINDS)
def test_an_invalid_request_names_every_field(kind: str) -> None:
    script = {"/api/clubs": [json_answer(INVALID, 422)]}
    with ScriptedService(script) as service, pytest.raises(silverball_client.Invalid) as refused:
        result(kind, service.base_url, create_club)
    assert refused.value.fields == INVALID["errors"]
    assert "flag: Too long. Not a flag." in str(refused.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The service answered with status 409."),
        (b"{", "The service answered with status 409."),
        (b'"no"', "The service answered with status 409."),
        (b'{"message": ""}', "The service answered with status 409."),
        # Of another service, which has no codes, or others.
        (b'{"message": "Locked."}', "Locked."),
        (b'{"message": "Locked.", "code": 17}', "Locked."),
        (b'{"message": "Locked.", "code": null, "errors": []}', "Locked."),
        (b'{"message": "Locked.", "errors": {"name": "Taken."}}', "Locked."),
    ],
)
def test_a_refusal_of_another_form_keeps_its_sentence(body: bytes, message: str) -> None:
    error = refusal(409, body)
    assert (error.status, error.code, error.message) == (409, "", message)
    assert str(error) == f"{message} (409 without a code)"


def test_refusals_can_be_sent_to_another_process() -> None:
    error = refusal(422, b'{"message": "No.", "code": "invalid", "errors": {"name": ["Taken."]}}')
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.fields) == (type(error), str(error), error.fields)


def test_all_exceptions_have_one_base_class() -> None:
    exported = [getattr(silverball_client, name) for name in silverball_client.__all__]
    exceptions = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, BaseException)]
    assert len(exceptions) == 13
    assert all(issubclass(kind, SilverballError) for kind in exceptions)
    assert issubclass(ServerFault, Refused)


@pytest.mark.parametrize(
    "client", [Client("http://127.0.0.1:8000/api/", TOKEN), AsyncClient("http://127.0.0.1", TOKEN)]
)
def test_no_text_of_a_client_has_the_token(client: Client | AsyncClient) -> None:
    parts = [client, client._session, *vars(client).values(), *vars(client._session).values()]
    # The token itself is one of them.
    texts = [repr(part) + str(part) for part in parts if part != TOKEN]
    assert not [text for text in texts if "slv_" in text]
    send = Send("GET", "/api", {"authorization": f"Bearer {TOKEN}"}, None)
    assert "slv_" not in repr(send)
    assert client.base_url in repr(client)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", [CUT, answer(401), answer(301), answer(200, b"<html>")])
@pytest.mark.parametrize("token", [TOKEN, f"{TOKEN}\n"])
def test_no_text_of_an_exception_has_the_token(kind: str, given: Any, token: str) -> None:
    with ScriptedService({"/api/clubs": [given]}) as service, pytest.raises(SilverballError) as refused:
        result(kind, service.base_url, create_club, token=token, wait_budget=0)
    assert "slv_" not in "".join(traceback.format_exception(refused.value)) + repr(refused.value)
    # A token from a file ends with its line.
    assert {request.headers["authorization"] for request in service.requests} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("token", ["slv_a\nb", "slv_\x00", "slv_…", "slv_é"])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_what_cannot_be_a_token_is_refused_without_showing_it(kind: Any, token: str) -> None:
    with pytest.raises(ValueError, match="characters that no token has") as refused:
        kind("http://127.0.0.1", token)
    assert "slv_" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_without_a_token_sends_none(kind: str) -> None:
    script = {"/api/clubs": [answer(401)]}
    with ScriptedService(script) as service, pytest.raises(silverball_client.Unauthenticated):
        result(kind, service.base_url, create_club)
    assert "authorization" not in service.requests[0].headers
    assert service.requests[0].headers["user-agent"] == f"silverball-client/{silverball_client.__version__}"


def test_an_unknown_argument_is_named() -> None:
    with Client("http://127.0.0.1") as client, pytest.raises(TypeError, match="strike_count"):
        client.tournaments.create(name="Thursday", type="knockout", strike_count=3)  # type: ignore[call-arg]  # wrong
