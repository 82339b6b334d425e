"""How often a draw was looked at before it was made, until the journal counts it with the draw."""

from sqlalchemy import Connection, delete, insert, select, update

from silverball.store.tables import draw_preview

_P = draw_preview.c


def count_preview(db: Connection, tournament_id: int, draw: str) -> None:
    """Count one more look at a draw. The caller holds the tournament's lock."""
    own = (_P.tournament_id == tournament_id, _P.draw == draw)
    if db.execute(update(draw_preview).where(*own).values(times=_P.times + 1)).rowcount == 0:
        db.execute(insert(draw_preview).values(tournament_id=tournament_id, draw=draw, times=1))


def take_count(db: Connection, tournament_id: int, draw: str) -> int:
    """The number of looks at a draw that is made now; they are forgotten here."""
    own = (_P.tournament_id == tournament_id, _P.draw == draw)
    found = db.execute(select(_P.times).where(*own)).scalar_one_or_none()
    if found is None:
        return 0
    db.execute(delete(draw_preview).where(*own))
    return int(found)


def counts(db: Connection, tournament_id: int) -> dict[str, int]:
    """Draw -> how often it was looked at since it was last made."""
    rows = db.execute(select(_P.draw, _P.times).where(_P.tournament_id == tournament_id))
    return {draw: times for draw, times in rows}  # noqa: C416  # rows are no pairs to mypy
