"""Refusals and failures as HTTP answers: the only table of statuses, for the interface and the pages."""

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
from silverball.kit.http.body import BodyIsForm, MalformedBody
from silverball.kit.http.endpoints import HttpResponse, Unauthenticated
from silverball.kit.http.revisions import RevisionMismatch
from silverball.kit.http.router import MethodNotAllowed, RouteNotFound

LOG = logging.getLogger("silverball.app")
RETRY_AFTER = ((b"retry-after", b"1"),)


class PageNotFound(Refusal):
    """No page has this path, and this server has no pages at all."""

    sentence = "Not found."


class BodyTooLarge(Refusal):
    """The body is larger than the server reads."""

    sentence = "The POST data is too large."


class MalformedRequest(Refusal):
    """The request is no HTTP, or its address cannot be parsed."""

    sentence = "Bad request."


class BodyTooSlow(Refusal):
    """The body comes too slowly, or not at all."""

    sentence = "The body did not arrive in time."


class ServerStops(ServiceUnavailable):
    """The server stops, and its operator waits no longer for what is open."""

    sentence = "The server stops. Ask again in a moment; what was sent may or may not have been done."


class AddressTooLong(Refusal):
    """The address in the first line of the request is longer than the server reads."""

    sentence = "The address is too long."


class HeadTooLarge(Refusal):
    """The headers, the trailers or the framing of a body are larger than the server reads."""

    sentence = "The headers are too large: 64 KB and 100 lines at most."


class TooManyAttempts(Refusal):
    """The caller has used up the quota, or asks for running standings too often."""

    sentence = "Too Many Attempts."


class ServerError(Refusal):
    """The request failed because of a fault of the server."""

    sentence = "Server Error"


# A refusal has the status of its nearest ancestor in this table.
STATUSES: dict[type[Refusal], int] = {
    WrongFormat: 400,
    MalformedBody: 400,
    MalformedRequest: 400,
    Unauthenticated: 401,
    NotAllowed: 403,
    NotFound: 404,
    RouteNotFound: 404,
    PageNotFound: 404,
    MethodNotAllowed: 405,
    BodyTooSlow: 408,
    Conflict: 409,
    Gone: 410,
    RevisionMismatch: 412,
    BodyTooLarge: 413,
    AddressTooLong: 414,
    BodyIsForm: 415,
    Invalid: 422,
    TooManyAttempts: 429,
    HeadTooLarge: 431,
    ServerError: 500,
    ServiceUnavailable: 503,
}


def status_for(kind: type[Refusal]) -> int:
    """The HTTP status of this class of refusals."""
    return next(STATUSES[ancestor] for ancestor in kind.__mro__ if ancestor in STATUSES)


def refusal_response(refusal: Refusal) -> HttpResponse:
    """The answer of the interface to a refused request: a sentence, a stable code, and what else helps."""
    body: dict[str, object] = {"message": refusal.message, "code": refusal.code}
    if isinstance(refusal, Invalid):
        body["errors"] = refusal.errors
    if isinstance(refusal, MovedElsewhere):
        body["movedTo"] = refusal.moved_to
    return HttpResponse(
        status_for(type(refusal)), msgspec.json.encode(body), headers=_refusal_headers(refusal)
    )


def error_response(error: Exception, *, is_transient: Callable[[Exception], bool]) -> HttpResponse:
    """The answer to a request that ended with this exception.

    `is_transient` recognises database errors that may be gone when the request is sent again.
    """
    if isinstance(error, Refusal):
        return refusal_response(error)
    if is_transient(error):
        LOG.error("the database could not serve the request", exc_info=error)
        return refusal_response(ServiceUnavailable())
    LOG.error("the request failed", exc_info=error)
    return refusal_response(ServerError())


def _refusal_headers(refusal: Refusal) -> tuple[tuple[bytes, bytes], ...]:
    if isinstance(refusal, ServiceUnavailable):
        return RETRY_AFTER
    if isinstance(refusal, MethodNotAllowed):
        return ((b"allow", ", ".join(refusal.allowed).encode()),)
    if isinstance(refusal, RevisionMismatch):
        return refusal.headers
    return ()
