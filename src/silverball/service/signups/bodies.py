"""Bodies of the sign-up list."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Label

CENTS_MAX = 10_000_000
Fee = Annotated[int, Meta(ge=0, le=CENTS_MAX)]
Paid = Annotated[int, Meta(ge=1, le=CENTS_MAX)]
Moment = Annotated[datetime, Meta(tz=True)]


class ChangedSignUpTerms(Body, frozen=True, kw_only=True):
    """Fees of the sign-up list, and a new code of the door; what is absent stays."""

    fee: Fee | UnsetType = UNSET
    """Fee of a player, in cents."""
    late_fee: Fee | UnsetType = UNSET
    """Fee beside it for who signs up late, in cents."""
    late_from: Moment | UnsetType | None = UNSET
    """Time from which the late fee is due; null when it is due from the start of the tournament."""
    new_code: bool = False
    """Whether the code of the door is replaced: the present one opens nothing any more."""


class NewPayment(Body, frozen=True, kw_only=True):
    """A payment at the door, and the way it was made."""

    cents: Paid
    """Amount, in cents."""
    how: Label
    """Way of payment: `cash`, `card`, or other words."""


class PersonAtDoor(Body, frozen=True, kw_only=True):
    """Whether somebody is here, and what they paid; what is absent stays."""

    here: bool | UnsetType = UNSET
    """Whether they are here; `false` takes the tick back."""
    payment: NewPayment | UnsetType | None = UNSET
    """Payment to record; null takes the recorded one back."""

    def __post_init__(self) -> None:
        if self.here is UNSET and self.payment is UNSET:
            raise Invalid({"here": ["Send whether they are here, or a payment."]})


class NewWaiting(Body, frozen=True, kw_only=True):
    """A player of the organizer's book, for the waiting list."""

    player_id: Id


class WaitingMove(Body, frozen=True, kw_only=True):
    """Where somebody on the waiting list goes."""

    position: Annotated[int, Meta(ge=0, le=1000)]
    """Position on the waiting list, from 1; 0 puts them into the tournament, also when it is full."""


def changed_values(body: ChangedSignUpTerms) -> dict[str, Any]:
    """The fees in the body, by their names in the rules."""
    values = {name: getattr(body, name) for name in ("fee", "late_fee", "late_from")}
    return {name: value for name, value in values.items() if value is not UNSET}
