"""The sign-up list of a tournament, as who runs it sees it. All money is whole cents."""

from silverball_wire.base import Instant, Wire


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

    player_id: int
    name: str
    place: str
    """`in`, `waiting`, or `out` for who has left and was not given their payment back."""
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
    """People on the list: players, then who waits, then who left and had paid."""
    paid_total: int
    """All payments together, in cents."""
    unpaid_players: int
    """Number of players who owe something and have not paid."""
