"""The page of a machine: its title, and playing tips for all models of it."""

from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.kit.http.router import parse_path_word
from silverball.rules.opdb import ids as opdb
from silverball.service.tips import reads as tips
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
        found = tips.machine_tips(db, opdb_id)
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
