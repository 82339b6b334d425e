"""Entries that a player buys or gets. Rules: rules/mechanics/entries.py."""

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.rules.commands import purchases
from silverball.rules.model.purchases import Purchase
from silverball.service.calls import Write
from silverball.service.core import commands


class NewEntries(Body, frozen=True, kw_only=True):
    """Entries bought, given or refunded; the quantity of a refund is positive too."""

    type: Literal["regular", "comped", "refund"] = "regular"
    """`regular` entries are bought, `comped` ones given, and a `refund` takes entries back."""
    quantity: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Number of entries, also of refunded ones; at least 1."""
    amount: Decimal | None = None
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$")] | None = None

    def __post_init__(self) -> None:
        if self.amount is not None and self.amount < 0:
            raise Invalid({"amount": ["The amount field must be at least 0."]})


def add_entries(call: Write[NewEntries]) -> Purchase:
    """Add the entries to the player in the path, or take refunded ones off."""
    body, player_id = call.body, call.ids["player_id"]
    purchase = Purchase(
        entry_id=-1,
        player_id=player_id,
        type=body.type,
        quantity=-body.quantity if body.type == "refund" else body.quantity,
        amount=body.amount,
        currency=body.currency,
        created_at=call.now,
    )
    after = commands.run_command(call, lambda tournament: purchases.record_purchase(tournament, purchase))
    return after.purchases[-1]
