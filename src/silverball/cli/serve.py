"""silverball serve: serve one address until SIGTERM or SIGINT."""

import logging
import socket

import click

from silverball import settings
from silverball.cli import database, server
from silverball.cli.server import follows_host, with_base_url
from silverball.kit import loading, logs
from silverball.settings import Settings
from silverball.store.database.deadlines import REQUESTS

LOG = logging.getLogger("silverball.settings")
ONE_PROCESS = (
    "A server is one process. Several on one machine are nodes on PostgreSQL behind a proxy:"
    " see docs/several-nodes.md."
)
# Said at the start, because anybody can make a Host header up.
FOLLOWED_HOST = "Links begin with the address that each client uses; SILVERBALL_BASE_URL makes them fixed."


def refuse_workers(_context: click.Context, _option: click.Parameter, workers: str | None) -> None:
    """Tell those who used `--workers` of 0.2.0 how to serve with several processes."""
    if workers is not None:
        raise click.UsageError(ONE_PROCESS)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option("--create", is_flag=True, help="Make the SQLite file if it is missing.")
@database.no_backup_option
@click.option("--workers", hidden=True, expose_value=False, callback=refuse_workers)
def serve(host: str, port: int, *, create: bool, no_backup: bool) -> None:
    """Serve the site until stopped."""
    logs.configure()
    warn_of_settings()
    listener = server.passed_listener(settings.passed_listeners())
    if listener is not None:
        host = listener.getsockname()[0]
    with listener or server.open_listener(host, port) as opened:
        _serve_listener(opened, host, create=create, is_backed_up=not no_backup)


def _serve_listener(listener: socket.socket, host: str, *, create: bool, is_backed_up: bool) -> None:
    # A refused address or option is told without loading what serves requests.
    with loading.collector_paused():
        from silverball.cli import server

    configured = settings.load()
    loaded = with_base_url(configured, host, listener.getsockname()[1])
    is_followed = follows_host(configured, host)
    announce = announcement(loaded, is_followed=is_followed)
    with database.open_database(may_create=create, limits=REQUESTS, is_backed_up=is_backed_up) as store:
        server.run_server(
            store, loaded, listener, when_ready=lambda: click.echo(announce), follows_host=is_followed
        )


def announcement(loaded: Settings, *, is_followed: bool) -> str:
    """The lines that say where the site is, once it serves."""
    announce = f"Silverball is at {loaded.base_url}"
    return f"{FOLLOWED_HOST}\n{announce}" if is_followed else announce


def warn_of_settings() -> None:
    """Log what is wrong with the settings, but not so wrong that the site cannot be served."""
    for sentence in settings.warnings():
        LOG.warning("%s", sentence)
