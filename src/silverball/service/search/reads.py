"""Search users, tournaments and series by name, ignoring case and accents."""

from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import Connection, Select, Table, func, literal, select

from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.series.reads import series
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.store import names, tables
from silverball.store.kept_lists import kept_total
from silverball.wire.search import SearchResult
from silverball.wire.series import SeriesListItem
from silverball.wire.tournaments import Tournament
from silverball.wire.users import User
from silverball.wire.values import SearchType

PER_PAGE = 25
_TABLES = {"users": tables.user, "tournaments": tables.tournament, "series": tables.series}


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
    table = _TABLES[query.type]
    wanted = _has_name(table, query)
    counted = select(func.count()).select_from(table).where(wanted)
    total = kept_total(db, ("search", query.type, query.query), lambda: db.execute(counted).scalar_one())
    if query.type == "users":
        return PageRows(list(_matching_users(db, query, viewer)), total)
    if query.type == "tournaments":
        return PageRows(list(_matching_tournaments(db, query, viewer)), total)
    return PageRows(list(_matching_series(db, query)), total)


def _has_name(table: Table, query: SearchQuery) -> names.NameContains:
    return names.NameContains(table.c.name, literal(query.query))


def _page_of(statement: Select[Any], query: SearchQuery) -> Select[Any]:
    return statement.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))


def _matching_users(db: Connection, query: SearchQuery, viewer: AuthenticatedCaller | None) -> list[User]:
    rows = select(*users.ROW.columns).where(_has_name(tables.user, query)).order_by(tables.user.c.user_id)
    return [users.user_item(row, viewer) for row in db.execute(_page_of(rows, query))]


def _matching_tournaments(
    db: Connection, query: SearchQuery, viewer: AuthenticatedCaller | None
) -> list[Tournament]:
    found = select(tables.tournament.c.tournament_id).where(_has_name(tables.tournament, query))
    ids = db.execute(_page_of(found.order_by(*listing.NEWEST_FIRST), query)).scalars().all()
    return listing.tournaments_by_id(db, ids, viewer)


def _matching_series(db: Connection, query: SearchQuery) -> list[SeriesListItem]:
    rows = select(*series.ROW.columns).where(_has_name(tables.series, query))
    return series.series_list_items(db, _page_of(rows.order_by(tables.series.c.series_id.desc()), query))
