"""Bodies of prize money."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.rules.model.prizes import PrizePlan
from silverball.rules.prizes import sharing

CENTS_MAX = 10_000_000_000
PLACES_MAX = 100
PLAYERS_MAX = 10_000
Cents = Annotated[int, Meta(ge=0, le=CENTS_MAX)]
Share = Annotated[int, Meta(ge=0, le=sharing.WHOLE * 10)]
STANDARD_MAX = max(sharing.STANDARD_SHARES)


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
    house_share: Annotated[int, Meta(ge=0, le=sharing.WHOLE)] = 0
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
            shares=self.shares if self.places is None else sharing.STANDARD_SHARES[self.places],
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
