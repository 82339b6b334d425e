"""Federation numbers of accounts as administrators see them. Our addition."""

from silverball_wire.base import Instant, Wire


class AccountNumber(Wire, frozen=True, kw_only=True):
    """A federation number that an account gave or claims, or that is confirmed for it."""

    user_id: int
    name: str
    """Name of the account."""
    ifpa_id: int
    in_profile: bool
    """Whether the account's profile has this number."""
    claimed_players: int
    """Number of players with this number that the account has claimed."""
    confirmed_at: Instant | None
    """When an administrator confirmed it for this account; null while it waits."""
    confirmed_for: int | None
    """Id of the account that it is confirmed for, which may be another one; null when it is for none."""
