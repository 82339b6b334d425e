"""What went wrong, as a status and a body: the one place where that is decided."""

import logging
from collections.abc import Callable

import msgspec

from silverball.kit.errors import (
    Conflict,
    Gone,
    Invalid,
    MovedElsewhere,
    NotAllowed,
    NotFound,
    Refusal,
    ServiceUnavailable,
    WrongFormat,
)
from silverball.kit.http.body import MalformedBody
from silverball.kit.http.endpoints import HttpResponse, RevisionMismatch, Unauthenticated
from silverball.kit.http.router import MethodNotAllowed, UnknownPath

LOG = logging.getLogger("silverball.app")

STATUSES: dict[type[Refusal], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Invalid: 422,
    WrongFormat: 400,
    Gone: 410,
    ServiceUnavailable: 503,
}

RETRY_AFTER = ((b"retry-after", b"1"),)
FIXED_MESSAGES: dict[type[Exception], tuple[int, str]] = {
    Unauthenticated: (401, "Unauthenticated."),
    MalformedBody: (400, "Bad request."),
}


def error_response(error: Exception, *, is_transient: Callable[[Exception], bool]) -> HttpResponse:
    """What somebody is answered whose request ended like this.

    `is_passing` knows the faults of a database that are over when the request is sent again.
    """
    if isinstance(error, Invalid):
        return _json_response(422, {"message": error.message, "errors": error.errors})
    if isinstance(error, Refusal):
        # A refusal is of the kind of its nearest ancestor.
        status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
        more = {"movedTo": error.moved_to} if isinstance(error, MovedElsewhere) else {}
        return _json_response(
            status, {"message": error.message, **more}, RETRY_AFTER if status == 503 else ()
        )
    if type(error) in FIXED_MESSAGES:
        status, sentence = FIXED_MESSAGES[type(error)]
        return _json_response(status, {"message": sentence})
    if isinstance(error, UnknownPath):
        return _json_response(404, {"message": f"The route {str(error).lstrip('/')} could not be found."})
    if isinstance(error, MethodNotAllowed):
        return _method_not_allowed(error)
    if isinstance(error, RevisionMismatch):
        return _precondition_failed(error)
    if is_transient(error):
        LOG.error("the database could not serve the request", exc_info=error)
        return _json_response(503, {"message": "Service Unavailable"}, RETRY_AFTER)
    LOG.error("the request failed", exc_info=error)
    return _json_response(500, {"message": "Server Error"})


def _method_not_allowed(error: MethodNotAllowed) -> HttpResponse:
    allowed = ", ".join(error.allowed)
    route = error.path.lstrip("/")
    message = f"The {error.method} method is not supported for route {route}. Supported methods: {allowed}."
    return _json_response(405, {"message": message}, ((b"allow", allowed.encode()),))


def _precondition_failed(error: RevisionMismatch) -> HttpResponse:
    message = f"The tournament is at revision {error.revision} now. Read it again before you change it."
    return _json_response(412, {"message": message}, ((b"x-tournament-revision", b"%d" % error.revision),))


def _json_response(
    status: int, body: dict[str, object], headers: tuple[tuple[bytes, bytes], ...] = ()
) -> HttpResponse:
    return HttpResponse(status, msgspec.json.encode(body), headers=headers)
