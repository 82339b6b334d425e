"""silverball serve: serve one address until SIGTERM or SIGINT."""

import dataclasses
import ipaddress

import click

from silverball import settings
from silverball.cli import database, server
from silverball.kit import logs
from silverball.settings import Settings

WILDCARD_HOSTS = frozenset({"0.0.0.0", "::"})  # noqa: S104  # compared with, never bound to by itself
# Said at the start, because anybody can make a Host header up.
FOLLOWED_HOST = "Links begin with the address that each client uses; SILVERBALL_BASE_URL makes them fixed."


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option("--create", is_flag=True, help="Make the SQLite file in SILVERBALL_DATABASE_URL if missing.")
def serve(host: str, port: int, *, create: bool) -> None:
    """Serve the site until stopped."""
    logs.configure()
    listener = server.open_listener(host, port)
    configured = settings.load()
    loaded = with_base_url(configured, host, listener.getsockname()[1])
    is_followed = follows_host(configured, host)
    announce = f"Silverball is at {loaded.base_url}"
    if is_followed:
        announce = f"{FOLLOWED_HOST}\n{announce}"
    may_create = create or not settings.is_given("database_url")
    with database.open_database(may_create=may_create) as store:
        server.run_server(
            store, loaded, listener, when_ready=lambda: click.echo(announce), follows_host=is_followed
        )


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
