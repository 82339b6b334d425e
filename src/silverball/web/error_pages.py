"""What a form is answered with that was refused."""

from collections.abc import Mapping

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal

STATUSES: Mapping[type[Refusal], int] = {NotFound: 404, NotAllowed: 403, Conflict: 409, Invalid: 422}


def status_for(refused: Refusal) -> int:
    """The status of the page that shows the form again."""
    return next((status for kind, status in STATUSES.items() if isinstance(refused, kind)), 400)


def needs_new_key(refused: Refusal) -> bool:
    """Whether it was the key of the form that was refused, so that it cannot be sent with it again."""
    return isinstance(refused, Invalid) and any("Key" in name for name in refused.errors)
