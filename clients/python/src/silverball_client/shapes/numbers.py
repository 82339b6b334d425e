"""Federation numbers of accounts as administrators see them. Our addition."""

from silverball_client.shapes.base import Shape


class AccountNumber(Shape, frozen=True, kw_only=True):
    """A federation number that an account gave or claims, or that is confirmed for it."""

    user_id: int
    name: str
    ifpa_id: int
    in_profile: bool
    claimed_players: int
    confirmed_at: str | None
    confirmed_for: int | None
