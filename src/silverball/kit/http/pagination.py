"""The links and the page bar of one page of a list, as existing clients know them.

Source: conventions.md, pagination envelopes; samples/cards.json, samples/tournaments-played.json.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

# Up to this count the bar has a link to each page; above, it has gaps.
PAGES_WITHOUT_GAP_MAX = 13
PAGES_EACH_SIDE = 3
# A current page this close to an end is linked without a gap up to that end.
PAGES_NEAR_END = PAGES_EACH_SIDE + 4
GAP = None

QueryPairs = Iterable[tuple[str, str]]


def last_page_number(total: int, per_page: int) -> int:
    """The number of the last page; an empty list has one empty page."""
    return max(1, -(-total // per_page))


def page_numbers(page: int, last_page: int) -> list[int | None]:
    """The page numbers in the bar, with None for a gap."""
    if last_page <= PAGES_WITHOUT_GAP_MAX:
        return list(range(1, last_page + 1))
    start: list[int | None] = [1, 2]
    end: list[int | None] = [last_page - 1, last_page]
    long = PAGES_NEAR_END + PAGES_EACH_SIDE
    if page <= PAGES_NEAR_END:
        return [*range(1, long + 1), GAP, *end]
    if page > last_page - PAGES_NEAR_END:
        return [*start, GAP, *range(last_page - long + 1, last_page + 1)]
    return [*start, GAP, *range(page - PAGES_EACH_SIDE, page + PAGES_EACH_SIDE + 1), GAP, *end]


def paginate(
    total: int, page: int, per_page: int, path_url: str, query_pairs: QueryPairs = ()
) -> dict[str, Any]:
    """`links` and `meta` of the full envelope for page `page` of `total` entries.

    `path_url` is the URL without its query; `query_pairs` are the parameters that every link repeats
    (`page` is replaced).
    """
    urls = _PageUrls(path_url, query_pairs)
    last_page = last_page_number(total, per_page)
    previous_page, next_page = _adjacent_pages(page, last_page)
    first_row, last_row = _row_range(total, page, per_page)
    bar = [_bar_item(urls, "&laquo; Previous", previous_page)]
    bar += [_number_item(urls, number, page) for number in page_numbers(page, last_page)]
    bar.append(_bar_item(urls, "Next &raquo;", next_page))
    return {
        "links": {
            "first": urls.url(1),
            "last": urls.url(last_page),
            "prev": urls.url(previous_page),
            "next": urls.url(next_page),
        },
        "meta": {
            "current_page": page,
            "from": first_row,
            "last_page": last_page,
            "links": bar,
            "path": path_url,
            "per_page": per_page,
            "to": last_row,
            "total": total,
        },
    }


def simple_paginate(
    total: int,
    page: int,
    per_page: int,
    path_url: str,
    query_pairs: QueryPairs = (),
    *,
    has_chosen_limit: bool = False,
) -> dict[str, Any]:
    """`links` and `meta` of the tournament list: no page bar, no link to the last page.

    `per_page` is text when the client chose it (`limit_given`).
    """
    urls = _PageUrls(path_url, query_pairs)
    last_page = last_page_number(total, per_page)
    previous_page, next_page = _adjacent_pages(page, last_page)
    first_row, last_row = _row_range(total, page, per_page)
    return {
        "links": {
            "first": urls.url(1),
            "last": None,
            "prev": urls.url(previous_page),
            "next": urls.url(next_page),
        },
        "meta": {
            "current_page": page,
            "current_page_url": urls.url(page),
            "from": first_row,
            "path": path_url,
            "per_page": str(per_page) if has_chosen_limit else per_page,
            "to": last_row,
            "last_page": last_page,
            "total": total,
        },
    }


class _PageUrls:
    """URLs of the pages of one list."""

    def __init__(self, path_url: str, query_pairs: QueryPairs) -> None:
        parameters = urlencode([(name, text) for name, text in query_pairs if name != "page"])
        self._before_number = f"{path_url}?{parameters}&page=" if parameters else f"{path_url}?page="

    def url(self, page: int | None) -> str | None:
        return None if page is None else f"{self._before_number}{page}"


def _adjacent_pages(page: int, last_page: int) -> tuple[int | None, int | None]:
    return (page - 1 if page > 1 else None, page + 1 if page < last_page else None)


def _row_range(total: int, page: int, per_page: int) -> tuple[int | None, int | None]:
    """The numbers of the first and last entry on the page, from 1; None when it is empty."""
    skipped = per_page * (page - 1)
    if skipped >= total:
        return None, None
    return skipped + 1, min(total, skipped + per_page)


def _bar_item(urls: _PageUrls, label: str, page: int | None) -> dict[str, Any]:
    return {"url": urls.url(page), "label": label, "page": page, "active": False}


def _number_item(urls: _PageUrls, number: int | None, page: int) -> dict[str, Any]:
    if number is None:
        return {"url": None, "label": "...", "active": False}
    return {**_bar_item(urls, str(number), number), "active": number == page}
