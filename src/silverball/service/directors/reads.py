"""Directors: accounts that run a tournament together with its organizer. Reads of who may do so."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, Select, and_, select, true

from silverball.kit import tokens
from silverball.kit.errors import NotAllowed, NotFound
from silverball.service.access import AuthenticatedCaller
from silverball.store.tables import director_link, scorekeeper, tournament, user

_T, _L = tournament.c, director_link.c


class DirectorLink(Struct, frozen=True, kw_only=True):
    """A link that makes its reader a director, with the tournament and who made it."""

    tournament_id: int
    tournament_name: str
    made_by: str


def directed_ids(user_id: int) -> Select[tuple[int]]:
    """A query of the ids of the tournaments that this user directs."""
    return select(scorekeeper.c.tournament_id).where(
        scorekeeper.c.user_id == user_id, scorekeeper.c.is_director == true()
    )


def require_director(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> str:
    """The tournament's status. Raises NotFound, and NotAllowed for all but organizer, directors, admins."""
    viewer_id = -1 if viewer is None else viewer.user_id
    own_row = and_(
        scorekeeper.c.tournament_id == _T.tournament_id,
        scorekeeper.c.user_id == viewer_id,
        scorekeeper.c.is_director == true(),
    )
    columns = select(_T.status, _T.organizer_id, scorekeeper.c.user_id.label("director_id"))
    rows = columns.select_from(tournament.outerjoin(scorekeeper, own_row))
    row = db.execute(rows.where(_T.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if viewer is None or not (viewer.sees_everything or viewer_id in (row.organizer_id, row.director_id)):
        raise NotAllowed
    return str(row.status)


def find_link(db: Connection, secret: str, now: datetime) -> DirectorLink | None:
    """The link with this secret; None when it was used, or has expired."""
    rows = (
        select(_L.tournament_id, _T.name, user.c.name.label("made_by"))
        .select_from(
            director_link.join(tournament, _T.tournament_id == _L.tournament_id).join(
                user, user.c.user_id == _L.created_by
            )
        )
        .where(_L.hash == tokens.digest(secret), _L.expires_at > now)
    )
    row = db.execute(rows).one_or_none()
    if row is None:
        return None
    return DirectorLink(tournament_id=row.tournament_id, tournament_name=row.name, made_by=row.made_by)
