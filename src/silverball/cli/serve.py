"""silverball serve: one process, one address, until SIGTERM or SIGINT."""

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
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 takes a free one."
)
def serve(host: str, port: int) -> None:
    """Answer requests until told to stop."""
    logs.configure()
    listener = server.open_listener(host, port)
    loaded = with_base_url(settings.load(), host, listener.getsockname()[1])
    announce = f"Silverball is at {loaded.base_url}"
    with database.open_database() as store:
        server.run_server(store, loaded, listener, when_ready=lambda: click.echo(announce))


def with_base_url(loaded: Settings, host: str, port: int) -> Settings:
    """The settings with a base URL: the one that was set, or the address that is listened on."""
    if loaded.base_url:
        return loaded
    shown = "127.0.0.1" if host in WILDCARD_HOSTS else host
    return dataclasses.replace(loaded, base_url=f"http://{f'[{shown}]' if ':' in shown else shown}:{port}")
