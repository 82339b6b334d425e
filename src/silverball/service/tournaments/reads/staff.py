"""The organizer, the directors and the scorekeepers of a tournament."""

from sqlalchemy import Connection, and_, exists, or_, select

from silverball.service.access import AuthenticatedCaller
from silverball.service.directors import reads as directors
from silverball.service.tournaments.reads import listing
from silverball.service.tournaments.reads import tournaments as reads
from silverball.store.tables import scorekeeper, tournament
from silverball_wire.tournaments import Tournament

SCOREKEEPING_MAX = 50


def is_on_duty(db: Connection, user_id: int, tournament_id: int) -> bool:
    """Whether the tournament is running and this user organizes it or keeps its scores."""
    keeps_scores = exists().where(
        and_(scorekeeper.c.tournament_id == tournament.c.tournament_id, scorekeeper.c.user_id == user_id)
    )
    rows = select(tournament.c.tournament_id).where(
        tournament.c.tournament_id == tournament_id,
        tournament.c.status == "started",
        or_(tournament.c.organizer_id == user_id, keeps_scores),
    )
    return db.execute(rows).first() is not None


def scorekeeping_tournaments(db: Connection, user_id: int, viewer: AuthenticatedCaller) -> list[Tournament]:
    """Running tournaments of other organizers in which this user keeps scores, newest first."""
    tournament_ids = select(scorekeeper.c.tournament_id).where(scorekeeper.c.user_id == user_id)
    rows = reads.tournament_rows().where(
        tournament.c.tournament_id.in_(tournament_ids),
        tournament.c.tournament_id.not_in(directors.directed_ids(user_id)),
        tournament.c.status == "started",
        tournament.c.organizer_id != user_id,
    )
    newest_first = rows.order_by(*listing.NEWEST_FIRST)
    return reads.tournament_items(db, newest_first.limit(SCOREKEEPING_MAX), viewer)


def directed_tournaments(db: Connection, user_id: int, viewer: AuthenticatedCaller) -> list[Tournament]:
    """Tournaments of other organizers that this user directs and that are not over, newest first."""
    rows = reads.tournament_rows().where(
        tournament.c.tournament_id.in_(directors.directed_ids(user_id)), tournament.c.status != "completed"
    )
    newest_first = rows.order_by(*listing.NEWEST_FIRST)
    return reads.tournament_items(db, newest_first.limit(SCOREKEEPING_MAX), viewer)
