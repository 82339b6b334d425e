"""Refusals and failures as answers: one status table, a code in every body."""

import json
from collections.abc import Callable

import pytest

from silverball.kit import errors
from silverball.kit.edge.idempotency import IdempotencyKeyReused, RequestInProgress
from silverball.kit.http import refusals
from silverball.kit.http.body import MalformedBody
from silverball.kit.http.endpoints import AbilityMissing, Unauthenticated
from silverball.kit.http.refusals import RevisionMismatch
from silverball.kit.http.router import MethodNotAllowed, RouteNotFound
from silverball.web import site


class TableTilted(errors.Conflict):
    """A refusal of a test."""

    sentence = "{player} tilted {game}."


def answer(
    error: Exception, *, is_transient: bool = False
) -> tuple[int, dict[str, object], dict[bytes, bytes]]:
    response = refusals.error_response(error, is_transient=lambda _error: is_transient)
    return response.status, json.loads(response.body), dict(response.headers)


@pytest.mark.parametrize(
    ("error", "status", "body"),
    [
        (Unauthenticated(), 401, {"message": "Unauthenticated.", "code": "unauthenticated"}),
        (AbilityMissing(), 403, {"message": "Invalid ability provided.", "code": "ability-missing"}),
        (
            MalformedBody(line=3, column=14, cause="trailing comma in object"),
            400,
            {
                "message": "The body is not JSON: line 3, column 14: trailing comma in object.",
                "code": "malformed-body",
            },
        ),
        (
            RouteNotFound("/api/nothing"),
            404,
            {"message": "The route api/nothing could not be found.", "code": "route-not-found"},
        ),
        (
            errors.NotFound("Game", 7),
            404,
            {"message": "No query results for model [App\\Models\\Game] 7", "code": "not-found"},
        ),
        (TableTilted(player=3, game=9), 409, {"message": "Player 3 tilted game 9.", "code": "table-tilted"}),
        (errors.ServiceUnavailable(), 503, {"message": "Service Unavailable", "code": "service-unavailable"}),
        (RuntimeError("a secret"), 500, {"message": "Server Error", "code": "server-error"}),
    ],
)
def test_each_error_has_a_status_a_message_and_a_code(
    error: Exception, status: int, body: dict[str, object]
) -> None:
    assert answer(error)[:2] == (status, body)


def test_faults_are_listed_by_field_beside_message_and_code() -> None:
    status, body, _ = answer(errors.Invalid({"name": ["The name field is required.", "Too short."]}))
    assert (status, body) == (
        422,
        {
            "message": "The name field is required. (and 1 more error)",
            "code": "invalid",
            "errors": {"name": ["The name field is required.", "Too short."]},
        },
    )


def test_a_thing_with_a_new_id_names_it() -> None:
    _, body, _ = answer(errors.MovedElsewhere("OpdbEntry", "G1", moved_to="G2"))
    assert body["movedTo"] == "G2"


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [
        (MethodNotAllowed("PUT", "/api/games", ["GET", "HEAD"]), b"allow", b"GET, HEAD"),
        (RevisionMismatch(918, 0xA7), b"x-tournament-revision", b"918"),
        (RevisionMismatch(918, 0xA7), b"x-tournament-tag", b'"918-a7"'),
        (errors.ServiceUnavailable(), b"retry-after", b"1"),
    ],
)
def test_headers_say_what_to_do(error: Exception, name: bytes, value: bytes) -> None:
    assert answer(error)[2][name] == value


def test_a_transient_error_of_the_database_is_a_503() -> None:
    status, body, headers = answer(OSError("the database is busy"), is_transient=True)
    assert (status, body["code"], headers[b"retry-after"]) == (503, "service-unavailable", b"1")


@pytest.mark.parametrize(
    "make_refusal",
    [
        lambda: errors.NotFound("Game", 7),
        errors.NotAllowed,
        RequestInProgress,
        errors.WrongFormat,
        errors.Gone,
        IdempotencyKeyReused,
        errors.ServiceUnavailable,
    ],
)
def test_pages_and_the_interface_share_the_statuses(make_refusal: Callable[[], errors.Refusal]) -> None:
    refusal = make_refusal()
    assert site.status_for(refusal) == answer(refusal)[0]
