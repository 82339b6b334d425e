"""Search over HTTP."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, Table, select

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import PageNumber, Query
from silverball.service.core import calls
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import ROWS_DEEP_MAX, PageRows, refuse_deep_pagination
from silverball.service.series import reads as series_reads
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.people import names
from silverball.store.revisions.kept_lists import KeptList, kept_list
from silverball_wire.pages import Page
from silverball_wire.resources import SearchResult
from silverball_wire.series import SeriesListItem
from silverball_wire.values import SearchType

PER_PAGE = 25
_USER_ID, _SERIES_ID = tables.user.c.user_id, tables.series.c.series_id
# Table, id and order of each type of result.
_SEARCHED: Mapping[str, tuple[Table, ColumnElement[int], Sequence[ColumnElement[Any]]]] = {
    "users": (tables.user, _USER_ID, (_USER_ID,)),
    "tournaments": (tables.tournament, tables.tournament.c.tournament_id, listing.NEWEST_FIRST),
    "series": (tables.series, _SERIES_ID, (_SERIES_ID.desc(),)),
}


class SearchQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/search. Source: interface.md 1."""

    query: Annotated[str, Meta(max_length=100)]
    type: SearchType
    """What is searched for."""
    page: PageNumber = 1


def results_page(
    db: Connection, query: SearchQuery, viewer: AuthenticatedCaller | None
) -> PageRows[SearchResult]:
    """One page of the search results: users by id, tournaments and series newest first.

    A user with a hidden profile is found by name, but without the hidden details.
    """
    refuse_deep_pagination(query.page, PER_PAGE)
    found = kept_list(db, ("search", query.type, query.query), lambda: _find_ids(db, query))
    skipped = PER_PAGE * (query.page - 1)
    ids = found.ids[skipped : skipped + PER_PAGE].tolist()
    if query.type == "users":
        return PageRows(list(users.existing_users(db, ids, viewer)), found.total)
    if query.type == "tournaments":
        return PageRows(list(listing.tournaments_by_id(db, ids, viewer)), found.total)
    return PageRows(list(_series_by_id(db, ids)), found.total)


def _find_ids(db: Connection, query: SearchQuery) -> KeptList:
    """The ids of all matches; those in reach of a page are kept."""
    table, id_column, order = _SEARCHED[query.type]
    wanted = names.name_contains(db, table.c.name, query.query)
    ids = db.scalars(select(id_column).where(wanted).order_by(*order)).all()
    return KeptList(len(ids), array("q", ids[:ROWS_DEEP_MAX]))


def _series_by_id(db: Connection, ids: list[int]) -> list[SeriesListItem]:
    own = tables.series.c.series_id
    return series_reads.series_list_items(
        db, select(*series_reads.ROW.columns).where(own.in_(ids)).order_by(own.desc())
    )


@get("/api/search", query=SearchQuery, access=Access.OPENABLE)
def search(call: Call[SearchQuery]) -> Page[SearchResult]:
    """Users, tournaments or series by name."""
    with call.read() as db:
        page = results_page(db, call.query, call.caller)
    return calls.full_page(call, page, per_page=PER_PAGE)
