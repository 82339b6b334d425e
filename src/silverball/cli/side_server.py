"""Listening sockets, and the second server of a process: that of its metrics."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import click
import uvicorn

from silverball.kit.edge import bounded_http
from silverball.kit.edge.connections import ConnectionTable, HttpLimits
from silverball.kit.edge.proxies import NO_PROXIES
from silverball.kit.http.asgi import NO_SNIFFING
from silverball.settings import Settings
from silverball.web import operations
from silverball.web.operations import Expose

BACKLOG = 2048
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


def headers_of_every_answer(base_url: str) -> list[tuple[str, str]]:
    """Return the headers that the server adds to whatever is answered."""
    name, value = NO_SNIFFING
    headers = [(name.decode(), value.decode())]
    if base_url.startswith("https://"):
        headers.append(("strict-transport-security", f"max-age={HTTPS_ONLY_SECONDS}"))
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
    if not settings.metrics_port:
        return None
    listener = open_listener(settings.metrics_host, settings.metrics_port)
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
