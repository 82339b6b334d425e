"""Notes on games, as directors and scorekeepers read them."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, func, select

from silverball.kit.errors import NotAllowed
from silverball.rules.mechanics import results
from silverball.rules.model.tournament import Game, Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.journal import ACTION_UNDONE, GAME_NOTED, QUEUE_DISSOLVED
from silverball.store.tables import game_note, journal
from silverball.wire import times
from silverball.wire.notes import GameNote

NOTES_MAX = 200
UNDOS_MAX = 10_000
# What is shown when the same person is in trouble again, and for how long.
CARDS = ("yellow", "red", "disqualified")
CARDS_REMEMBERED = timedelta(days=365)
# A queue that was dissolved earlier is no news.
ACTIONS_LOOKED_AT = 200
_N, _J = game_note.c, journal.c


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
    return _load_notes(db, *is_card, _J.at > now - CARDS_REMEMBERED)


def _load_notes(db: Connection, *wanted: ColumnElement[bool]) -> tuple[GameNote, ...]:
    line = and_(_J.tournament_id == _N.tournament_id, _J.action_id == _N.action_id, _J.change == GAME_NOTED)
    rows = db.execute(
        select(game_note, _J.actor_id, _J.at)
        .join(journal, line)
        .where(*wanted)
        .order_by(_N.note_id.desc())
        .limit(NOTES_MAX)
    ).all()
    undone = {
        (tournament_id, action_id)
        for tournament_id in {row.tournament_id for row in rows}
        for action_id in _undone_actions(db, tournament_id)
    }
    return tuple(
        GameNote(
            note_id=row.note_id,
            tournament_id=row.tournament_id,
            game_id=row.game_id,
            player_id=row.player_id,
            kind=row.kind,
            text=row.text,
            user_id=row.actor_id,
            created_at=times.iso(row.at),
        )
        for row in reversed(rows)
        if (row.tournament_id, row.action_id) not in undone
    )


def _undone_actions(db: Connection, tournament_id: int) -> set[int]:
    lines = select(_J.data).where(_J.tournament_id == tournament_id, _J.change == ACTION_UNDONE)
    newest = lines.order_by(_J.action_id.desc()).limit(UNDOS_MAX)
    return {int(data["action"]) for data in db.execute(newest).scalars()}
