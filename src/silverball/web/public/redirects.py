"""Addresses of pages as existing clients link to them, moved to ours for good."""

from starlette.responses import RedirectResponse, Response

from silverball.kit.http.router import parse_path_id
from silverball.web.page_request import PageRequest, page
from silverball.web.public import machine_page

TOURNAMENT = "/tournaments/{tournament_id}"


@page("GET", TOURNAMENT, for_guests=True)
def tournament_page(request: PageRequest) -> Response:
    return _moved_to(_tournament_path(request))


@page("GET", TOURNAMENT + "/standings", for_guests=True)
def standings_part(request: PageRequest) -> Response:
    return _moved_to(f"{_tournament_path(request)}#part-standings")


@page("GET", TOURNAMENT + "/matches", for_guests=True)
def matches_part(request: PageRequest) -> Response:
    return _moved_to(f"{_tournament_path(request)}#part-rounds")


@page("GET", "/series/{series_id}", for_guests=True)
def moved_series(request: PageRequest) -> Response:
    return _moved_to(f"/s/{parse_path_id('series_id', request.ids['series_id'])}")


@page("GET", "/opdb/entries/{opdb_id}/pintips", for_guests=True)
def tips_of_machine(request: PageRequest) -> Response:
    return _moved_to(f"/machines/{machine_page.opdb_id_in(request)}")


@page("GET", "/api-docs", for_guests=True)
def interface_page(_request: PageRequest) -> Response:
    return _moved_to("/docs")


def _tournament_path(request: PageRequest) -> str:
    return f"/t/{parse_path_id('tournament_id', request.ids['tournament_id'])}"


def _moved_to(path: str) -> Response:
    return RedirectResponse(path, 301)
