"""Exceptions of the client. All derive from `SilverballError`."""

from collections.abc import Mapping, Sequence

import msgspec


class SilverballError(Exception):
    """Base class of all exceptions of this package."""


class NoAnswer(SilverballError):
    """The service cannot be reached, or the connection was lost too often."""


class UnexpectedAnswer(SilverballError):
    """The answer is not what this service sends: an address of another site, a proxy's page, half a body."""


class Refused(SilverballError):
    """The service refused the request; nothing was changed.

    Decide by `code`, which never changes its meaning, and by the status for a code you do not know.
    `fields` has the faults by field for `Invalid`, and is empty otherwise.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        fields: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = dict(fields or {})

    def __str__(self) -> str:
        faults = "".join(f" {name}: {' '.join(sentences)}" for name, sentences in self.fields.items())
        return f"{self.message}{faults} ({self.status} {self.code or 'without a code'})"


class BadRequest(Refused):
    """Status 400: the body is not JSON, or the tournament's format has no such thing."""


class Unauthenticated(Refused):
    """Status 401: there is no token, or it is not valid."""


class NotAllowed(Refused):
    """Status 403: the caller may not do this."""


class NotFound(Refused):
    """Status 404: there is no such thing."""


class Conflict(Refused):
    """Status 409: the state of the thing does not allow it; the message says what to do."""


class Gone(Refused):
    """Status 410: the thing existed once and is kept no longer."""


class Invalid(Refused):
    """Status 422: the request is invalid; `fields` lists every fault."""


class TooManyRequests(Refused):
    """Status 429, and waiting longer would exceed the client's `wait_budget`."""


class ServerFault(Refused):
    """A status from 500 on, and trying again did not help."""


REFUSALS: Mapping[int, type[Refused]] = {
    400: BadRequest,
    401: Unauthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


class RefusalSentence(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a refusal in an unknown form: its sentence, if it has one."""

    message: str = ""


class RefusalBody(RefusalSentence, frozen=True, kw_only=True):
    """The body of a refusal, as far as it is understood."""

    code: str = ""
    errors: dict[str, list[str]] = {}


def refusal(status: int, body: bytes) -> Refused:
    """Build the exception for an answer with this status and body."""
    read = _read_body(body)
    kind = REFUSALS.get(status, ServerFault if status >= 500 else Refused)
    return kind(status, read.code, read.message or f"The service answered with status {status}.", read.errors)


def _read_body(body: bytes) -> RefusalBody:
    """Read as much of the body as is understood."""
    try:
        return msgspec.json.decode(body, type=RefusalBody)
    except msgspec.DecodeError:
        pass
    try:
        return RefusalBody(message=msgspec.json.decode(body, type=RefusalSentence).message)
    except msgspec.DecodeError:
        return RefusalBody()
