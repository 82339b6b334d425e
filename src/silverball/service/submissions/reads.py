"""Published submissions with their players."""

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, false, func, or_, select, true

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.rules.registry import rated_types
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.service.ratings import reads as ratings_reads
from silverball.service.submissions import document, states
from silverball.service.submissions.document import Document, DocumentPlayer, KnownPeople, KnownPerson
from silverball.service.submissions.states import ComparedEvent, ComparedPlayer
from silverball.store.people import names, rating_days
from silverball.store.people.book import PUBLISHED
from silverball.store.tables import (
    confirmed_number,
    game,
    game_player,
    player,
    rating_submission,
    submission_document,
    submission_player,
    tournament,
    user,
)
from silverball_wire import base
from silverball_wire.submissions import RatingSubmission, SubmissionPlayer
from silverball_wire.values import SubmissionStatus

_USER, _PLAYER, _RATING, _CONFIRMED = user.c, player.c, PUBLISHED.c, confirmed_number.c


def known_people(db: Connection, players: Collection[DocumentPlayer]) -> KnownPeople:
    """The people that these players of a document may be."""
    wanted = {names.fold(player.name) or "" for player in players}
    namesakes = _namesakes(db, wanted)
    people = [person for listed in namesakes.values() for person in listed]
    user_ids = [*(player.matchplay_user_id for player in players), *(person.user_id for person in people)]
    numbers = [*(player.ifpa_id for player in players), *(person.ifpa_id for person in people)]
    users = _people_by_user_id(db, _without_none(user_ids), _without_none(numbers))
    by_ifpa: defaultdict[int, list[KnownPerson]] = defaultdict(list)
    for person in users.values():
        if person.ifpa_id is not None:
            by_ifpa[person.ifpa_id].append(person)
    known = KnownPeople(users, dict(by_ifpa))
    by_name = {name: _distinct_people(known, listed) for name, listed in namesakes.items()}
    return KnownPeople(users, known.by_ifpa, by_name)


def people_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> KnownPeople:
    """The people with one of these federation numbers."""
    users = _people_by_user_id(db, (), ifpa_ids)
    by_ifpa: defaultdict[int, list[KnownPerson]] = defaultdict(list)
    for person in users.values():
        by_ifpa[person.ifpa_id or 0].append(person)
    return KnownPeople(users, dict(by_ifpa))


def rating_ids_of_people(
    db: Connection, people: Iterable[KnownPerson], viewer: AuthenticatedCaller | None
) -> dict[KnownPerson, int]:
    """The listed rating of each of these people who has one.

    Users who hide their number from this viewer are left out: together with a document that names the
    number, the rating would reveal whose it is.
    """
    wanted = list(people)
    user_ids, numbers = (
        _without_none(person.user_id for person in wanted),
        _without_none(person.ifpa_id for person in wanted),
    )
    rows = select(_RATING.rating_id, _RATING.user_id, _RATING.ifpa_id).where(
        rating_days.IS_LISTED,
        ratings_reads.is_findable_by(viewer),
        or_(_RATING.user_id.in_(user_ids), _RATING.ifpa_id.in_(numbers)),
    )
    ratings_found = db.execute(rows).all()
    by_user = {row.user_id: row.rating_id for row in ratings_found if row.user_id is not None}
    by_ifpa = {row.ifpa_id: row.rating_id for row in ratings_found if row.ifpa_id is not None}
    rating_ids = {person: by_user.get(person.user_id) or by_ifpa.get(person.ifpa_id) for person in wanted}
    return {person: rating_id for person, rating_id in rating_ids.items() if rating_id is not None}


def _without_none(values: Iterable[int | None]) -> set[int]:
    return {value for value in values if value is not None}


def _people_by_user_id(
    db: Connection, user_ids: Collection[int], ifpa_ids: Collection[int]
) -> dict[int, KnownPerson]:
    # The number in a profile is only what its user typed.
    rows = (
        select(_USER.user_id, _CONFIRMED.ifpa_id)
        .outerjoin(confirmed_number, _CONFIRMED.user_id == _USER.user_id)
        .where(or_(_USER.user_id.in_(user_ids), _CONFIRMED.ifpa_id.in_(ifpa_ids)))
    )
    return {
        row.user_id: KnownPerson(row.user_id, row.ifpa_id) for row in db.execute(rows.order_by(_USER.user_id))
    }


def _namesakes(db: Connection, wanted: Collection[str]) -> dict[str, list[KnownPerson]]:
    """Folded name -> users of that name, and book players with an account or a federation number."""
    people: defaultdict[str, list[KnownPerson]] = defaultdict(list)
    users = (
        select(_USER.name, _USER.user_id, _CONFIRMED.ifpa_id)
        .outerjoin(confirmed_number, _CONFIRMED.user_id == _USER.user_id)
        .where(names.name_is_among(db, _USER.name, wanted))
    )
    for name, user_id, ifpa_id in db.execute(users.order_by(_USER.user_id)):
        people[names.fold(name) or ""].append(KnownPerson(user_id, ifpa_id))
    players = (
        select(_PLAYER.name, _PLAYER.claimed_by, _PLAYER.ifpa_id)
        .distinct()
        .where(
            names.name_is_among(db, _PLAYER.name, wanted),
            or_(_PLAYER.claimed_by.is_not(None), _PLAYER.ifpa_id.is_not(None)),
        )
    )
    for name, user_id, ifpa_id in db.execute(players.order_by(_PLAYER.claimed_by, _PLAYER.ifpa_id)):
        people[names.fold(name) or ""].append(KnownPerson(user_id, ifpa_id))
    return dict(people)


def _distinct_people(known: KnownPeople, namesakes: Iterable[KnownPerson]) -> list[KnownPerson]:
    """Each person once, by account where there is one."""
    people = (
        known.users.get(person.user_id, person)
        if person.user_id is not None
        else known.person_by_ifpa(person.ifpa_id or 0)
        for person in namesakes
    )
    return list(dict.fromkeys(people))


PER_PAGE = 25
SUBMISSIONS_LISTED_MAX = 1000
MODEL = "RatingSubmission"
_SUBMISSION, _SUBMITTED_PLAYER = rating_submission.c, submission_player.c
# In the order in which `_submission_item` unpacks them. Needs the join of `_submission_rows`.
COLUMNS = (
    _SUBMISSION.rating_submission_id,
    _SUBMISSION.url,
    _SUBMISSION.source_domain,
    _SUBMISSION.status,
    _SUBMISSION.name,
    _SUBMISSION.event_date,
    _SUBMISSION.rating_period,
    _SUBMISSION.format,
    _SUBMISSION.player_count,
    _SUBMISSION.game_count,
    _SUBMISSION.result_count,
    _SUBMISSION.submitter_id,
    user.c.name,
    _SUBMISSION.errors,
    _SUBMISSION.moderator_note,
    _SUBMISSION.created_at,
    _SUBMISSION.updated_at,
)
PLAYER_COLUMNS = (
    _SUBMITTED_PLAYER.rating_submission_id,
    _SUBMITTED_PLAYER.place,
    _SUBMITTED_PLAYER.name,
    _SUBMITTED_PLAYER.ifpa_id,
    _SUBMITTED_PLAYER.user_id,
    _SUBMITTED_PLAYER.settled,
    _SUBMITTED_PLAYER.candidates,
    user.c.profile_opt_out,
)


class SubmissionQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/rating-submissions."""

    status: SubmissionStatus | None = None
    """Only submissions in this state."""
    page: PageNumber = 1


def submissions_page(
    db: Connection, query: SubmissionQuery, viewer: AuthenticatedCaller | None
) -> PageRows[RatingSubmission]:
    """One page of all submissions, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = _has_status(query.status)
    total = db.execute(select(func.count()).select_from(rating_submission).where(wanted)).scalar_one()
    rows = _submission_rows(wanted).limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows(_submissions_with_players(db, db.execute(rows).all(), viewer), total)


def find_submission(
    db: Connection, submission_id: int, viewer: AuthenticatedCaller | None
) -> RatingSubmission:
    """The submission. Raises NotFound."""
    rows = db.execute(_submission_rows(_SUBMISSION.rating_submission_id == submission_id)).all()
    if not rows:
        raise NotFound(MODEL, submission_id)
    return _submissions_with_players(db, rows, viewer)[0]


def newest_submissions(db: Connection, status: SubmissionStatus | None) -> list[RatingSubmission]:
    """The newest submissions in this state, or in any, newest first and without their players."""
    rows = db.execute(_submission_rows(_has_status(status)).limit(SUBMISSIONS_LISTED_MAX)).all()
    return [_submission_item(row, ()) for row in rows]


def _has_status(status: SubmissionStatus | None) -> ColumnElement[bool]:
    return true() if status is None else _SUBMISSION.status == status


def _submission_rows(wanted: ColumnElement[bool]) -> Select[Any]:
    rows = select(*COLUMNS).join(user, user.c.user_id == _SUBMISSION.submitter_id)
    return rows.where(wanted).order_by(_SUBMISSION.rating_submission_id.desc())


def _submissions_with_players(
    db: Connection, rows: Sequence[Any], viewer: AuthenticatedCaller | None
) -> list[RatingSubmission]:
    wanted = _SUBMITTED_PLAYER.rating_submission_id.in_([row.rating_submission_id for row in rows])
    listed = (
        select(*PLAYER_COLUMNS).outerjoin(user, user.c.user_id == _SUBMITTED_PLAYER.user_id).where(wanted)
    )
    listed = listed.order_by(_SUBMITTED_PLAYER.rating_submission_id, _SUBMITTED_PLAYER.place)
    player_rows = db.execute(listed).all()
    ratings = rating_ids_of_people(
        db, [person for row in player_rows for person in _possible_people(row)], viewer
    )
    players: defaultdict[int, list[SubmissionPlayer]] = defaultdict(list)
    for row in player_rows:
        players[row.rating_submission_id].append(_player_item(row, ratings, viewer))
    return [_submission_item(row, tuple(players[row.rating_submission_id])) for row in rows]


def _possible_people(row: Any) -> list[KnownPerson]:
    """The people that the player in a row of PLAYER_COLUMNS is or could be, the player's own ids first."""
    return [KnownPerson(row.user_id, row.ifpa_id), *(KnownPerson(**person) for person in row.candidates)]


def _player_item(
    row: Any, ratings: dict[KnownPerson, int], viewer: AuthenticatedCaller | None
) -> SubmissionPlayer:
    own, *others = _possible_people(row)
    # The number would reveal the account, and the account the number.
    is_hidden = bool(row.profile_opt_out) and not access.sees_hidden_details(viewer, row.user_id)
    candidates = () if row.settled else (ratings[person] for person in others if person in ratings)
    return SubmissionPlayer(
        index=row.place,
        name=row.name,
        ifpa_id=None if is_hidden else own.ifpa_id,
        user_id=None if is_hidden else own.user_id,
        rating_id=ratings.get(own) if row.settled else None,
        candidates=tuple(dict.fromkeys(candidates)),
    )


def _submission_item(values: Sequence[Any], players: tuple[SubmissionPlayer, ...]) -> RatingSubmission:
    submission_id, url, source_domain, status, name, event_date, rating_period = values[:7]
    kind, player_count, game_count, result_count, submitter_id, submitter_name = values[7:13]
    errors, moderator_note, created_at, updated_at = values[13:]
    return RatingSubmission(
        rating_submission_id=submission_id,
        url=url,
        source_domain=source_domain,
        status=status,
        name=name,
        event_date=event_date,
        rating_period=rating_period,
        format=kind,
        player_count=player_count,
        game_count=game_count,
        result_count=result_count,
        submitter_id=submitter_id,
        submitter_name=submitter_name,
        players=players,
        errors=tuple(errors),
        moderator_note=moderator_note,
        created_at=base.iso(created_at),
        updated_at=base.iso(updated_at),
    )


_EVENT_PLAYER = submission_player.c
_DOCUMENT = submission_document.c


class EventPlayer(Struct, frozen=True):
    """A player of an event: by account, by federation number, or by name only."""

    name: str
    user_id: int | None
    ifpa_id: int | None


class SubmittedEvent(Struct, frozen=True):
    """A submitted event whose results count."""

    event_id: int
    name: str
    format: str
    submitter_id: int
    submitter_name: str
    day: date
    players: tuple[EventPlayer, ...]
    # For each game, groups of indexes in `players`, best first; players of one group are tied.
    games: tuple[tuple[tuple[int, ...], ...], ...]


def first_day(db: Connection) -> date | None:
    """The day of the oldest event that counts."""
    rows = select(func.min(_SUBMISSION.event_date)).where(_SUBMISSION.status.in_(states.COUNTING_STATES))
    day = db.execute(rows).scalar_one_or_none()
    return None if day is None else date.fromisoformat(day)


def event_days(db: Connection, first: date, last: date) -> list[date]:
    """Days in this range with an event that counts, in order."""
    rows = select(_SUBMISSION.event_date).distinct().where(_SUBMISSION.status.in_(states.COUNTING_STATES))
    within = (_SUBMISSION.event_date >= first.isoformat(), _SUBMISSION.event_date <= last.isoformat())
    days = db.execute(rows.where(*within).order_by(_SUBMISSION.event_date)).scalars()
    return [date.fromisoformat(day) for day in days]


def counting_events(db: Connection, day: date) -> list[SubmittedEvent]:
    """The events of a UTC day that count, by id, whether or not its period was run already."""
    rows = (
        select(
            _SUBMISSION.rating_submission_id,
            _SUBMISSION.name,
            _SUBMISSION.format,
            _SUBMISSION.submitter_id,
            user.c.name.label("submitter_name"),
            _DOCUMENT.body,
        )
        .join(submission_document, _DOCUMENT.rating_submission_id == _SUBMISSION.rating_submission_id)
        .join(user, user.c.user_id == _SUBMISSION.submitter_id)
        .where(_SUBMISSION.event_date == day.isoformat(), _SUBMISSION.status.in_(states.COUNTING_STATES))
        .order_by(_SUBMISSION.rating_submission_id)
    )
    submissions = db.execute(rows).all()
    players = players_by_submission(db, [row.rating_submission_id for row in submissions])
    return [_submitted_event(row, day, players[row.rating_submission_id]) for row in submissions]


def _submitted_event(row: Any, day: date, players: tuple[EventPlayer, ...]) -> SubmittedEvent:
    return SubmittedEvent(
        event_id=row.rating_submission_id,
        name=row.name,
        format=row.format,
        submitter_id=row.submitter_id,
        submitter_name=row.submitter_name,
        day=day,
        players=players,
        games=games_by_place(document.parse_document(row.body.encode())),
    )


def games_by_place(document_: Document) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The games as groups of indexes in the document's players."""
    places = document_.place_by_id()
    return tuple(
        tuple(tuple(places[player_id] for player_id in group) for group in game.results)
        for game in document_.games
    )


def players_by_submission(
    db: Connection, submission_ids: Sequence[int]
) -> dict[int, tuple[EventPlayer, ...]]:
    """The players of these submissions, in the order of their documents."""
    columns = (
        _EVENT_PLAYER.rating_submission_id,
        _EVENT_PLAYER.name,
        _EVENT_PLAYER.user_id,
        _EVENT_PLAYER.ifpa_id,
    )
    rows = select(*columns).where(_EVENT_PLAYER.rating_submission_id.in_(submission_ids))
    rows = rows.order_by(_EVENT_PLAYER.rating_submission_id, _EVENT_PLAYER.place)
    grouped = itertools.groupby(db.execute(rows), key=lambda row: row.rating_submission_id)
    return {
        key: tuple(EventPlayer(row.name, row.user_id, row.ifpa_id) for row in listed)
        for key, listed in grouped
    }


def events_to_compare(db: Connection, day: date, *, excluded_submission_id: int) -> Iterator[ComparedEvent]:
    """All events of a UTC day that are or will be rated, except one submission."""
    for event in counting_events(db, day):
        if event.event_id != excluded_submission_id:
            players = [ComparedPlayer(each.name, each.user_id, each.ifpa_id) for each in event.players]
            games = [[players[place] for group in groups for place in group] for groups in event.games]
            yield ComparedEvent(f"rating submission {event.event_id}", games)
    rows = db.execute(_tournament_game_rows(day)).all()
    for tournament_id, listed in itertools.groupby(rows, key=lambda row: row.tournament_id):
        by_game = itertools.groupby(listed, key=lambda row: row.game_id)
        named = [
            [ComparedPlayer(row.name, row.user_id, row.ifpa_id) for row in players] for _, players in by_game
        ]
        yield ComparedEvent(f"tournament {tournament_id}", named)


def _tournament_game_rows(day: date) -> Select[Any]:
    """The players of completed games in the day's rated tournaments, game by game."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return (
        select(
            game.c.tournament_id,
            game.c.game_id,
            player.c.name,
            player.c.claimed_by.label("user_id"),
            player.c.ifpa_id,
        )
        .join(tournament, tournament.c.tournament_id == game.c.tournament_id)
        .join(game_player, game_player.c.game_id == game.c.game_id)
        .join(player, player.c.player_id == game_player.c.player_id)
        .where(
            tournament.c.status == "completed",
            tournament.c.completed_at >= start,
            tournament.c.completed_at < start + timedelta(days=1),
            tournament.c.test.is_(false()),
            tournament.c.type.in_(sorted(rated_types())),
            game.c.status == "completed",
            game.c.bye.is_(false()),
        )
        .order_by(game.c.tournament_id, game.c.game_id, game_player.c.slot)
    )


SUBMISSIONS_MAX = 1000


def approved_submission_ids(db: Connection, day: date) -> list[int]:
    """Ids of approved submissions of days before this one, oldest first."""
    rows = select(_SUBMISSION.rating_submission_id).where(
        _SUBMISSION.status == "approved", _SUBMISSION.event_date < day.isoformat()
    )
    return list(db.execute(rows.order_by(_SUBMISSION.rating_submission_id).limit(SUBMISSIONS_MAX)).scalars())
