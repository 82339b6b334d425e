"""The page envelopes. Source: conventions.md, pagination envelopes; the golden samples."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.shapes import sample
from silverball.kit.http.query import page_numbers, paginate, simple_paginate
from silverball_wire.pages import PaginationLinks, PaginationMeta, SimplePaginationMeta

URL = "https://pinball.example/api/games"
FULL_SAMPLES = [
    "arenas-list",
    "cards",
    "events-list",
    "games-global",
    "locations-list",
    "search-users",
    "series-list",
    "single-player-games",
    "summary-arenas",
    "summary-matches",
    "summary-player-arenas",
]


@pytest.mark.parametrize("name", FULL_SAMPLES)
def test_the_envelope_of_an_observed_list_is_rebuilt_exactly(name: str) -> None:
    observed = json.loads(sample(name))
    meta = observed["meta"]
    ours = paginate(meta["total"], meta["current_page"], meta["per_page"], meta["path"])
    # The observed lists are shortened copies; their meta is not.
    assert ours == {"links": observed["links"], "meta": meta}


def test_the_envelope_of_the_tournament_list_is_rebuilt_with_two_more_fields() -> None:
    observed = json.loads(sample("tournaments-played"))
    ours = simple_paginate(7, 1, 5, observed["meta"]["path"], has_chosen_limit=True)
    assert ours["links"] == observed["links"]
    assert ours["meta"] == observed["meta"] | {"last_page": 2, "total": 7}


@pytest.mark.parametrize(
    ("page", "last_page", "numbers"),
    [
        (1, 1, "1"),
        (1, 2, "1 2"),
        (7, 13, "1 2 3 4 5 6 7 8 9 10 11 12 13"),
        (13, 13, "1 2 3 4 5 6 7 8 9 10 11 12 13"),
        (1, 14, "1 2 3 4 5 6 7 8 9 10 . 13 14"),
        (7, 14, "1 2 3 4 5 6 7 8 9 10 . 13 14"),
        (8, 14, "1 2 . 5 6 7 8 9 10 11 12 13 14"),
        (8, 15, "1 2 . 5 6 7 8 9 10 11 . 14 15"),
        (1, 177, "1 2 3 4 5 6 7 8 9 10 . 176 177"),
        (7, 177, "1 2 3 4 5 6 7 8 9 10 . 176 177"),
        (8, 177, "1 2 . 5 6 7 8 9 10 11 . 176 177"),
        (90, 177, "1 2 . 87 88 89 90 91 92 93 . 176 177"),
        (170, 177, "1 2 . 167 168 169 170 171 172 173 . 176 177"),
        (171, 177, "1 2 . 168 169 170 171 172 173 174 175 176 177"),
        (177, 177, "1 2 . 168 169 170 171 172 173 174 175 176 177"),
        (500, 177, "1 2 . 168 169 170 171 172 173 174 175 176 177"),
    ],
)
def test_the_page_bar_is_a_window_around_the_page(page: int, last_page: int, numbers: str) -> None:
    bar = " ".join("." if number is None else str(number) for number in page_numbers(page, last_page))
    assert bar == numbers


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_page_bar_is_short_rising_and_holds_both_ends_and_the_current_page(
    page: int, last_page: int
) -> None:
    bar = page_numbers(page, last_page)
    numbers = [number for number in bar if number is not None]
    assert numbers == sorted(set(numbers))
    assert {1, last_page} <= set(numbers)
    assert (page in numbers) == (page <= last_page)
    assert len(bar) <= 13
    # A gap hides at least one number.
    for left, middle, right in zip(bar, bar[1:], bar[2:], strict=False):
        if middle is None:
            assert left is not None
            assert right is not None
            assert right - left > 1


@given(st.integers(0, 10_000), st.integers(1, 200), st.integers(1, 500))
def test_every_row_is_on_exactly_one_page(total: int, page: int, per_page: int) -> None:
    meta = paginate(total, page, per_page, URL)["meta"]
    row_count = max(0, min(per_page, total - (page - 1) * per_page))
    if row_count == 0:
        assert (meta["from"], meta["to"]) == (None, None)
    else:
        assert (meta["from"], meta["to"]) == ((page - 1) * per_page + 1, (page - 1) * per_page + row_count)
    assert meta["last_page"] >= 1
    assert (meta["last_page"] - 1) * per_page < max(1, total) <= max(1, meta["last_page"] * per_page)


def test_an_empty_list_has_one_page() -> None:
    ours = paginate(0, 1, 25, URL)
    assert ours["links"] == {"first": f"{URL}?page=1", "last": f"{URL}?page=1", "prev": None, "next": None}
    assert ours["meta"]["last_page"] == 1
    assert [item["label"] for item in ours["meta"]["links"]] == ["&laquo; Previous", "1", "Next &raquo;"]


def test_a_page_past_the_end_is_empty_and_links_back() -> None:
    ours = paginate(30, 9, 25, URL)
    assert (ours["meta"]["from"], ours["meta"]["to"], ours["meta"]["current_page"]) == (None, None, 9)
    assert ours["links"]["prev"] == f"{URL}?page=8"
    assert ours["links"]["next"] is None
    assert not any(item["active"] for item in ours["meta"]["links"])


def test_links_keep_the_query_and_replace_the_page() -> None:
    pairs = [("status", "started"), ("page", "2"), ("query", "ada & bela"), ("arena", "5")]
    ours = paginate(500, 2, 100, URL, pairs)
    assert ours["links"]["next"] == f"{URL}?status=started&query=ada+%26+bela&arena=5&page=3"
    assert ours["meta"]["path"] == URL
    ours = simple_paginate(500, 2, 100, URL, pairs)
    assert ours["meta"]["current_page_url"] == f"{URL}?status=started&query=ada+%26+bela&arena=5&page=2"


@pytest.mark.parametrize(("has_chosen_limit", "per_page"), [(True, "25"), (False, 25)])
def test_the_tournament_list_gives_a_chosen_page_size_as_text(
    has_chosen_limit: bool, per_page: int | str
) -> None:
    ours = simple_paginate(30, 2, 25, URL, has_chosen_limit=has_chosen_limit)
    assert ours["meta"]["per_page"] == per_page
    assert ours["links"]["last"] is None


@pytest.mark.parametrize("page", [1, 9, 40])
def test_envelopes_fit_the_published_shapes(page: int) -> None:
    def survives(part: dict[str, Any], shape: Any) -> bool:
        return bool(json.loads(msgspec.json.encode(msgspec.convert(part, shape))) == part)

    full = paginate(1000, page, 25, URL)
    assert survives(full["links"], PaginationLinks)
    assert survives(full["meta"], PaginationMeta)
    simple = simple_paginate(1000, page, 25, URL)
    assert survives(simple["links"], PaginationLinks)
    assert survives(simple["meta"], SimplePaginationMeta)
