"""The feed of one process: its connections, who may connect, and the parts put together."""

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from random import Random, SystemRandom

from msgspec import Struct

from silverball.feed import handshake, protocol
from silverball.feed.bus import create_bus
from silverball.feed.connection import RECONNECT, FeedConnection, FrameWriter
from silverball.feed.handshake import App, Handshake, HandshakeRules
from silverball.feed.hub import Hub
from silverball.feed.messages import FrameEncoding
from silverball.feed.protocol import Close
from silverball.feed.relay import Relay
from silverball.feed.replays import Pacer
from silverball.feed.stored_events import StoredEvents
from silverball.kit.edge.blocked_networks import BlockedNetworks
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies, address_group
from silverball.settings import SettingError, Settings
from silverball.store.engine import Commit, Store

LOG = logging.getLogger("silverball.feed")
SWEEP_SECONDS = 1.0
# After so many the event loop turns to its other work.
HANDSHAKES_PER_TURN = 20
CHECKS_PER_TURN = 100
DRAINED_PER_SECOND = 500
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
        apps = handshake.parse_apps(settings.apps, settings.app_origins)
    except ValueError as error:
        raise SettingError(f"SILVERBALL_APPS or SILVERBALL_APP_ORIGINS: {error}.") from error
    return HandshakeRules(apps, requires_tls=settings.feed_require_tls)


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
        self._addresses: Counter[str] = Counter()
        self._sweeper: asyncio.Task[None] | None = None

    def admit(self, request: Handshake, address: str) -> App | Close:
        """The app of an admitted client, or the close that refuses it."""
        verdict = handshake.check_handshake(request, self._rules)
        if self.blocked is not None and self.blocked.is_blocked(address):
            verdict = NETWORK_BLOCKED
        counted = self._counted_address(address)
        if isinstance(verdict, App) and counted and self._addresses[counted] >= self.limits.per_address_max:
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
        counted = self._counted_address(address)
        if counted:
            self._addresses[counted] += 1
        return connection

    def _new_socket_id(self) -> str:
        # Unguessable, and unique among all nodes.
        return f"{self._dice.randrange(1, SOCKET_ID_MAX)}.{self._dice.randrange(1, SOCKET_ID_MAX)}"

    def _forget(self, connection: FeedConnection) -> None:
        if connection not in self._connections:
            return
        self._connections.remove(connection)
        self.hub.metrics.connections = len(self._connections)
        counted = self._counted_address(connection.address)
        if counted:
            self._addresses[counted] -= 1
            if not self._addresses[counted]:
                del self._addresses[counted]

    def _counted_address(self, address: str) -> str:
        """The address, or IPv6 network, that a connection counts for; empty when it is not limited."""
        if not self.limits.per_address_max or self.limits.proxies.trusts(address):
            return ""
        return address_group(address)

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
        self._store.after_commit += [self._forget_replays, self.relay.on_commit]
        self.relay.start()
        self.feed.start()

    def _forget_replays(self, _commit: Commit) -> None:
        self.hub.replays.forget()

    async def drain(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Wake all long-pollers, and send the sockets away one after the other."""
        self.relay.end_waiting()
        await self.feed.drain(sleep)

    async def close(self) -> None:
        """Undo `start`."""
        for notify in (self._forget_replays, self.relay.on_commit):
            self._store.after_commit.remove(notify)
        await self.relay.close()
        self.feed.close()
        self.stored_events.close()
