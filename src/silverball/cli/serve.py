"""silverball serve: serve one address until SIGTERM or SIGINT."""

import logging
import socket
import sys

import click

from silverball import settings
from silverball.cli import database, side_server
from silverball.cli.public_address import follows_host, with_base_url
from silverball.kit import loading, logs
from silverball.settings import Settings
from silverball.store import encryption
from silverball.store.time_limits import REQUESTS
from silverball.store.write_marks import ENDING as WORKERS_FILE_ENDING

LOG = logging.getLogger("silverball.settings")
# Each writes to one database, and has connections of its own.
WORKERS_MAX = 64
# Said at the start, because anybody can make a Host header up.
FOLLOWED_HOST = "Links begin with the address that each client uses; SILVERBALL_BASE_URL makes them fixed."


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option("--create", is_flag=True, help="Make the SQLite file if it is missing.")
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, WORKERS_MAX),
    help="Processes that serve together, on the cores of this machine.",
)
def serve(host: str, port: int, *, create: bool, workers: int) -> None:
    """Serve the site until stopped."""
    logs.configure()
    warn_of_unknown_settings()
    with side_server.open_listener(host, port) as listener:
        if workers > 1:
            _supervise(listener, host, workers, create=create)
        else:
            _serve_listener(listener, host, create=create)


def _supervise(listener: socket.socket, host: str, workers: int, *, create: bool) -> None:
    """Serve with several processes, which open the database themselves."""
    from silverball.cli import supervisor

    configured = settings.load()
    loaded = with_base_url(configured, host, listener.getsockname()[1])
    with database.open_database(may_create=create, limits=REQUESTS) as store:
        # Made here once, or each worker would make a key of its own.
        encryption.open_keys(store)
        beside = store.file_beside(WORKERS_FILE_ENDING)
    announce = announcement(loaded, is_followed=follows_host(configured, host))
    sys.exit(
        supervisor.supervise(listener, host, loaded, beside, workers, when_ready=lambda: click.echo(announce))
    )


def _serve_listener(listener: socket.socket, host: str, *, create: bool) -> None:
    # A supervisor needs nothing of what serves requests.
    with loading.collector_paused():
        from silverball.cli import server

    configured = settings.load()
    loaded = with_base_url(configured, host, listener.getsockname()[1])
    is_followed = follows_host(configured, host)
    announce = announcement(loaded, is_followed=is_followed)
    with database.open_database(may_create=create, limits=REQUESTS) as store:
        server.run_server(
            store, loaded, listener, when_ready=lambda: click.echo(announce), follows_host=is_followed
        )


def announcement(loaded: Settings, *, is_followed: bool) -> str:
    """The lines that say where the site is, once it serves."""
    announce = f"Silverball is at {loaded.base_url}"
    return f"{FOLLOWED_HOST}\n{announce}" if is_followed else announce


def warn_of_unknown_settings() -> None:
    """Log the variables of the environment that look like settings and are none."""
    for name, meant in settings.unknown_names().items():
        LOG.warning("%s", settings.unknown_name_sentence(name, meant))
