"""Series and occasions over HTTP."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post
from silverball.kit.http.query import Query
from silverball.service.core import access, calls
from silverball.service.core.calls import Write
from silverball.service.series import reads, writes
from silverball.store.people import book
from silverball_wire.occasions import Occasion
from silverball_wire.pages import Data, Page
from silverball_wire.parts import OccasionListItem
from silverball_wire.players import Player
from silverball_wire.series import Series, SeriesDetails, SeriesListItem, SeriesStats

COUNT_MAX = 2**31 - 1


class DetailsQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/series/{seriesId}. Source: interface.md 1."""

    include_details: bool = False
    """Whether players, labels, points and standings are answered too."""


class AttendanceQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/series/{seriesId}/stats/attendance. Source: wire.yaml."""

    count: Annotated[int, Meta(ge=1, le=COUNT_MAX)]
    """Number of tournaments that the players attended, exactly."""


@get("/api/series", query=reads.SeriesQuery, access=Access.OPENABLE)
def list_series(call: Call[reads.SeriesQuery]) -> Page[SeriesListItem]:
    """Series, newest first."""
    with call.read() as db:
        rows = reads.series_page(db, call.query, call.caller)
    return calls.full_page(call, rows, per_page=reads.PER_PAGE)


@get("/api/series/{series_id}", query=DetailsQuery, access=Access.OPENABLE)
def show_series(call: Call[DetailsQuery]) -> Data[Series | SeriesDetails]:
    """A series; with includeDetails also its players, points and standings."""
    read = reads.series_details if call.query.include_details else reads.find_series
    with call.read() as db:
        return Data(data=read(db, call.ids["series_id"], call.caller))


@get("/api/series/{series_id}/stats", access=Access.OPENABLE)
def show_series_stats(call: Call[Query]) -> SeriesStats:
    """Attendance, opponents and arenas of the players of a series."""
    with call.read() as db:
        return reads.series_stats(db, call.ids["series_id"], call.caller)


@get("/api/series/{series_id}/stats/attendance", query=AttendanceQuery, access=Access.OPENABLE)
def list_series_attendance(call: Call[AttendanceQuery]) -> Data[tuple[Player, ...]]:
    """The players who attended a series exactly this many times."""
    with call.read() as db:
        return Data(data=reads.attendees(db, call.ids["series_id"], call.query.count, call.caller))


@post("/api/series", body=writes.NewSeries, ability="manage", status=201)
def add_series(call: Write[writes.NewSeries]) -> Data[Series]:
    """Create a series."""
    return Data(data=reads.find_series(call.db, writes.add_series(call), call.caller))


@patch("/api/series/{series_id}", body=writes.ChangedSeries, ability="manage")
def change_series(call: Write[writes.ChangedSeries]) -> Data[Series]:
    """Change a series of the caller; its tournaments show the change."""
    return Data(data=reads.find_series(call.db, writes.change_series(call), call.caller))


@delete("/api/series/{series_id}", ability="manage")
def delete_series(call: Write[Body]) -> Data[Series]:
    """Delete a series without tournaments; answers its last state."""
    series_id = writes.require_removable_series(call)
    removed = reads.find_series(call.db, series_id, call.caller)
    book.remove(call.db, book.SERIES, series_id)
    return Data(data=removed)


@get("/api/events", query=reads.OccasionQuery)
def list_occasions(call: Call[reads.OccasionQuery]) -> Page[OccasionListItem]:
    """Occasions, newest first."""
    with call.read() as db:
        rows = reads.occasions_page(db, call.query)
    return calls.full_page(call, rows, per_page=reads.PER_PAGE)


@get("/api/events/{event_id}")
def show_occasion(call: Call[Query]) -> Data[Occasion]:
    """An occasion with its links and tournaments."""
    with call.read() as db:
        return Data(data=reads.find_occasion(db, call.ids["event_id"], call.caller))


@post("/api/events", body=writes.NewOccasion, ability="manage", status=201)
def add_occasion(call: Write[writes.NewOccasion]) -> Data[Occasion]:
    """Create an occasion."""
    return Data(data=reads.find_occasion(call.db, writes.add_occasion(call), call.caller))


@patch("/api/events/{event_id}", body=writes.ChangedOccasion, ability="manage")
def change_occasion(call: Write[writes.ChangedOccasion]) -> Data[Occasion]:
    """Change an occasion of the caller; lists of links and tournaments are replaced as a whole."""
    return Data(data=reads.find_occasion(call.db, writes.change_occasion(call), call.caller))


@delete("/api/events/{event_id}", ability="manage")
def delete_occasion(call: Write[Body]) -> Data[Occasion]:
    """Delete an occasion without tournaments; answers its last state."""
    occasion_id = access.removable_id_in_path(call, book.OCCASION, "Take the tournaments out of it first.")
    removed = reads.find_occasion(call.db, occasion_id, call.caller)
    book.remove(call.db, book.OCCASION, occasion_id)
    return Data(data=removed)
