"""Prize money. All money is whole cents, all shares are hundredths of a percent."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class PlacePrize(Shape, frozen=True, kw_only=True):
    """The prize of each player on a place; players who share it have the shares of their places divided."""

    position: int
    last_position: int
    player_ids: tuple[int, ...]
    share: int
    cents: int


class PrizePayout(Shape, frozen=True, kw_only=True):
    """A prize that was paid out."""

    player_id: int
    cents: int
    user_id: int | None
    paid_at: str


class PrizeMoney(Shape, frozen=True, kw_only=True):
    """The prize money: `pot` = `federationFees` + `house` + `prizesTotal` + `remainder`, in cents."""

    tournament_id: int
    currency: str | None
    published: bool
    final: bool
    entry_fee: int
    players_paid: int | None
    players: int
    payments: int | UnsetType = UNSET
    extras: int
    pot: int
    federation_fee: int
    federation_fees: int
    house_share: int
    house: int
    shares: tuple[int, ...]
    rounding: int
    prizes: tuple[PlacePrize, ...]
    prizes_total: int
    remainder: int
    payouts: tuple[PrizePayout, ...]
    paid_total: int


class PrizeTable(Shape, frozen=True, kw_only=True):
    """The prizes by place, as an organizer published them."""

    tournament_id: int
    currency: str | None
    final: bool
    prizes: tuple[PlacePrize, ...]
    prizes_total: int
