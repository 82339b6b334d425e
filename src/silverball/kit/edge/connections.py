"""The connections of one process: how many there may be, and deadlines for those that make no progress.

A connection costs nothing while it behaves: no timer, no task. Once a second the table looks at all
of them and ends those that are over a deadline.
"""

import asyncio
from collections.abc import Hashable, Sequence
from typing import Protocol

from msgspec import Struct

from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.edge.shares import OpenCounts, Share, address_shares

MEGABYTE = 1_000_000
# A body of at most this size may use the last part of the memory for bodies, so that uploads never
# keep results from being recorded.
SMALL_BODY_BYTES = 65_536


class HttpLimits(Struct, frozen=True, kw_only=True):
    """Limits of the connections of one process. Times are in seconds."""

    total: int
    per_address: int
    # How many of all connections are kept for accounts, devices and codes.
    reserved: int = 0
    head_seconds: float = 10.0
    # The same where a place is kept for those who show who they are.
    reserved_head_seconds: float = 2.0
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


class ConnectionPlace:
    """The place of one connection in the table: its address's until its first valid request."""

    __slots__ = ("_table", "has_owner", "is_open", "is_reserved", "shares")

    def __init__(
        self, table: "ConnectionTable", shares: Sequence[Share], *, is_reserved: bool, has_owner: bool
    ) -> None:
        self._table = table
        self.shares = shares
        # Whether it was one too many for a stranger.
        self.is_reserved = is_reserved
        self.has_owner = has_owner
        self.is_open = True

    def give_to(self, owner: Hashable) -> None:
        """Count the connection for this account, device or code, unless that has too many."""
        if self.is_open:
            self._table.move(self, (Share(owner),))


class ConnectionTable:
    """All connections of the process. Used by the event loop only."""

    def __init__(self, limits: HttpLimits, proxies: TrustedProxies) -> None:
        self.limits = limits
        self.body_bytes = 0
        # Connections that were one too many since the start.
        self.refused = 0
        self._proxies = proxies
        # One address never takes more than half of all connections.
        self._counts = OpenCounts(min(limits.per_address, max(1, limits.total // 2)))
        self._connections: dict[SweptConnection, ConnectionPlace] = {}
        # Connections that have become websockets have deadlines of their own and are only counted.
        self._upgraded: dict[asyncio.Transport, ConnectionPlace] = {}
        # Those who came when strangers had all of theirs, until their first request shows who they are. One
        # address has half of these.
        self._waiting = OpenCounts(max(1, limits.reserved // 2))
        self._strangers = 0
        self._reserved_in_use = 0
        self._sweep_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._connections) + len(self._upgraded)

    def admit(self, connection: SweptConnection, peer: str) -> ConnectionPlace | None:
        """Count a new connection; None when there are too many of all, or of its address."""
        is_proxy = self._proxies.trusts(peer)
        shares = () if is_proxy else address_shares(peer)
        is_reserved = self._needs_reserve(shares)
        if is_reserved:
            # Websockets are noticed to be lost once a second only.
            self._forget_lost_upgrades()
            is_reserved = self._needs_reserve(shares)
        if len(self) >= self.limits.total or (is_reserved and not self._has_reserve(shares)):
            self.refused += 1
            return None
        place = ConnectionPlace(self, shares, is_reserved=is_reserved, has_owner=is_proxy)
        self._connections[connection] = place
        self._enter(place)
        if self._sweep_timer is None:
            self._schedule_sweep()
        return place

    def move(self, place: ConnectionPlace, shares: Sequence[Share]) -> None:
        """Count a connection for its owner from now on, unless the owner has too many."""
        if self._counts.is_full(shares):
            return
        self._leave(place)
        place.shares, place.has_owner, place.is_reserved = shares, True, False
        self._enter(place)

    def move_to_upgraded(self, connection: SweptConnection, transport: asyncio.Transport) -> None:
        """Go on counting a connection whose transport another protocol has taken over."""
        place = self._connections.pop(connection, None)
        if place is not None:
            self._upgraded[transport] = place

    def remove(self, connection: SweptConnection) -> None:
        """Forget a lost connection; does nothing for an unknown one."""
        place = self._connections.pop(connection, None)
        if place is not None:
            self._close(place)

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

    def _needs_reserve(self, shares: Sequence[Share]) -> bool:
        """Whether one more connection of a stranger at this address is too many. Proxies have no address."""
        if not shares:
            return len(self) >= self.limits.total
        return self._strangers >= self.limits.total - self.limits.reserved or self._counts.is_full(shares)

    def _has_reserve(self, shares: Sequence[Share]) -> bool:
        return self._reserved_in_use < self.limits.reserved and not self._waiting.is_full(shares)

    def _enter(self, place: ConnectionPlace) -> None:
        if place.is_reserved:
            self._reserved_in_use += 1
            self._waiting.enter(place.shares)
            return
        self._counts.enter(place.shares)
        self._strangers += not place.has_owner

    def _leave(self, place: ConnectionPlace) -> None:
        if place.is_reserved:
            self._reserved_in_use -= 1
            self._waiting.leave(place.shares)
            return
        self._counts.leave(place.shares)
        self._strangers -= not place.has_owner

    def _close(self, place: ConnectionPlace) -> None:
        place.is_open = False
        self._leave(place)

    def _forget_lost_upgrades(self) -> None:
        for transport in [lost for lost in self._upgraded if lost.is_closing()]:
            self._close(self._upgraded.pop(transport))

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
