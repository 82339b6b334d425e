"""The connections of one process: how many there may be, and deadlines for those that make no progress.

A connection costs nothing while it behaves: no timer, no task. Once a second the table looks at all
of them and ends those that are over a deadline.
"""

import asyncio
from collections import Counter
from typing import Protocol

from msgspec import Struct

from silverball.kit.edge.proxies import TrustedProxies, address_group

MEGABYTE = 1_000_000
# A body of at most this size may use the last part of the memory for bodies, so that uploads never
# keep results from being recorded.
SMALL_BODY_BYTES = 65_536


class HttpLimits(Struct, frozen=True, kw_only=True):
    """Limits of the connections of one process. Times are in seconds."""

    total: int
    per_address: int
    head_seconds: float = 10.0
    # A body comes with at least `body_bytes_per_second` after `body_grace_seconds`.
    body_grace_seconds: float = 5.0
    body_bytes_per_second: int = 1_024
    body_seconds: float = 60.0
    # A reader takes something of its answer within this time.
    stalled_seconds: float = 30.0
    # All bodies in memory that have not been answered yet.
    bodies_bytes: int = 32 * MEGABYTE
    sweep_seconds: float = 1.0


class SweptConnection(Protocol):
    """A connection that the table looks at once a second, and may end."""

    def enforce_deadlines(self, now: float) -> None: ...

    def end_now(self) -> None: ...


class ConnectionTable:
    """All connections of the process. Used by the event loop only."""

    def __init__(self, limits: HttpLimits, proxies: TrustedProxies) -> None:
        self.limits = limits
        self.body_bytes = 0
        # Connections that were one too many since the start.
        self.refused = 0
        self._proxies = proxies
        # One address never takes more than half of all connections.
        self._per_address_max = min(limits.per_address, max(1, limits.total // 2))
        self._connections: dict[SweptConnection, str] = {}
        # Connections that have become websockets have deadlines of their own and are only counted.
        self._upgraded: dict[asyncio.Transport, str] = {}
        self._addresses: Counter[str] = Counter()
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._connections) + len(self._upgraded)

    def admit(self, connection: SweptConnection, peer: str) -> bool:
        """Count a new connection; False when there are too many of all, or of its address."""
        group = "" if self._proxies.trusts(peer) else address_group(peer)
        if self._is_full(group):
            # Websockets are noticed to be lost once a second only.
            self._forget_lost_upgrades()
            if self._is_full(group):
                self.refused += 1
                return False
        self._connections[connection] = group
        if group:
            self._addresses[group] += 1
        if self._sweep_timer is None:
            self._schedule_sweep()
        return True

    def move_to_upgraded(self, connection: SweptConnection, transport: asyncio.Transport) -> None:
        """Go on counting a connection whose transport another protocol has taken over."""
        group = self._connections.pop(connection, None)
        if group is not None:
            self._upgraded[transport] = group

    def remove(self, connection: SweptConnection) -> None:
        """Forget a lost connection; does nothing for an unknown one."""
        group = self._connections.pop(connection, None)
        if group:
            self._leave(group)

    def reserve_body(self, held: int, more: int) -> bool:
        """Reserve memory for more bytes of a body that holds so many; False when there is no room."""
        is_small = held + more <= SMALL_BODY_BYTES
        room = self.limits.bodies_bytes if is_small else self.limits.bodies_bytes * 3 // 4
        if self.body_bytes + more > room:
            return False
        self.body_bytes += more
        return True

    def release_body(self, held: int) -> None:
        """Give back the memory of an answered body."""
        self.body_bytes -= held

    def end_all(self) -> None:
        """End the connections that are still open, websockets apart."""
        for connection in tuple(self._connections):
            connection.end_now()

    def _is_full(self, group: str) -> bool:
        if len(self) >= self.limits.total:
            return True
        if not group:
            return False
        return self._addresses[group] >= self._per_address_max

    def _leave(self, group: str) -> None:
        self._addresses[group] -= 1
        if not self._addresses[group]:
            del self._addresses[group]

    def _forget_lost_upgrades(self) -> None:
        for transport in [lost for lost in self._upgraded if lost.is_closing()]:
            group = self._upgraded.pop(transport)
            if group:
                self._leave(group)

    def _schedule_sweep(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweep_timer = loop.call_later(self.limits.sweep_seconds, self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._forget_lost_upgrades()
        now = loop.time()
        for connection in tuple(self._connections):
            connection.enforce_deadlines(now)
        self._sweep_timer = None
        if len(self):
            self._schedule_sweep()
