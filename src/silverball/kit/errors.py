"""Refusals: what a caller is told when a request cannot be done.

    Refusal
    |-- NotFound       the thing does not exist, or the caller may not know that it does
    |-- NotAllowed     the caller may not do this
    |-- Conflict       the thing is in a state that does not allow it
    |-- Invalid        the request itself is wrong; every fault is listed by field
    |-- WrongFormat    the tournament is of a format that has no such thing
    |-- Gone           it was there, and will not be again
    `-- Unready        not now; the same request can succeed later

Only `app.py` maps these meanings to statuses. This module imports nothing: the rules use it.
"""


class Refusal(Exception):
    """A sentence for the caller that says what is wrong and what to do next."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NotFound(Refusal):
    """Nothing is there under this name. The wording is the one that existing clients know."""

    def __init__(self, model: str, *keys: object) -> None:
        named = " " + ", ".join(str(key) for key in keys) if keys else "."
        super().__init__(f"No query results for model [App\\Models\\{model}]{named}")


class MovedElsewhere(NotFound):
    """It was here under this name, and is here under another one now."""

    def __init__(self, model: str, key: object, *, moved_to: str) -> None:
        super().__init__(model, key)
        self.moved_to = moved_to


class NotAllowed(Refusal):
    """The caller is known but may not do this."""

    def __init__(self, message: str = "This action is unauthorized.") -> None:
        super().__init__(message)


class Conflict(Refusal):
    """The state of the thing forbids it now."""


class WrongFormat(Refusal):
    """A tournament of this format has no such thing."""


class Gone(Refusal):
    """What is asked for was there once and is kept no longer."""


class ServiceUnavailable(Refusal):
    """It cannot be answered now, and nothing is wrong with the request."""

    def __init__(self) -> None:
        super().__init__("Service Unavailable")


class Invalid(Refusal):
    """A request with faults: field name (as the caller wrote it) -> sentences."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        sentences = [sentence for listed in errors.values() for sentence in listed]
        more = len(sentences) - 1
        suffix = f" (and {more} more error{'s' if more != 1 else ''})" if more else ""
        super().__init__(sentences[0] + suffix)
        self.errors = errors
