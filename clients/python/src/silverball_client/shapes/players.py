"""Players of an organizer's book, also as entrants of a tournament."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class EntrantPart(Shape, frozen=True, kw_only=True):
    """A player's entry in one tournament."""

    status: str
    seed: int | None
    points_adjustment: int | float | None
    score_adjustment: int | float | UnsetType = UNSET
    subscription: str | None
    labels: tuple[str, ...]
    label_color: str | None
    away_rounds: int | UnsetType = UNSET


class Player(Shape, frozen=True, kw_only=True):
    """A player of an organizer."""

    player_id: int
    name: str
    ifpa_id: int | None
    status: str
    organizer_id: int
    claimed_by: int | None
    labels: tuple[str, ...] = ()
    label_color: str | None = None
    tournament_player: EntrantPart | UnsetType = UNSET


class Claim(Shape, frozen=True, kw_only=True):
    """A user's claim to be a player, which the player's organizer has yet to approve. Our addition."""

    player_id: int
    user_id: int
    created_at: str
