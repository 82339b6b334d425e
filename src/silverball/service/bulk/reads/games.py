"""Games, their results and single player games of published tournaments, for the bulk files."""

from collections.abc import Container, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, select, type_coerce

from silverball.rules.model import fields
from silverball.rules.model.fields import PartField
from silverball.rules.ranking.places import finishing_places
from silverball.rules.ranking.regimes import StoredResult
from silverball.service.bulk.reads import sheets, tournaments
from silverball.service.bulk.reads.sheets import BulkTable, Period, Row, SheetColumn
from silverball.store import tables
from silverball.store.types import Id

_T, _G, _SEAT, _A, _R, _S = (
    tables.tournament.c,
    tables.game.c,
    tables.game_player.c,
    tables.arena.c,
    tables.round_.c,
    tables.single_player_game.c,
)
# Where a game was played: its arena, with the name and the machine that it has now.
_ARENA_COLUMNS = (
    SheetColumn("arena_id", "integer", "Id of the arena; empty without one.", "arenas"),
    SheetColumn("arena_name", "text", "Name of the arena."),
    SheetColumn("opdb_id", "text", "Id of the machine; the same title in all places."),
)
# In the order in which the files have had them; new ones follow.
_GAME_FIELDS = sheets.bulk_fields(fields.GAME, "set_number", "is_bye", "is_tiebreak")
_ATTEMPT_FIELDS = sheets.bulk_fields(
    fields.SINGLE_PLAYER_GAME, "card_id", "points", "score", "is_best", "created_at"
)
GAME_COLUMNS = (
    SheetColumn("game_id", "integer", "Id of the game."),
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("round_number", "integer", "Number of the round, from 1; empty outside of rounds."),
    *_ARENA_COLUMNS,
    *map(sheets.column_of, _GAME_FIELDS),
    SheetColumn("player_count", "integer", "Number of players, those who are in no file included."),
)
RESULT_COLUMNS = (
    SheetColumn("game_id", "integer", "Id of the game.", "games"),
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("player_id", "integer", "Id of the player.", "players"),
    SheetColumn("playing_order", "integer", "1 for who played first."),
    SheetColumn("place", "integer", "Finishing place, 1 for the winner; equals share one."),
    SheetColumn("points", "points", "Points that the result is worth; strikes in knockouts."),
    SheetColumn("score", "integer", "Score on the machine, where it was recorded."),
)
SINGLE_PLAYER_GAME_COLUMNS = (
    SheetColumn("single_player_game_id", "integer", "Id of the single player game."),
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("player_id", "integer", "Id of the player.", "players"),
    SheetColumn("round_number", "integer", "Number of the round or hole, from 1; empty outside of rounds."),
    *_ARENA_COLUMNS,
    *map(sheets.column_of, _ATTEMPT_FIELDS),
)
ARENA_COLUMNS = (
    SheetColumn("arena_id", "integer", "Id of the arena."),
    SheetColumn("name", "text", "Name of the arena."),
    SheetColumn("opdb_id", "text", "Id of the machine; the same title in all places."),
    SheetColumn("organizer_id", "integer", "User id of the organizer who has the arena."),
)


def game_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The completed games of a period, by tournament and game."""
    seats = select(func.count()).where(_SEAT.game_id == _G.game_id).scalar_subquery()
    rows: Select[Any] = select(
        _G.game_id,
        _G.tournament_id,
        _R.round_index + 1,
        *(_G.arena_id, _A.name, _A.opdb_id),
        *(_bulk_column(_G, field) for field in _GAME_FIELDS),
        seats,
    )
    rows = _with_places(rows.select_from(tables.game), _G, period)
    rows = rows.where(_G.status == "completed").order_by(_G.tournament_id, _G.game_id)
    return map(tuple, tournaments.stream(db, rows))


def _bulk_column(played: Any, field: PartField) -> ColumnElement[Any]:
    """The column as the files take it: points in hundredths, and no flag that is null."""
    column = played[field.stored_in]
    if field.kind == "points":
        return type_coerce(column, Id)
    return func.coalesce(column, false()) if field.kind == "flag" and field.null else column


def result_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The results of a period, by tournament, game and playing order."""
    hidden = tournaments.hidden_player_ids(db)
    rows = (
        select(
            _SEAT.game_id,
            _SEAT.tournament_id,
            _SEAT.player_id,
            _SEAT.result_position,
            type_coerce(_SEAT.points, Id).label("points"),
            _SEAT.score,
        )
        .join(tables.tournament, _T.tournament_id == _SEAT.tournament_id)
        .join(tables.game, _G.game_id == _SEAT.game_id)
        .where(tournaments.is_published_in(period), _G.status == "completed")
        .order_by(_SEAT.tournament_id, _SEAT.game_id, _SEAT.slot)
    )
    for _, seats in groupby(tournaments.stream(db, rows), itemgetter(0)):
        yield from _results_of_game(list(seats), hidden)


def _results_of_game(seats: list[Any], hidden: Container[int]) -> Iterator[Row]:
    """The results of a game, without those of hidden players; their places are left empty."""
    player_ids = tuple([seat.player_id for seat in seats])
    positions, points_by_seat = [seat.result_position for seat in seats], [seat.points for seat in seats]
    places = finishing_places(StoredResult(player_ids, tuple(positions), tuple(points_by_seat)))
    for slot, (game_id, tournament_id, player_id, _, points, score) in enumerate(seats):
        if player_id in hidden:
            continue
        place = places.get(player_id)
        yield (
            *(game_id, tournament_id, player_id, slot + 1),
            *(None if place is None else place + 1, points, score),
        )


def single_player_game_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The completed single player games of a period, without voided ones, by tournament and id."""
    hidden = tournaments.hidden_player_ids(db)
    rows: Select[Any] = select(
        _S.single_player_game_id,
        _S.tournament_id,
        _S.player_id,
        _R.round_index + 1,
        *(_S.arena_id, _A.name, _A.opdb_id),
        *(_bulk_column(_S, field) for field in _ATTEMPT_FIELDS),
    )
    rows = _with_places(rows.select_from(tables.single_player_game), _S, period)
    rows = rows.where(_S.status == "completed", _S.voided == false())
    rows = rows.order_by(_S.tournament_id, _S.single_player_game_id)
    return (tuple(row) for row in tournaments.stream(db, rows) if row.player_id not in hidden)


def _with_places(rows: Select[Any], played: Any, period: Period) -> Select[Any]:
    """The statement joined with arena, round and tournament of a game, for the games of the period."""
    return (
        rows.join(tables.tournament, _T.tournament_id == played.tournament_id)
        .outerjoin(tables.arena, _A.arena_id == played.arena_id)
        .outerjoin(tables.round_, _R.round_id == played.round_id)
        .where(tournaments.is_published_in(period))
    )


def arena_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The arenas that the published tournaments of a period have or had games on, by id."""
    was_played = [
        select(played.arena_id).join(
            tables.tournament,
            and_(_T.tournament_id == played.tournament_id, tournaments.is_published_in(period)),
        )
        for played in (_G, _S)
    ]
    rows = select(_A.arena_id, _A.name, _A.opdb_id, _A.organizer_id)
    rows = rows.where(_A.arena_id.in_(was_played[0].union(was_played[1]))).order_by(_A.arena_id)
    return map(tuple, tournaments.stream(db, rows))


GAMES = BulkTable("games", GAME_COLUMNS, ("game_id",), game_rows)
RESULTS = BulkTable("results", RESULT_COLUMNS, ("game_id", "player_id"), result_rows)
SINGLE_PLAYER_GAMES = BulkTable(
    "single_player_games",
    SINGLE_PLAYER_GAME_COLUMNS,
    ("single_player_game_id",),
    single_player_game_rows,
)
ARENAS = BulkTable("arenas", ARENA_COLUMNS, ("arena_id",), arena_rows)
