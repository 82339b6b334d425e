"""silverball serve: serve one address until SIGTERM or SIGINT."""

import dataclasses

import click

from silverball import settings
from silverball.cli import database, server
from silverball.kit import logs
from silverball.settings import Settings

WILDCARD_HOSTS = frozenset({"0.0.0.0", "::"})  # noqa: S104  # compared with, never bound to by itself


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
def serve(host: str, port: int) -> None:
    """Serve the site until stopped."""
    logs.configure()
    listener = server.open_listener(host, port)
    loaded = with_base_url(settings.load(), host, listener.getsockname()[1])
    announce = f"Silverball is at {loaded.base_url}"
    with database.open_database() as store:
        server.run_server(store, loaded, listener, when_ready=lambda: click.echo(announce))


def with_base_url(loaded: Settings, host: str, port: int) -> Settings:
    """The settings with a base URL: the configured one, or the address of the listener."""
    if loaded.base_url:
        return loaded
    visible_host = "127.0.0.1" if host in WILDCARD_HOSTS else host
    if ":" in visible_host:
        visible_host = f"[{visible_host}]"
    return dataclasses.replace(loaded, base_url=f"http://{visible_host}:{port}")
