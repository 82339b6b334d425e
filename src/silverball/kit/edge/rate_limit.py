"""Rate limits per caller: fixed windows in bounded memory.

A window opens with a caller's first request and lasts a fixed time; nothing is carried over. A caller
is an account, a device or a code, or an address for requests of strangers.
"""

import math
from collections.abc import Callable, Hashable, Sequence

from silverball.kit.edge.shares import Share

WINDOW_SECONDS = 60.0
ENTRIES_MAX = 50_000


class Window:
    """One key's requests until the window ends."""

    __slots__ = ("elsewhere", "ends_at", "reported", "taken")

    def __init__(self, ends_at: float) -> None:
        # Another thread may move the end, and writes what the other nodes have counted and what they know.
        self.ends_at = ends_at
        self.elsewhere = 0
        self.reported = 0
        self.taken = 0


class RateLimiter:
    """A number of requests a minute for each key. A limit of 0 means no limit."""

    def __init__(self, limit: int, *, entries_max: int = ENTRIES_MAX) -> None:
        self.limit = limit
        self.header = (b"x-ratelimit-limit", b"%d" % limit)
        # Oldest first, as a new window goes to the end.
        self._windows: dict[Hashable, Window] = {}
        self._entries_max = entries_max

    def take(self, key: Hashable, now: float) -> int:
        """Count one request and return how many remain after it; -1 when none remained."""
        return self.take_all((Share(key),), now)

    def take_all(self, shares: Sequence[Share], now: float, factor: int = 1) -> int:
        """Count one request for each share, if something remains of all; return as `take`."""
        remaining = self.remaining_of_all(shares, now, factor)
        if remaining <= 0:
            return -1
        for key, _ in shares:
            window = self._windows.get(key)
            if window is None or now >= window.ends_at:
                window = self._open_window(key, now)
            window.taken += 1
        return remaining - 1

    def remaining_of_all(self, shares: Sequence[Share], now: float, factor: int = 1) -> int:
        """The number of requests that remain of the share with the fewest; does not count one."""
        return min(self._remaining(share, now, factor) for share in shares)

    def seconds_to_all(self, shares: Sequence[Share], now: float, factor: int = 1) -> int:
        """Whole seconds until something remains of every share."""
        waits = [
            self.seconds_to_wait(share.key, now)
            for share in shares
            if self._remaining(share, now, factor) <= 0
        ]
        return max(waits, default=0)

    def _remaining(self, share: Share, now: float, factor: int) -> int:
        window, limit = self._windows.get(share.key), self.limit * factor * share.factor
        if window is None or now >= window.ends_at:
            return limit
        return limit - window.elsewhere - window.taken

    def remaining(self, key: Hashable, now: float) -> int:
        """The number of requests that remain; does not count one."""
        return max(0, self.remaining_of_all((Share(key),), now))

    def seconds_to_wait(self, key: Hashable, now: float) -> int:
        """Whole seconds until this key's window ends."""
        window = self._windows.get(key)
        return 0 if window is None else max(0, math.ceil(window.ends_at - now))

    def unreported_windows(self, now: float) -> list[tuple[Hashable, Window]]:
        """The windows with requests that the other nodes do not know of. Called by another thread."""
        # A list of all is made at once, whatever the event loop adds to them.
        windows = list(self._windows.items())
        return [pair for pair in windows if pair[1].taken > pair[1].reported and now < pair[1].ends_at]

    def _open_window(self, key: Hashable, now: float) -> Window:
        self._windows.pop(key, None)
        _evict_oldest(self._windows, self._entries_max)
        window = self._windows[key] = Window(now + WINDOW_SECONDS)
        return window


def _one_allowance(_now: float) -> int:
    return 1


class RequestQuota:
    """The rate limit that applies to one request. Without a limit nothing is counted."""

    __slots__ = ("_factor_at", "_factor_shown", "_free_limiter", "_limiter", "shares")

    def __init__(
        self,
        limiter: RateLimiter,
        shares: Sequence[Share],
        *,
        free_limiter: RateLimiter | None = None,
        factor_at: Callable[[float], int] = _one_allowance,
    ) -> None:
        self._limiter = limiter
        self.shares = shares
        # Requests within this limit are not counted.
        self._free_limiter = free_limiter
        # How many allowances these shares have at a moment, and had when last asked.
        self._factor_at = factor_at
        self._factor_shown = 1

    def take(self, now: float) -> int:
        """Count the request and return how many remain after it; -1 when none remained."""
        is_free = self._free_limiter is not None and self._free_limiter.take_all(self.shares, now) >= 0
        if is_free or not self._limiter.limit:
            return self.remaining(now)
        self._factor_shown = self._factor_at(now)
        return self._limiter.take_all(self.shares, now, self._factor_shown)

    def take_more(self, count: int, now: float) -> int:
        """Count what an answer cost beside its request, as far as it remains; return how many remain then."""
        for _ in range(min(count, self.remaining(now))):
            self._limiter.take_all(self.shares, now, self._factor_shown)
        return self.remaining(now)

    def remaining(self, now: float) -> int:
        """The number of requests that remain; does not count one."""
        self._factor_shown = self._factor_at(now)
        left = self._limiter.remaining_of_all(self.shares, now, self._factor_shown)
        return max(0, left)

    def seconds_to_wait(self, now: float) -> int:
        """Whole seconds until the first window ends without which nothing remains."""
        return self._limiter.seconds_to_all(self.shares, now, self._factor_at(now))

    def headers(self, remaining: int) -> list[tuple[bytes, bytes]]:
        """The rate limit headers of the answer."""
        if not self._limiter.limit:
            return []
        header = self._limiter.header
        if self._factor_shown != 1:
            header = (header[0], b"%d" % (self._limiter.limit * self._factor_shown))
        return [header, (b"x-ratelimit-remaining", b"%d" % remaining)]


def _evict_oldest(entries: dict[Hashable, Window], entries_max: int) -> None:
    # An evicted caller starts anew: a flood of addresses is limited less strictly rather than held in
    # memory without bound.
    while len(entries) >= entries_max:
        del entries[next(iter(entries))]
