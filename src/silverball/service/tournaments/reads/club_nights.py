"""The completed nights of an organizer, for everybody: a list to search in."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import false, func, select

from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball.store.engine import Db

NIGHTS_PER_PAGE = 50
_T, _ENTRANT = tables.tournament.c, tables.entrant.c
_PLAYERS = (
    select(func.count())
    .select_from(tables.entrant)
    .where(_ENTRANT.tournament_id == _T.tournament_id)
    .scalar_subquery()
)


class ClubNight(Struct, frozen=True):
    """A completed tournament in the list of its organizer."""

    tournament_id: int
    name: str
    type: str
    start_local: str
    start_utc: datetime
    completed_at: datetime | None
    player_count: int

    @property
    def month(self) -> str:
        """Year and month of its start: `2026-08`."""
        return self.start_local[:7]


def club_nights(db: Db, organizer_id: int, text: str, page: int) -> PageRows[ClubNight]:
    """One page of the completed tournaments with this text in the name, newest first, without tests."""
    refuse_deep_pagination(page, NIGHTS_PER_PAGE)
    conditions = [_T.organizer_id == organizer_id, _T.status == "completed", _T.test == false()]
    conditions += [func.lower(_T.name).contains(word, autoescape=True) for word in text.lower().split()]
    total = db.scalar(select(func.count()).select_from(tables.tournament).where(*conditions)) or 0
    nights = (
        select(
            *(_T.tournament_id, _T.name, _T.type, _T.start_local, _T.start_utc, _T.completed_at),
            _PLAYERS.label("player_count"),
        )
        .where(*conditions)
        .order_by(_T.start_utc.desc(), _T.tournament_id.desc())
        .limit(NIGHTS_PER_PAGE)
        .offset(NIGHTS_PER_PAGE * (page - 1))
    )
    return PageRows([ClubNight(**row) for row in db.execute(nights).mappings()], total)
