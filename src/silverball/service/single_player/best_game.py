"""The arenas of a best game over HTTP."""

from sqlalchemy import Connection, false, func, select

from silverball.kit.errors import NotFound
from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.games.reads import games
from silverball.service.single_player import reads
from silverball.service.tournaments.reads import tournaments
from silverball.service.venues import reads as venues_reads
from silverball.store.tables import lineup_arena, single_player_game
from silverball_wire.queues import BestGameDetails, BestGameSummaryRow

_SINGLE_PLAYER_GAME = single_player_game.c


def best_game_summary(db: Connection, tournament_id: int) -> tuple[BestGameSummaryRow, ...]:
    """The arenas of the lineup with queue and best score, by arena id. Raises WrongFormat."""
    tournaments.require_best_game(db, tournament_id)
    played = (
        select(
            _SINGLE_PLAYER_GAME.arena_id,
            func.max(_SINGLE_PLAYER_GAME.score).label("best_score"),
            func.sum(_SINGLE_PLAYER_GAME.duration_seconds).label("seconds"),
            func.count(_SINGLE_PLAYER_GAME.duration_seconds).label("timed"),
        )
        .where(
            _SINGLE_PLAYER_GAME.tournament_id == tournament_id,
            _SINGLE_PLAYER_GAME.status == "completed",
            _SINGLE_PLAYER_GAME.voided.is_(false()),
        )
        .group_by(_SINGLE_PLAYER_GAME.arena_id)
        .subquery()
    )
    lineup = (
        select(lineup_arena.c.arena_id, played.c.best_score, played.c.seconds, played.c.timed)
        .outerjoin(played, played.c.arena_id == lineup_arena.c.arena_id)
        .where(lineup_arena.c.tournament_id == tournament_id)
        .order_by(lineup_arena.c.arena_id)
    )
    waiting = reads.group_by_arena(reads.waiting_spots(db, tournament_id))
    return tuple(
        BestGameSummaryRow(
            arena_id=row.arena_id,
            game_queue=waiting.get(row.arena_id, ()),
            game_duration=games.mean_from_total(row.seconds, row.timed or 0),
            best_score=row.best_score,
            # The service does not know which place qualifies (formats 14.18).
            highlighted_score=None,
        )
        for row in db.execute(lineup).all()
    )


def best_game_details(db: Connection, tournament_id: int, arena_id: int) -> BestGameDetails:
    """An arena of the lineup with its games. Raises NotFound and WrongFormat."""
    tournaments.require_best_game(db, tournament_id)
    selected = venues_reads.selected_lineup_arenas(db, tournament_id, [arena_id])
    if not selected:
        raise NotFound("Arena", arena_id)
    played = reads.games_on_arena(db, tournament_id, arena_id)
    return BestGameDetails(
        arena=selected[0],
        voided_game_count=sum(game.voided for game in played),
        single_player_games=tuple(game for game in played if not game.voided),
        queue=reads.group_by_arena(reads.waiting_spots(db, tournament_id)).get(arena_id, ()),
    )


@get("/api/tournaments/{tournament_id}/arenas/bgsummary", access=Access.OPENABLE)
def list_best_game_arenas(call: Call[Query]) -> tuple[BestGameSummaryRow, ...]:
    """Arenas of a best game, each with queue and best score."""
    with call.read() as db:
        return best_game_summary(db, call.ids["tournament_id"])


@get("/api/tournaments/{tournament_id}/arenas/{arena_id}/bgdetails", access=Access.OPENABLE)
def show_best_game_arena(call: Call[Query]) -> BestGameDetails:
    """One arena of a best game with its games."""
    with call.read() as db:
        return best_game_details(db, call.ids["tournament_id"], call.ids["arena_id"])
