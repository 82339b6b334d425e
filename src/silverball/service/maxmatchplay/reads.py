"""The live view of a max match play."""

from sqlalchemy import Connection, select

from silverball.kit.conversions import convert
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.service.formats import reads as formats
from silverball.service.games.reads import games
from silverball.store import snapshot
from silverball.store.stamps import Revision
from silverball.store.tables import tournament
from silverball_wire.maxmatchplay import MaxMatchplayPlayer, MaxMatchplayState


def max_matchplay_state(db: Connection, tournament_id: int) -> MaxMatchplayState:
    """Started games, the opponents that each entrant has met, and the games left. Raises WrongFormat."""
    formats.require_match_requests(db, tournament_id)
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
