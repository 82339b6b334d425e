"""Bodies of the sign-up list and of the prize money."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Label
from silverball.rules.model.tournament import PrizePlan
from silverball.rules.ranking import prizes

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


class TakenSignUp(Body, frozen=True, kw_only=True):
    """A person who is let in: whether they are here, and their payment."""

    here: bool = False
    """Whether they are here."""
    payment: NewPayment | None = None
    """What they paid; null when nothing."""
    as_player: Id | None = None
    """Id of the player of the book that they are; null for whoever has their name, or nobody so far."""


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


PRIZES_CENTS_MAX = 10_000_000_000
PLACES_MAX = 100
PLAYERS_MAX = 10_000
Cents = Annotated[int, Meta(ge=0, le=PRIZES_CENTS_MAX)]
Share = Annotated[int, Meta(ge=0, le=prizes.WHOLE * 10)]
STANDARD_MAX = max(prizes.STANDARD_SHARES)


class PrizeSettings(Body, frozen=True, kw_only=True):
    """Where the prize money comes from, what comes off it, and how it is shared; replaces what was set."""

    entry_fee: Cents = 0
    """Fee of each player, in cents."""
    players_paid: Annotated[int, Meta(ge=0, le=PLAYERS_MAX)] | None = None
    """Number of players who paid; null counts every player of the tournament."""
    from_payments: bool = False
    """Whether the payments of the sign-up list fill the pot, in place of `entryFee` and `playersPaid`."""
    extras: Cents = 0
    """Money beside the fees, in cents."""
    federation_fee: Cents = 0
    """Fee that the federation gets for each player, in cents."""
    house_share: Annotated[int, Meta(ge=0, le=prizes.WHOLE)] = 0
    """Share of the house in what the federation leaves, in hundredths of a percent."""
    shares: Annotated[tuple[Share, ...], Meta(max_length=PLACES_MAX)] = ()
    """Shares of the places from the first on, in hundredths of a percent; together 10000."""
    places: Annotated[int, Meta(ge=1, le=STANDARD_MAX)] | None = None
    """Number of places that win money by the usual shares; instead of `shares`."""
    rounding: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    """Unit to which prizes are rounded down, in cents."""
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$")] | None = None
    """Currency as three letters; null shows plain figures."""
    published: bool = False
    """Whether the public pages show who gets how much."""

    def __post_init__(self) -> None:
        if bool(self.shares) == (self.places is not None):
            raise Invalid({"shares": ["Send the shares, or the number of places for the usual ones."]})

    def plan(self) -> PrizePlan:
        """The plan that rules work on."""
        return PrizePlan(
            shares=self.shares if self.places is None else prizes.STANDARD_SHARES[self.places],
            entry_fee=self.entry_fee,
            players_paid=self.players_paid,
            extras=self.extras,
            federation_fee=self.federation_fee,
            house_share=self.house_share,
            rounding=self.rounding,
            currency=self.currency,
            is_published=self.published,
        )


class PaidMark(Body, frozen=True, kw_only=True):
    """Whether a player was given their prize."""

    paid: bool
    """Whether the prize was paid out; `false` takes the tick back."""
