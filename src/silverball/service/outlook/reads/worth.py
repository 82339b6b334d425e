"""The estimate of the points that a tournament gives. Source: ratings, B.1, B.3 and B.4."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct
from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import Query
from silverball.kit.values import replace
from silverball.rules.format import Format
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning import event as rules
from silverball.rules.planning import value as worth_value
from silverball.rules.planning.answers import USUAL_BALLS, Circumstances, MeaningfulGames, Part, no_number
from silverball.rules.planning.event import EventGrade, EventPart, FieldValue
from silverball.rules.planning.pace import Pace
from silverball.rules.planning.value import place_points
from silverball.rules.ranking.series import positions_after_playoffs
from silverball.rules.registry import FORMATS
from silverball.service.outlook.reads import estimates, federation, planning
from silverball.store import tables
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import forecasts, snapshot
from silverball_wire.plans import PlacePoints, TournamentEstimate

# The tournaments of an event, and the meaningful games of each. Source: ratings, B.3.


SECONDS_PER_HOUR = 3600
SO_FAR = "So far, as the plan leaves it open."
UNKNOWN_FORMAT = "This format is not known here, so there is no number."
_TOURNAMENT, _LINK = tables.tournament.c, tables.tournament_link.c
_COLUMNS = (
    _TOURNAMENT.tournament_id,
    _TOURNAMENT.status,
    _TOURNAMENT.type,
    _TOURNAMENT.start_utc,
    _TOURNAMENT.end_utc,
    _TOURNAMENT.revision,
    _TOURNAMENT.stamp,
    _TOURNAMENT.womens,
)
_ROW = select(*_COLUMNS).where(_TOURNAMENT.tournament_id == bindparam("own_id"))
# The playoffs of the best come first.
_FINALS = (
    select(*_COLUMNS)
    .join(tables.tournament_link, _LINK.linked_tournament_id == _TOURNAMENT.tournament_id)
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
        find_outcome=forecasts.outcome_finder(db),
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
    return planning.paces(db, organizer_id, (form,), night.row.start_utc)[form.type]


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


NO_PLAYERS = "Nobody is entered yet."
HIDDEN = "Somebody here hides their profile, so sums are rounded to 0.5."
ONE_EVENT = "The qualifying and its playoffs are one event: the grade counts both."
WOMENS = "A women's tournament: its points count in the women's ranking."
FORMULAS = "Base, strength and points of each place: the federation's published formulas"
_ST = tables.standing.c
_ENTRANT = tables.entrant.c


class WorthQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/tournaments/{tournamentId}/estimate."""

    balls: Annotated[int, Meta(ge=1, le=10)] | None = None
    """Balls of each game; one and two count less. Three when it is not given."""
    hours: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    """Hours of unlimited qualifying; those between start and end when it is not given."""


class Worth(Struct, frozen=True):
    """An estimate, and whether it can change while the tournament stays as it is."""

    estimate: TournamentEstimate
    sentence: str | None
    is_being_computed: bool
    # Whether playoffs or a qualifying are in it, which change on their own.
    spans_tournaments: bool


class EventField(Struct, frozen=True):
    """The players of an event as the formulas need them."""

    player_ids: tuple[int, ...]
    value: FieldValue
    rated: int
    # People without a record, who add nothing; those who hide are not counted.
    unknown: int
    hides_somebody: bool
    updated_at: datetime | None


def tournament_worth(db: Connection, tournament_id: int, query: WorthQuery | None = None) -> Worth:
    """The worth of a tournament's event, for everybody the same. Raises NotFound."""
    given = GivenCircumstances() if query is None else GivenCircumstances(query.balls, query.hours)
    event = event_of(db, tournament_id)
    field = _field_of(db, event.first)
    first, finals = parts_of(db, event, given, players=len(field.player_ids))
    graded = rules.grade_of_event(first, finals)
    percent = None if graded.grade is None else graded.grade.percent
    winner = None if percent is None else _winner_points(field.value, percent)
    next_winner = None
    if graded.percent_of_next_round is not None:
        next_winner = _winner_points(field.value, graded.percent_of_next_round)
    sentence = None if winner is None else rules.worth_sentence(winner, next_winner)
    estimate = TournamentEstimate(
        meaningful_games=None
        if graded.grade is None
        else estimates.plain_number(rules.shown_games(graded.grade)),
        tgp=percent,
        capped=graded.grade is not None and graded.grade.is_capped,
        base_value=estimates.plain_number(field.value.base),
        rating_value=estimates.plain_number(field.value.rating),
        rank_value=estimates.plain_number(field.value.ranking),
        wppr_value=estimates.plain_number(field.value.total),
        value=None if winner is None else estimates.plain_number(winner),
        points=() if winner is None else _points(db, event, field, winner),
        notes=tuple(_notes(event, field, graded, sentence)),
        womens=True if event.first.row.womens else UNSET,
    )
    return Worth(estimate, sentence, graded.is_being_computed, spans_tournaments=event.finals is not None)


def _winner_points(value: FieldValue, percent: int) -> float:
    return value.show(worth_value.winner_points(value.total, tgp_percent=percent))


def _field_of(db: Connection, night: Night) -> EventField:
    """The players of a tournament. Who hides adds what they add, and the sums are rounded."""
    people = estimates.participants_where(db, _ENTRANT.tournament_id == night.tournament_id)
    ifpa_ids = {person.ifpa_id for person in people if person.ifpa_id is not None}
    found = {record.ifpa_id: record for record in federation.records_by_ifpa(db, ifpa_ids)}
    estimate = worth_value.estimate_value(estimates.field_player(record) for record in found.values())
    is_womens = bool(night.row.womens)
    hides_somebody = any(person.profile_opt_out for person in people)
    visible = [person for person in people if not person.profile_opt_out]
    return EventField(
        player_ids=tuple(person.player_id for person in people),
        value=rules.value_of_field(estimate, hides_somebody=hides_somebody, is_womens=is_womens),
        rated=sum((worth.womens_base if is_womens else worth.base) > 0 for worth in estimate.players),
        unknown=sum(person.ifpa_id not in found for person in visible),
        hides_somebody=hides_somebody,
        updated_at=max((record.updated_at for record in found.values()), default=None),
    )


def _points(db: Connection, event: EventNights, field: EventField, winner: float) -> tuple[PlacePoints, ...]:
    """The points of each place, with two decimals; players who share a place share its points."""
    places = _places(db, event, field.player_ids)
    rated = min(field.rated, len(places))
    earned = place_points(places, rated_players=rated, winner_points=winner)
    by_place: Mapping[int, float] = dict(zip(places, earned, strict=True))
    return tuple(
        PlacePoints(position=position, points=estimates.plain_number(round(field.value.show(points), 2)))
        for position, points in sorted(by_place.items())
    )


def _places(db: Connection, event: EventNights, player_ids: Sequence[int]) -> list[int]:
    """The place of each player: of the standings once they are final, else one for each."""
    if not event.first.is_completed:
        return list(range(1, len(player_ids) + 1))
    positions = _positions(db, event.first)
    if event.finals is not None and event.finals.is_completed:
        positions = positions_after_playoffs(positions, [_positions(db, event.finals)])
    last = len(player_ids) + 1
    held = Counter(positions.get(player_id, last) for player_id in player_ids)
    places: dict[int, int] = {}
    for position in sorted(held):
        places[position] = 1 + sum(held[better] for better in places)
    return [places[positions.get(player_id, last)] for player_id in player_ids]


def _positions(db: Connection, night: Night) -> dict[int, int]:
    rows = select(_ST.player_id, _ST.position).where(_ST.tournament_id == night.tournament_id)
    return dict(db.execute(rows).all())


def _notes(event: EventNights, field: EventField, graded: EventGrade, sentence: str | None) -> list[str]:
    notes = [] if sentence is None else [sentence]
    if not field.player_ids:
        notes.append(NO_PLAYERS)
    elif len(field.player_ids) < rules.PLAYERS_MIN:
        notes.append(rules.TOO_FEW)
    if event.first.row.womens:
        notes.append(WOMENS)
    notes += graded.notes
    if event.finals is not None:
        notes.append(ONE_EVENT)
    notes.append(f"{FORMULAS}{_records_text(field)}.")
    if field.unknown:
        people = "1 player has" if field.unknown == 1 else f"{field.unknown} players have"
        notes.append(f"{people} no federation record here and add nothing.")
    if field.hides_somebody:
        notes.append(HIDDEN)
    return notes


def _records_text(field: EventField) -> str:
    if field.updated_at is None:
        return ""
    return f", with the federation's records of {field.updated_at.date().isoformat()}"
