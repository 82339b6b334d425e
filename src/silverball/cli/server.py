"""Run the site behind a socket until a signal, for `serve` and `demo`.

Only commands that serve import this module, because it loads uvicorn.
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
# Requests that are still open after this time are cut off.
DRAIN_SECONDS = 20
BACKLOG = 2048


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
) -> None:
    """Serve until SIGTERM or SIGINT, then finish open requests."""
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
        # The front door reads X-Forwarded-For itself, for anonymous requests only.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    # uvicorn raises the signal again after its shutdown; ignoring it lets the lines below run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    where = store.url.render_as_string(hide_password=True)
    logs.log_line(LOG, "starting", baseUrl=settings.base_url, database=where)
    DrainingServer(config, when_ready, broadcast).run(sockets=[listener])
    logs.log_line(LOG, "stopped")


def websocket_protocol(
    feed: Feed, settings: Settings
) -> type[asyncio.Protocol] | Literal["websockets-sansio"]:
    """uvicorn's websocket protocol: our own class, or ASGI when the settings say so."""
    return "websockets-sansio" if settings.feed_asgi else protocol_class(feed)


class Drainable(Protocol):
    """An owner of sockets that must be closed before the server stops."""

    async def drain(self) -> None: ...


class DrainingServer(uvicorn.Server):
    """A server that asks websocket clients to reconnect elsewhere before it stops."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None], followed: Drainable) -> None:
        super().__init__(config)
        self._when_ready = when_ready
        self._sockets = followed

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Everything loaded so far lives on, so the collector need not scan it again.
        gc.collect()
        gc.freeze()
        if self.started:
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
