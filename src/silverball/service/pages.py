"""From found rows to the page that the interface shows."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from silverball.kit.errors import NotAllowed
from silverball.kit.http import pagination
from silverball.kit.http.endpoints import Call
from silverball.wire.pages import Page, PaginationLinks, PaginationMeta, SimplePage, SimplePaginationMeta

T = TypeVar("T")
ROWS_DEEP_MAX = 10_000


@dataclass(frozen=True)
class PageRows(Generic[T]):
    """The rows of one page, and how many there are in all."""

    rows: list[T]
    total: int


def refuse_deep_pagination(page: int, per_page: int) -> None:
    """Raises NotAllowed for a page that ends more than 10,000 rows deep."""
    if page * per_page > ROWS_DEEP_MAX:
        raise NotAllowed("Do not scrape data by paginating deeply.")


def full_page(call: Call[Any], found: PageRows[T], *, per_page: int) -> Page[T]:
    """The full envelope; the query of the route must have `page`."""
    built = pagination.paginate(found.total, call.query.page, per_page, call.url, call.pairs)
    return Page(
        data=tuple(found.rows),
        links=msgspec.convert(built["links"], PaginationLinks),
        meta=msgspec.convert(built["meta"], PaginationMeta),
    )


def simple_page(
    call: Call[Any], found: PageRows[T], *, per_page: int, per_page_value: int | str
) -> SimplePage[T]:
    """The tournament list's envelope."""
    built = pagination.simple_paginate(found.total, call.query.page, per_page, call.url, call.pairs)
    built["meta"]["per_page"] = per_page_value
    return SimplePage(
        data=tuple(found.rows),
        links=msgspec.convert(built["links"], PaginationLinks),
        meta=msgspec.convert(built["meta"], SimplePaginationMeta),
    )
