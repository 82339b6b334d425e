"""The estimate of the points that a tournament gives. Source: ratings, B.1, B.3 and B.4."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct
from sqlalchemy import Connection, select

from silverball.kit.http.query import Query
from silverball.rules.ranking.series import positions_after_playoffs
from silverball.rules.worth import event as rules
from silverball.rules.worth.event import EventGrade, FieldValue
from silverball.rules.wppr import value as field_value
from silverball.rules.wppr.distribution import place_points
from silverball.service.estimates import reads as estimates
from silverball.service.federation.reads import records
from silverball.service.worth.reads import parts
from silverball.service.worth.reads.parts import EventNights, GivenCircumstances, Night
from silverball.store import tables
from silverball_wire.worth import PlacePoints, TournamentEstimate

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
    event = parts.event_of(db, tournament_id)
    field = _field_of(db, event.first)
    first, finals = parts.parts_of(db, event, given, players=len(field.player_ids))
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
    return value.show(field_value.winner_points(value.total, tgp_percent=percent))


def _field_of(db: Connection, night: Night) -> EventField:
    """The players of a tournament. Who hides adds what they add, and the sums are rounded."""
    people = estimates.participants_where(db, _ENTRANT.tournament_id == night.tournament_id)
    ifpa_ids = {person.ifpa_id for person in people if person.ifpa_id is not None}
    found = {record.ifpa_id: record for record in records.records_by_ifpa(db, ifpa_ids)}
    estimate = field_value.estimate_value(estimates.field_player(record) for record in found.values())
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
