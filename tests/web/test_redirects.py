"""Addresses of pages as existing clients link to them."""

import pytest

from silverball.store.database.engine import Store
from web.public_visitor import PublicVisitor


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("/tournaments/42", "/t/42"),
        ("/tournaments/42/standings", "/t/42#part-standings"),
        ("/tournaments/42/matches", "/t/42#part-rounds"),
        ("/series/7", "/s/7"),
        ("/opdb/entries/G4ODR-MLzY7/pintips", "/machines/G4ODR-MLzY7"),
        ("/tournaments/42/arenas/9", "/t/42#arena-9"),
        ("/live/tournaments/42", "/t/42"),
        ("/live/series/7", "/s/7"),
        ("/opdb/entries/G4ODR-MLzY7", "/machines/G4ODR-MLzY7"),
        ("/api-docs", "/docs"),
    ],
)
def test_a_known_address_leads_to_our_page_for_good(store: Store, asked: str, expected: str) -> None:
    visitor = PublicVisitor(store)
    answer = visitor.get(asked)
    assert (answer.status, answer.headers["location"]) == (301, expected)
    assert visitor.get(asked, method="HEAD").status == 301
    assert visitor.get(f"{asked}/").headers["location"] == expected
    path, _, anchor = expected.partition("#")
    with_query = visitor.get(f"{asked}?a=1&b=%C3%BC").headers["location"]
    assert with_query == f"{path}?a=1&b=%C3%BC" + (f"#{anchor}" if anchor else "")
    visitor.close()


@pytest.mark.parametrize(
    "asked",
    [
        "/tournaments/x",
        "/tournaments/42/arenas/x",
        "/tournaments//evil.example",
        "/live/series/0",
        "/opdb/entries/x",
        "/series/0",
        "/series/7/x",
        "/machines/x",
    ],
)
def test_other_addresses_are_not_found(store: Store, asked: str) -> None:
    visitor = PublicVisitor(store)
    assert visitor.get(asked).status == 404
    visitor.close()
