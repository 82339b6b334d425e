"""The secret that the code of a tournament's door, and those of waiting people, are made from.

It is drawn once, stays through reopenings, and has nothing to do with the seed of the draws, which is shown
in the end.
"""

import secrets

from sqlalchemy import Connection, insert, select

from silverball.store.tables import code_secret

SECRET_BYTES = 24


def find_secret(db: Connection, tournament_id: int) -> str | None:
    """The secret of the tournament; None for one of an older version, or of an import."""
    row = select(code_secret.c.secret).where(code_secret.c.tournament_id == tournament_id)
    return db.execute(row).scalar_one_or_none()


def draw_secret(db: Connection, tournament_id: int) -> None:
    """Give a tournament, which is new or whose lock is held, its secret; does nothing when it has one."""
    if find_secret(db, tournament_id) is None:
        values = {"tournament_id": tournament_id, "secret": secrets.token_hex(SECRET_BYTES)}
        db.execute(insert(code_secret).values(**values))
