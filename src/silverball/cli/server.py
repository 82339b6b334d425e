"""Running the program behind a socket until a signal; what `serve` and `demo` share.

Imported only by a command that serves: it loads the server.
"""

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable
from typing import Literal, Protocol

import click
import uvicorn

from silverball import app
from silverball.cli.connection import BoundedConnection
from silverball.feed.feed import Feed, FeedService
from silverball.feed.protocol import MESSAGE_BYTES_MAX
from silverball.feed.socket import protocol_class
from silverball.kit import logs
from silverball.settings import Settings
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.serve")
# A request that is still open then is cut off.
DRAIN_SECONDS = 20
BACKLOG = 2048


def open_listener(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
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
) -> None:
    """Serve until SIGTERM or SIGINT; requests that are open then are answered first."""
    broadcast = FeedService(store, settings)
    config = uvicorn.Config(
        app.build(store, settings, broadcast=broadcast),
        http=BoundedConnection,
        loop="uvloop",
        ws=websocket_protocol(broadcast.feed, settings),
        ws_max_size=MESSAGE_BYTES_MAX,
        ws_per_message_deflate=settings.feed_compression,
        lifespan="on",
        access_log=False,
        log_config=None,
        # The front door reads X-Forwarded-For where it needs it: for requests that nobody signed.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    # The server raises the signal again when it is done; what follows here still has to happen.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    where = store.url.render_as_string(hide_password=True)
    logs.log_line(LOG, "starting", baseUrl=settings.base_url, database=where)
    DrainingServer(config, when_ready, broadcast).run(sockets=[listener])
    logs.log_line(LOG, "stopped")


def websocket_protocol(
    feed: Feed, settings: Settings
) -> type[asyncio.Protocol] | Literal["websockets-sansio"]:
    """What uvicorn does with a connection that wants to be a websocket."""
    return "websockets-sansio" if settings.feed_asgi else protocol_class(feed)


class Drainable(Protocol):
    """Whoever has sockets that must be let go."""

    async def drain(self) -> None: ...


class DrainingServer(uvicorn.Server):
    """The server, which sends the sockets elsewhere before it stops."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None], followed: Drainable) -> None:
        super().__init__(config)
        self._when_ready = when_ready
        self._sockets = followed

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # What is loaded now stays for good: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        if self.started:
            self._when_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nobody any more, let the sockets go one after the other, then everything else."""
        for server in self.servers:
            server.close()
        for one in sockets or []:
            # Who is told to connect again at once must find another node, or nobody.
            one.close()
        await self._sockets.drain()
        await super().shutdown(sockets)
