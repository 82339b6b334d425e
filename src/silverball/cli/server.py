"""Running the program behind a socket until a signal; what `serve` and `demo` share.

Imported only by a command that serves: it loads the server.
"""

import gc
import logging
import signal
import socket
from collections.abc import Callable

import click
import uvicorn

from silverball import app
from silverball.kit import logs
from silverball.settings import Settings
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.serve")
# A request that is still open then is cut off.
DRAIN_SECONDS = 20
BACKLOG = 2048


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {host} port {port}: {error.strerror}.") from error


def run(store: Store, settings: Settings, listener: socket.socket, *, when_ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests that are open then are answered first."""
    config = uvicorn.Config(
        app.build(store, settings),
        http="httptools",
        loop="uvloop",
        ws="none",
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
    logs.say(LOG, "starting", baseUrl=settings.base_url, database=where)
    _Server(config, when_ready).run(sockets=[listener])
    logs.say(LOG, "stopped")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # What is loaded now stays for good: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        if self.started:
            self._when_ready()
