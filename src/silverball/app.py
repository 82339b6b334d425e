"""The composition root: which routes exist, who is handed what."""

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
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

import silverball
from silverball.feed import asyncapi, prometheus, replay
from silverball.feed.asgi import AsgiFeed
from silverball.feed.feed import FeedService
from silverball.jobs import (
    close_idle,
    deliver_webhooks,
    fetch_submissions,
    nightly_exports,
    prune_announcements,
    prune_deliveries,
    rating_period,
    schedule_submissions,
)
from silverball.jobs.clock import Job, JobClock
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http import endpoints as http
from silverball.kit.http import openapi, refusals
from silverball.kit.http.api import Api
from silverball.kit.http.endpoints import Access, Caller, HttpResponse, collect_endpoints
from silverball.kit.http.router import Router
from silverball.service.amazingrace import routes as amazingrace
from silverball.service.arenas import routes as arenas
from silverball.service.banks import routes as banks
from silverball.service.bestgame import routes as bestgame
from silverball.service.cards import routes as cards
from silverball.service.clubs import routes as clubs
from silverball.service.dashboard import routes as dashboard
from silverball.service.entries import routes as entries
from silverball.service.estimates import routes as estimates
from silverball.service.exports import routes as exports
from silverball.service.frenzy import routes as frenzy
from silverball.service.games import routes as games
from silverball.service.locations import routes as locations
from silverball.service.machines import routes as machines
from silverball.service.maxmatchplay import routes as maxmatchplay
from silverball.service.occasions import routes as occasions
from silverball.service.periods import routes as periods
from silverball.service.players import routes as players
from silverball.service.queues import routes as queues
from silverball.service.ratings import routes as ratings
from silverball.service.roster import routes as roster
from silverball.service.rounds import routes as rounds
from silverball.service.search import routes as search
from silverball.service.series import routes as series
from silverball.service.singleplayer import routes as singleplayer
from silverball.service.standings import routes as standings
from silverball.service.stats import routes as stats
from silverball.service.submissions import routes as submissions
from silverball.service.suggestions import routes as suggestions
from silverball.service.summaries import routes as summaries
from silverball.service.tiebreaks import routes as tiebreaks
from silverball.service.tips import routes as tips
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import routes as tokens
from silverball.service.tokens import writes as token_writes
from silverball.service.tournaments import routes as tournaments
from silverball.service.tournaments.reads import staff
from silverball.service.users import routes as users
from silverball.service.webhooks import routes as webhooks
from silverball.settings import Settings
from silverball.store import faults, idempotency, migrate, revisions
from silverball.store.engine import Store
from silverball.web import app as web
from silverball.web import docs
from silverball.web import exports as bulk_files
from silverball.web.live import pages as public
from silverball.web.live import views
from silverball.wire.errors import ErrorBody, ValidationErrorBody

LOG = logging.getLogger("silverball.app")

# Every slice that answers requests. A new slice is one import and one line here.
ROUTE_MODULES: tuple[ModuleType, ...] = (
    arenas,
    banks,
    clubs,
    dashboard,
    locations,
    machines,
    occasions,
    periods,
    players,
    ratings,
    search,
    series,
    submissions,
    tips,
    tokens,
    tournaments,
    users,
    amazingrace,
    bestgame,
    cards,
    entries,
    exports,
    estimates,
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
    webhooks,
    replay,
)

# What the clock starts once an hour. A new job is one file and one line here.
JOBS = (
    Job("close_idle", close_idle.run),
    Job("prune_announcements", prune_announcements.run),
    Job("prune_deliveries", prune_deliveries.run),
    Job("schedule_submissions", schedule_submissions.run),
)

# SQLite answers in this process, where threads only take turns; PostgreSQL answers elsewhere.
READERS_SQLITE = 2
READERS_POSTGRESQL = 8


def build(
    store: Store,
    settings: Settings,
    *,
    modules: Sequence[ModuleType] = ROUTE_MODULES,
    broadcast: FeedService | None = None,
) -> FrontDoor:
    """The whole program behind one ASGI callable. It starts and stops with the server's lifespan."""
    broadcast = broadcast or FeedService(store, settings)
    api = build_api(store, settings, modules=modules, feed=broadcast)
    known = revisions.Revisions(store)
    visits = CallerLookup(store)
    clock = JobClock(store, configured_jobs(settings))
    fetching = fetch_submissions.fetch_workers(store, settings)
    delivering = deliver_webhooks.delivery_workers(store, settings)
    at_start = [known.start, clock.start, fetching.start, delivering.start, broadcast.start]
    at_stop = [delivering.close, fetching.close, clock.close, visits.close, known.close]
    house = Backend(
        find_caller=visits.find_caller,
        revision_of=known.known_revision,
        refresh=known.refresh,
        answer=lambda request: answer_request(api, request),
        has_own_quota=visits.is_running,
        methods_for=api.routes.methods_for,
        answer_error=error_response,
        workers=READERS_SQLITE if store.is_sqlite else READERS_POSTGRESQL,
        per_user_paths=[one.path for one in api.routes.endpoints if one.access is Access.OWN],
        async_paths=[one.path for one in api.routes.endpoints if one.is_async],
        answer_async=api.answer_async,
        public_paths=public.PATHS,
        answer_public=public.build(store, settings).answer,
        normalize_public_query=views.meaningful_query,
        pages=_pages(store, settings, api, at_start, at_stop, broadcast),
    )
    limits = FrontDoorLimits(
        rate_per_minute=settings.rate_limit_per_minute,
        standings_interval_seconds=settings.standings_interval_seconds,
        cache_bytes=settings.cache_megabytes * 1_000_000,
    )
    door = FrontDoor(house, limits)
    # What is being computed still needs the other two.
    at_stop.insert(0, door.close)
    return door


class CallerLookup:
    """Who is calling, and the note that a token was used."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # A read must not wait for a long write elsewhere only to note that it happened.
        self._note_worker = ThreadPoolExecutor(1, thread_name_prefix="silverball-notes")

    def find_caller(self, authorization: bytes) -> Caller | None:
        now = datetime.now(UTC)
        with self._store.read() as db:
            caller = token_reads.find_caller(db, authorization, now)
        if caller is not None and caller.token_to_note is not None:
            self._note_worker.submit(self._record_token_use, caller.token_to_note, now)
        return caller

    def is_running(self, caller: Caller, tournament_id: int) -> bool:
        """Whether this tournament is one that the caller runs at the moment."""
        with self._store.read() as db:
            return staff.is_on_duty(db, caller.user_id, tournament_id)

    def close(self) -> None:
        self._note_worker.shutdown()

    def _record_token_use(self, token_id: int, now: datetime) -> None:
        try:
            with self._store.write(quiet=True) as transaction:
                token_writes.record_use(transaction.connection, token_id, now)
        except Exception as error:  # the edge of a thread: nobody else would hear of it
            LOG.error("the use of a token could not be noted", exc_info=error)


def openapi_document(api: Api, settings: Settings) -> bytes:
    """The OpenAPI document of the endpoints."""
    about = openapi.OpenApiInfo(
        title="Silverball",
        version=silverball.__version__,
        base_url=settings.base_url,
        public_read=settings.public_read,
        error=ErrorBody,
        validation_error=ValidationErrorBody,
    )
    return msgspec.json.encode(openapi.build_document(api.routes.endpoints, about))


@cache
def asyncapi_document(settings: Settings) -> bytes:
    """The AsyncAPI document of the feed."""
    about = {"title": "Silverball", "version": silverball.__version__, "base_url": settings.base_url}
    return msgspec.json.format(msgspec.json.encode(asyncapi.document(**about)), indent=2)


def _pages(
    store: Store,
    settings: Settings,
    api: Api,
    at_start: list[Callable[[], None]],
    at_stop: list[Callable[[], None]],
    broadcast: FeedService,
) -> Starlette:
    """Everything that is not below /api."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        for begin in at_start:
            begin()
        yield
        await broadcast.close()
        for end in at_stop:
            end()

    def up(_request: Request) -> Response:
        return JSONResponse({"status": "up"})

    def ready(_request: Request) -> Response:
        if not migrate.is_ready(store):
            return JSONResponse({"message": "Service Unavailable"}, 503)
        room = broadcast.feed.limits.connections_max - broadcast.hub.metrics.connections
        return JSONResponse({"status": "ready", "connectionsLeft": max(0, room)})

    def metrics(_request: Request) -> Response:
        numbers = prometheus.exposition(
            broadcast.hub.metrics,
            waiting=broadcast.relay.waiting_count,
            unsent_bytes=broadcast.feed.unsent_bytes,
        )
        return Response(numbers, headers={"content-type": prometheus.CONTENT_TYPE})

    def described_feed(_request: Request) -> Response:
        open_to_all = {"access-control-allow-origin": "*"}
        return Response(asyncapi_document(settings), media_type="application/json", headers=open_to_all)

    described = cache(lambda: openapi_document(api, settings))
    routes: list[BaseRoute] = [
        # Whatever a socket asks for is answered inside of it, also that there is no such thing.
        WebSocketRoute("/{path:path}", AsgiFeed(broadcast.feed)),
        Route("/up", up),
        Route("/ready", ready),
        Route("/metrics", metrics),
        Route("/asyncapi.json", described_feed),
        *docs.routes(described, settings.base_url),
        *bulk_files.routes(settings.exports_folder),
        # The pages of the room `web`, and its own answer for an address that nothing has.
        Mount("/", web.build(store, settings)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    # Its redirect would name the host that the request claims to be for.
    app.router.redirect_slashes = False
    return app


def configured_jobs(settings: Settings) -> tuple[Job, ...]:
    """What the clock starts under these settings."""
    found = (*JOBS, rating_period.create_job(settings))
    return (*found, nightly_exports.create_job(settings)) if settings.exports_folder else found


def build_api(
    store: Store,
    settings: Settings,
    *,
    modules: Sequence[ModuleType] = ROUTE_MODULES,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    feed: FeedService | None = None,
) -> Api:
    """The endpoints over one database."""
    return Api(
        Router(collect_endpoints(*modules)),
        base_url=settings.base_url,
        public_read=settings.public_read,
        read=store.read,
        write=store.write,
        revision_of=revisions.current_revision,
        idempotency_store=idempotency,
        now=now,
        feed=feed,
        settings=settings,
    )


def error_response(error: Exception) -> HttpResponse:
    """What somebody is answered whose request ended like this."""
    return refusals.error_response(error, is_transient=faults.is_transient)


def answer_request(api: Api, request: http.Request) -> HttpResponse:
    """One request, answered whatever happens."""
    try:
        return api.answer(request)
    except Exception as error:  # noqa: BLE001  # the edge: nothing below may leak to the caller
        return error_response(error)
