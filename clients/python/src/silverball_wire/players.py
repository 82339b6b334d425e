"""Players of an organizer's book, also as entrants of a tournament."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.values import Number, Status


class EntrantPart(Wire, frozen=True, kw_only=True):
    """A player's entry in one tournament. Source: wire.yaml TournamentPlayerPivot."""

    status: Status
    """`active`, or `inactive` for a player who was dropped."""
    seed: int | None
    points_adjustment: Number | None
    """Points that the organizer gave or, below 0, took; strikes in a knockout; null for none."""
    score_adjustment: Number | UnsetType = UNSET
    """Correction of the points of a knockout; absent when there is none."""
    subscription: str | None
    """Kind of subscription, as imported; null otherwise."""
    labels: tuple[str, ...]
    label_color: str | None
    away_rounds: int | UnsetType = UNSET
    """Rounds that the player still sits out before they are drawn again; 0 while they sit out the newest
    round. Absent for everybody else."""


class Player(Wire, frozen=True, kw_only=True):
    """A player of an organizer. Source: samples/resolve-players-*.json, wire.yaml Player."""

    player_id: int
    name: str
    ifpa_id: int | None
    status: Status
    organizer_id: int
    claimed_by: int | None
    """Id of the account that the player is; null for none."""
    labels: tuple[str, ...] = ()
    label_color: str | None = None
    tournament_player: EntrantPart | UnsetType = UNSET
    """The player's part in a tournament; absent, not null, outside of one."""


class Claim(Wire, frozen=True, kw_only=True):
    """A user's claim to be a player, which the player's organizer has yet to approve. Our addition."""

    player_id: int
    user_id: int
    """Id of the account that claims to be the player."""
    created_at: Instant


class Club(Wire, frozen=True, kw_only=True):
    """A club of players. Source: samples/clubs.json, wire.yaml Club."""

    club_id: int
    user_id: int
    """Id of the account that leads the club."""
    name: str
    """Name of the club."""
    logo: str | None
    description: str | None
    location: str | None


class ApiToken(Wire, frozen=True, kw_only=True):
    """A token. Its secret is present only once, in the answer that creates or rotates it."""

    token_id: int
    name: str
    """Name by which the token is listed."""
    # One of read, score, manage, admin.
    ability: str
    created_at: Instant
    last_used_at: Instant | None
    """When it was last used, to the minute; null before the first time."""
    expires_at: Instant | None
    """When it expires; null for never."""
    token: str | UnsetType | None = UNSET
    """The token itself, only in the answer that creates or rotates it; null when that request is repeated."""
