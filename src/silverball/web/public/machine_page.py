"""The page of a machine: its title, and playing tips for all models of it."""

from starlette.responses import RedirectResponse, Response

from silverball.kit.errors import NotFound
from silverball.kit.http.router import parse_path_id, parse_path_word
from silverball.rules import opdb
from silverball.service.machines import reads as machines_reads
from silverball.web.page_request import PageRequest, page

WEB_SCHEMES = ("https://", "http://")
# Name of a link -> its field in the summary of a machine.
LINKS = {
    "Rules": "pinball_rules_url",
    "Primer": "pinball_primer_url",
    "Guide": "bobs_guide_url",
    "Cards": "pinball_cards_url",
}


def opdb_id_in(request: PageRequest) -> str:
    """The machine's id in the path. Raises NotFound."""
    return parse_path_word("opdb_id", request.ids["opdb_id"], opdb.ID_PATTERN)


@page("GET", "/machines/{opdb_id}", for_guests=True)
def machine_page(request: PageRequest) -> Response:
    opdb_id = opdb_id_in(request)
    with request.site.store.read() as db:
        found = machines_reads.machine_tips(db, opdb_id)
    info = found.opdb_info
    if info is None:
        raise NotFound("Opdb", opdb_id)
    links = {name: getattr(info, field) for name, field in LINKS.items()}
    return request.render(
        "people/machine.html",
        info=info,
        tips=found.pintips,
        links={name: url for name, url in links.items() if url and url.startswith(WEB_SCHEMES)},
    )


# Addresses of pages as existing clients link to them, moved to ours for good.


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
    return _moved_to(f"/machines/{opdb_id_in(request)}")


@page("GET", "/api-docs", for_guests=True)
def interface_page(_request: PageRequest) -> Response:
    return _moved_to("/docs")


def _tournament_path(request: PageRequest) -> str:
    return f"/t/{parse_path_id('tournament_id', request.ids['tournament_id'])}"


def _moved_to(path: str) -> Response:
    return RedirectResponse(path, 301)
