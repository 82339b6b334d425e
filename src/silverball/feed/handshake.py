"""The check of a handshake: its address and headers decide whether a client is admitted.

A refusal is sent inside the socket. Browsers hide a refusal in HTTP, and their libraries would
reconnect for ever.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, unquote

import msgspec
from msgspec import Struct

from silverball.feed import protocol
from silverball.feed.messages import PREFIXES, Style
from silverball.feed.protocol import Close

APP_KEY = re.compile(r"[-A-Za-z0-9_.]{1,64}", re.ASCII)
APP_PATH = re.compile(r"/app/([^/]+)/?")
VERSION = re.compile(r"-?[0-9]+", re.ASCII)
# Python refuses to parse a number of thousands of digits.
VERSION_CHARACTERS_MAX = 9
VERSION_MIN = 5
VERSION_MAX = 7
PARAMETERS_MAX = 50
# The style of an app that is switched off.
DISABLED_STYLE = "disabled"


class App(Struct, frozen=True):
    """A public key that clients connect with, and how events are named for them."""

    key: str
    style: Style
    is_enabled: bool = True
    # Origins of pages that may connect; empty: all pages, and programs, which name no origin.
    origins: frozenset[str] = frozenset()


class HandshakeRules(Struct, frozen=True):
    """The apps of a server and its demand for TLS."""

    apps: Mapping[str, App]
    requires_tls: bool = False


class Handshake(Struct, frozen=True):
    """A handshake. `headers` by lower-case name, the last one of each name."""

    target: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_secure: bool = False


def parse_apps(styles: str, origins: str = "") -> dict[str, App]:
    """The apps of two settings: `key=style,...` and `key=origin origin,...`.

    Raises ValueError with a sentence about the first fault.
    """
    pages = {key: frozenset(value.split()) for key, value in _parse_pairs(origins)}
    parsed: dict[str, App] = {}
    for key, style in _parse_pairs(styles):
        if not APP_KEY.fullmatch(key):
            raise ValueError(f"an app key has 1 to 64 letters, digits and - _ . , not {key!r}")
        if style != DISABLED_STYLE and style not in PREFIXES:
            raise ValueError(f"the style of {key!r} must be plain, laravel or disabled, not {style!r}")
        event_style: Style = "laravel" if style == "laravel" else "plain"
        parsed[key] = App(key, event_style, style != DISABLED_STYLE, pages.pop(key, frozenset()) - {"*"})
    if pages:
        raise ValueError(f"there is no app {min(pages)!r}")
    return parsed


def _parse_pairs(text: str) -> Sequence[tuple[str, str]]:
    pairs = []
    for entry in filter(None, (part.strip() for part in text.split(","))):
        key, mark, value = entry.partition("=")
        if not mark:
            raise ValueError(f"{entry!r} is not of the form key=value")
        pairs.append((key.strip(), value.strip()))
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is named twice")
    return pairs


def check_handshake(request: Handshake, rules: HandshakeRules) -> App | Close:
    """The app of an admitted client, or the close that refuses it. Unknown parameters are ignored."""
    path, _, query = request.target.partition("?")
    match = APP_PATH.fullmatch(path)
    if match is None:
        return Close(protocol.WRONG_PATH, "The address of the feed is /app/<key>.")
    if rules.requires_tls and not request.is_secure:
        return Close(protocol.TLS_ONLY, "Connect with TLS: wss instead of ws.")
    app = rules.apps.get(unquote(match[1]))
    if app is None:
        return Close(protocol.UNKNOWN_APP, "There is no app with this key.")
    if not app.is_enabled:
        return Close(protocol.APP_DISABLED, "This app is switched off.")
    fault = _version_fault(query)
    if fault is not None:
        return fault
    if app.origins and request.headers.get("origin") not in app.origins:
        return Close(protocol.UNAUTHORIZED, "Pages of this origin may not connect with this key.")
    return app


def _version_fault(query: str) -> Close | None:
    try:
        versions = parse_qs(query, keep_blank_values=True, max_num_fields=PARAMETERS_MAX).get("protocol")
    except ValueError:
        return Close(protocol.BAD_VERSION, "Too many parameters.")
    # Clients without a library leave it out.
    version = versions[-1] if versions else str(VERSION_MAX)
    if not VERSION.fullmatch(version):
        return Close(protocol.BAD_VERSION, "The protocol version must be a whole number.")
    if len(version) > VERSION_CHARACTERS_MAX or not VERSION_MIN <= int(version) <= VERSION_MAX:
        return Close(protocol.UNSUPPORTED_VERSION, "Protocol versions 5, 6 and 7 are spoken here.")
    return None
