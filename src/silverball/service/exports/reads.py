"""The rows of the CSV downloads: one tuple per row, in the order of the header beside it."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

from sqlalchemy import Connection, Select, select

from silverball.rules.ranking.places import finishing_places
from silverball.rules.ranking.regimes import StoredResult
from silverball.service.access import AuthenticatedCaller
from silverball.service.exports.sheet import Cell, VerbatimText
from silverball.service.games.reads import games
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.players import reads as roster
from silverball.service.singleplayer import reads as attempts
from silverball.service.singleplayer.reads import SinglePlayerGameFilters
from silverball.service.tournaments.reads import tournaments
from silverball.store.tables import arena, entry, game, game_player, player, round_, single_player_game
from silverball.wire import times
from silverball.wire.base import UNSET
from silverball.wire.games import Game
from silverball.wire.singleplayer import SinglePlayerGame

Row = tuple[Cell, ...]
Names = dict[int, str]

PLAYER_HEADER = ("Player ID", "Name", "IFPA ID", "User ID", "Status", "Seed", "Labels")
GAME_HEADER = (
    "Game ID",
    "Round ID",
    "Round",
    "Set",
    "Arena ID",
    "Arena",
    "Player ID",
    "Name",
    "Play order",
    "Position",
    "Points",
    "Score",
    "Status",
    "Started at",
    "Completed at",
    "Duration",
)
SINGLE_PLAYER_GAME_HEADER = (
    "Game ID",
    "Arena ID",
    "Arena",
    "Player ID",
    "Name",
    "Round",
    "Card ID",
    "Index",
    "Score",
    "Points",
    "Best game",
    "Voided",
    "Status",
    "Started at",
    "Completed at",
    "Duration",
)
ENTRY_HEADER = (
    "Entry ID",
    "Player ID",
    "Name",
    "IFPA ID",
    "Type",
    "Quantity",
    "Amount",
    "Currency",
    "Status",
    "Created at",
)


def player_rows(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> list[Row]:
    """One row per entrant, by player id. Raises NotFound."""
    tournaments.require_tournament(db, tournament_id)
    rows: list[Row] = []
    for one in sorted(roster.entrants(db, tournament_id, viewer), key=lambda one: one.player_id):
        part = one.tournament_player
        status, seed, labels = (
            (one.status, None, ()) if part is UNSET else (part.status, part.seed, part.labels)
        )
        shown_labels = ", ".join(labels)
        rows.append((one.player_id, one.name, one.ifpa_id, one.claimed_by, status, seed, shown_labels))
    return rows


def game_rows(db: Connection, tournament_id: int, query: TournamentGamesQuery) -> list[Row]:
    """One row per player and game, by game id, then in playing order. Raises NotFound."""
    listed = games.games_in_tournament(db, tournament_id, query)
    names = _EntityNames(db, tournament_id)
    return [row for one in listed for row in _rows_of_game(one, names)]


def single_player_game_rows(
    db: Connection, tournament_id: int, filters: SinglePlayerGameFilters
) -> list[Row]:
    """One row per single player game. Raises NotFound."""
    listed = attempts.single_player_games_in_tournament(db, tournament_id, filters)
    names = _EntityNames(db, tournament_id)
    return [_row_of_single_player_game(one, names) for one in listed]


def entry_rows(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> list[Row]:
    """One row per bought or given entry, by id. Raises NotFound."""
    tournaments.require_tournament(db, tournament_id)
    own = (
        entry.c.entry_id,
        entry.c.type,
        entry.c.quantity,
        entry.c.amount,
        entry.c.currency,
        entry.c.status,
        entry.c.created_at,
    )
    rows = (
        roster.player_rows(*own)
        .join(entry, entry.c.player_id == player.c.player_id)
        .where(entry.c.tournament_id == tournament_id)
        .order_by(entry.c.entry_id)
    )
    listed: list[Row] = []
    for row in db.execute(rows).all():
        who = roster.player_item(row[: -len(own)], viewer)
        entry_id, type_, quantity, amount, currency, status, created_at = row[-len(own) :]
        moment = VerbatimText(times.iso(created_at))
        bought = (type_, quantity, amount, currency, status, moment)
        listed.append((entry_id, who.player_id, who.name, who.ifpa_id, *bought))
    return listed


class _EntityNames:
    """What the players, arenas and rounds of a tournament's games are called."""

    def __init__(self, db: Connection, tournament_id: int) -> None:
        seat, attempt = game_player.c, single_player_game.c
        in_game, in_attempt = game.c.tournament_id, attempt.tournament_id
        seated = select(seat.player_id).where(seat.tournament_id == tournament_id)
        tried = select(attempt.player_id).where(in_attempt == tournament_id)
        there = select(game.c.arena_id).where(in_game == tournament_id)
        tried_on = select(attempt.arena_id).where(in_attempt == tournament_id)
        everybody = player.c.player_id.in_(seated.union(tried))
        everywhere = arena.c.arena_id.in_(there.union(tried_on))
        own_rounds = round_.c.tournament_id == tournament_id
        self.players = _names_by_id(db, select(player.c.player_id, player.c.name).where(everybody))
        self.arenas = _names_by_id(db, select(arena.c.arena_id, arena.c.name).where(everywhere))
        self.rounds = _names_by_id(db, select(round_.c.round_id, round_.c.name).where(own_rounds))


def _names_by_id(db: Connection, rows: Select[int, str]) -> Names:
    return {row[0]: row[1] for row in db.execute(rows).all()}


def _name_or_none(names: Names, id_: int | None) -> str | None:
    return None if id_ is None else names.get(id_)


def _plain_number(text: str | int | None) -> VerbatimText | None:
    """A number that the interface shows as a text."""
    return None if text is None else VerbatimText(text)


def _rows_of_game(one: Game, names: _EntityNames) -> Iterator[Row]:
    points = tuple(None if own is None else Decimal(own) for own in one.result_points)
    place_of = finishing_places(StoredResult(one.player_ids, one.result_positions, points))
    started_at = _plain_number(one.started_at)
    completed_at = _plain_number(_ended_at(one.started_at, one.duration, one.status))
    for slot, player_id in enumerate(one.player_ids):
        place = place_of.get(player_id)
        yield (
            one.game_id,
            one.round_id or None,
            _name_or_none(names.rounds, one.round_id),
            one.set,
            one.arena_id,
            _name_or_none(names.arenas, one.arena_id),
            player_id,
            _name_or_none(names.players, player_id),
            slot + 1,
            None if place is None else place + 1,
            _plain_number(one.result_points[slot]),
            _plain_number(one.result_scores[slot]),
            one.status,
            started_at,
            completed_at,
            one.duration,
        )


def _row_of_single_player_game(one: SinglePlayerGame, names: _EntityNames) -> Row:
    round_id = None if one.round_id is UNSET else one.round_id
    return (
        one.single_player_game_id,
        one.arena_id,
        _name_or_none(names.arenas, one.arena_id),
        one.player_id,
        _name_or_none(names.players, one.player_id),
        _name_or_none(names.rounds, round_id),
        None if one.card_id is UNSET else one.card_id,
        one.index,
        _plain_number(one.score),
        _plain_number(one.points),
        one.best_game,
        one.voided,
        one.status,
        VerbatimText(one.created_at),
        _plain_number(_ended_at(one.created_at, one.duration, one.status)),
        one.duration,
    )


def _ended_at(started_at: str | None, duration: int | None, status: str) -> str | None:
    """When a completed game ended, as far as it is known."""
    if started_at is None or duration is None or status != "completed":
        return None
    return times.iso(times.parse_moment(started_at) + timedelta(seconds=duration))
