"""The composition root: which routes exist, what an error means as a status, who is handed what."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from types import ModuleType

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

import silverball
from silverball.jobs import close_idle
from silverball.jobs.clock import Clock, Job
from silverball.kit import http, openapi
from silverball.kit.api import Api
from silverball.kit.body import Malformed
from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal, WrongFormat
from silverball.kit.front import FrontDoor
from silverball.kit.http import (
    Access,
    Answer,
    Caller,
    Routes,
    Stale,
    Unauthenticated,
    UnknownPath,
    WrongVerb,
    endpoints_of,
)
from silverball.kit.requests import House, Limits
from silverball.service.amazingrace import routes as amazingrace
from silverball.service.arenas import routes as arenas
from silverball.service.banks import routes as banks
from silverball.service.bestgame import routes as bestgame
from silverball.service.cards import routes as cards
from silverball.service.clubs import routes as clubs
from silverball.service.dashboard import routes as dashboard
from silverball.service.entries import routes as entries
from silverball.service.exports import routes as exports
from silverball.service.frenzy import routes as frenzy
from silverball.service.games import routes as games
from silverball.service.locations import routes as locations
from silverball.service.maxmatchplay import routes as maxmatchplay
from silverball.service.occasions import routes as occasions
from silverball.service.players import routes as players
from silverball.service.queues import routes as queues
from silverball.service.roster import routes as roster
from silverball.service.rounds import routes as rounds
from silverball.service.search import routes as search
from silverball.service.series import routes as series
from silverball.service.singleplayer import routes as singleplayer
from silverball.service.standings import routes as standings
from silverball.service.stats import routes as stats
from silverball.service.suggestions import routes as suggestions
from silverball.service.summaries import routes as summaries
from silverball.service.tiebreaks import routes as tiebreaks
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import routes as tokens
from silverball.service.tokens import writes as token_writes
from silverball.service.tournaments import routes as tournaments
from silverball.service.tournaments.reads import staff
from silverball.service.users import routes as users
from silverball.settings import Settings
from silverball.store import faults, idempotency, migrate, revisions
from silverball.store.engine import Store
from silverball.web import app as web
from silverball.web import docs
from silverball.wire.errors import ErrorBody, ValidationErrorBody

LOG = logging.getLogger("silverball.app")

# Every slice that answers requests. A new slice is one import and one line here.
ROUTE_MODULES: tuple[ModuleType, ...] = (
    arenas,
    banks,
    clubs,
    dashboard,
    locations,
    occasions,
    players,
    search,
    series,
    tokens,
    tournaments,
    users,
    amazingrace,
    bestgame,
    cards,
    entries,
    exports,
    frenzy,
    games,
    maxmatchplay,
    queues,
    roster,
    rounds,
    singleplayer,
    standings,
    stats,
    suggestions,
    summaries,
    tiebreaks,
)

# What the clock starts once an hour. A new job is one file and one line here.
JOBS = (Job("close_idle", close_idle.run),)

# SQLite answers in this process, where threads only take turns; PostgreSQL answers elsewhere.
READERS_SQLITE = 2
READERS_POSTGRESQL = 8

STATUSES: dict[type[Refusal], int] = {
    NotFound: 404,
    NotAllowed: 403,
    Conflict: 409,
    Invalid: 422,
    WrongFormat: 400,
}

SENTENCES: dict[type[Exception], tuple[int, str]] = {
    Unauthenticated: (401, "Unauthenticated."),
    Malformed: (400, "Bad request."),
}


def build(store: Store, settings: Settings, *, modules: Sequence[ModuleType] = ROUTE_MODULES) -> FrontDoor:
    """The whole program behind one ASGI callable. It starts and stops with the server's lifespan."""
    api = build_api(store, settings, modules=modules)
    known = revisions.Revisions(store)
    visits = Visits(store)
    clock = Clock(store, JOBS)
    at_stop = [clock.close, visits.close, known.close]
    house = House(
        find_caller=visits.find_caller,
        revision_of=known.of,
        refresh=known.refresh,
        answer=lambda request: answer(api, request),
        has_own_bucket=visits.is_running,
        verbs_of=api.routes.verbs,
        failed=refused,
        workers=READERS_SQLITE if store.is_sqlite else READERS_POSTGRESQL,
        own_paths=[one.path for one in api.routes.endpoints if one.access is Access.OWN],
        pages=_pages(store, settings, api, [known.start, clock.start], at_stop),
    )
    limits = Limits(
        rate_per_minute=settings.rate_limit_per_minute,
        standings_interval_seconds=settings.standings_interval_seconds,
        cache_bytes=settings.cache_megabytes * 1_000_000,
    )
    door = FrontDoor(house, limits)
    # What is being computed still needs the other two.
    at_stop.insert(0, door.close)
    return door


class Visits:
    """Who is calling, and the note that a token was used."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # A read must not wait for a long write elsewhere only to note that it happened.
        self._notes = ThreadPoolExecutor(1, thread_name_prefix="silverball-notes")

    def find_caller(self, authorization: bytes) -> Caller | None:
        now = datetime.now(UTC)
        with self._store.read() as db:
            caller = token_reads.find(db, authorization, now)
        if caller is not None and caller.token_to_note is not None:
            self._notes.submit(self._note_use, caller.token_to_note, now)
        return caller

    def is_running(self, caller: Caller, tournament_id: int) -> bool:
        """Whether this tournament is one that the caller runs at the moment."""
        with self._store.read() as db:
            return staff.is_running(db, caller.user_id, tournament_id)

    def close(self) -> None:
        self._notes.shutdown()

    def _note_use(self, token_id: int, now: datetime) -> None:
        try:
            with self._store.write(quiet=True) as db:
                token_writes.note_use(db, token_id, now)
        except Exception as error:  # the edge of a thread: nobody else would hear of it
            LOG.error("the use of a token could not be noted", exc_info=error)


def description(api: Api, settings: Settings) -> bytes:
    """The OpenAPI document of the endpoints."""
    about = openapi.About(
        title="Silverball",
        version=silverball.__version__,
        base_url=settings.base_url,
        public_read=settings.public_read,
        error=ErrorBody,
        validation_error=ValidationErrorBody,
    )
    return msgspec.json.encode(openapi.document(api.routes.endpoints, about))


def _pages(
    store: Store,
    settings: Settings,
    api: Api,
    at_start: list[Callable[[], None]],
    at_stop: list[Callable[[], None]],
) -> Starlette:
    """Everything that is not below /api."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        for begin in at_start:
            begin()
        yield
        for end in at_stop:
            end()

    def up(_request: Request) -> Response:
        return JSONResponse({"status": "up"})

    def ready(_request: Request) -> Response:
        if migrate.is_ready(store):
            return JSONResponse({"status": "ready"})
        return JSONResponse({"message": "Service Unavailable"}, 503)

    def home(_request: Request) -> Response:
        return RedirectResponse("/docs")

    described = cache(lambda: description(api, settings))
    routes = [
        Route("/", home),
        Route("/up", up),
        Route("/ready", ready),
        *docs.routes(described, settings.base_url),
        # The pages of the room `web`, and its own answer for an address that nothing has.
        Mount("/", web.build(store, settings)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    # Its redirect would name the host that the request claims to be for.
    app.router.redirect_slashes = False
    return app


def build_api(
    store: Store,
    settings: Settings,
    *,
    modules: Sequence[ModuleType] = ROUTE_MODULES,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Api:
    """The endpoints over one database."""
    return Api(
        Routes(endpoints_of(*modules)),
        base_url=settings.base_url,
        public_read=settings.public_read,
        read=store.read,
        write=store.write,
        revision_of=revisions.current,
        replies=idempotency,
        now=now,
    )


def refused(error: Exception) -> Answer:
    """The one place that turns what went wrong into a status and a body."""
    if isinstance(error, Invalid):
        return _said(422, {"message": error.message, "errors": error.errors})
    if isinstance(error, Refusal):
        # A refusal is of the kind of its nearest ancestor.
        status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
        return _said(status, {"message": error.message})
    if type(error) in SENTENCES:
        status, sentence = SENTENCES[type(error)]
        return _said(status, {"message": sentence})
    if isinstance(error, UnknownPath):
        return _said(404, {"message": f"The route {str(error).lstrip('/')} could not be found."})
    if isinstance(error, WrongVerb):
        return _wrong_verb(error)
    if isinstance(error, Stale):
        return _stale(error)
    if faults.is_passing(error):
        LOG.error("the database could not serve the request", exc_info=error)
        return _said(503, {"message": "Service Unavailable"}, ((b"retry-after", b"1"),))
    LOG.error("the request failed", exc_info=error)
    return _said(500, {"message": "Server Error"})


def _wrong_verb(error: WrongVerb) -> Answer:
    allowed = ", ".join(error.allowed)
    route = error.path.lstrip("/")
    message = f"The {error.method} method is not supported for route {route}. Supported methods: {allowed}."
    return _said(405, {"message": message}, ((b"allow", allowed.encode()),))


def _stale(error: Stale) -> Answer:
    message = f"The tournament is at revision {error.revision} now. Read it again before you change it."
    return _said(412, {"message": message}, ((b"x-tournament-revision", b"%d" % error.revision),))


def _said(status: int, body: dict[str, object], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    return Answer(status, msgspec.json.encode(body), headers=headers)


def answer(api: Api, request: http.Request) -> Answer:
    """One request, answered whatever happens."""
    try:
        return api.answer(request)
    except Exception as error:  # noqa: BLE001  # the edge: nothing below may leak to the caller
        return refused(error)
