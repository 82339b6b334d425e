"""Run the site behind a socket until a signal, for `serve` and `demo`.

Only commands that serve import this module, because it loads uvicorn.
"""

import asyncio
import contextlib
import dataclasses
import gc
import ipaddress
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from secrets import SystemRandom
from types import FrameType
from typing import Protocol

import click
import uvicorn

from silverball import app
from silverball import settings as site_settings
from silverball.feed.feed import FeedService, open_files_max
from silverball.feed.protocol import MESSAGE_BYTES_MAX
from silverball.feed.socket import protocol_class
from silverball.jobs.workers import Workers
from silverball.kit import logs
from silverball.kit.edge import bounded_http
from silverball.kit.edge.blocked_networks import BlockedNetworks, BlockedNetworksDoor
from silverball.kit.edge.connections import ConnectionTable, HttpLimits
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies
from silverball.kit.http.asgi import NO_SNIFFING
from silverball.kit.http.openapi import Trial
from silverball.kit.watchdog import ServiceManager, Watchdog
from silverball.service.users import writes as users
from silverball.settings import Settings
from silverball.store.database.deadlines import STOP_SECONDS
from silverball.store.database.engine import Store
from silverball.store.people import audit, encryption
from silverball.web import operations
from silverball.web.operations import Expose, SiteMetrics

# Listening sockets, and the second server of a process: that of its metrics.


BACKLOG = 4096
# The number of the first socket that systemd opens for a service.
FIRST_PASSED_SOCKET = 3
METRICS_CONNECTIONS_MAX = 64
# A tenth of all connections is kept for those who have an account, a device or a code.
RESERVED_PART = 10
# Browsers that came over HTTPS once do not come without it for a year.
HTTPS_ONLY_SECONDS = 365 * 86_400


def open_listener(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {host} port {port}: {error.strerror}.") from error


def passed_listener(count: int) -> socket.socket | None:
    """The listening socket that systemd holds for this service; None where it opens its own.

    It outlives the process: while the next one starts, connections wait instead of being refused.
    """
    if not count:
        return None
    listener = socket.socket(fileno=FIRST_PASSED_SOCKET)
    listener.set_inheritable(False)
    is_listening = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if count > 1 or not is_listening or listener.family not in (socket.AF_INET, socket.AF_INET6):
        raise click.ClickException(
            "A socket unit for this service must have one line ListenStream=, with an address and a port."
        )
    return listener


def headers_of_every_answer(base_url: str) -> list[tuple[str, str]]:
    """Return the headers that the server adds to whatever is answered."""
    name, value = NO_SNIFFING
    headers = [(name.decode(), value.decode())]
    if base_url.startswith("https://"):
        headers.append(("strict-transport-security", f"max-age={HTTPS_ONLY_SECONDS}; includeSubDomains"))
    return headers


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


def metrics_server(expose: Expose, settings: Settings) -> SideServer | None:
    """Return the server of the metrics, listening; none without a port for them."""
    if settings.metrics is None:
        return None
    listener = open_listener(*settings.metrics)
    limits = HttpLimits(total=METRICS_CONNECTIONS_MAX, per_address=METRICS_CONNECTIONS_MAX)
    config = uvicorn.Config(
        operations.metrics_app(expose),
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


LOG = logging.getLogger("silverball.serve")
# Requests that are still open after this time are ended, which takes a second or two.
DRAIN_SECONDS, END_SECONDS = 20, 5
# How many new objects start a scan for garbage, how many of those one of what was left, and how many of
# these one of everything. Cycles are rare here, and 5,000 readers that come back at once would make the
# last kind run again and again, for a quarter of a second each.
SCANS = (2_000, 10, 50)
# The command blocks networks in another process; this is how soon it is noticed.
RELOAD_SECONDS = 2.0


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
    if (reason := encryption.open_keys(store)) is not None:
        LOG.warning("%s: %s", encryption.OFF_WITHOUT_KEY, reason)
    broadcast = FeedService(store, settings)
    blocked = BlockedNetworks(partial(_load_blocked_networks, store))
    broadcast.feed.blocked = blocked
    table = connection_table(settings)
    program = app.build(store, settings, broadcast=broadcast, follows_host=follows_host, trials=trials)
    kept = program.kept_answers(blocked)
    config = uvicorn.Config(
        BlockedNetworksDoor(program, blocked, TrustedProxies.parse(settings.trusted_proxies)),
        headers=headers_of_every_answer(settings.base_url),
        http=bounded_http.connection_class(table, kept),
        loop="uvloop",
        ws=protocol_class(broadcast.feed),
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_per_message_deflate=settings.feed_compression,
        lifespan="on",
        # uvicorn listens once more, also on what it was handed.
        backlog=BACKLOG,
        access_log=False,
        log_config=None,
        # The front door reads X-Forwarded-For itself, and only from trusted proxies.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS + END_SECONDS,
    )
    site = SiteMetrics(program, broadcast, store, table)
    _announce_start(store, settings)
    reloading = Workers("blocked networks", [blocked.reload], poll_seconds=RELOAD_SECONDS)
    reloading.start()
    server = DrainingServer(
        config,
        when_ready,
        broadcast,
        metrics_server(site.expose, settings),
        end_transactions=partial(store.end_within, STOP_SECONDS),
        end_costly=program.end_costly,
        end_connections=table.end_all,
        watchdog=Watchdog(
            ServiceManager(site_settings.notify_socket()),
            partial(program.ask_writers, store.try_to_write),
        ),
    )
    server.run(sockets=[listener])
    reloading.close()
    logs.log_line(LOG, "stopped")


def _announce_start(store: Store, settings: Settings) -> None:
    """Log the start, and on a new site the code for the first account."""
    # uvicorn raises the signal again after its shutdown; ignoring it lets what follows the server run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    where = store.url.render_as_string(hide_password=True)
    logs.log_line(LOG, "starting", baseUrl=settings.base_url, database=where)
    log_first_code(store, settings)


def _load_blocked_networks(store: Store) -> list[str]:
    with store.read() as db:
        return audit.blocked_networks(db)


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
    limits = HttpLimits(
        total=total, per_address=settings.connections_per_address, reserved=total // RESERVED_PART
    )
    return ConnectionTable(limits, proxies)


# Within this time after its connection, a client has sent its request.
ACCEPTED_SECONDS = 0.25


# uvicorn's count of ticks at which it renews the headers of all answers.
EVERY_HEADER = 0


class Drainable(Protocol):
    """An owner of sockets that must be closed before the server stops."""

    async def drain(self, sleep: Callable[[float], Awaitable[None]]) -> None: ...


class DrainingServer(uvicorn.Server):
    """A server that asks websocket clients to reconnect elsewhere before it stops."""

    def __init__(
        self,
        config: uvicorn.Config,
        when_ready: Callable[[], None],
        followed: Drainable,
        beside: SideServer | None = None,
        end_transactions: Callable[[], None] = lambda: None,
        end_costly: Callable[[], None] = lambda: None,
        end_connections: Callable[[], None] = lambda: None,
        watchdog: Watchdog | None = None,
    ) -> None:
        # None before the start.
        self._loop: asyncio.AbstractEventLoop | None = None
        # Ends the wait for the next second.
        self._is_leaving = asyncio.Event()
        # Whether nobody is waited for any more.
        self._is_urgent = asyncio.Event()
        self._should_exit = False
        self._end_connections = end_connections
        self._watchdog = watchdog
        super().__init__(config)
        self._when_ready = when_ready
        self._end_transactions = end_transactions
        self._end_costly = end_costly
        self._sockets = followed
        self._beside = beside

    @property
    def should_exit(self) -> bool:
        """Whether the server is to stop; uvicorn's handler of signals sets it."""
        return self._should_exit

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        self._should_exit = value
        if value:
            self._set(self._is_leaving)

    def _set(self, event: asyncio.Event) -> None:
        # A handler of signals does not wake the loop by itself.
        if self._loop is None:
            event.set()
        else:
            self._loop.call_soon_threadsafe(event.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; with a second SIGINT stop without waiting for anybody."""
        super().handle_exit(sig, frame)
        if self.force_exit:
            # uvicorn would also leave out the end of jobs and database, and answer what is open with 500.
            self.force_exit = False
            self._set(self._is_urgent)

    async def main_loop(self) -> None:
        """Renew the Date header once a second until the server is to stop, which is noticed at once.

        uvicorn looks ten times a second, a sixth of what a server takes that nobody asks.
        """
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(EVERY_HEADER):
            if self._watchdog is not None:
                self._watchdog.tick()
            await _wait_for(self._is_leaving, 1.0)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Everything loaded so far lives on, so the collector need not scan it again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*SCANS)
        if self.started:
            if self._beside is not None:
                self._beside.open()
            self._when_ready()
            if self._watchdog is not None:
                self._watchdog.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, close the websockets one after the other, then shut down."""
        if self._watchdog is not None:
            self._watchdog.stop()
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            # Clients reconnect at once, and must not reach this process again.
            listener.close()
        # Who was accepted a moment ago has not been read yet; closed now, they would get no answer.
        await asyncio.sleep(ACCEPTED_SECONDS)
        # Whoever waits for what takes seconds to compute asks another node, or the next start.
        self._end_costly()
        await self._sockets.drain(partial(_wait_for, self._is_urgent))
        # What waits for a silent database ends soon, and whoever stops the parts waits for that.
        self._end_transactions()
        ending = asyncio.create_task(self._end_late_connections())
        await super().shutdown(sockets)
        ending.cancel()
        if self._beside is not None:
            # Last, so that a stop can be watched.
            await self._beside.close()

    async def _end_late_connections(self) -> None:
        await _wait_for(self._is_urgent, DRAIN_SECONDS)
        self._end_connections()


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, so many seconds at most."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


# The address that a server's links begin with.


WILDCARD_HOSTS = frozenset({"0.0.0.0", "::"})  # noqa: S104  # compared with, never bound to by itself


def follows_host(configured: Settings, host: str) -> bool:
    """Whether links begin with the address that each client uses.

    So a phone at a venue can open them, without a base URL in the settings. Not behind proxies, which
    may change the Host header, and not on loopback, where there is one address only.
    """
    has_proxies = configured.trusted_proxies != Settings().trusted_proxies
    return not configured.base_url and not has_proxies and not _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def with_base_url(loaded: Settings, host: str, port: int) -> Settings:
    """The settings with a base URL: the configured one, or the address of the listener."""
    if loaded.base_url:
        return loaded
    visible_host = "127.0.0.1" if host in WILDCARD_HOSTS else host
    if ":" in visible_host:
        visible_host = f"[{visible_host}]"
    return dataclasses.replace(loaded, base_url=f"http://{visible_host}:{port}")
