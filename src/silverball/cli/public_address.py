"""The address that a server's links begin with."""

import dataclasses
import ipaddress

from silverball.settings import Settings

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
