"""The dashboard over HTTP."""

from sqlalchemy import ColumnElement, Connection

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.series import reads as series_reads
from silverball.service.tournaments.reads import listing, tournaments
from silverball.store import tables
from silverball_wire.occasions import Dashboard
from silverball_wire.tournaments import Tournament

ITEMS_MAX = 100
_ACTIVE = ("planned", "started")


def user_dashboard(db: Connection, viewer: AuthenticatedCaller) -> Dashboard:
    """The caller's active tournaments and series, newest first, at most 100 of each."""
    user_id = viewer.user_id
    return Dashboard(
        tournaments_playing=_active_tournaments(db, listing.played_by(user_id), viewer),
        series_organizing=tuple(series_reads.active_series(db, user_id, limit=ITEMS_MAX)),
        tournaments_organizing=_active_tournaments(db, tables.tournament.c.organizer_id == user_id, viewer),
    )


def _active_tournaments(
    db: Connection, wanted: ColumnElement[bool], viewer: AuthenticatedCaller
) -> tuple[Tournament, ...]:
    statement = tournaments.tournament_rows().where(wanted, tables.tournament.c.status.in_(_ACTIVE))
    statement = statement.order_by(*listing.NEWEST_FIRST).limit(ITEMS_MAX)
    return tuple(tournaments.tournament_items(db, statement, viewer))


@get("/api/dashboard", access=Access.OWN)
def show_dashboard(call: Call[Query]) -> Dashboard:
    """Active tournaments and series that the caller plays or organizes."""
    with call.read() as db:
        return user_dashboard(db, call.caller)
