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
    due: int | UnsetType = UNSET
    """Prize by the places of now, in cents; absent where it is what was paid."""
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


# The sign-up list of a tournament, as who runs it sees it. All money is whole cents.


class SignUpPayment(Wire, frozen=True, kw_only=True):
    """The fee that somebody paid at the door."""

    cents: int
    """Amount, in cents."""
    how: str
    """Way of payment: `cash`, `card`, or other words of a director."""
    user_id: int | None
    """Id of the account that took it; null when it is not known."""
    paid_at: Instant
    """Time at which it was recorded, in UTC."""


class ListedPerson(Wire, frozen=True, kw_only=True):
    """A person on the sign-up list: in the tournament, on the waiting list, or gone after they paid."""

    player_id: int | None
    """Id of the player; null for who signed up themselves and was not taken yet."""
    sign_up_id: int | None
    """Id of the sign-up that was not taken yet; null for players."""
    name: str
    place: str
    """`in`, `signed-up` with a place, `waiting`, or `out` for who left and has no payment back."""
    position: int | None
    """Position on the waiting list, from 1; null for who does not wait."""
    signed_up_at: Instant | None
    """Time of the sign-up, in UTC; null when it is not known."""
    checked_in_at: Instant | None
    """Time at which they were ticked as here, in UTC; null when they were not."""
    late: bool
    """Whether they owe the late fee."""
    due: int
    """Fee for playing, in cents, whether it was paid or not."""
    payment: SignUpPayment | None
    """What was paid; null when nothing was."""
    proposed_number: int | UnsetType = UNSET
    """Federation number that they gave when they signed up: nobody has looked at it. Absent without one."""
    may_be: tuple[int, ...] | UnsetType = UNSET
    """Ids of the players of the book who have that number; absent without one."""


class SignUpList(Wire, frozen=True, kw_only=True):
    """The sign-up list: players in the order they were added, then who waits, first to last."""

    tournament_id: int
    code: str
    """Code of the door; empty when the tournament can have none."""
    player_limit: int | None
    """Number of players at most; null without a limit."""
    fee: int
    """Fee of a player, in cents."""
    late_fee: int
    """Fee beside it for who signs up late, in cents."""
    late_from: Instant | None
    """Time from which the late fee is due, in UTC; null when it is due from the start of the tournament."""
    people: tuple[ListedPerson, ...]
    """People on the list: players, then who waits, who left and had paid, and who was not taken yet."""
    paid_total: int
    """All payments together, in cents."""
    unpaid_players: int
    """Number of players who owe something and have not paid."""
