"""Notes on games, as directors and scorekeepers read them."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import UNSET
from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, or_, select

from silverball.kit.errors import NotAllowed
from silverball.rules.mechanics import results
from silverball.rules.model.tournament import Game, Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.journal import ACTION_UNDONE, GAME_NOTED, QUEUE_DISSOLVED
from silverball.store.tables import game_note, journal
from silverball_wire import times
from silverball_wire.bundle_facts import NoteFacts
from silverball_wire.notes import GameNote

NOTES_MAX = 200
UNDOS_MAX = 10_000
# What is shown when the same person is in trouble again, and for how long.
CARDS = ("yellow", "red", "disqualified")
CARDS_REMEMBERED = timedelta(days=365)
# A queue that was dissolved earlier is no news.
ACTIONS_LOOKED_AT = 200
BUNDLE_NOTES_MAX = 10_000
_N, _J = game_note.c, journal.c
# An imported note says itself when it was written.
_written_at = func.coalesce(_N.written_at, _J.at)


def notes_of_game(
    db: Connection, tournament: Tournament, game_id: int, caller: AuthenticatedCaller
) -> tuple[GameNote, ...]:
    """The notes on a game, oldest first. Raises NotFound, and NotAllowed for other callers."""
    _require_game(tournament, game_id, caller)
    return notes_of_games(db, tournament.tournament_id, [game_id])


def cards_before_game(
    db: Connection, tournament: Tournament, game_id: int, caller: AuthenticatedCaller, now: datetime
) -> tuple[GameNote, ...]:
    """The earlier cards of a game's players. Raises NotFound, and NotAllowed for other callers."""
    game = _require_game(tournament, game_id, caller)
    return earlier_cards(db, tournament, game.player_ids, now)


def _require_game(tournament: Tournament, game_id: int, caller: AuthenticatedCaller) -> Game:
    if not access.may_score(caller, tournament):
        raise NotAllowed
    return results.find_game(tournament, game_id)


def notes_of_games(db: Connection, tournament_id: int, game_ids: Sequence[int]) -> tuple[GameNote, ...]:
    """The notes on these games, oldest first, without those that were undone."""
    return _load_notes(db, _N.tournament_id == tournament_id, _N.game_id.in_(game_ids))


def find_note(db: Connection, tournament_id: int, note_id: int) -> GameNote:
    """A note that was just written."""
    (note,) = _load_notes(db, _N.tournament_id == tournament_id, _N.note_id == note_id)
    return note


def dissolved_queue(db: Connection, tournament_id: int, player_id: int) -> int | None:
    """The arena whose queue with this player in it was dissolved last; None when none was lately."""
    newest = select(func.max(_J.action_id)).where(_J.tournament_id == tournament_id).scalar_subquery()
    lines = db.execute(
        select(_J.action_id, _J.data)
        .where(_J.tournament_id == tournament_id, _J.change == QUEUE_DISSOLVED)
        .where(_J.action_id > newest - ACTIONS_LOOKED_AT)
        .order_by(_J.action_id.desc())
    ).all()
    undone = _undone_actions(db, tournament_id) if lines else set()
    found = (
        int(line.data["arena"])
        for line in lines
        if line.action_id not in undone and player_id in line.data["player_ids"]
    )
    return next(found, None)


def earlier_cards(
    db: Connection, tournament: Tournament, player_ids: Collection[int], now: datetime
) -> tuple[GameNote, ...]:
    """The cards of these players in other tournaments of the organizer in the last year, oldest first."""
    own, organizer_id = tables.tournament.c, tournament.details["organizer_id"]
    others = select(own.tournament_id).where(
        own.organizer_id == organizer_id, own.tournament_id != tournament.tournament_id
    )
    is_card = (_N.player_id.in_(player_ids), _N.kind.in_(CARDS), _N.tournament_id.in_(others))
    return _load_notes(db, *is_card, _written_at > now - CARDS_REMEMBERED)


def notes_of_tournament(db: Connection, tournament_id: int, *, with_actions: bool) -> tuple[NoteFacts, ...]:
    """The notes of a bundle, oldest first: on games and players that are there, and not undone."""
    games = select(tables.game.c.game_id).where(tables.game.c.tournament_id == tournament_id)
    entrants = select(tables.entrant.c.player_id).where(tables.entrant.c.tournament_id == tournament_id)
    present = (_N.game_id.in_(games), or_(_N.player_id.is_(None), _N.player_id.in_(entrants)))
    rows = _load_rows(db, [_N.tournament_id == tournament_id, *present], BUNDLE_NOTES_MAX)
    return tuple(
        NoteFacts(**_note_fields(row), action_id=row.action_id if with_actions and row.action_id else UNSET)
        for row in rows
    )


def _load_notes(db: Connection, *wanted: ColumnElement[bool]) -> tuple[GameNote, ...]:
    return tuple(
        GameNote(note_id=row.note_id, tournament_id=row.tournament_id, **_note_fields(row))
        for row in _load_rows(db, wanted, NOTES_MAX)
    )


def _note_fields(row: Row[Any]) -> dict[str, Any]:
    """The fields that answers and bundles have in common."""
    return {
        "game_id": row.game_id,
        "player_id": row.player_id,
        "kind": row.kind,
        "text": row.text,
        "user_id": row.author,
        "created_at": times.iso(row.written),
    }


def _load_rows(db: Connection, wanted: Sequence[ColumnElement[bool]], limit: int) -> list[Row[Any]]:
    """The newest of these notes with author and time, oldest first, without those that were undone."""
    line = and_(_J.tournament_id == _N.tournament_id, _J.action_id == _N.action_id, _J.change == GAME_NOTED)
    author = case((_N.written_at.is_(None), _J.actor_id), else_=_N.author_id)
    rows = db.execute(
        select(game_note, author.label("author"), _written_at.label("written"))
        .outerjoin(journal, line)
        .where(*wanted, _written_at.is_not(None))
        .order_by(_N.note_id.desc())
        .limit(limit)
    ).all()
    undone = {
        (tournament_id, action_id)
        for tournament_id in {row.tournament_id for row in rows}
        for action_id in _undone_actions(db, tournament_id)
    }
    return [row for row in reversed(rows) if (row.tournament_id, row.action_id) not in undone]


def _undone_actions(db: Connection, tournament_id: int) -> set[int]:
    lines = select(_J.data).where(_J.tournament_id == tournament_id, _J.change == ACTION_UNDONE)
    newest = lines.order_by(_J.action_id.desc()).limit(UNDOS_MAX)
    return {int(data["action"]) for data in db.execute(newest).scalars()}
