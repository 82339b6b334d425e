"""The optional parts of a tournament: one line in PARTS for each include flag."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, select, true

from silverball.kit.errors import NotFound
from silverball.kit.http.query import Query
from silverball.kit.values import convert
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.players import reads as players
from silverball.service.series import reads as series_reads
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users
from silverball.service.venues import reads as venues_reads
from silverball.store import tables
from silverball.store.database.statements import NamedRow, RowMapper, Statement
from silverball_wire.parts import EntryConfiguration, LinkedTournament, OccasionListItem, RsvpConfiguration
from silverball_wire.series import Series
from silverball_wire.tournaments import Tournament
from silverball_wire.users import Shortcut, User

_T = tables.tournament.c
_ROW = RowMapper(_T.rsvp_configuration, _T.entry_configuration, tournament=tournaments.ROW)
_TOURNAMENT = Statement(
    tournaments.tournament_rows(_ROW).where(_T.tournament_id == bindparam("tournament_id")), mapper=_ROW
)


class PartContext(Struct, frozen=True):
    """The input of a function that loads a part."""

    db: Connection
    row: NamedRow
    viewer: AuthenticatedCaller | None

    @property
    def key(self) -> Mapping[str, int]:
        return {"tournament_id": self.tournament_id}

    @property
    def tournament_id(self) -> int:
        return int(self.row.tournament.tournament_id)


class PartsQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/tournaments/{tournamentId}. Source: interface 4.6."""

    include_players: bool = False
    """Whether `players` is answered, with their part in the tournament."""
    include_arenas: bool = False
    """Whether `arenas` is answered, with their part in the tournament."""
    include_banks: bool = False
    """Whether `banks` is answered."""
    include_scorekeepers: bool = False
    """Whether `scorekeepers` is answered."""
    include_directors: bool = False
    """Whether `directors` is answered."""
    include_location: bool = False
    """Whether `location` is answered."""
    include_entry_configuration: bool = False
    """Whether `entryConfiguration` is answered."""
    include_rsvp_configuration: bool = False
    """Whether `rsvpConfiguration` is answered."""
    include_linked_tournaments: bool = False
    """Whether `linkedTournaments` is answered."""
    include_event: bool = False
    """Whether `event` is answered: the occasion that the tournament is part of."""
    include_shortcut: bool = False
    """Whether `shortcut` is answered."""
    include_series: bool = False
    """Whether `series` is answered."""


def find_tournament(
    db: Connection, tournament_id: int, query: PartsQuery, viewer: AuthenticatedCaller | None
) -> Tournament:
    """The tournament with the parts that the query asks for. Raises NotFound."""
    rows = _TOURNAMENT.rows(db, tournament_id=tournament_id)
    if not rows:
        raise NotFound("Tournament", tournament_id)
    row = rows[0]
    context = PartContext(db, row, viewer)
    parts = {name: load(context) for flag, (name, load) in PARTS.items() if getattr(query, flag)}
    return tournaments.tournament_item(row.tournament, viewer, **parts)


_SCOREKEEPERS = (
    select(*users.ROW.columns)
    .join(tables.scorekeeper, tables.scorekeeper.c.user_id == tables.user.c.user_id)
    .where(tables.scorekeeper.c.tournament_id == bindparam("tournament_id"))
    .order_by(tables.scorekeeper.c.place, tables.user.c.user_id)
)


def _scorekeepers(context: PartContext) -> tuple[User, ...]:
    return tuple(
        users.user_item(row, context.viewer) for row in context.db.execute(_SCOREKEEPERS, context.key)
    )


_DIRECTORS = _SCOREKEEPERS.where(tables.scorekeeper.c.is_director == true())


def _directors(context: PartContext) -> tuple[User, ...]:
    return tuple(users.user_item(row, context.viewer) for row in context.db.execute(_DIRECTORS, context.key))


_LINK = tables.tournament_link.c
_LINKS = (
    select(_LINK.linked_tournament_id, _LINK.link_type, _LINK.link_index, _LINK.shown)
    .add_columns(_T.name, _T.type, _T.organizer_id, _T.status, _T.test)
    .select_from(tables.tournament_link)
    .outerjoin(tables.tournament, _T.tournament_id == _LINK.linked_tournament_id)
    .where(_LINK.tournament_id == bindparam("tournament_id"))
    .order_by(_LINK.place)
)


def _linked_tournaments(context: PartContext) -> tuple[LinkedTournament, ...]:
    return tuple(_link_item(*row) for row in context.db.execute(_LINKS, context.key))


def _link_item(
    linked_id: int, link_type: Any, link_index: int | None, stored: Any, *current: Any
) -> LinkedTournament:
    """A link with the current state of the linked tournament, or with its imported state."""
    name, type_, organizer_id, status, test = current
    if name is None or "seriesId" in stored:
        return convert(stored, LinkedTournament)
    return LinkedTournament(
        tournament_id=linked_id,
        name=name,
        type=type_,
        organizer_id=organizer_id,
        status=status,
        link_type=link_type,
        link_index=link_index,
        test=test,
    )


def _rsvp(context: PartContext) -> RsvpConfiguration | None:
    configuration = convert(context.row.rsvp_configuration, RsvpConfiguration | None)
    if (
        configuration is None
        or configuration.tournament_id is not None
        or configuration.series_id is not None
    ):
        return configuration
    # The configuration was stored before the tournament had its id.
    return msgspec.structs.replace(configuration, tournament_id=context.tournament_id)


def _entries(context: PartContext) -> EntryConfiguration | None:
    return convert(context.row.entry_configuration, EntryConfiguration | None)


_EVENT = (
    series_reads.occasion_rows()
    .join(
        tables.occasion_tournament,
        tables.occasion_tournament.c.occasion_id == tables.occasion.c.occasion_id,
    )
    .where(tables.occasion_tournament.c.tournament_id == bindparam("tournament_id"))
    # A tournament of two occasions belongs to the one that added it first.
    .order_by(tables.occasion_tournament.c.event_tournament_id)
    .limit(1)
)


def _event(context: PartContext) -> OccasionListItem | None:
    row = context.db.execute(_EVENT, context.key).first()
    return None if row is None else series_reads.occasion_item(series_reads.OCCASION_ROW.row(row))


_SLUG = tables.shortcut.c
_SHORTCUT = (
    select(_SLUG.shortcut_id, _SLUG.slug)
    .where(_SLUG.tournament_id == bindparam("tournament_id"))
    .order_by(_SLUG.shortcut_id)
    .limit(1)
)


def _shortcut(context: PartContext) -> Shortcut | None:
    row = context.db.execute(_SHORTCUT, context.key).first()
    return None if row is None else Shortcut(shortcut_id=row.shortcut_id, slug=row.slug)


_SERIES = (
    select(*series_reads.ROW.columns)
    .join(tables.tournament, _T.series_id == tables.series.c.series_id)
    .where(_T.tournament_id == bindparam("tournament_id"))
)


def _series(context: PartContext) -> Series | None:
    row = context.db.execute(_SERIES, context.key).first()
    return None if row is None else series_reads.series_item(row)


# Include flag -> the member that it adds, and the function that loads it.
PARTS: dict[str, tuple[str, Callable[[PartContext], Any]]] = {
    "include_players": (
        "players",
        lambda a: players.entrants(a.db, a.tournament_id, a.viewer, settings=a.row.tournament.settings),
    ),
    "include_arenas": ("arenas", lambda a: venues_reads.lineup_arenas(a.db, a.tournament_id)),
    "include_banks": ("banks", lambda a: venues_reads.banks_in_tournament(a.db, a.tournament_id)),
    "include_scorekeepers": ("scorekeepers", _scorekeepers),
    "include_directors": ("directors", _directors),
    "include_location": ("location", lambda a: venues_reads.location_or_none(a.row.tournament.location)),
    "include_entry_configuration": ("entry_configuration", _entries),
    "include_rsvp_configuration": ("rsvp_configuration", _rsvp),
    "include_linked_tournaments": ("linked_tournaments", _linked_tournaments),
    "include_event": ("event", _event),
    "include_shortcut": ("shortcut", _shortcut),
    "include_series": ("series", _series),
}
