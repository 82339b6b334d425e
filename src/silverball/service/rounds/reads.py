"""Rounds of a tournament, how they were drawn, notes on games, the round timer and calls."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Row, and_, case, func, or_, select

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.values import compile_builder
from silverball.rules.mechanics import results, rounds
from silverball.rules.model import fields
from silverball.rules.model import tournament as rules
from silverball.rules.model.tournament import Game, Tournament
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.games.reads.games import shape_game
from silverball.service.journal import texts
from silverball.service.journal.texts import DrawCounts
from silverball.service.tournaments.reads import tournaments
from silverball.store import tables
from silverball.store.tables import game_note, round_, tournament
from silverball.store.tables import journal as tables_journal
from silverball.store.tournament import forecasts, journal
from silverball.store.tournament.journal import ACTION_UNDONE, GAME_NOTED, QUEUE_DISSOLVED, Action
from silverball.store.tournament.rows import seconds_between
from silverball_wire import base
from silverball_wire.bundle import NoteFacts
from silverball_wire.rounds import (
    CalledGame,
    DrawnRound,
    ExtendedGame,
    GameNote,
    Round,
    RoundDraw,
    RoundTimer,
    SeedCommitment,
    TournamentDraws,
)

_round_item: Callable[[Any], Round] = compile_builder(
    Round, fields.published_sources(fields.ROUND, {"moment": base.plain_z_or_none})
)


def rounds_in_tournament(db: Connection, tournament_id: int) -> tuple[Round, ...]:
    """All rounds, newest first. Raises NotFound for an unknown tournament."""
    rows = (
        select(round_)
        .where(round_.c.tournament_id == tournament_id)
        .order_by(round_.c.round_index.desc(), round_.c.round_id.desc())
    )
    rounds = db.execute(rows).all()
    if not rounds:
        tournaments.require_tournament(db, tournament_id)
    return tuple(_round_item(row) for row in rounds)


def find_round(db: Connection, tournament_id: int, round_id: int) -> Round:
    """A round of the tournament. Raises NotFound."""
    conditions = (round_.c.tournament_id == tournament_id, round_.c.round_id == round_id)
    row = db.execute(select(round_).where(*conditions)).one_or_none()
    if row is None:
        raise NotFound("Round", round_id)
    return _round_item(row)


def rounds_by_id(db: Connection, tournament_id: int, round_ids: Sequence[int]) -> dict[int, Round]:
    """Round id -> round, for those of the given rounds that are in the tournament."""
    conditions = (round_.c.tournament_id == tournament_id, round_.c.round_id.in_(round_ids))
    return {row.round_id: _round_item(row) for row in db.execute(select(round_).where(*conditions))}


def wire_round(tournament_id: int, round_: rules.Round) -> Round:
    """The round in its published shape."""
    assert round_.created_at is not None
    return Round(
        round_id=round_.round_id,
        tournament_id=tournament_id,
        arena_id=round_.arena_id,
        score=round_.score,
        size=round_.size,
        description=None,
        index=round_.round_index,
        name=round_.name,
        status=round_.status,
        duration=seconds_between(round_.created_at, round_.completed_at),
        created_at=base.plain_z(round_.created_at),
        completed_at=base.plain_z_or_none(round_.completed_at),
    )


# A drawn round that is not stored, in its published shape. Ids of unstored things are 0.


def drawn_round(tournament: Tournament) -> DrawnRound:
    """The newest round of a tournament that includes the draw, with its games."""
    newest = tournament.newest_round
    assert newest is not None
    round_id = max(newest.round_id, 0)
    users = {entrant.player_id: entrant.user_id for entrant in tournament.entrants}
    games = [
        replace(
            shape_game(tournament.tournament_id, game, users),
            game_id=max(game.game_id, 0),
            round_id=round_id,
            scorekeeper_id=None,
            duration=None,
        )
        for game in tournament.games_by_round.get(newest.round_id, ())
    ]
    drawn = replace(wire_round(tournament.tournament_id, newest), round_id=round_id, duration=None)
    return DrawnRound(data=drawn, games=tuple(games))


def tournament_draws(db: Connection, tournament_id: int) -> TournamentDraws:
    """The commitments and the drawn rounds of a tournament. Raises NotFound."""
    columns = select(tournament.c.status, tournament.c.settings)
    row = db.execute(columns.where(tournament.c.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    actions = journal.all_actions(db, tournament_id)
    commitments = _commitments(actions, is_revealed=row.status == "completed")
    pending = forecasts.counts(db, tournament_id)
    return TournamentDraws(
        commitments=commitments,
        rounds=tuple(_round_draws(actions, row.settings, pending)),
        text=texts.seeds_text(
            len(commitments), _seed_exports(actions), is_revealed=row.status == "completed"
        ),
    )


def _commitments(actions: Sequence[Action], *, is_revealed: bool) -> tuple[SeedCommitment, ...]:
    return tuple(
        SeedCommitment(
            action_id=action.action_id,
            committed_at=base.iso(action.at),
            commitment=data["commitment"],
            seed=action.new_seed if is_revealed else None,
        )
        for action in actions
        for name, data in action.entries
        if name == journal.SEED_COMMITTED
    )


def _seed_exports(actions: Sequence[Action]) -> list[str]:
    """The times, in UTC, at which the seed left before completion."""
    return [f"{action.at:%Y-%m-%d %H:%M} UTC" for action in actions if action.is_seed_export]


def _round_draws(
    actions: Sequence[Action], settings: Mapping[str, Any], pending: Mapping[str, int]
) -> list[RoundDraw]:
    """The rounds that exist, each with all that was done to its draw, also before it was taken back."""
    undone = {key for action in actions for key in action.undone_action_ids}
    previews, redraws, takes = Counter[str](pending), Counter[str](), Counter[str]()
    swaps: Counter[int] = Counter()
    standing: dict[str, tuple[Action, dict[str, Any]]] = {}
    for action in actions:
        if action.undone_action_id is not None:
            continue
        draw = (action.dice_seed or "").partition("/")[2].rpartition("/")[0]
        for name, data in action.entries:
            if name == journal.DRAW_PREVIEWED:
                previews[draw] += data["times"]
            elif name == "DrawRemembered" and draw.startswith("round "):
                redraws[draw] += 1
            elif name == "RoundOpened" and draw.startswith("round "):
                takes[draw] += 1
                standing[draw] = (action, data["thing"])
            elif name == "RoundDeleted" and action.action_id not in undone:
                standing = {key: found for key, found in standing.items() if found[1] != data["thing"]}
        if action.dice_seed is None and action.action_id not in undone:
            swaps.update(_rounds_with_swaps(action))
        if action.action_id in undone:
            standing = {key: found for key, found in standing.items() if found[0] is not action}
    return [
        _round_draw(
            action,
            opened,
            settings,
            DrawCounts(
                dry_runs=previews[draw],
                redraws=redraws[draw],
                swaps=swaps[opened["round_id"]],
                takes=takes[draw] - 1,
            ),
        )
        for draw, (action, opened) in standing.items()
    ]


def _rounds_with_swaps(action: Action) -> set[int]:
    """The rounds in whose games players changed places by hand: other players, and as many as before."""
    changed = [data for name, data in action.entries if name == "GameChanged"]
    return {
        data["after"]["round_id"]
        for data in changed
        if data["after"]["round_id"] is not None
        and set(data["before"]["player_ids"]) != set(data["after"]["player_ids"])
        and len(data["before"]["player_ids"]) == len(data["after"]["player_ids"])
    }


def _round_draw(
    action: Action, round_: Mapping[str, Any], settings: Mapping[str, Any], counts: DrawCounts
) -> RoundDraw:
    games = [data["thing"] for name, data in action.entries if name == "GameOpened"]
    return RoundDraw(
        round_id=round_["round_id"],
        name=round_["name"],
        drawn_at=base.iso(action.at),
        dry_runs=counts.dry_runs,
        redraws=counts.redraws,
        swaps=counts.swaps,
        takes=counts.takes,
        text=texts.round_text(games, settings, counts),
    )


NOTES_MAX = 200
UNDOS_MAX = 10_000
# What is shown when the same person is in trouble again, and for how long.
CARDS = ("yellow", "red", "disqualified")
CARDS_REMEMBERED = timedelta(days=365)
# A queue that was dissolved earlier is no news.
ACTIONS_LOOKED_AT = 200
BUNDLE_NOTES_MAX = 10_000
_GAME_NOTE, _JOURNAL = game_note.c, tables_journal.c
# An imported note says itself when it was written.
_written_at = func.coalesce(_GAME_NOTE.written_at, _JOURNAL.at)


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
    return _load_notes(db, _GAME_NOTE.tournament_id == tournament_id, _GAME_NOTE.game_id.in_(game_ids))


def find_note(db: Connection, tournament_id: int, note_id: int) -> GameNote:
    """A note that was just written."""
    (note,) = _load_notes(db, _GAME_NOTE.tournament_id == tournament_id, _GAME_NOTE.note_id == note_id)
    return note


def dissolved_queue(db: Connection, tournament_id: int, player_id: int) -> int | None:
    """The arena whose queue with this player in it was dissolved last; None when none was lately."""
    newest = (
        select(func.max(_JOURNAL.action_id)).where(_JOURNAL.tournament_id == tournament_id).scalar_subquery()
    )
    lines = db.execute(
        select(_JOURNAL.action_id, _JOURNAL.data)
        .where(_JOURNAL.tournament_id == tournament_id, _JOURNAL.change == QUEUE_DISSOLVED)
        .where(_JOURNAL.action_id > newest - ACTIONS_LOOKED_AT)
        .order_by(_JOURNAL.action_id.desc())
    ).all()
    undone = _undone_actions(db, tournament_id) if lines else set()
    merges = journal.load_merges(db, [tournament_id]) if lines else []
    for line in lines:
        journal.rename_merged(line.data, merges, tournament_id, line.action_id)
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
    is_card = (
        _GAME_NOTE.player_id.in_(player_ids),
        _GAME_NOTE.kind.in_(CARDS),
        _GAME_NOTE.tournament_id.in_(others),
    )
    return _load_notes(db, *is_card, _written_at > now - CARDS_REMEMBERED)


def notes_of_tournament(db: Connection, tournament_id: int, *, with_actions: bool) -> tuple[NoteFacts, ...]:
    """The notes of a bundle, oldest first: on games and players that are there, and not undone."""
    games = select(tables.game.c.game_id).where(tables.game.c.tournament_id == tournament_id)
    entrants = select(tables.entrant.c.player_id).where(tables.entrant.c.tournament_id == tournament_id)
    present = (
        _GAME_NOTE.game_id.in_(games),
        or_(_GAME_NOTE.player_id.is_(None), _GAME_NOTE.player_id.in_(entrants)),
    )
    rows = _load_rows(db, [_GAME_NOTE.tournament_id == tournament_id, *present], BUNDLE_NOTES_MAX)
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
        "created_at": base.iso(row.written),
    }


def _load_rows(db: Connection, wanted: Sequence[ColumnElement[bool]], limit: int) -> list[Row[Any]]:
    """The newest of these notes with author and time, oldest first, without those that were undone."""
    line = and_(
        _JOURNAL.tournament_id == _GAME_NOTE.tournament_id,
        _JOURNAL.action_id == _GAME_NOTE.action_id,
        _JOURNAL.change == GAME_NOTED,
    )
    author = case((_GAME_NOTE.written_at.is_(None), _JOURNAL.actor_id), else_=_GAME_NOTE.author_id)
    rows = db.execute(
        select(game_note, author.label("author"), _written_at.label("written"))
        .outerjoin(tables_journal, line)
        .where(*wanted, _written_at.is_not(None))
        .order_by(_GAME_NOTE.note_id.desc())
        .limit(limit)
    ).all()
    undone = {
        (tournament_id, action_id)
        for tournament_id in {row.tournament_id for row in rows}
        for action_id in _undone_actions(db, tournament_id)
    }
    return [row for row in reversed(rows) if (row.tournament_id, row.action_id) not in undone]


def _undone_actions(db: Connection, tournament_id: int) -> set[int]:
    lines = select(_JOURNAL.data).where(
        _JOURNAL.tournament_id == tournament_id, _JOURNAL.change == ACTION_UNDONE
    )
    newest = lines.order_by(_JOURNAL.action_id.desc()).limit(UNDOS_MAX)
    return {int(data["action"]) for data in db.execute(newest).scalars()}


def round_timer_of(tournament: Tournament) -> RoundTimer:
    """The timer of the open round, and the open games whose players were called."""
    ends_at, newest = rounds.round_ends_at(tournament), tournament.newest_round
    calls = tournament.state.calls
    ends = tournament.state.extended_ends
    extended_ids = sorted(game.game_id for game in tournament.open_games if game.game_id in ends)
    open_ids = sorted(game.game_id for game in tournament.open_games if game.game_id in calls)
    return RoundTimer(
        minutes=tournament.state.round_minutes,
        round_id=None if ends_at is None or newest is None else newest.round_id,
        ends_at=base.iso_or_none(ends_at),
        called_games=tuple(
            CalledGame(game_id=game_id, called_at=base.iso(calls[game_id])) for game_id in open_ids
        ),
        extended_games=tuple(
            ExtendedGame(game_id=game_id, ends_at=base.iso(ends[game_id])) for game_id in extended_ids
        )
        or UNSET,
    )
