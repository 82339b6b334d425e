"""What went wrong, as a status and a body: the one place where that is decided."""

import logging
from collections.abc import Callable

import msgspec

from silverball.kit.body import Malformed
from silverball.kit.errors import (
    Conflict,
    Gone,
    Invalid,
    MovedElsewhere,
    NotAllowed,
    NotFound,
    Refusal,
    Unready,
    WrongFormat,
)
from silverball.kit.http import Answer, Stale, Unauthenticated
from silverball.kit.routing import UnknownPath, WrongVerb

LOG = logging.getLogger("silverball.app")

STATUSES: dict[type[Refusal], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Invalid: 422,
    WrongFormat: 400,
    Gone: 410,
    Unready: 503,
}

RETRY = ((b"retry-after", b"1"),)
SENTENCES: dict[type[Exception], tuple[int, str]] = {
    Unauthenticated: (401, "Unauthenticated."),
    Malformed: (400, "Bad request."),
}


def refused(error: Exception, *, is_passing: Callable[[Exception], bool]) -> Answer:
    """What somebody is answered whose request ended like this.

    `is_passing` knows the faults of a database that are over when the request is sent again.
    """
    if isinstance(error, Invalid):
        return _said(422, {"message": error.message, "errors": error.errors})
    if isinstance(error, Refusal):
        # A refusal is of the kind of its nearest ancestor.
        status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
        more = {"movedTo": error.moved_to} if isinstance(error, MovedElsewhere) else {}
        return _said(status, {"message": error.message, **more}, RETRY if status == 503 else ())
    if type(error) in SENTENCES:
        status, sentence = SENTENCES[type(error)]
        return _said(status, {"message": sentence})
    if isinstance(error, UnknownPath):
        return _said(404, {"message": f"The route {str(error).lstrip('/')} could not be found."})
    if isinstance(error, WrongVerb):
        return _wrong_verb(error)
    if isinstance(error, Stale):
        return _stale(error)
    if is_passing(error):
        LOG.error("the database could not serve the request", exc_info=error)
        return _said(503, {"message": "Service Unavailable"}, RETRY)
    LOG.error("the request failed", exc_info=error)
    return _said(500, {"message": "Server Error"})


def _wrong_verb(error: WrongVerb) -> Answer:
    allowed = ", ".join(error.allowed)
    route = error.path.lstrip("/")
    message = f"The {error.method} method is not supported for route {route}. Supported methods: {allowed}."
    return _said(405, {"message": message}, ((b"allow", allowed.encode()),))


def _stale(error: Stale) -> Answer:
    message = f"The tournament is at revision {error.revision} now. Read it again before you change it."
    return _said(412, {"message": message}, ((b"x-tournament-revision", b"%d" % error.revision),))


def _said(status: int, body: dict[str, object], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    return Answer(status, msgspec.json.encode(body), headers=headers)
