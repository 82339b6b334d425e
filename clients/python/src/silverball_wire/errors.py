"""The bodies of refused requests."""

from silverball_wire.base import Wire


class ErrorBody(Wire, frozen=True, kw_only=True):
    """A sentence for people, and a stable code for programs. Source: interface 7."""

    message: str
    code: str


class ValidationErrorBody(Wire, frozen=True, kw_only=True):
    """The faults of a request by field. Source: wire.yaml ValidationError, conventions.md."""

    message: str
    code: str
    errors: dict[str, tuple[str, ...]]
    """Faulty fields, each with the sentences about it."""
