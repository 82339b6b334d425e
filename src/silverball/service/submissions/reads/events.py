"""Submitted events for the rating periods, and all games of a day for comparison."""

import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Select, false, func, select

from silverball.rules.registry import rated_types
from silverball.service.submissions import document, states
from silverball.service.submissions.document import Document
from silverball.service.submissions.repeats import ComparedEvent, ComparedPlayer
from silverball.store.tables import (
    game,
    game_player,
    player,
    rating_submission,
    submission_document,
    submission_player,
    tournament,
    user,
)

_SUBMISSION, _PLAYER, _DOCUMENT = rating_submission.c, submission_player.c, submission_document.c


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
    columns = (_PLAYER.rating_submission_id, _PLAYER.name, _PLAYER.user_id, _PLAYER.ifpa_id)
    rows = select(*columns).where(_PLAYER.rating_submission_id.in_(submission_ids))
    rows = rows.order_by(_PLAYER.rating_submission_id, _PLAYER.place)
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
