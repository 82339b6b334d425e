"""The feed of one process: its connections, who may connect, and the parts put together."""

import asyncio
import logging
import math
import re
import resource
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from random import Random, SystemRandom
from typing import Protocol
from urllib.parse import parse_qs, unquote

import msgspec
from msgspec import Struct

from silverball.feed import messages, protocol
from silverball.feed.bus import create_bus
from silverball.feed.hub import Hub
from silverball.feed.messages import PREFIXES, FrameEncoding, Style
from silverball.feed.protocol import Close, PusherSession, SessionOutput
from silverball.feed.relay import Relay
from silverball.feed.replays import Pacer
from silverball.feed.stored_events import StoredEvents
from silverball.feed.subscribers import Subscriber
from silverball.kit.edge.blocked_networks import BlockedNetworks
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies
from silverball.kit.edge.shares import OpenCounts, Share, address_shares
from silverball.settings import SettingError, Settings
from silverball.store.database.engine import Store

# The check of a handshake: its address and headers decide whether a client is admitted.
#
# A refusal is sent inside the socket. Browsers hide a refusal in HTTP, and their libraries would reconnect
# for ever.


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


# Stands for every key that a server in the place of another is not told of.
OTHER_APP = App("other", "laravel")


class HandshakeRules(Struct, frozen=True):
    """The apps of a server, whether other keys are taken too, and its demand for TLS."""

    apps: Mapping[str, App]
    requires_tls: bool = False
    takes_any_key: bool = False


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
    key = unquote(match[1])
    other = OTHER_APP if rules.takes_any_key and APP_KEY.fullmatch(key) else None
    app = rules.apps.get(key, other)
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


# One client's connection: what arrives goes through the session, its requests to the hub.


# A client that does not answer a close is cut off after this.
CLOSE_SECONDS = 5.0
RECONNECT = Close(protocol.RECONNECT, "The server is going down. Connect again.")


class FrameWriter(Protocol):
    """The sending side of a socket."""

    @property
    def write(self) -> Callable[[bytes], None]:
        """The method that sends bytes in the agreed encoding."""

    def buffered_bytes(self) -> int:
        """Bytes that are not sent yet."""

    def send_ping(self) -> None:
        """Send a ping as a control frame."""

    def start_close(self, close: Close) -> None:
        """Send a close frame."""

    def abort(self) -> None:
        """Close without waiting for the client."""


class FeedConnection:
    """The session, the subscriber and the writer of one connection, from handshake to end."""

    __slots__ = (
        "_closed_at",
        "_hub",
        "_on_lost",
        "_session",
        "_writer",
        "address",
        "next_check_at",
        "subscriber",
    )

    def __init__(
        self,
        hub: Hub,
        socket_id: str,
        writer: FrameWriter,
        encoding: FrameEncoding,
        *,
        address: str,
        on_lost: "Callable[[FeedConnection], None]",
    ) -> None:
        self.address = address
        self._hub = hub
        self._on_lost = on_lost
        self._writer = writer
        self._closed_at: float | None = None
        self._session = PusherSession(socket_id, hub.now())
        # Before this time `check_timeouts` has nothing to do, unless the client lags.
        self.next_check_at = self._session.next_check_at
        self.subscriber = Subscriber(
            encoding,
            hub.metrics,
            write=writer.write,
            buffered_bytes=writer.buffered_bytes,
            disconnect=self.end_with,
            now=hub.now,
            address=address,
        )

    @property
    def is_over(self) -> bool:
        """Whether its close was sent, after which input is ignored."""
        return self._closed_at is not None

    def greet(self) -> None:
        """Send the first text of the protocol."""
        self.subscriber.send_text(self._session.greeting())

    def receive(self, text: bytes) -> None:
        """Handle a text message."""
        if not self.is_over:
            self._apply(self._session.receive(text, self._hub.now()))

    def receive_control(self) -> None:
        """Handle a ping or a pong that arrived as a control frame."""
        if not self.is_over:
            self._apply(self._session.receive_control(self._hub.now()))

    def check_timeouts(self, now: float) -> None:
        """Send the ping or the close that is due by now."""
        if self._closed_at is not None:
            if now - self._closed_at >= CLOSE_SECONDS:
                self._writer.abort()
            return
        self.subscriber.check_lag(now)
        if now >= self._session.next_check_at and not self.is_over:
            self.next_check_at = math.inf
            self._apply(self._session.check_timeouts(now, self._hub.last_event_at(self.subscriber)))

    def end_with(self, close: Close) -> None:
        """Give the reason in a text, because some clients read nothing else, and close."""
        if not self.is_over:
            self.subscriber.send_text(
                messages.error(close.code if close.code >= 4000 else None, close.reason)
            )
            self._start_close(close)

    def connection_lost(self) -> None:
        """Release everything: the connection is gone."""
        self._closed_at = self._hub.now()
        self._hub.remove_subscriber(self.subscriber)
        self._on_lost(self)

    def peer_closed(self, code: int | None) -> None:
        """Note that the client closed, or (with a code) that the socket did after a protocol fault."""
        if not self.is_over:
            self._mark_over(code)

    def _apply(self, output: SessionOutput) -> None:
        for text in output.texts:
            self.subscriber.send_text(text)
        for request in output.subscription_requests:
            self._hub.handle_request(self.subscriber, request)
        if output.sends_ping:
            self._hub.metrics.pings_total += 1
            self._writer.send_ping()
        if output.close is not None and not self.is_over:
            self._start_close(output.close)
        # Messages that have to wait are due sooner than what was due before.
        self.next_check_at = min(self.next_check_at, self._session.next_check_at)

    def _start_close(self, close: Close) -> None:
        self._mark_over(close.code)
        self._writer.start_close(close)

    def _mark_over(self, code: int | None) -> None:
        self._closed_at = self._hub.now()
        self.next_check_at = self._closed_at + CLOSE_SECONDS
        if code is not None:
            self._hub.metrics.closes_total[code] += 1
        self._hub.remove_subscriber(self.subscriber)


LOG = logging.getLogger("silverball.feed")
SWEEP_SECONDS = 1.0
# After so many the event loop turns to its other work.
HANDSHAKES_PER_TURN = 20
CHECKS_PER_TURN = 100
# So many handshakes and resumes the next process, or another node, can answer.
DRAINED_PER_SECOND = 1_000
DRAIN_STEP_SECONDS = 0.1
SOCKET_ID_MAX = 10**9
# Where the system sets no limit.
FILES_MAX = 1_000_000
SERVER_FULL = Close(protocol.OVER_CAPACITY, "Too many connections. Connect again.")
NETWORK_BLOCKED = Close(protocol.UNAUTHORIZED, "Connections from your network are refused here.")
ADDRESS_FULL = Close(protocol.OVER_QUOTA, "Too many connections from your address.")


class ConnectionLimits(Struct, frozen=True):
    """How many may be connected; 0 for one address means any number."""

    connections_max: int
    per_address_max: int = 0
    # Proxies are not counted as one address; they name the client's.
    proxies: TrustedProxies = NO_PROXIES
    # Whether a client that offers permessage-deflate gets it.
    allows_compression: bool = False


def limits_from_settings(settings: Settings) -> ConnectionLimits:
    """The limits of the settings; without one, four fifths of the files that may be open."""
    return ConnectionLimits(
        connections_max=settings.feed_connections_max or open_files_max() * 4 // 5,
        per_address_max=settings.feed_connections_per_address,
        proxies=TrustedProxies.parse(settings.trusted_proxies),
        allows_compression=settings.feed_compression,
    )


def open_files_max() -> int:
    """How many files, sockets included, this process may have open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return FILES_MAX if files == resource.RLIM_INFINITY else files


def rules_from_settings(settings: Settings) -> HandshakeRules:
    """The handshake rules of the settings."""
    try:
        apps = parse_apps(settings.apps, settings.app_origins)
    except ValueError as error:
        raise SettingError(f"SILVERBALL_APPS or SILVERBALL_APP_ORIGINS: {error}.") from error
    return HandshakeRules(apps, requires_tls=settings.feed_require_tls, takes_any_key=settings.stand_in)


class Feed:
    """The connections of one process."""

    def __init__(
        self,
        hub: Hub,
        rules: HandshakeRules,
        limits: ConnectionLimits,
        *,
        dice: Random | None = None,
        sweep_seconds: float = SWEEP_SECONDS,
    ) -> None:
        self.hub = hub
        self.limits = limits
        self.handshakes = Pacer(HANDSHAKES_PER_TURN)
        self.is_draining = False
        # The networks whose clients are refused. Set by who serves.
        self.blocked: BlockedNetworks | None = None
        self._rules = rules
        self._dice = dice or SystemRandom()
        self._sweep_seconds = sweep_seconds
        self._connections: set[FeedConnection] = set()
        self._addresses = OpenCounts(limits.per_address_max)
        self._sweeper: asyncio.Task[None] | None = None

    def admit(self, request: Handshake, address: str) -> App | Close:
        """The app of an admitted client, or the close that refuses it."""
        verdict = check_handshake(request, self._rules)
        if self.blocked is not None and self.blocked.is_blocked(address):
            verdict = NETWORK_BLOCKED
        if isinstance(verdict, App) and self._addresses.is_full(self._shares_of(address)):
            verdict = ADDRESS_FULL
        elif isinstance(verdict, App) and self.is_full:
            verdict = SERVER_FULL
        self.hub.metrics.refused_total += isinstance(verdict, Close)
        return verdict

    @property
    def is_full(self) -> bool:
        """Whether there are as many sockets as may be."""
        return len(self._connections) >= self.limits.connections_max

    def open_connection(self, writer: FrameWriter, encoding: FrameEncoding, address: str) -> FeedConnection:
        """A new connection, which takes itself out again when its socket is lost."""
        connection = FeedConnection(
            self.hub, self._new_socket_id(), writer, encoding, address=address, on_lost=self._forget
        )
        self._connections.add(connection)
        self.hub.metrics.connections = len(self._connections)
        self.hub.metrics.connections_total += 1
        self._addresses.enter(self._shares_of(address))
        return connection

    def _new_socket_id(self) -> str:
        # Unguessable, and unique among all nodes.
        return f"{self._dice.randrange(1, SOCKET_ID_MAX)}.{self._dice.randrange(1, SOCKET_ID_MAX)}"

    def _forget(self, connection: FeedConnection) -> None:
        if connection not in self._connections:
            return
        self._connections.remove(connection)
        self.hub.metrics.connections = len(self._connections)
        self._addresses.leave(self._shares_of(connection.address))

    def _shares_of(self, address: str) -> Sequence[Share]:
        """The shares that a connection counts for; none when it is not limited."""
        is_limited = self.limits.per_address_max and not self.limits.proxies.trusts(address)
        return address_shares(address) if is_limited else ()

    @property
    def unsent_bytes(self) -> int:
        """Bytes that wait for all clients together, here and in their sockets."""
        return sum(connection.subscriber.unsent_bytes for connection in self._connections)

    # The clock

    def start(self) -> None:
        """Check the connections once a second. Called on the loop that they run on."""
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep_loop())

    def close(self) -> None:
        """Undo `start`."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self.hub.close()

    def _sweep(self) -> Iterator[None]:
        """Send the pings, closes and ticks that are due; yield where the event loop may do its other work.

        Whoever connects at once is due at once: all clients, after a restart.
        """
        now = self.hub.now()
        self.hub.sweep(now)
        if self.blocked is not None and self.blocked.is_any():
            for connection in list(self._connections):
                if self.blocked.is_blocked(connection.address):
                    connection.end_with(NETWORK_BLOCKED)
        # Thousands that are idle cost no call. Lagging ones are few, and are looked for while there are any.
        has_lag = self.hub.metrics.lagging > 0
        due = [each for each in self._connections if each.next_check_at <= now or has_lag]
        for at, connection in enumerate(due, start=1):
            connection.check_timeouts(now)
            if not at % CHECKS_PER_TURN:
                yield

    async def _sweep_loop(self) -> None:
        while True:
            await asyncio.sleep(self._sweep_seconds)
            for _ in self._sweep():
                await asyncio.sleep(0)

    async def drain(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Ask all clients to reconnect, slowly enough that the other nodes can take them.

        Libraries reconnect the moment they are asked, so the order is random: the viewers of one
        tournament do not all go at the same time.
        """
        self.is_draining = True
        remaining = [connection for connection in self._connections if not connection.is_over]
        self._dice.shuffle(remaining)
        per_step = int(DRAINED_PER_SECOND * DRAIN_STEP_SECONDS)
        for start in range(0, len(remaining), per_step):
            for connection in remaining[start : start + per_step]:
                connection.end_with(RECONNECT)
            # After the last ones too: their close frames must leave before the server closes them.
            await sleep(DRAIN_STEP_SECONDS)


class FeedService:
    """The feed of one process, put together: stored events, relay, hub and connections.

    Build it before the server, start it on the server's loop.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self.stored_events = StoredEvents(store)
        self.hub = Hub(self.stored_events)
        self.relay = Relay(self.stored_events, self.hub, create_bus(settings, store))
        self.hub.on_behind = self.relay.nudge
        self.feed = Feed(self.hub, rules_from_settings(settings), limits_from_settings(settings))

    def start(self) -> None:
        """Publish what is committed from now on."""
        self._store.after_commit += [self.hub.replays.forget, self.relay.on_commit]
        self.relay.start()
        self.feed.start()

    async def drain(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Wake all long-pollers, and send the sockets away one after the other."""
        self.relay.end_waiting()
        await self.feed.drain(sleep)

    async def close(self) -> None:
        """Undo `start`."""
        for notify in (self.hub.replays.forget, self.relay.on_commit):
            self._store.after_commit.remove(notify)
        await self.relay.close()
        self.feed.close()
        self.stored_events.close()
