"""What is said when a request cannot be done."""

from silverball.wire.base import Wire


class ErrorBody(Wire, frozen=True, kw_only=True):
    """A sentence for the caller. Source: interface 7."""

    message: str


class ValidationErrorBody(Wire, frozen=True, kw_only=True):
    """The faults of a request by field. Source: wire.yaml ValidationError, conventions.md."""

    message: str
    errors: dict[str, tuple[str, ...]]
