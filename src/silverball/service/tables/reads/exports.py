"""Rows of the CSV downloads: tuples in the order of their header."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import msgspec
from sqlalchemy import Connection, Select, select

from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.ranking.standing import StoredResult, finishing_places
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.games.reads import games
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.players import reads as roster
from silverball.service.single_player import reads as single_player_reads
from silverball.service.single_player.reads import SinglePlayerGameFilters
from silverball.service.tables.sheet import Cell, VerbatimText
from silverball.service.tournaments.reads import tournaments
from silverball.store.database.conditions import is_among
from silverball.store.database.statements import RowMapper
from silverball.store.tables import arena, entry, game, game_player, player, round_, single_player_game
from silverball_wire import base
from silverball_wire.base import UNSET
from silverball_wire.games import Game
from silverball_wire.singleplayer import SinglePlayerGame

Row = tuple[Cell, ...]
# Place in a match, from 0 -> the points that it counts for.
POINT_BY_PLACE: dict[int | None, str] = {0: "1.00", 1: "0.00"}
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
    "Tiebreak",
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
    for entrant in sorted(roster.entrants(db, tournament_id, viewer), key=lambda each: each.player_id):
        part = entrant.tournament_player
        status, seed, labels = (
            (entrant.status, None, ()) if part is UNSET else (part.status, part.seed, part.labels)
        )
        identity = (entrant.player_id, entrant.name, entrant.ifpa_id, entrant.claimed_by)
        rows.append((*identity, status, seed, ", ".join(labels)))
    return rows


def game_rows(db: Connection, tournament_id: int, query: TournamentGamesQuery) -> list[Row]:
    """One row per player and game, by game id, then in playing order. Raises NotFound.

    A match of a bracket is one game, worth a point to its winner, however it was counted.
    """
    listed = games.games_in_tournament(db, tournament_id, query)
    format_ = tournaments.tournament_facts(db, tournament_id).format
    if format_ is not None and format_.settings.has_matches:
        listed = tuple(_without_count(each) for each in listed)
    names = _EntityNames(db, tournament_id)
    return [row for each in listed for row in _rows_of_game(each, names)]


def single_player_game_rows(
    db: Connection, tournament_id: int, filters: SinglePlayerGameFilters
) -> list[Row]:
    """One row per single player game. Raises NotFound."""
    listed = single_player_reads.single_player_games_in_tournament(db, tournament_id, filters)
    names = _EntityNames(db, tournament_id)
    return [_row_of_single_player_game(each, names) for each in listed]


def entry_rows(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> list[Row]:
    """One row per bought or given entry, by id. Raises NotFound."""
    tournaments.require_tournament(db, tournament_id)
    mapper = RowMapper(
        player=roster.ROW,
        entry=RowMapper(
            entry.c.entry_id,
            entry.c.type,
            entry.c.quantity,
            entry.c.amount,
            entry.c.currency,
            entry.c.status,
            entry.c.created_at,
        ),
    )
    rows = (
        roster.player_rows(mapper)
        .join(entry, entry.c.player_id == player.c.player_id)
        .where(entry.c.tournament_id == tournament_id)
        .order_by(entry.c.entry_id)
    )
    listed: list[Row] = []
    for row in mapper.rows(db.execute(rows)):
        holder = roster.player_item(row.player, viewer)
        entry_id, *purchase, created_at = row.entry
        moment = VerbatimText(base.iso(created_at))
        listed.append((entry_id, holder.player_id, holder.name, holder.ifpa_id, *purchase, moment))
    return listed


class _EntityNames:
    """Names of the players, arenas and rounds in a tournament's games, by id."""

    def __init__(self, db: Connection, tournament_id: int) -> None:
        seat, attempt = game_player.c, single_player_game.c
        in_game, in_attempt = game.c.tournament_id, attempt.tournament_id
        seat_players = select(seat.player_id).where(seat.tournament_id == tournament_id)
        attempt_players = select(attempt.player_id).where(in_attempt == tournament_id)
        game_arenas = select(game.c.arena_id).where(in_game == tournament_id)
        attempt_arenas = select(attempt.arena_id).where(in_attempt == tournament_id)
        has_played = is_among(player.c.player_id, seat_players.union(attempt_players))
        was_played = arena.c.arena_id.in_(game_arenas.union(attempt_arenas))
        own_rounds = round_.c.tournament_id == tournament_id
        self.players = _names_by_id(db, select(player.c.player_id, player.c.name).where(has_played))
        self.arenas = _names_by_id(db, select(arena.c.arena_id, arena.c.name).where(was_played))
        self.rounds = _names_by_id(db, select(round_.c.round_id, round_.c.name).where(own_rounds))


def _names_by_id(db: Connection, rows: Select[int, str]) -> Names:
    return dict(db.execute(rows).all())


def _name_or_none(names: Names, id_: int | None) -> str | None:
    return None if id_ is None else names.get(id_)


def _plain_number(text: str | int | None) -> VerbatimText | None:
    """A number that the interface publishes as text."""
    return None if text is None else VerbatimText(text)


def _rows_of_game(game_: Game, names: _EntityNames) -> Iterator[Row]:
    points = tuple(None if own is None else Decimal(own) for own in game_.result_points)
    place_of = finishing_places(StoredResult(game_.player_ids, game_.result_positions, points))
    started_at = _plain_number(game_.started_at)
    completed_at = _plain_number(_ended_at(game_.started_at, game_.duration, game_.status))
    for slot, player_id in enumerate(game_.player_ids):
        place = place_of.get(player_id)
        yield (
            game_.game_id,
            game_.round_id or None,
            _name_or_none(names.rounds, game_.round_id),
            game_.set,
            game_.arena_id,
            _name_or_none(names.arenas, game_.arena_id),
            player_id,
            _name_or_none(names.players, player_id),
            slot + 1,
            None if place is None else place + 1,
            _plain_number(game_.result_points[slot]),
            _plain_number(game_.result_scores[slot]),
            game_.status,
            started_at,
            completed_at,
            game_.duration,
            game_.tiebreak is True,
        )


def _without_count(game_: Game) -> Game:
    """The game; a match with a point for its winner in place of the games won."""
    if game_.bye or len(game_.player_ids) != PAIR_SIZE:
        return game_
    points = tuple(None if own is None else Decimal(own) for own in game_.result_points)
    place_of = finishing_places(StoredResult(game_.player_ids, game_.result_positions, points))
    is_over = game_.status == "completed"
    worth = tuple(
        POINT_BY_PLACE.get(place_of.get(player_id)) if is_over else None for player_id in game_.player_ids
    )
    return msgspec.structs.replace(game_, result_points=worth)


def _row_of_single_player_game(attempt: SinglePlayerGame, names: _EntityNames) -> Row:
    round_id = None if attempt.round_id is UNSET else attempt.round_id
    return (
        attempt.single_player_game_id,
        attempt.arena_id,
        _name_or_none(names.arenas, attempt.arena_id),
        attempt.player_id,
        _name_or_none(names.players, attempt.player_id),
        _name_or_none(names.rounds, round_id),
        None if attempt.card_id is UNSET else attempt.card_id,
        attempt.index,
        _plain_number(attempt.score),
        _plain_number(attempt.points),
        attempt.best_game,
        attempt.voided,
        attempt.status,
        VerbatimText(attempt.created_at),
        _plain_number(_ended_at(attempt.created_at, attempt.duration, attempt.status)),
        attempt.duration,
    )


def _ended_at(started_at: str | None, duration: int | None, status: str) -> str | None:
    """The end of a completed game; None when it is unknown."""
    if started_at is None or duration is None or status != "completed":
        return None
    return base.iso(base.parse_moment(started_at) + timedelta(seconds=duration))
