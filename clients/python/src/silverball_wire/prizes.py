"""Prize money. All money is whole cents, all shares are hundredths of a percent."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire


class PlacePrize(Wire, frozen=True, kw_only=True):
    """The prize of each player on a place; players who share it have the shares of their places divided."""

    position: int
    """Place, from 1."""
    last_position: int
    """Last of the places that the players on this place fill; `position` without a tie."""
    player_ids: tuple[int, ...]
    """Ids of the players on this place; empty before there are standings."""
    share: int
    """Share of these places together, in hundredths of a percent."""
    cents: int
    """Prize of each of these players, in cents."""


class PrizePayout(Wire, frozen=True, kw_only=True):
    """A prize that was paid out."""

    player_id: int
    cents: int
    """Prize when it was paid, in cents."""
    user_id: int | None
    """Id of the account that ticked it; null when it is not known."""
    paid_at: Instant
    """Time at which it was ticked, in UTC."""


class PrizeMoney(Wire, frozen=True, kw_only=True):
    """The prize money: `pot` = `federationFees` + `house` + `prizesTotal` + `remainder`, in cents."""

    tournament_id: int
    currency: str | None
    """Currency as three letters; null when it is not set."""
    published: bool
    """Whether the public pages show who gets how much."""
    final: bool
    """Whether the tournament is completed, so that prizes can be paid out."""
    entry_fee: int
    """Fee of each player, in cents."""
    players_paid: int | None
    """Number of players who paid; null counts every player of the tournament."""
    players: int
    """Number of players whose fees are counted."""
    payments: int | UnsetType = UNSET
    """Payments of the sign-up list that the pot was filled from, in cents; absent without them."""
    extras: int
    """Money beside the fees, in cents."""
    pot: int
    """Fees and extras, in cents."""
    federation_fee: int
    """Fee that the federation gets for each player, in cents."""
    federation_fees: int
    """Fees of the federation, in cents; they come off the pot first."""
    house_share: int
    """Share of the house in what the federation leaves, in hundredths of a percent."""
    house: int
    """Share of the house, in cents."""
    shares: tuple[int, ...]
    """Shares of the places from the first on, in hundredths of a percent."""
    rounding: int
    """Unit to which prizes are rounded down, in cents."""
    prizes: tuple[PlacePrize, ...]
    """Prizes, best place first."""
    prizes_total: int
    """All prizes together, in cents."""
    remainder: int
    """Money that the prizes leave, from rounding and from places that nobody has; in cents."""
    payouts: tuple[PrizePayout, ...]
    """Prizes that were paid out, by player."""
    paid_total: int
    """All that was paid out, in cents."""


class PrizeTable(Wire, frozen=True, kw_only=True):
    """The prizes by place, as an organizer published them."""

    tournament_id: int
    currency: str | None
    """Currency as three letters; null when it is not set."""
    final: bool
    """Whether the tournament is completed; until then places change."""
    prizes: tuple[PlacePrize, ...]
    """Prizes, best place first."""
    prizes_total: int
    """All prizes together, in cents."""
