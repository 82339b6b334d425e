"""The page of a machine: its title, and playing tips for all models of it."""

from collections.abc import Callable
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from silverball.kit.errors import NotFound
from silverball.kit.http.router import parse_path_word
from silverball.rules import opdb
from silverball.service.machines import reads as machines_reads
from silverball.web.page_request import PageRequest, PageRoute, page

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


def moved(path: str) -> Callable[[Callable[[PageRequest], str]], PageRoute]:
    """Declare an address that leads to the page that the function names; its query goes along."""

    def declare(find_page: Callable[[PageRequest], str]) -> PageRoute:
        def lead_on(request: PageRequest) -> Response:
            address, _, anchor = find_page(request).partition("#")
            query = f"?{urlencode(request.query)}" if request.query else ""
            return RedirectResponse(f"{address}{query}{'#' if anchor else ''}{anchor}", 301)

        return PageRoute("GET", path, lead_on, for_guests=True, has_slash_twin=True)

    return declare


TOURNAMENT = "/tournaments/{tournament_id}"


@moved(TOURNAMENT)
def tournament_page(request: PageRequest) -> str:
    return f"/t/{request.path_id('tournament_id')}"


@moved(TOURNAMENT + "/standings")
def standings_part(request: PageRequest) -> str:
    return f"/t/{request.path_id('tournament_id')}#part-standings"


@moved(TOURNAMENT + "/matches")
def matches_part(request: PageRequest) -> str:
    return f"/t/{request.path_id('tournament_id')}#part-rounds"


@moved(TOURNAMENT + "/arenas/{arena_id}")
def arena_of_tournament(request: PageRequest) -> str:
    return f"/t/{request.path_id('tournament_id')}#arena-{request.path_id('arena_id')}"


@moved("/live/tournaments/{tournament_id}")
def live_tournament(request: PageRequest) -> str:
    return f"/t/{request.path_id('tournament_id')}"


@moved("/series/{series_id}")
def moved_series(request: PageRequest) -> str:
    return f"/s/{request.path_id('series_id')}"


@moved("/live/series/{series_id}")
def live_series(request: PageRequest) -> str:
    return f"/s/{request.path_id('series_id')}"


@moved("/opdb/entries/{opdb_id}")
def moved_machine(request: PageRequest) -> str:
    return f"/machines/{opdb_id_in(request)}"


@moved("/opdb/entries/{opdb_id}/pintips")
def tips_of_machine(request: PageRequest) -> str:
    return f"/machines/{opdb_id_in(request)}"


@moved("/api-docs")
def interface_page(_request: PageRequest) -> str:
    return "/docs"
