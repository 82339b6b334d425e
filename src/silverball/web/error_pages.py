"""The pages that answer a refused form."""

from silverball.kit.edge.idempotency import IdempotencyKeyMalformed, IdempotencyKeyReused
from silverball.kit.errors import Refusal
from silverball.kit.http import refusals


def status_for(refusal: Refusal) -> int:
    """The status of the page that shows the form again."""
    return refusals.status_for(type(refusal))


def needs_new_key(refusal: Refusal) -> bool:
    """Whether the form's idempotency key was refused, so that the form cannot be sent with it again."""
    return isinstance(refusal, IdempotencyKeyMalformed | IdempotencyKeyReused)
