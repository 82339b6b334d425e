"""Who runs a tournament."""

from sqlalchemy import Connection, and_, exists, or_, select

from silverball.store.tables import scorekeeper, tournament


def is_running(db: Connection, user_id: int, tournament_id: int) -> bool:
    """Whether it is started and this user organizes it or keeps its scores."""
    keeps_scores = exists().where(
        and_(scorekeeper.c.tournament_id == tournament.c.tournament_id, scorekeeper.c.user_id == user_id)
    )
    rows = select(tournament.c.tournament_id).where(
        tournament.c.tournament_id == tournament_id,
        tournament.c.status == "started",
        or_(tournament.c.organizer_id == user_id, keeps_scores),
    )
    return db.execute(rows).first() is not None
