"""Prize money of a tournament as an organizer set it, and the prizes that were paid out. Money is cents."""

from datetime import datetime

from msgspec import UNSET, Struct, UnsetType


class Payout(Struct, frozen=True, kw_only=True):
    """A prize that a player was given."""

    player_id: int
    cents: int
    # The account that ticked it; None for the service itself.
    user_id: int | None
    paid_at: datetime


class PrizePlan(Struct, frozen=True, kw_only=True):
    """Where the prize money comes from, what comes off it, and how it is shared."""

    # Shares of the places from the first on, in hundredths of a percent.
    shares: tuple[int, ...]
    entry_fee: int = 0
    # None counts every player of the tournament.
    players_paid: int | None = None
    # Money beside the fees: a sponsor, a raffle.
    extras: int = 0
    federation_fee: int = 0
    # In hundredths of a percent of the pot without the federation's fees.
    house_share: int = 0
    # Prizes are multiples of it.
    rounding: int = 1
    # Three letters; None shows plain figures.
    currency: str | None = None
    is_published: bool = False
    payouts: tuple[Payout, ...] = ()
    # The payments of the sign-up list when the pot was filled from them, in place of fees.
    payments: int | UnsetType = UNSET
