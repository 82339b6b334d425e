"""The sign-up list of a tournament, as who runs it sees it. All money is whole cents."""

from silverball_client.shapes.base import Shape


class SignUpPayment(Shape, frozen=True, kw_only=True):
    """The fee that somebody paid at the door."""

    cents: int
    how: str
    user_id: int | None
    paid_at: str


class ListedPerson(Shape, frozen=True, kw_only=True):
    """A person on the sign-up list: in the tournament, on the waiting list, or gone after they paid."""

    player_id: int
    name: str
    place: str
    position: int | None
    signed_up_at: str | None
    checked_in_at: str | None
    late: bool
    due: int
    payment: SignUpPayment | None


class SignUpList(Shape, frozen=True, kw_only=True):
    """The sign-up list: players in the order they were added, then who waits, first to last."""

    tournament_id: int
    code: str
    player_limit: int | None
    fee: int
    late_fee: int
    late_from: str | None
    people: tuple[ListedPerson, ...]
    paid_total: int
    unpaid_players: int
