"""Completed games for summaries and statistics."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.rules.ranking.regimes import StoredResult
from silverball.rules.ranking.summaries import GameRecord
from silverball.store.statements import NamedRow, RowMapper
from silverball.store.tables import game, game_player

_SEATS = RowMapper(
    game_player.c.game_id,
    game_player.c.player_id,
    game_player.c.result_position,
    game_player.c.points,
)
_NO_SEATS = _SEATS.row(((), (), (), ()))


class CompletedGame(Struct, frozen=True):
    """A completed game with its result."""

    game_id: int
    arena_id: int | None
    is_bye: bool
    started_at: datetime | None
    duration_seconds: int | None
    result: StoredResult

    @property
    def record(self) -> GameRecord:
        """The game in the form that the rules summarize."""
        result = self.result
        return GameRecord(
            self.arena_id,
            result.player_ids,
            result.result_positions,
            result.result_points,
            is_bye=self.is_bye,
        )


def completed_games(db: Connection, tournament_id: int) -> list[CompletedGame]:
    """The completed games of a tournament, byes included, by id."""
    rows = select(game.c.game_id, game.c.arena_id, game.c.bye, game.c.started_at, game.c.duration_seconds)
    rows = rows.where(game.c.tournament_id == tournament_id, game.c.status == "completed")
    seated = select(*_SEATS.columns).where(game_player.c.tournament_id == tournament_id)
    seats = _SEATS.grouped(db.execute(seated.order_by(game_player.c.game_id, game_player.c.slot)))
    return [
        CompletedGame(*row, _stored_result(seats.get(row.game_id, _NO_SEATS)))
        for row in db.execute(rows.order_by(game.c.game_id))
    ]


def _stored_result(seats: NamedRow) -> StoredResult:
    return StoredResult(seats.player_id, seats.result_position, seats.points)
