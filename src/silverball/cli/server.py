"""Run the site behind a socket until a signal, for `serve` and `demo`.

Only commands that serve import this module, because it loads uvicorn.
"""

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from secrets import SystemRandom
from typing import Literal, Protocol

import click
import uvicorn

from silverball import app
from silverball.feed.feed import Feed, FeedService, open_files_max
from silverball.feed.protocol import MESSAGE_BYTES_MAX
from silverball.feed.socket import protocol_class
from silverball.jobs.workers import Workers
from silverball.kit import logs
from silverball.kit.edge import bounded_http
from silverball.kit.edge.blocked_networks import BlockedNetworks, BlockedNetworksDoor
from silverball.kit.edge.connections import ConnectionTable, HttpLimits
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies
from silverball.kit.encryption import NoEncryptionKey
from silverball.kit.http.asgi import NO_SNIFFING
from silverball.kit.http.openapi import Trial
from silverball.service.users import writes as users
from silverball.settings import Settings
from silverball.store import blocked_networks, encryption
from silverball.store.engine import Store
from silverball.web import operations

LOG = logging.getLogger("silverball.serve")
# Requests that are still open after this time are cut off.
DRAIN_SECONDS = 20
BACKLOG = 2048
# The command blocks networks in another process; this is how soon it is noticed.
RELOAD_SECONDS = 2.0
METRICS_CONNECTIONS_MAX = 64
# Browsers that came over HTTPS once do not come without it for a year.
HTTPS_ONLY_SECONDS = 365 * 86_400


def open_listener(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {host} port {port}: {error.strerror}.") from error


def run_server(
    store: Store,
    settings: Settings,
    listener: socket.socket,
    *,
    when_ready: Callable[[], None],
    follows_host: bool = False,
    trials: Mapping[str, Trial] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish open requests.

    `follows_host`: links begin with the Host of each request. `trials`: what /docs fills in.
    """
    if not encryption.open_keys(store):
        LOG.warning("no webhooks and printed codes can be made: %s", NoEncryptionKey())
    broadcast = FeedService(store, settings)
    blocked = BlockedNetworks(partial(_load_blocked_networks, store))
    broadcast.feed.is_blocked = blocked.is_blocked
    program = app.build(store, settings, broadcast=broadcast, follows_host=follows_host, trials=trials)
    config = uvicorn.Config(
        BlockedNetworksDoor(program, blocked, TrustedProxies.parse(settings.trusted_proxies)),
        headers=headers_of_every_answer(settings.base_url),
        http=bounded_http.connection_class(connection_table(settings)),
        loop="uvloop",
        ws=websocket_protocol(broadcast.feed, settings),
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_per_message_deflate=settings.feed_compression,
        lifespan="on",
        access_log=False,
        log_config=None,
        # The front door reads X-Forwarded-For itself, and only from trusted proxies.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    # uvicorn raises the signal again after its shutdown; ignoring it lets the lines below run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    where = store.url.render_as_string(hide_password=True)
    logs.log_line(LOG, "starting", baseUrl=settings.base_url, database=where)
    log_first_code(store, settings)
    reloading = Workers("blocked networks", [blocked.reload], poll_seconds=RELOAD_SECONDS)
    reloading.start()
    DrainingServer(config, when_ready, broadcast, metrics_server(broadcast, settings)).run(sockets=[listener])
    reloading.close()
    logs.log_line(LOG, "stopped")


def _load_blocked_networks(store: Store) -> list[str]:
    with store.read() as db:
        return blocked_networks.blocked_networks(db)


def headers_of_every_answer(base_url: str) -> list[tuple[str, str]]:
    """Return the headers that the server adds to whatever is answered."""
    name, value = NO_SNIFFING
    headers = [(name.decode(), value.decode())]
    if base_url.startswith("https://"):
        headers.append(("strict-transport-security", f"max-age={HTTPS_ONLY_SECONDS}"))
    return headers


def websocket_protocol(
    feed: Feed, settings: Settings
) -> type[asyncio.Protocol] | Literal["websockets-sansio"]:
    """uvicorn's websocket protocol: our own class, or ASGI when the settings say so."""
    return "websockets-sansio" if settings.feed_asgi else protocol_class(feed)


def log_first_code(store: Store, settings: Settings) -> None:
    """On a new site, log the code that its first account is made with."""
    try:
        with store.write(quiet=True) as transaction:
            code = users.find_or_make_first_code(transaction.connection, SystemRandom())
    except users.SiteAlreadyHasAccount:
        return
    logs.log_line(LOG, "first account", page=f"{settings.base_url}/account/first", code=code)


def connection_table(settings: Settings) -> ConnectionTable:
    """The connections of this process; files for the database and the rest stay free."""
    proxies = TrustedProxies.parse(settings.trusted_proxies)
    total = open_files_max() * 4 // 5
    return ConnectionTable(HttpLimits(total=total, per_address=settings.connections_per_address), proxies)


class SideServer(uvicorn.Server):
    """A second server on the event loop of the first, with a port of its own."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        super().__init__(config)
        self._listener = listener
        self._serving: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the first server."""
        yield

    def open(self) -> None:
        """Begin to serve."""
        self._serving = asyncio.get_running_loop().create_task(self.serve(sockets=[self._listener]))

    async def close(self) -> None:
        """Stop serving."""
        self.should_exit = True
        if self._serving is not None:
            await self._serving


def metrics_server(broadcast: FeedService, settings: Settings) -> SideServer | None:
    """Return the server of the metrics, listening; none without a port for them."""
    if not settings.metrics_port:
        return None
    listener = open_listener(settings.metrics_host, settings.metrics_port)
    limits = HttpLimits(total=METRICS_CONNECTIONS_MAX, per_address=METRICS_CONNECTIONS_MAX)
    config = uvicorn.Config(
        operations.metrics_app(broadcast),
        headers=headers_of_every_answer(""),
        http=bounded_http.connection_class(ConnectionTable(limits, NO_PROXIES)),
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return SideServer(config, listener)


class Drainable(Protocol):
    """An owner of sockets that must be closed before the server stops."""

    async def drain(self) -> None: ...


class DrainingServer(uvicorn.Server):
    """A server that asks websocket clients to reconnect elsewhere before it stops."""

    def __init__(
        self,
        config: uvicorn.Config,
        when_ready: Callable[[], None],
        followed: Drainable,
        beside: SideServer | None = None,
    ) -> None:
        super().__init__(config)
        self._when_ready = when_ready
        self._sockets = followed
        self._beside = beside

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Everything loaded so far lives on, so the collector need not scan it again.
        gc.collect()
        gc.freeze()
        if self.started:
            if self._beside is not None:
                self._beside.open()
            self._when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, close the websockets one after the other, then shut down."""
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            # Clients reconnect at once, and must not reach this process again.
            listener.close()
        await self._sockets.drain()
        await super().shutdown(sockets)
        if self._beside is not None:
            # Last, so that a stop can be watched.
            await self._beside.close()
