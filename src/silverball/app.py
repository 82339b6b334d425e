"""The composition root: which routes exist, what an error means as a status, who is handed what."""

import logging
from types import ModuleType

import msgspec

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal, WrongFormat
from silverball.kit.http import Answer, Api, Routes, Unauthenticated, UnknownPath, WrongVerb, endpoints_of
from silverball.service.arenas import routes as arenas
from silverball.service.clubs import routes as clubs
from silverball.service.dashboard import routes as dashboard
from silverball.service.locations import routes as locations
from silverball.service.occasions import routes as occasions
from silverball.service.players import routes as players
from silverball.service.search import routes as search
from silverball.service.series import routes as series
from silverball.service.tournaments import routes as tournaments
from silverball.service.users import routes as users
from silverball.settings import Settings
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.app")

# Every slice that answers requests. A new slice is one import and one line here.
ROUTE_MODULES: tuple[ModuleType, ...] = (
    arenas,
    clubs,
    dashboard,
    locations,
    occasions,
    players,
    search,
    series,
    tournaments,
    users,
)

STATUSES: dict[type[Refusal], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Invalid: 422,
    WrongFormat: 400,
}


def build_api(store: Store, settings: Settings) -> Api:
    """The endpoints over one database."""
    return Api(
        Routes(endpoints_of(*ROUTE_MODULES)),
        base_url=settings.base_url,
        public_read=settings.public_read,
        read=store.read,
        write=store.write,
    )


def refused(error: Exception) -> Answer:
    """The one place that turns what went wrong into a status and a body."""
    if isinstance(error, Invalid):
        return _said(422, {"message": error.message, "errors": error.errors})
    if isinstance(error, Refusal):
        return _said(STATUSES[type(error)], {"message": error.message})
    if isinstance(error, Unauthenticated):
        return _said(401, {"message": "Unauthenticated."})
    if isinstance(error, UnknownPath):
        return _said(404, {"message": f"The route {str(error).lstrip('/')} could not be found."})
    if isinstance(error, WrongVerb):
        return _wrong_verb(error)
    LOG.error("the request failed", exc_info=error)
    return _said(500, {"message": "Server Error"})


def _wrong_verb(error: WrongVerb) -> Answer:
    allowed = ", ".join(error.allowed)
    route = error.path.lstrip("/")
    message = f"The {error.method} method is not supported for route {route}. Supported methods: {allowed}."
    return _said(405, {"message": message}, ((b"allow", allowed.encode()),))


def _said(status: int, body: dict[str, object], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    return Answer(status, msgspec.json.encode(body), headers=headers)


def answer(api: Api, method: str, path: str, query_string: bytes, caller: object) -> Answer:
    """One request, answered whatever happens."""
    try:
        return api.answer(method, path, query_string, caller)
    except Exception as error:  # noqa: BLE001  # the edge: nothing below may leak to the caller
        return refused(error)
