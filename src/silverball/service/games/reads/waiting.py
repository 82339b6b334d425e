"""The live view of a frenzy."""

from sqlalchemy import Connection, select

from silverball.kit.values import convert
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.service.games.reads import games
from silverball.service.single_player import reads as single_player_reads
from silverball.service.tournaments.reads import tournaments
from silverball.store.revisions.stamps import Revision
from silverball.store.tables import tournament
from silverball.store.tournament import snapshot
from silverball_wire.queues import FrenzyState
from silverball_wire.rounds import MaxMatchplayPlayer, MaxMatchplayState


def frenzy_state(db: Connection, tournament_id: int) -> FrenzyState:
    """Started games, the queue, and the average wait. Raises WrongFormat."""
    tournaments.require_clock(db, tournament_id)
    return FrenzyState(
        games=games.started_games(db, tournament_id),
        queue=single_player_reads.waiting_spots(db, tournament_id),
        avg_queue_duration=games.mean_seconds(single_player_reads.wait_seconds(db, tournament_id)),
    )


def max_matchplay_state(db: Connection, tournament_id: int) -> MaxMatchplayState:
    """Started games, the opponents that each entrant has met, and the games left. Raises WrongFormat."""
    tournaments.require_match_requests(db, tournament_id)
    rows = select(tournament.c.revision, tournament.c.stamp).where(
        tournament.c.tournament_id == tournament_id
    )
    loaded = snapshot.load_at_revision(db, tournament_id, Revision(*db.execute(rows).one()))
    view = max_matchplay_family.live_view(loaded.tournament)
    return MaxMatchplayState(
        games=games.started_games(db, tournament_id),
        players=tuple(convert(player, MaxMatchplayPlayer, from_attributes=True) for player in view.players),
        remaining_games=view.remaining_games,
        avg_game_duration=view.avg_game_duration,
    )
