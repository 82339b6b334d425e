"""The tournaments of an event, and the meaningful games of each. Source: ratings, B.3."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import NotFound
from silverball.kit.values import replace
from silverball.rules.format import Format
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning.pace import Pace
from silverball.rules.registry import FORMATS
from silverball.rules.worth.answers import USUAL_BALLS, Circumstances, MeaningfulGames, Part, no_number
from silverball.rules.worth.event import EventPart
from silverball.service.planning.reads import paces
from silverball.store import simulated_nights, snapshot, tables
from silverball.store.stamps import Revision

SECONDS_PER_HOUR = 3600
SO_FAR = "So far, as the plan leaves it open."
UNKNOWN_FORMAT = "This format is not known here, so there is no number."
_T, _LINK = tables.tournament.c, tables.tournament_link.c
_COLUMNS = (_T.tournament_id, _T.status, _T.type, _T.start_utc, _T.end_utc, _T.revision, _T.stamp, _T.womens)
_ROW = select(*_COLUMNS).where(_T.tournament_id == bindparam("own_id"))
# The playoffs of the best come first.
_FINALS = (
    select(*_COLUMNS)
    .join(tables.tournament_link, _LINK.linked_tournament_id == _T.tournament_id)
    .where(_LINK.tournament_id == bindparam("own_id"), _LINK.link_type == "playoff")
    .order_by(_LINK.place)
    .limit(1)
)
_QUALIFYING = (
    select(_LINK.linked_tournament_id)
    .where(_LINK.tournament_id == bindparam("own_id"), _LINK.link_type == "qualifying")
    .order_by(_LINK.place)
    .limit(1)
)


class Night(Struct, frozen=True):
    """A tournament of the event, with its record where its format is known."""

    row: Any
    form: Format | None
    tournament: Tournament | None

    @property
    def tournament_id(self) -> int:
        return int(self.row.tournament_id)

    @property
    def is_completed(self) -> bool:
        return bool(self.row.status == "completed")


class EventNights(Struct, frozen=True):
    """The tournament that all players began with, and the playoffs of its best, if there are any."""

    first: Night
    finals: Night | None


class GivenCircumstances(Struct, frozen=True):
    """The facts about an event that no tournament stores, as the caller gives them."""

    balls: int | None = None
    hours: int | None = None


def event_of(db: Connection, tournament_id: int) -> EventNights:
    """The event of a tournament: a qualifying and its first playoffs are one. Raises NotFound."""
    own = _night_row(db, tournament_id)
    if own is None:
        raise NotFound("Tournament", tournament_id)
    qualifying_id = db.execute(_QUALIFYING, {"own_id": tournament_id}).scalar_one_or_none()
    if qualifying_id is not None:
        finals = db.execute(_FINALS, {"own_id": qualifying_id}).one_or_none()
        first = _night_row(db, qualifying_id)
        if first is not None and finals is not None and finals.tournament_id == tournament_id:
            return EventNights(_night(db, first), _night(db, own))
    finals = db.execute(_FINALS, {"own_id": tournament_id}).one_or_none()
    return EventNights(_night(db, own), None if finals is None else _night(db, finals))


def _night_row(db: Connection, tournament_id: int) -> Any:
    return db.execute(_ROW, {"own_id": tournament_id}).one_or_none()


def _night(db: Connection, row: Any) -> Night:
    form = FORMATS.get(row.type)
    if form is None:
        return Night(row, None, None)
    revision = Revision(row.revision, row.stamp)
    return Night(row, form, snapshot.load_at_revision(db, row.tournament_id, revision).tournament)


def parts_of(
    db: Connection, event: EventNights, given: GivenCircumstances, *, players: int
) -> tuple[EventPart, EventPart | None]:
    """The parts of an event with their meaningful games. Takes the number of players who began."""
    if event.finals is None:
        return _part(db, event.first, None, given, "whole", players), None
    finalists = event.finals.tournament
    finals_players = 0 if finalists is None else len(finalists.active_ids)
    finals = _part(db, event.finals, None, given, "finals", finals_players)
    return _part(db, event.first, finalists, given, "qualifying", players), finals


def _part(
    db: Connection,
    night: Night,
    finals: Tournament | None,
    given: GivenCircumstances,
    part: Part,
    players: int,
) -> EventPart:
    balls = given.balls or USUAL_BALLS
    if night.form is None or night.tournament is None:
        return EventPart(meaningful_games=no_number(UNKNOWN_FORMAT), players=players, balls=balls)
    circumstances = Circumstances(
        part=part,
        points_map=_points_map(night.tournament),
        arenas=sum(arena.is_active for arena in night.tournament.lineup),
        hours=_planned_hours(night.row.start_utc, night.row.end_utc) if given.hours is None else given.hours,
        has_entry_limits=night.tournament.has_entry_limits,
        balls=balls,
        finalists=len(finals.active_ids) if finals is not None else 0,
        counted_ids=_counted_ids(night.form, night.tournament, finals),
        held_on=night.row.start_utc.date(),
        pace=_pace(db, night, night.form),
        find_outcome=simulated_nights.outcome_finder(db),
    )
    answer = _answer(night.form, night.tournament, circumstances, players)
    return EventPart(meaningful_games=answer, players=players, balls=balls)


def _answer(
    form: Format, tournament: Tournament, circumstances: Circumstances, players: int
) -> MeaningfulGames:
    """By the record once it is completed; else by the plan, or by the games so far where that is open."""
    if tournament.status == "completed":
        return form.meaningful_games_played(tournament, circumstances)
    planned = form.meaningful_games(tournament.settings, players, circumstances)
    if tournament.status == "planned" or planned.games is not None or planned.awaited is not None:
        return planned
    so_far = form.meaningful_games_played(tournament, circumstances)
    return planned if so_far.games is None else replace(so_far, notes=(SO_FAR, *so_far.notes))


def _pace(db: Connection, night: Night, form: Format) -> Pace | None:
    """How fast the club's earlier nights were; None where the clock does not decide, and once it is over."""
    if not form.has_clock or night.tournament is None or night.is_completed:
        return None
    organizer_id = night.tournament.details["organizer_id"]
    return paces.paces(db, organizer_id, (form,), night.row.start_utc)[form.type]


def _points_map(tournament: Tournament) -> Any:
    rows = tournament.points_map
    return None if rows is None else tuple(tuple(row) for row in rows)


def _planned_hours(start: datetime, end: datetime | None) -> int:
    """Whole hours between the planned start and the planned end."""
    return 0 if end is None else max(0, int((end - start).total_seconds()) // SECONDS_PER_HOUR)


def _counted_ids(form: Format, tournament: Tournament, finals: Tournament | None) -> tuple[int, ...]:
    """Ids of those who go on, or of the winner."""
    if finals is not None:
        return finals.active_ids
    if tournament.status == "planned":
        return ()
    return tuple(row.player_id for row in form.rank(tournament) if row.position == 1)
