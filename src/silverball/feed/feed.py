"""The feed of one process: the hub, who may connect, who is connected, and the clock for them."""

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random, SystemRandom

from silverball.feed import handshake, protocol
from silverball.feed.connection import RECONNECT, FeedConnection
from silverball.feed.handshake import App, Handshake, HandshakeRules
from silverball.feed.hub import Hub
from silverball.feed.protocol import Close
from silverball.settings import SettingError, Settings

LOG = logging.getLogger("silverball.feed")
SWEEP_SECONDS = 1.0
DRAINED_PER_SECOND = 500
DRAIN_STEP_SECONDS = 0.1
SOCKET_ID_MAX = 10**9
# Where the system sets no limit.
FILES_MAX = 1_000_000
SERVER_FULL = Close(protocol.OVER_CAPACITY, "Too many connections. Connect again.")
ADDRESS_FULL = Close(protocol.OVER_QUOTA, "Too many connections from your address.")


@dataclass(frozen=True)
class ConnectionLimits:
    """How many may be connected; 0 for one address means any number."""

    connections_max: int
    per_address_max: int = 0
    # Whether a client that offers permessage-deflate gets it.
    allows_compression: bool = False


def limits_from_settings(settings: Settings) -> ConnectionLimits:
    """The limits that the settings name; without one, four fifths of the files that may be open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        files = FILES_MAX
    return ConnectionLimits(
        connections_max=settings.feed_connections_max or files * 4 // 5,
        per_address_max=settings.feed_connections_per_address,
        allows_compression=settings.feed_compression,
    )


def rules_from_settings(settings: Settings) -> HandshakeRules:
    """The rules that the settings name."""
    try:
        apps = handshake.parse_apps(settings.apps, settings.app_origins)
    except ValueError as error:
        raise SettingError(f"SILVERBALL_APPS or SILVERBALL_APP_ORIGINS: {error}.") from error
    return HandshakeRules(apps, requires_tls=settings.feed_require_tls)


class Feed:
    """Everything that sockets need, whichever server runs them."""

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
        self.is_draining = False
        self._rules = rules
        self._dice = dice or SystemRandom()
        self._sweep_seconds = sweep_seconds
        self._connections: set[FeedConnection] = set()
        self._addresses: Counter[str] = Counter()
        self._sweeper: asyncio.Task[None] | None = None

    def admit(self, knock: Handshake, address: str) -> App | Close:
        """The app of a client that is let in, or why it is not."""
        found = handshake.check_handshake(knock, self._rules)
        if isinstance(found, App) and 0 < self.limits.per_address_max <= self._addresses[address]:
            found = ADDRESS_FULL
        elif isinstance(found, App) and len(self._connections) >= self.limits.connections_max:
            found = SERVER_FULL
        self.hub.metrics.refused_total += isinstance(found, Close)
        return found

    def new_socket_id(self) -> str:
        """A name that nobody can guess and no other node gives."""
        return f"{self._dice.randrange(1, SOCKET_ID_MAX)}.{self._dice.randrange(1, SOCKET_ID_MAX)}"

    @property
    def unsent_bytes(self) -> int:
        """What waits for all connections together, here and in their sockets."""
        return sum(one.reader.unsent_bytes for one in self._connections)

    def add_connection(self, conversation: FeedConnection) -> None:
        """A connection begins."""
        self._connections.add(conversation)
        self.hub.metrics.connections = len(self._connections)
        self.hub.metrics.connections_total += 1
        if self.limits.per_address_max:
            self._addresses[conversation.address] += 1

    def remove_connection(self, conversation: FeedConnection) -> None:
        """A connection is gone."""
        if conversation not in self._connections:
            return
        self._connections.remove(conversation)
        self.hub.metrics.connections = len(self._connections)
        if self.limits.per_address_max:
            self._addresses[conversation.address] -= 1
            if not self._addresses[conversation.address]:
                del self._addresses[conversation.address]

    # The clock

    def start(self) -> None:
        """Look after the connections from now on. Called on the loop that they run on."""
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep_loop())

    def close(self) -> None:
        """The end of `start`."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self.hub.close()

    def sweep(self) -> None:
        """Whatever is due by now: pings, closes, ticks."""
        now = self.hub.now()
        self.hub.sweep(now)
        for one in list(self._connections):
            one.check_timeouts(now)

    async def _sweep_loop(self) -> None:
        while True:
            await asyncio.sleep(self._sweep_seconds)
            self.sweep()

    async def drain(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Send everybody elsewhere, so slowly that they do not arrive there all at once.

        Libraries connect again in the moment they are told, so the order is left to chance: not all
        viewers of one tournament go at the same time.
        """
        self.is_draining = True
        left = [one for one in self._connections if not one.is_over]
        self._dice.shuffle(left)
        at_once = int(DRAINED_PER_SECOND * DRAIN_STEP_SECONDS)
        for start in range(0, len(left), at_once):
            for one in left[start : start + at_once]:
                one.end_with(RECONNECT)
            # After the last ones too: what they are told has to leave before the server closes them.
            await sleep(DRAIN_STEP_SECONDS)
