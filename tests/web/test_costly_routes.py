"""The table of costly routes: each is a route, is found by its requests, and is counted as its kind is."""

import re

import pytest

from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.tournaments import paths
from silverball.slices import ROUTE_MODULES
from silverball.web.app import declared_pages
from silverball.web.costly_routes import (
    ANY_BODY,
    COSTLY_ROUTES,
    FOR_EVERYBODY,
    OF_THE_SPECIFICATION,
    OURS,
    CostlyRoute,
    cost_of,
)
from silverball.web.live import views

NUMBERED = re.compile(r"\{\w+\}")


def request_of(route: CostlyRoute) -> tuple[str, str, bytes, bytes]:
    """Method, path, query and body of a request that is costly."""
    query = f"a=1&{route.parameter}=7".encode() if route.parameter else b""
    body = b'{"text": "Ada"}' if route.mark == ANY_BODY else b'{"dryRun": true}' if route.is_dry_run else b""
    return route.method, NUMBERED.sub("42", route.path), query, body


@pytest.mark.parametrize("route", COSTLY_ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_each_costly_route_is_declared_and_found(route: CostlyRoute) -> None:
    endpoints = {(endpoint.method, endpoint.path) for endpoint in collect_endpoints(*ROUTE_MODULES)}
    pages = {(page.method, page.path) for page in declared_pages()}
    public = {("GET", path) for path in views.PATHS}
    assert (route.method, route.path) in endpoints | pages | public
    assert cost_of(*request_of(route)) == route.cost
    # From here on an answer holds others up.
    assert route.seconds >= 0.1


def test_the_same_paths_are_cheap_otherwise() -> None:
    for route in COSTLY_ROUTES:
        method, path, query, body = request_of(route)
        assert cost_of("DELETE", path, query, body) is None
        assert cost_of(method, path + "/more", query, body) is None
        if route.parameter:
            assert cost_of(method, path, b"", body) is None
        if route.is_dry_run:
            assert cost_of(method, path, query) is None
            assert cost_of(method, path, query, b"{}") is None


def test_an_encoded_parameter_is_seen() -> None:
    assert cost_of("GET", "/api/tournaments/7/games", b"%61t=1") == OF_THE_SPECIFICATION
    assert cost_of("GET", "/api/tournaments/7/games", b"bat=1") is None


def test_looks_back_cost_one_request_and_all_that_cost_a_page_are_costly() -> None:
    for shown in ("standings", "games", "rounds"):
        path = f"/api/tournaments/7/{shown}"
        assert paths.costs_a_page(path, b"at=12")
        assert cost_of("GET", path, b"at=12") == OF_THE_SPECIFICATION
    assert not OF_THE_SPECIFICATION.is_by_second
    assert OURS.is_by_second


def test_pages_with_codes_or_data_of_somebody_are_not_for_everybody() -> None:
    pages = [page for page in declared_pages() if page.method == "GET"]
    for route in COSTLY_ROUTES:
        page = next((page for page in pages if page.path == route.path), None)
        if route.cost == FOR_EVERYBODY and page is not None:
            assert page.for_guests
    assert {route.path for route in COSTLY_ROUTES if route.cost == OURS} >= {
        "/t/{tournament_id}/print/codes",
        "/t/{tournament_id}/print/scores",
        "/account/data.zip",
    }
