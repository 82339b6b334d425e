"""Players of an organizer's book, also as entrants of a tournament."""

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.values import Number, Status


class EntrantPart(Wire, frozen=True, kw_only=True):
    """A player's entry in one tournament. Source: wire.yaml TournamentPlayerPivot."""

    status: Status
    seed: int | None
    points_adjustment: Number | None
    # Our addition: the correction that a knockout stores apart from strikes (formats 13.5).
    score_adjustment: Number | UnsetType = UNSET
    subscription: str | None
    labels: tuple[str, ...]
    label_color: str | None


class Player(Wire, frozen=True, kw_only=True):
    """A player of an organizer. Source: samples/resolve-players-*.json, wire.yaml Player."""

    player_id: int
    name: str
    ifpa_id: int | None
    status: Status
    organizer_id: int
    claimed_by: int | None
    labels: tuple[str, ...] = ()
    label_color: str | None = None
    # Absent, not null, outside a tournament: clients test for the key.
    tournament_player: EntrantPart | UnsetType = UNSET


class Claim(Wire, frozen=True, kw_only=True):
    """A user's claim to be a player, which the player's organizer has yet to approve. Our addition."""

    player_id: int
    user_id: int
    created_at: str
