"""Writing calls with the types of the store: `Write[NewArena]` has `db: Connection` and a `Transaction`."""

from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from silverball.kit.errors import NotAllowed
from silverball.kit.http import endpoints, query
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Call
from silverball.kit.values import convert
from silverball.store.database.engine import Db
from silverball.store.database.transaction import Transaction
from silverball_wire.pages import Page, PaginationLinks, PaginationMeta, SimplePage, SimplePaginationMeta

B = TypeVar("B", bound=Body)
Write: TypeAlias = endpoints.Write[B, Db, Transaction]


T = TypeVar("T")
ROWS_DEEP_MAX = 10_000


class PageRows(Struct, Generic[T], frozen=True):
    """The rows of one page, and the number of rows in all."""

    rows: list[T]
    total: int


class DeepPagination(NotAllowed):
    """Bulk readers have files of their own."""

    sentence = "Do not scrape data by paginating deeply."


def refuse_deep_pagination(page: int, per_page: int) -> None:
    """Raises DeepPagination for a page that ends more than 10,000 rows deep."""
    if page * per_page > ROWS_DEEP_MAX:
        raise DeepPagination


def count_rows_before(page: int, per_page: int, total: int) -> int:
    """The rows before a page of any number, at most all there are: a database's offset has 64 bits."""
    return min(per_page * (page - 1), total)


def full_page(call: Call[Any], page: PageRows[T], *, per_page: int) -> Page[T]:
    """The page in the full envelope. The route's query must have `page`."""
    envelope = query.paginate(page.total, call.query.page, per_page, call.url, call.pairs)
    return Page(
        data=tuple(page.rows),
        links=convert(envelope["links"], PaginationLinks),
        meta=convert(envelope["meta"], PaginationMeta),
    )


def simple_page(
    call: Call[Any], page: PageRows[T], *, per_page: int, per_page_value: int | str
) -> SimplePage[T]:
    """The page in the short envelope of the list of tournaments."""
    envelope = query.simple_paginate(page.total, call.query.page, per_page, call.url, call.pairs)
    envelope["meta"]["per_page"] = per_page_value
    return SimplePage(
        data=tuple(page.rows),
        links=convert(envelope["links"], PaginationLinks),
        meta=convert(envelope["meta"], SimplePaginationMeta),
    )
