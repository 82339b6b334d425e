"""What a user plays and organizes now."""

from sqlalchemy import ColumnElement, Connection

from silverball.service.access import Caller
from silverball.service.series import reads as series
from silverball.service.tournaments import reads as tournaments
from silverball.store import tables
from silverball.wire.dashboard import Dashboard
from silverball.wire.tournaments import Tournament

ITEMS_MAX = 100
_ACTIVE = ("planned", "started")


def of_user(db: Connection, viewer: Caller) -> Dashboard:
    """The caller's active tournaments and series, newest first, at most 100 of each."""
    user_id = viewer.user_id
    return Dashboard(
        tournaments_playing=_active(db, tournaments.played_by(user_id), viewer),
        series_organizing=tuple(series.active_of(db, user_id, limit=ITEMS_MAX)),
        tournaments_organizing=_active(db, tables.tournament.c.organizer_id == user_id, viewer),
    )


def _active(db: Connection, wanted: ColumnElement[bool], viewer: Caller) -> tuple[Tournament, ...]:
    statement = tournaments.rows().where(wanted, tables.tournament.c.status.in_(_ACTIVE))
    statement = statement.order_by(tables.tournament.c.tournament_id.desc()).limit(ITEMS_MAX)
    return tuple(tournaments.listed(db, statement, viewer))
