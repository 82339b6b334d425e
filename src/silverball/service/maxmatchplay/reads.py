"""The live view of a max match play."""

from collections import Counter
from datetime import datetime, timedelta

from sqlalchemy import Connection, select

from silverball.service import seconds
from silverball.service.formats import reads as formats
from silverball.service.games import reads as games
from silverball.service.games.reads import Played
from silverball.store.tables import entrant
from silverball.wire.maxmatchplay import MaxMatchplayPlayer, MaxMatchplayState

# Games for each player when the tournament does not say. Source: formats 14.5.
DURATION_DEFAULT = 10


def state(db: Connection, tournament_id: int) -> MaxMatchplayState:
    """Started games, whom each entrant has met, and what is left to play. Raises WrongFormat."""
    tournament = formats.of_type(db, tournament_id, "max_matchplay", "Max Match Play")
    required: int = tournament.settings.get("maxMatchplayDuration") or DURATION_DEFAULT
    rows = select(entrant.c.player_id, entrant.c.status).where(entrant.c.tournament_id == tournament_id)
    entrants = db.execute(rows.order_by(entrant.c.player_id)).all()
    played = [game for game in games.completed(db, tournament_id) if not game.is_bye]
    theirs = {
        row.player_id: [game for game in played if row.player_id in game.result.player_ids]
        for row in entrants
    }
    missing = [max(0, required - len(theirs[row.player_id])) for row in entrants if row.status == "active"]
    return MaxMatchplayState(
        games=games.started(db, tournament_id),
        players=tuple(_player(row.player_id, theirs[row.player_id], required) for row in entrants),
        # An odd game out still has to be played by somebody.
        remaining_games=(sum(missing) + 1) // 2,
        avg_game_duration=seconds.mean(game.duration_seconds for game in played),
    )


def _player(player_id: int, played: list[Played], required: int) -> MaxMatchplayPlayer:
    in_order = sorted(played, key=_order_of_play)
    opponents = [other for game in in_order for other in game.result.player_ids if other != player_id]
    arenas = Counter(game.arena_id for game in played if game.arena_id is not None)
    return MaxMatchplayPlayer(
        player_id=player_id,
        game_count=len(played),
        completed_time=_completed_time(in_order, required),
        arena_counts=dict(sorted(arenas.items())),
        opponent_counts=dict(sorted(Counter(opponents).items())),
        all_opponents=tuple(opponents),
    )


def _order_of_play(game: Played) -> tuple[float, int]:
    return (0.0 if game.started_at is None else game.started_at.timestamp(), game.game_id)


def _completed_time(played: list[Played], required: int) -> int | None:
    """When the last required game ended, in seconds since 1970."""
    if len(played) < required:
        return None
    ends = sorted(end for game in played if (end := _end(game)) is not None)
    return int(ends[required - 1].timestamp()) if len(ends) >= required else None


def _end(game: Played) -> datetime | None:
    if game.started_at is None:
        return None
    return game.started_at + timedelta(seconds=game.duration_seconds or 0)
