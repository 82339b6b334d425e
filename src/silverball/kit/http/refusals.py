"""Refusals and failures as HTTP answers: the only table of statuses, for the interface and the pages."""

import logging
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

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
from silverball.kit.http.asgi import (
    CACHE_CONTROL,
    INTERFACE_HEADERS,
    Headers,
    Send,
    body_message,
    start_message,
)
from silverball.kit.http.body import BodyIsForm, MalformedBody
from silverball.kit.http.endpoints import HttpResponse, Unauthenticated
from silverball.kit.http.router import MethodNotAllowed, RouteNotFound

# Revisions of a tournament in headers: what an answer names, and what `If-Match` asks for.


def revision_headers(revision: int, stamp: int) -> tuple[tuple[bytes, bytes], ...]:
    """The headers that name this revision of a tournament: its number, and the tag for If-Match."""
    tag = b'"%b"' % revision_tag(revision, stamp)
    return ((b"x-tournament-revision", b"%d" % revision), (b"x-tournament-tag", tag))


def revision_tag(revision: int, stamp: int) -> bytes:
    """Number and stamp of a revision as one text, for one state of a tournament only.

    A database that went back to a copy comes to the same number again, with another stamp.
    """
    return b"%d-%x" % (revision, stamp)


class RevisionMismatch(Refusal):
    """The tournament is not at the revision that If-Match names."""

    sentence = "The tournament is at revision {revision} now. Read it again before you change it."

    def __init__(self, revision: int, stamp: int) -> None:
        super().__init__(revision=revision)
        self.headers = revision_headers(revision, stamp)


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


class UnclearHost(Refusal):
    """A request in HTTP/1.1 has no Host, or several: a proxy could understand another than we do."""

    sentence = "The request needs exactly one Host header."


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


class AnswerInProgress(TooManyAttempts):
    """The caller has a costly answer computed already, and another one waits."""

    sentence = "One of your answers is being computed and another one waits. Ask again when you have them."


class ServerError(Refusal):
    """The request failed because of a fault of the server."""

    sentence = "Server Error"


# A refusal has the status of its nearest ancestor in this table.
STATUSES: dict[type[Refusal], int] = {
    WrongFormat: 400,
    MalformedBody: 400,
    MalformedRequest: 400,
    UnclearHost: 400,
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
    body: dict[str, object] = {"message": refusal.message, "code": refusal.code, **refusal.more}
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
    if isinstance(refusal, (ServiceUnavailable, AnswerInProgress)):
        return RETRY_AFTER
    if isinstance(refusal, MethodNotAllowed):
        return ((b"allow", ", ".join(refusal.allowed).encode()),)
    if isinstance(refusal, RevisionMismatch):
        return refusal.headers
    return ()


EMPTY_BODY = body_message(b"")


class Reply(Struct, frozen=True):
    """An answer, ready to be sent."""

    status: int
    # The headers of the response itself: for a cached response the same list each time.
    headers: Headers
    # Those of this request.
    extra: Headers
    # The ASGI message with the body.
    body: dict[str, Any]

    def start(self) -> dict[str, Any]:
        """Return the ASGI message with status and headers."""
        return start_message(self.status, [*self.headers, *self.extra])

    async def send(self, send: Send) -> None:
        """Send both messages."""
        await send(self.start())
        await send(self.body)


def uncached_reply(response: HttpResponse, method: str, extra: Headers) -> Reply:
    """Return a reply that is not cached: a refusal, or the answer to a write."""
    headers = [
        (b"content-type", response.content_type.encode()),
        (b"content-length", b"%d" % len(response.body)),
        CACHE_CONTROL,
        *INTERFACE_HEADERS,
        *response.headers,
    ]
    body = EMPTY_BODY if method == "HEAD" else body_message(response.body)
    return Reply(response.status, headers, extra, body)
