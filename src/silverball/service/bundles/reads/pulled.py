"""Tournaments of earlier pulls."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound
from silverball.store import journal, remote_ids, tables

_T, _U, _J = tables.tournament.c, tables.user.c, tables.journal.c


class KnownTournament(Struct, frozen=True):
    """A tournament here that an earlier pull or import of a source has brought."""

    tournament_id: int
    name: str
    updated_at: datetime


def known_tournament(db: Connection, source: str, remote_id: int) -> KnownTournament | None:
    """The tournament here of a tournament of the source, as it was imported.

    None when it was never taken, is gone, or has changed here since.
    """
    ids = remote_ids.known_ids(db, source, {"tournamentId": [remote_id]})["tournamentId"]
    newest = (
        select(_J.change)
        .where(_J.tournament_id == _T.tournament_id)
        .order_by(_J.journal_id.desc())
        .limit(1)
        .scalar_subquery()
    )
    columns = select(_T.tournament_id, _T.name, _T.updated_at).where(newest == journal.TOURNAMENT_IMPORTED)
    row = db.execute(columns.where(_T.tournament_id == ids.get(remote_id, 0))).one_or_none()
    return None if row is None else KnownTournament(row.tournament_id, row.name, row.updated_at)


def require_accounts(db: Connection, user_ids: Collection[int]) -> None:
    """Raise NotFound for the first of these accounts that is not here."""
    stored = set(db.execute(select(_U.user_id).where(_U.user_id.in_(user_ids))).scalars())
    for user_id in user_ids:
        if user_id not in stored:
            raise NotFound("User", user_id)
