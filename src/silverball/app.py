"""The composition root: hands each part the others that it needs."""

import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache, partial
from types import ModuleType

import msgspec
from msgspec import Struct
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

import silverball
from silverball.feed import asyncapi
from silverball.feed.feed import FeedService
from silverball.jobs.background import COMPUTING_MODULE, BackgroundWork
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.computing_line import Computing
from silverball.kit.edge.front import FrontDoor
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.edge.redis_counts import RedisCounts
from silverball.kit.edge.work_queue import THREADS_PER_LOCK
from silverball.kit.edge.write_requests import WriteRequests
from silverball.kit.http import endpoints as http
from silverball.kit.http import openapi, refusals
from silverball.kit.http.api import AnswerWrite, Api
from silverball.kit.http.asgi import AsgiApp
from silverball.kit.http.endpoints import Access, HttpResponse, collect_endpoints
from silverball.kit.http.json_schema import field_texts
from silverball.kit.http.router import Router
from silverball.kit.measures import Measures
from silverball.kit.security import tokens
from silverball.rules.planning.nights import SimulatedNight
from silverball.service.accounts import downloads
from silverball.service.core import commands
from silverball.service.sheets.elsewhere import ReadingProcess
from silverball.service.tournaments import paths
from silverball.service.users.callers import CallerLookup
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store import processes
from silverball.store.counts import idempotency
from silverball.store.database import faults
from silverball.store.database.engine import Store
from silverball.store.database.migrate import Readiness
from silverball.store.revisions import known_revisions, revisions, stamps
from silverball.store.revisions.known_revisions import KnownRevisions
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import forecasts
from silverball.web import costly_routes, exports, operations, route_names
from silverball.web.handbook import PagesWhenAsked
from silverball.web.live import views
from silverball.web.visitors import VisitorLookup
from silverball_wire import resources
from silverball_wire.generated.format_settings import FormatSettings
from silverball_wire.pages import ErrorBody, ValidationErrorBody
from silverball_wire.resources import event_examples, shape_examples
from silverball_wire.shared_texts import SHARED_TEXTS
from silverball_wire.tournaments import Tournament

INTERFACE_DESCRIPTION = (
    "Pinball tournaments: players, arenas, rounds, games, standings and ratings. Send a token as "
    "`Authorization: Bearer TOKEN`. Every answer to a GET has an ETag; a request with If-None-Match that "
    "is answered by 304 costs nothing. A refused request is answered with a sentence, a stable code and, "
    "for a faulty field, its name."
)

# SQLite runs in this process, where threads only take turns; PostgreSQL runs elsewhere.
READERS_SQLITE = 2
READERS_POSTGRESQL = 8


def build(
    store: Store,
    settings: Settings,
    *,
    modules: Sequence[ModuleType] = ROUTE_MODULES,
    broadcast: FeedService | None = None,
    follows_host: bool = False,
    trials: Mapping[str, openapi.Trial] | None = None,
) -> FrontDoor:
    """The whole program as one ASGI application. It starts and stops with the server's lifespan.

    `follows_host`: links begin with the Host of each request, where there is one. `trials`: values with
    which operations succeed here, for the interface's own page.
    """
    feed = broadcast or FeedService(store, settings)
    api = build_api(store, settings, modules=modules, feed=feed)
    known = KnownRevisions(store)
    callers = CallerLookup(store)
    measures = Measures(database=store.measures, is_ready=Readiness(store).check)
    work = BackgroundWork(store, settings, measures)
    at_start = [store.health.start, known.start, *work.starts, feed.start]
    at_stop = [*work.stops, callers.close, known.close]
    pages = _build_pages(
        store,
        settings,
        api,
        at_start,
        at_stop,
        feed,
        work,
        follows_host=follows_host,
        trials=trials or {},
    )
    backend = build_backend(store, settings, api, known, callers, pages=pages, follows_host=follows_host)
    measures.requests.name_routes(route_names.route_finder(api.routes.template_for))
    limits = _front_door_limits(settings, measures)
    front_door = FrontDoor(backend, limits)
    if limits.shared_counts is not None:
        at_start.append(limits.shared_counts.start)
        at_stop.append(limits.shared_counts.close)
    feed.hub.count_resume = front_door.count_for_address
    # The front door stops first: requests that are being computed still need the others.
    at_stop.insert(0, front_door.close)
    return front_door


def build_backend(
    store: Store,
    settings: Settings,
    api: Api,
    known: KnownRevisions,
    callers: CallerLookup,
    *,
    pages: AsgiApp | None = None,
    follows_host: bool = False,
) -> Backend:
    """The callables and paths that the front door needs of this database. `pages`: all outside of /api."""
    visitors = VisitorLookup(store, settings, lambda: datetime.now(UTC))
    return Backend(
        find_caller=callers.find_caller,
        reads_as_nobody=tokens.is_foreign if settings.stand_in else lambda _authorization: False,
        version_of=known.known_version,
        revision_in=stamps.number_in,
        hidden_at=known.hidden_at,
        refresh=known.refresh,
        has_reached=lambda seen: known.has_reached(seen.scope_id, Revision(seen.number, seen.stamp)),
        outage_seconds=known.outage_seconds,
        last_version_of=known.last_version,
        answer=lambda request: answer_request(api, request),
        answer_error=error_response,
        scope_for=paths.tournament_in,
        is_uncounted=paths.is_uncounted,
        costs_a_page=paths.costs_a_page,
        has_own_quota=callers.is_running,
        account_changes=callers.account_changes,
        newest_account_change=callers.newest_account_change,
        hiding_seconds=known_revisions.hiding_seconds(store),
        methods_for=api.routes.methods_for,
        workers=READERS_SQLITE if store.is_sqlite else READERS_POSTGRESQL,
        writers_per_scope=None if store.is_sqlite else THREADS_PER_LOCK,
        per_user_paths=[route.path for route in api.routes.endpoints if route.access is Access.OWN],
        async_paths=[route.path for route in api.routes.endpoints if route.is_async],
        answer_async=api.answer_async,
        public_paths=views.PATHS,
        answer_public=answer_public(store, settings),
        normalize_public_query=views.meaningful_query,
        secrets_in=visitors.secrets_in,
        find_visitor=visitors.find,
        date_public_page=views.date_page,
        follows_host=follows_host,
        pages=pages,
        computing=_computing(store, settings, follows_host=follows_host),
    )


class ComputingNotes(Struct, frozen=True):
    """Work that a costly answer leaves to its server: nights, forecasts, downloads and looks to count."""

    nights: list[SimulatedNight] = []
    forecasts: list[int] = []
    # Account and address of each.
    downloads: list[tuple[int, str]] = []
    # Tournament and name of each draw that was looked at.
    previews: list[tuple[int, str]] = []


def _computing(store: Store, settings: Settings, *, follows_host: bool) -> Computing | None:
    """The computing process beside this server; None for a database that no other process can open."""
    if store.is_sqlite and store.file_beside("") is None:
        return None

    def take_notes(encoded: bytes) -> None:
        notes = msgspec.msgpack.decode(encoded, type=ComputingNotes)
        for night in notes.nights:
            store.wanted_nights.add(night.key, night)
        for tournament_id in notes.forecasts:
            store.wanted_forecasts.add(tournament_id, tournament_id)
        for user_id, source in notes.downloads:
            downloads.note_download(store, user_id, source, datetime.now(UTC))
        for tournament_id, draw in notes.previews:
            with store.write(tournament_id, quiet=True) as transaction:
                forecasts.count_preview(transaction.connection, tournament_id, draw)

    return Computing(
        module=COMPUTING_MODULE,
        setup=partial(processes.setup_of, store, settings, follows_host=follows_host),
        cost_of=costly_routes.cost_of,
        take_notes=take_notes,
    )


def answer_public(store: Store, settings: Settings) -> Callable[[http.Request], HttpResponse]:
    """Answer the pages that are the same for everybody; the first request loads them."""

    @cache
    def load_pages() -> Callable[[http.Request], HttpResponse]:
        from silverball.web.live import pages as public

        return public.build(store, settings).answer

    def answer(request: http.Request) -> HttpResponse:
        return load_pages()(request)

    return answer


def _front_door_limits(settings: Settings, measures: Measures) -> FrontDoorLimits:
    redis_url = settings.redis_url
    return FrontDoorLimits(
        rate_per_minute=settings.rate_limit_per_minute,
        standings_interval_seconds=settings.standings_interval_seconds,
        pages_per_minute=settings.pages_per_minute,
        cache_bytes=settings.cache_megabytes * 1_000_000,
        streams_max=settings.connections_per_address,
        proxies=TrustedProxies.parse(settings.trusted_proxies),
        shared_counts=RedisCounts(redis_url, settings.redis_prefix) if redis_url else None,
        measures=measures,
    )


def openapi_document(
    api: Api, settings: Settings, trials: Mapping[str, openapi.Trial] | None = None
) -> bytes:
    """The OpenAPI document of the endpoints."""
    info = openapi.OpenApiInfo(
        title="Silverball",
        version=silverball.__version__,
        base_url=settings.base_url,
        public_read=settings.is_open_to_readers,
        error=ErrorBody,
        validation_error=ValidationErrorBody,
        description=INTERFACE_DESCRIPTION,
        tags=resources.TAGS,
        tag_of=resources.tag_of,
        shared_texts=shared_texts(),
        examples=shape_examples(),
        trials=trials or {},
        handbook_path="/handbook/",
    )
    return msgspec.json.encode(openapi.build_document(api.routes.endpoints, info))


@cache
def shared_texts() -> dict[str, str]:
    """Field name -> the sentence of fields without one of their own."""
    return {**field_texts(Tournament), **SHARED_TEXTS, **field_texts(FormatSettings)}


@cache
def asyncapi_document(settings: Settings) -> bytes:
    """The AsyncAPI document of the feed."""
    info = asyncapi.AsyncApiInfo(
        title="Silverball",
        version=silverball.__version__,
        base_url=settings.base_url,
        shared_texts=shared_texts(),
        examples=event_examples(),
    )
    return msgspec.json.format(msgspec.json.encode(asyncapi.document(info)), indent=2)


def _build_pages(
    store: Store,
    settings: Settings,
    api: Api,
    at_start: list[Callable[[], None]],
    at_stop: list[Callable[[], None]],
    feed: FeedService,
    work: BackgroundWork,
    *,
    follows_host: bool,
    trials: Mapping[str, openapi.Trial],
) -> Starlette:
    """The application for all paths outside of /api."""
    # The description is the same for everyone, so it names no host where links follow each request.
    documented = dataclasses.replace(settings, base_url="/") if follows_host else settings

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        for start in at_start:
            start()
        yield
        await feed.close()
        for stop in at_stop:
            stop()

    setup = partial(processes.setup_of, store, settings, follows_host=follows_host)
    reader = ReadingProcess(COMPUTING_MODULE, setup)
    at_stop.append(reader.close)

    def load_pages() -> ASGIApp:
        from silverball.web import app as web

        paths = [page.path for page in web.declared_pages()]
        work.measures.requests.name_routes(route_names.route_finder(api.routes.template_for, paths))
        return web.build(
            store,
            settings,
            follows_host=follows_host,
            ask_for_recovery=work.ask_for_recovery,
            read_list=reader.read,
        )

    routes: list[BaseRoute] = [
        *operations.routes(work.measures.is_ready, feed, store, lambda: asyncapi_document(settings)),
        *operations.security_text_routes(store, settings.base_url),
        *exports.documentation_routes(
            cache(lambda: openapi_document(api, documented, trials)), documented.base_url
        ),
        *_bulk_file_routes(settings, store),
        # The pages, and the page for an unknown path.
        Mount("/", PagesWhenAsked(load_pages)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    # A redirect would repeat the Host header of the request, which anyone can make up.
    app.router.redirect_slashes = False
    return app


def _bulk_file_routes(settings: Settings, store: Store) -> list[Route]:
    """The routes of the public files; none where no folder is set."""
    if not settings.exports_folder:
        return []
    from silverball.web import exports

    return exports.export_routes(settings.exports_folder, store)


def build_api(
    store: Store,
    settings: Settings,
    *,
    modules: Sequence[ModuleType] = ROUTE_MODULES,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    feed: FeedService | None = None,
    answer_write: AnswerWrite | None = None,
) -> Api:
    """The endpoints over one database; `answer_write` answers those that write, where another is to."""
    write_requests = WriteRequests(
        read=store.read,
        write=store.write,
        revision_of=revisions.current_revision,
        idempotency_store=idempotency,
        refuse_replay=commands.refuse_replay,
        now=now,
    )
    return Api(
        Router(collect_endpoints(*modules)),
        base_url=settings.base_url,
        public_read=settings.is_open_to_readers,
        read=store.read,
        answer_write=answer_write or write_requests.answer,
        now=now,
        feed=feed,
        settings=settings,
    )


def error_response(error: Exception) -> HttpResponse:
    """The answer to a request that ended with this exception."""
    return refusals.error_response(error, is_transient=faults.is_transient)


def answer_request(api: Api, request: http.Request) -> HttpResponse:
    """The answer to a request. Never raises."""
    try:
        return api.answer(request)
    except Exception as error:  # noqa: BLE001  # the edge: no traceback may reach the caller
        return error_response(error)
