"""The list of tournaments: its filters, its order, and the ids of one page.

The order is by start, then by id, descending. Every tournament has a start: one that is created without
starts when it is created. A page finds its ids in an index that holds filter and order, and then reads
the rows of these ids only; the number of rows in all is kept in memory. Of what a user played, which no
index has in this order, the ids are kept.
"""

import re
from array import array
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import ColumnElement, Connection, Select, and_, exists, false, func, or_, select, type_coerce

from silverball.kit.http.fields import IGNORED_WHEN_A_WORD, IGNORED_WHEN_INVALID, checked_by
from silverball.kit.http.query import PageNumber, Query
from silverball.rules.mechanics import rounds
from silverball.rules.registry import FORMATS
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import ROWS_DEEP_MAX, PageRows, refuse_deep_pagination
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users
from silverball.service.venues import reads as venues_reads
from silverball.store import tables
from silverball.store.database.conditions import NotByIndex, is_among
from silverball.store.database.engine import Db
from silverball.store.database.statements import NamedRow, RowMapper
from silverball.store.revisions.kept_lists import KeptList, kept_list
from silverball.store.tables import scorekeeper, tournament
from silverball.store.tournament.journal import MERGES
from silverball.store.types import IsoText
from silverball_wire.arenas import Location
from silverball_wire.base import Id
from silverball_wire.tournaments import Tournament
from silverball_wire.values import TournamentStatus

PER_PAGE = 25
PER_PAGE_MAX = 100
ANY_TYPE = "tournaments"
DATE_INTERVAL = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2});([0-9]{4}-[0-9]{2}-[0-9]{2})", re.ASCII)
NEWEST_FIRST = (tables.tournament.c.start_utc.desc(), tables.tournament.c.tournament_id.desc())

_TOURNAMENT = tables.tournament.c
# The fields of DatedTournament.
_DATED_ROW = RowMapper(
    _TOURNAMENT.tournament_id,
    _TOURNAMENT.name,
    _TOURNAMENT.status,
    _TOURNAMENT.type,
    type_coerce(_TOURNAMENT.start_utc, IsoText),
    _TOURNAMENT.start_local,
    type_coerce(_TOURNAMENT.end_utc, IsoText),
    _TOURNAMENT.description,
    _TOURNAMENT.test,
    type_coerce(_TOURNAMENT.updated_at, IsoText),
    location=venues_reads.LOCATIONS_ROW,
)


def parse_date_interval(text: str) -> tuple[datetime, datetime] | None:
    """The beginning of the first day and of the day after the last, in UTC; None for other texts."""
    match = DATE_INTERVAL.fullmatch(text)
    if match is None:
        return None
    try:
        first, last = (datetime.combine(date.fromisoformat(day), time(), UTC) for day in match.groups())
        return first, last + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def is_date_interval(text: str) -> bool:
    """Whether the text is two days."""
    return parse_date_interval(text) is not None


class TournamentQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/tournaments. Source: interface 4.6; interface.md 2, row 6."""

    page: PageNumber = 1
    """Number of the page, from 1."""

    limit: Annotated[int, Meta(ge=1, le=PER_PAGE_MAX), IGNORED_WHEN_INVALID] | None = None
    """Tournaments on a page, 25 by default."""

    owner: Annotated[Id, IGNORED_WHEN_A_WORD] | None = None
    """Only tournaments that this user organizes."""

    played: Annotated[Id, IGNORED_WHEN_A_WORD] | None = None
    """Only tournaments that this user played in."""

    played_or_organized: Annotated[Id, IGNORED_WHEN_A_WORD] | None = None
    """Only tournaments that this user played in or organizes."""

    status: Annotated[TournamentStatus, IGNORED_WHEN_INVALID] | None = None
    """Only tournaments of this status."""

    series: Annotated[Id, IGNORED_WHEN_A_WORD] | None = None
    """Only tournaments of this series."""

    # An existing client sends "tournaments" to mean no filter.
    type: Annotated[str, Meta(extra_json_schema={"enum": [*sorted(FORMATS), ANY_TYPE]})] | None = None
    """Only tournaments of this format; `tournaments` is any, and of an unknown one there are none."""

    date_interval: Annotated[str, checked_by(is_date_interval), IGNORED_WHEN_INVALID] | None = None
    """Only tournaments that start on these days or between them, in UTC: `2026-08-01;2026-08-31`."""

    @property
    def per_page(self) -> int:
        return self.limit or PER_PAGE

    @property
    def per_page_shown(self) -> int | str:
        """The page size in the answer: text when the caller sent a limit (interface.md 2, row 10)."""
        return PER_PAGE if self.limit is None else str(self.limit)


def tournaments_page(
    db: Connection, query: TournamentQuery, viewer: AuthenticatedCaller | None
) -> PageRows[Tournament]:
    """One page of the tournaments, newest first.

    Raises NotAllowed when `played` or `played_or_organized` is hidden.
    """
    refuse_deep_pagination(query.page, query.per_page)
    only_completed = _shows_only_completed(db, query, viewer)
    conditions = _conditions(query, only_completed=only_completed)
    is_personal = query.played is not None or query.played_or_organized is not None
    find = _find_ids if is_personal else _count
    filters = ("tournaments", only_completed, msgspec.structs.replace(query, page=1, limit=None))
    found = kept_list(db, filters, lambda: find(db, conditions))
    skipped = query.per_page * (query.page - 1)
    if skipped >= found.total:
        return PageRows([], found.total)
    ids: Sequence[int]
    if is_personal:
        ids = found.ids[skipped : skipped + query.per_page]
    else:
        rows = _newest_ids(conditions).limit(query.per_page).offset(skipped)
        ids = db.scalars(rows).all()
    return PageRows(tournaments_by_id(db, ids, viewer), found.total)


def _newest_ids(conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    return select(_TOURNAMENT.tournament_id).where(*conditions).order_by(*NEWEST_FIRST)


def _count(db: Connection, conditions: Sequence[ColumnElement[bool]]) -> KeptList:
    counted = select(func.count()).select_from(tables.tournament).where(*conditions)
    return KeptList(db.execute(counted).scalar_one(), array("q"))


def _find_ids(db: Connection, conditions: Sequence[ColumnElement[bool]]) -> KeptList:
    """All ids, as no index has both the players of a user and the dates; those in reach are kept."""
    ids = db.scalars(_newest_ids(conditions)).all()
    return KeptList(len(ids), array("q", ids[:ROWS_DEEP_MAX]))


def tournaments_by_id(
    db: Connection, ids: Sequence[int], viewer: AuthenticatedCaller | None
) -> list[Tournament]:
    """The tournaments with these ids, in their order."""
    items = tournaments.tournament_items(
        db, tournaments.tournament_rows().where(is_among(_TOURNAMENT.tournament_id, ids)), viewer
    )
    by_id = {item.tournament_id: item for item in items}
    return [by_id[tournament_id] for tournament_id in ids]


class DatedTournament(Struct, frozen=True):
    """A tournament in a calendar or on the page of its series, without its settings."""

    tournament_id: int
    name: str
    status: str
    type: str
    start_utc: str
    start_local: str
    end_utc: str | None
    description: str | None
    test: bool
    updated_at: str
    location: Location | None


def dated_tournaments(db: Connection, query: TournamentQuery, *, limit: int) -> list[DatedTournament]:
    """The first of the tournaments that pass the filters, newest first."""
    newest = _newest_ids(_conditions(query, only_completed=False)).limit(limit)
    statement = tournaments.tournament_rows(_DATED_ROW).where(is_among(_TOURNAMENT.tournament_id, newest))
    return [_dated_item(row) for row in _DATED_ROW.rows(db.execute(statement.order_by(*NEWEST_FIRST)))]


def _dated_item(row: NamedRow) -> DatedTournament:
    fields = row._asdict()
    return DatedTournament(**{**fields, "location": venues_reads.location_or_none(row.location)})


def played_by(user_id: int) -> ColumnElement[bool]:
    """Whether a player claimed by the user is an entrant of the tournament in the outer statement."""
    return _TOURNAMENT.tournament_id.in_(_played_ids(user_id))


def _played_ids(user_id: int) -> Select[tuple[int]]:
    entrant, player = tables.entrant.c, tables.player.c
    claimed = select(entrant.tournament_id).join(tables.player, player.player_id == entrant.player_id)
    return claimed.where(player.claimed_by == user_id)


def _shows_only_completed(db: Connection, query: TournamentQuery, viewer: AuthenticatedCaller | None) -> bool:
    """Whether somebody whose tournaments are asked for shows this viewer the completed ones only."""
    asked_for = [user_id for user_id in (query.played, query.played_or_organized) if user_id is not None]
    # Each of them may refuse, so each is asked.
    answers = [users.shows_only_completed_to(db, user_id, viewer) for user_id in asked_for]
    return any(answers)


def _conditions(query: TournamentQuery, *, only_completed: bool) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if query.played is not None:
        conditions.append(played_by(query.played))
    if query.played_or_organized is not None:
        user_id = query.played_or_organized
        own = select(_TOURNAMENT.tournament_id).where(_TOURNAMENT.organizer_id == user_id)
        conditions.append(_TOURNAMENT.tournament_id.in_(_played_ids(user_id).union(own)))
    # The rarer a value is likely to be, the earlier it comes: the first one is looked for by index.
    for column, value in (
        (_TOURNAMENT.series_id, query.series),
        (_TOURNAMENT.organizer_id, query.owner),
        (_TOURNAMENT.type, None if query.type == ANY_TYPE else query.type),
        (_TOURNAMENT.status, query.status),
    ):
        if value is not None:
            conditions.append((NotByIndex(column) if conditions else column) == value)
    if only_completed:
        conditions.append(NotByIndex(_TOURNAMENT.status) == "completed")
    interval = parse_date_interval(query.date_interval or "")
    if interval is not None:
        conditions += [_TOURNAMENT.start_utc >= interval[0], _TOURNAMENT.start_utc < interval[1]]
    return conditions


SCOREKEEPING_MAX = 50


def is_on_duty(db: Connection, user_id: int, tournament_id: int) -> bool:
    """Whether the tournament is running and this user organizes it or keeps its scores."""
    keeps_scores = exists().where(
        and_(scorekeeper.c.tournament_id == tournament.c.tournament_id, scorekeeper.c.user_id == user_id)
    )
    rows = select(tournament.c.tournament_id).where(
        tournament.c.tournament_id == tournament_id,
        tournament.c.status == "started",
        or_(tournament.c.organizer_id == user_id, keeps_scores),
    )
    return db.execute(rows).first() is not None


def scorekeeping_tournaments(db: Connection, user_id: int, viewer: AuthenticatedCaller) -> list[Tournament]:
    """Running tournaments of other organizers in which this user keeps scores, newest first."""
    tournament_ids = select(scorekeeper.c.tournament_id).where(scorekeeper.c.user_id == user_id)
    rows = tournaments.tournament_rows().where(
        tournament.c.tournament_id.in_(tournament_ids),
        tournament.c.tournament_id.not_in(users.directed_ids(user_id)),
        tournament.c.status == "started",
        tournament.c.organizer_id != user_id,
    )
    newest_first = rows.order_by(*NEWEST_FIRST)
    return tournaments.tournament_items(db, newest_first.limit(SCOREKEEPING_MAX), viewer)


def directed_tournaments(db: Connection, user_id: int, viewer: AuthenticatedCaller) -> list[Tournament]:
    """Tournaments of other organizers that this user directs and that are not over, newest first."""
    rows = tournaments.tournament_rows().where(
        tournament.c.tournament_id.in_(users.directed_ids(user_id)), tournament.c.status != "completed"
    )
    newest_first = rows.order_by(*NEWEST_FIRST)
    return tournaments.tournament_items(db, newest_first.limit(SCOREKEEPING_MAX), viewer)


TOURNAMENTS_MAX = 1000
_JOURNAL = tables.journal.c


def idle_tournaments(db: Connection, now: datetime) -> list[int]:
    """Ids of the idle tournaments, ascending, up to the number that one run closes."""
    statement = _started_tournaments(
        _TOURNAMENT.updated_at < now - rounds.IDLE_MAX,
        or_(_TOURNAMENT.end_utc.is_(None), _TOURNAMENT.end_utc <= now),
    )
    return [row.tournament_id for row in db.execute(statement) if _is_idle(row, now)]


def last_activity(db: Connection, tournament_id: int, now: datetime) -> datetime | None:
    """The time of the last activity of an idle tournament; None when it is not idle."""
    row = db.execute(_started_tournaments(_TOURNAMENT.tournament_id == tournament_id)).one_or_none()
    return row.touched_at if row is not None and _is_idle(row, now) else None


def _started_tournaments(*conditions: ColumnElement[bool]) -> Select[int, datetime | None, datetime]:
    """Started tournaments with the time of their last activity.

    The newest journal line counts, because an imported `updated_at` may be older than the import.
    """
    played = (_JOURNAL.tournament_id == _TOURNAMENT.tournament_id, _JOURNAL.change.not_in(MERGES))
    newest = select(func.max(_JOURNAL.at)).where(*played).scalar_subquery()
    touched_at = func.coalesce(newest, _TOURNAMENT.updated_at, type_=_TOURNAMENT.updated_at.type).label(
        "touched_at"
    )
    columns = select(_TOURNAMENT.tournament_id, _TOURNAMENT.end_utc, touched_at)
    statement = columns.where(
        _TOURNAMENT.status == "started", _TOURNAMENT.type.in_(sorted(FORMATS)), *conditions
    )
    return statement.order_by(_TOURNAMENT.tournament_id).limit(TOURNAMENTS_MAX)


def _is_idle(row: object, now: datetime) -> bool:
    return rounds.is_idle(row.touched_at, row.end_utc, now)  # type: ignore[attr-defined]  # columns of _started_tournaments


NIGHTS_PER_PAGE = 50
_ENTRANT = tables.entrant.c
_PLAYERS = (
    select(func.count())
    .select_from(tables.entrant)
    .where(_ENTRANT.tournament_id == _TOURNAMENT.tournament_id)
    .scalar_subquery()
)


class ClubNight(Struct, frozen=True):
    """A completed tournament in the list of its organizer."""

    tournament_id: int
    name: str
    type: str
    start_local: str
    start_utc: datetime
    completed_at: datetime | None
    player_count: int

    @property
    def month(self) -> str:
        """Year and month of its start: `2026-08`."""
        return self.start_local[:7]


def club_nights(db: Db, organizer_id: int, text: str, page: int) -> PageRows[ClubNight]:
    """One page of the completed tournaments with this text in the name, newest first, without tests."""
    refuse_deep_pagination(page, NIGHTS_PER_PAGE)
    conditions = [
        _TOURNAMENT.organizer_id == organizer_id,
        _TOURNAMENT.status == "completed",
        _TOURNAMENT.test == false(),
    ]
    conditions += [
        func.lower(_TOURNAMENT.name).contains(word, autoescape=True) for word in text.lower().split()
    ]
    total = db.scalar(select(func.count()).select_from(tables.tournament).where(*conditions)) or 0
    nights = (
        select(
            *(
                _TOURNAMENT.tournament_id,
                _TOURNAMENT.name,
                _TOURNAMENT.type,
                _TOURNAMENT.start_local,
                _TOURNAMENT.start_utc,
                _TOURNAMENT.completed_at,
            ),
            _PLAYERS.label("player_count"),
        )
        .where(*conditions)
        .order_by(_TOURNAMENT.start_utc.desc(), _TOURNAMENT.tournament_id.desc())
        .limit(NIGHTS_PER_PAGE)
        .offset(NIGHTS_PER_PAGE * (page - 1))
    )
    return PageRows([ClubNight(**row) for row in db.execute(nights).mappings()], total)
