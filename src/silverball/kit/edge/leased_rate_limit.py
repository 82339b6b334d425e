"""Rate limits that several nodes share: each gives out portions it has leased, and asks for more in time.

A request is never delayed by a lease: it is counted against what this node holds, and the next portion is
asked for beside it. Until the first portion comes a node may give a little on credit, so that all nodes
together never give more than a quarter above the limit. A node alone gives its own, and leases what it has
given when others come.
"""

from collections.abc import Callable, Hashable
from typing import Protocol

from silverball.kit.edge.rate_limit import ENTRIES_MAX, WINDOW_SECONDS, RateLimiter

# A portion is this part of the limit, and so is what all nodes together may give on credit.
PORTIONS = 4


class LeaseOffice(Protocol):
    """Hands out portions of limits to the nodes."""

    @property
    def is_reachable(self) -> bool: ...

    @property
    def nodes(self) -> int:
        """The number of nodes, this one included."""

    def ask(self, name: str, key: Hashable, limit: int, portion: int, answer: "LeaseAnswer") -> None:
        """Ask for a portion, at most; the answer is called later, on the event loop."""


# Called with the size of the portion, what nobody has leased yet, and the seconds until all of it ends;
# with None when nobody can be asked.
LeaseAnswer = Callable[[tuple[int, int, float] | None], None]


class LeasedWindow:
    """One key's requests in this node until the window ends."""

    __slots__ = ("ends_at", "is_asking", "is_final", "is_own", "leased", "taken", "unleased")

    def __init__(self, ends_at: float, unleased: int) -> None:
        self.ends_at = ends_at
        self.taken = 0
        self.leased = 0
        # As far as this node knows, nobody has leased these.
        self.unleased = unleased
        self.is_asking = False
        # Whether there is nothing more to ask for; and whether that is because this node gives its own.
        self.is_final = False
        self.is_own = False

    @property
    def remaining(self) -> int:
        return max(0, self.leased + self.unleased - self.taken)


class LeasedRateLimiter(RateLimiter):
    """A number of requests a minute for each key, on all nodes together."""

    def __init__(self, name: str, limit: int, office: LeaseOffice, *, entries_max: int = ENTRIES_MAX) -> None:
        super().__init__(limit, entries_max=entries_max)
        self._name = name
        self._office = office
        self._portion = max(1, limit // PORTIONS)
        # Oldest first, as new windows go to the end.
        self._shared: dict[Hashable, LeasedWindow] = {}

    def take(self, key: Hashable, now: float) -> int:
        """Count one request and return how many remain after it; -1 when none remained."""
        window = self._shared.get(key)
        if window is None or now >= window.ends_at:
            window = self._open_shared_window(key, now)
        held = window.leased - window.taken
        if window.is_final:
            if held <= 0:
                return -1
            window.taken += 1
            return held - 1
        if not window.is_asking and held <= self._portion // 2:
            self._ask(key, window, now, self._portion + max(0, -held))
        if held <= -self._credit():
            return -1
        window.taken += 1
        return window.remaining

    def remaining(self, key: Hashable, now: float) -> int:
        """The number of requests that remain, as far as this node knows; does not count one."""
        window = self._shared.get(key)
        return self.limit if window is None or now >= window.ends_at else window.remaining

    def seconds_to_wait(self, key: Hashable, now: float) -> int:
        """Whole seconds until this key's window ends; 1 while a portion is on its way."""
        window = self._shared.get(key)
        if window is None or now >= window.ends_at:
            return 0
        return 1 if window.is_asking else int(-(-(window.ends_at - now) // 1))

    def share_own_windows(self, now: float) -> None:
        """Tell the others what this node has given by itself; called when there are others."""
        for key, window in self._shared.items():
            if window.is_own and window.taken and now < window.ends_at:
                self._share(key, window)

    def _credit(self) -> int:
        """Return what this node may give before it has leased it."""
        return max(1, self.limit // PORTIONS // max(1, self._office.nodes))

    def _open_shared_window(self, key: Hashable, now: float) -> LeasedWindow:
        self._shared.pop(key, None)
        while len(self._shared) >= self._entries_max:
            del self._shared[next(iter(self._shared))]
        window = self._shared[key] = LeasedWindow(now + WINDOW_SECONDS, self.limit)
        if self._office.nodes <= 1 or not self._office.is_reachable:
            self._give_own(window)
        return window

    def _ask(self, key: Hashable, window: LeasedWindow, now: float, portion: int) -> None:
        window.is_asking = True

        def answer(lease: tuple[int, int, float] | None) -> None:
            window.is_asking = False
            if lease is None:
                self._give_own(window)
                return
            granted, window.unleased, seconds = lease
            window.leased += granted
            window.is_final = granted < portion
            window.ends_at = min(window.ends_at, now + seconds)

        self._office.ask(self._name, key, self.limit, portion, answer)

    def _share(self, key: Hashable, window: LeasedWindow) -> None:
        """Lease what was given as this node's own; until the answer comes it goes on giving that."""
        window.is_own = False
        taken = window.taken

        def answer(lease: tuple[int, int, float] | None) -> None:
            if lease is None:
                window.is_own = True
                return
            window.leased, window.unleased, _ = lease
            window.is_final = window.leased < taken

        self._office.ask(self._name, key, self.limit, taken, answer)

    def _give_own(self, window: LeasedWindow) -> None:
        window.leased, window.unleased = self.limit, 0
        window.is_final = window.is_own = True
