"""Occasions: the gatherings that the wire calls events."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.parts import OccasionListItem
from silverball_wire.series import SeriesListItem
from silverball_wire.tournaments import Tournament
from silverball_wire.users import User


class OccasionLink(Wire, frozen=True, kw_only=True):
    """A link on the page of an occasion. Source: samples/events.json."""

    link_id: int
    """Id of the link."""
    user_id: int
    label: str
    url: str
    is_registration: int
    embed: int


class OccasionTournament(Wire, frozen=True, kw_only=True):
    """A tournament of an occasion, on this server or elsewhere. Source: samples/events.json."""

    event_tournament_id: int
    """Id of the entry."""
    event_id: int
    user_id: int
    tournament_id: int | None
    """Id of the tournament on this server; null for one elsewhere."""
    labels: tuple[str, ...]
    label_color: str | None
    player_limit: int | None
    tgp: int | float | None
    external_name: str | None
    external_link: str | None
    external_location: str | None
    external_start_utc: Instant | None
    external_start_local: str | None
    """Start of the tournament on another site, on its local clock; null when it is not known."""
    external_end_utc: Instant | None
    external_end_local: str | None
    """End of the tournament on another site, on its local clock; null when it is not known."""


class Occasion(OccasionListItem, frozen=True, kw_only=True):
    """An occasion with its tournaments. Source: samples/events.json, wire.yaml Event."""

    organizer: User | UnsetType = UNSET
    links: tuple[OccasionLink, ...] | UnsetType = UNSET
    """Links on the page of the occasion."""
    link_ids: tuple[int, ...] | UnsetType = UNSET
    """Ids of the links."""
    event_tournaments: tuple[OccasionTournament, ...] | UnsetType = UNSET
    """Tournaments of the occasion, on this server or elsewhere."""
    event_tournament_ids: tuple[int, ...] | UnsetType = UNSET
    """Ids of the entries in `eventTournaments`."""
    tournaments: tuple[Tournament, ...] | UnsetType = UNSET
    """Those of the tournaments that are on this server."""
    shortcut_id: int | UnsetType | None = UNSET
    shortcut_slug: str | UnsetType | None = UNSET
    """Word of the custom link; null without one."""


class Dashboard(Wire, frozen=True, kw_only=True):
    """The user's active tournaments and series. Source: interface 2.6, interface.md 2, row 27."""

    tournaments_playing: tuple[Tournament, ...]
    """Planned and started tournaments that the caller plays in."""
    series_organizing: tuple[SeriesListItem, ...]
    """Active series that the caller organizes."""
    tournaments_organizing: tuple[Tournament, ...]
    """Planned and started tournaments that the caller organizes."""
