"""Who is let in: the address and the headers of a handshake, judged before anything else is done.

A refusal is told inside the socket. One that is told in HTTP is hidden from browsers, and their
libraries would try again for ever.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote

from silverball.feed import protocol
from silverball.feed.messages import PREFIXES, Style
from silverball.feed.protocol import Close

APP_KEY = re.compile(r"[-A-Za-z0-9_.]{1,64}", re.ASCII)
APP_PATH = re.compile(r"/app/([^/]+)/?")
VERSION = re.compile(r"-?[0-9]+", re.ASCII)
# Python refuses to read a number of thousands of digits.
VERSION_CHARACTERS_MAX = 9
VERSION_MIN = 5
VERSION_MAX = 7
PARAMETERS_MAX = 50
# The style of an app whose clients are told that it is switched off.
DISABLED_STYLE = "disabled"


@dataclass(frozen=True)
class App:
    """A public key that clients connect with, and how events are named for them."""

    key: str
    style: Style
    is_enabled: bool = True
    # Pages that may connect; empty: all of them, and programs, which name no page.
    origins: frozenset[str] = frozenset()


@dataclass(frozen=True)
class HandshakeRules:
    """What the handshakes of a server are judged by."""

    apps: Mapping[str, App]
    requires_tls: bool = False


@dataclass(frozen=True)
class Handshake:
    """A handshake. `headers` by lower-case name, the last one of each name."""

    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    is_secure: bool = False


def parse_apps(named: str, origins: str = "") -> dict[str, App]:
    """The apps of two settings: `key=style,...` and `key=origin origin,...`.

    Raises ValueError with a sentence about what cannot be understood.
    """
    pages = {key: frozenset(value.split()) for key, value in _parse_pairs(origins)}
    found: dict[str, App] = {}
    for key, style in _parse_pairs(named):
        if not APP_KEY.fullmatch(key):
            raise ValueError(f"an app key has 1 to 64 letters, digits and - _ . , not {key!r}")
        if style != DISABLED_STYLE and style not in PREFIXES:
            raise ValueError(f"the style of {key!r} must be plain, laravel or disabled, not {style!r}")
        shown: Style = "laravel" if style == "laravel" else "plain"
        found[key] = App(key, shown, style != DISABLED_STYLE, pages.pop(key, frozenset()) - {"*"})
    if pages:
        raise ValueError(f"there is no app {min(pages)!r}")
    return found


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


def check_handshake(knock: Handshake, rules: HandshakeRules) -> App | Close:
    """The app of a client that is let in, or why it is not. Unknown parameters are no fault."""
    path, _, query = knock.target.partition("?")
    found = APP_PATH.fullmatch(path)
    if found is None:
        return Close(protocol.WRONG_PATH, "The address of the feed is /app/<key>.")
    if rules.requires_tls and not _is_secure(knock):
        return Close(protocol.TLS_ONLY, "Connect with TLS: wss instead of ws.")
    app = rules.apps.get(unquote(found[1]))
    if app is None:
        return Close(protocol.UNKNOWN_APP, "There is no app with this key.")
    if not app.is_enabled:
        return Close(protocol.APP_DISABLED, "This app is switched off.")
    fault = _version_fault(query)
    if fault is not None:
        return fault
    if app.origins and knock.headers.get("origin") not in app.origins:
        return Close(protocol.UNAUTHORIZED, "Pages of this origin may not connect with this key.")
    return app


def _is_secure(knock: Handshake) -> bool:
    # What the proxy says that the client came with; without one, whether the connection is encrypted.
    said = knock.headers.get("x-forwarded-proto")
    return knock.is_secure if said is None else said.split(",")[0].strip().lower() in {"https", "wss"}


def _version_fault(query: str) -> Close | None:
    try:
        given = parse_qs(query, keep_blank_values=True, max_num_fields=PARAMETERS_MAX).get("protocol")
    except ValueError:
        return Close(protocol.BAD_VERSION, "Too many parameters.")
    # Raw clients leave it out.
    version = given[-1] if given else str(VERSION_MAX)
    if not VERSION.fullmatch(version):
        return Close(protocol.BAD_VERSION, "The protocol version must be a whole number.")
    if len(version) > VERSION_CHARACTERS_MAX or not VERSION_MIN <= int(version) <= VERSION_MAX:
        return Close(protocol.UNSUPPORTED_VERSION, "Protocol versions 5, 6 and 7 are spoken here.")
    return None
