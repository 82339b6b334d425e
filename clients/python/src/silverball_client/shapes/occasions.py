"""Occasions: the gatherings that the wire calls events."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.parts import OccasionListItem
from silverball_client.shapes.tournaments import Tournament
from silverball_client.shapes.users import User


class OccasionLink(Shape, frozen=True, kw_only=True):
    """A link on the page of an occasion."""

    link_id: int
    user_id: int
    label: str
    url: str
    is_registration: int
    embed: int


class OccasionTournament(Shape, frozen=True, kw_only=True):
    """A tournament of an occasion, on this server or elsewhere."""

    event_tournament_id: int
    event_id: int
    user_id: int
    tournament_id: int | None
    labels: tuple[str, ...]
    label_color: str | None
    player_limit: int | None
    tgp: int | float | None
    external_name: str | None
    external_link: str | None
    external_location: str | None
    external_start_utc: str | None
    external_start_local: str | None
    external_end_utc: str | None
    external_end_local: str | None


class Occasion(OccasionListItem, frozen=True, kw_only=True):
    """An occasion with its tournaments."""

    organizer: User | UnsetType = UNSET
    links: tuple[OccasionLink, ...] | UnsetType = UNSET
    link_ids: tuple[int, ...] | UnsetType = UNSET
    event_tournaments: tuple[OccasionTournament, ...] | UnsetType = UNSET
    event_tournament_ids: tuple[int, ...] | UnsetType = UNSET
    tournaments: tuple[Tournament, ...] | UnsetType = UNSET
    shortcut_id: int | UnsetType | None = UNSET
    shortcut_slug: str | UnsetType | None = UNSET
