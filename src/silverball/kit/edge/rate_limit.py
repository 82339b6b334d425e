"""How often one caller may ask: fixed windows in bounded memory.

A window opens with the first hit and lasts a fixed time; nothing is carried over. Whoever asks is
named by a user id, or by an address when nobody signed the request.
"""

import math
from collections.abc import Hashable

WINDOW_SECONDS = 60.0
ENTRIES_MAX = 50_000


class Window:
    """What is left until the window ends."""

    __slots__ = ("ends", "left")

    def __init__(self, ends: float, left: int) -> None:
        self.ends = ends
        self.left = left


class RateLimiter:
    """A number of requests a minute for each key. A limit of 0 means no limit."""

    def __init__(self, limit: int, *, entries_max: int = ENTRIES_MAX) -> None:
        self.limit = limit
        self.header = (b"x-ratelimit-limit", b"%d" % limit)
        # Oldest first: a window is always opened at the end, and all last equally long.
        self._windows: dict[Hashable, Window] = {}
        self._entries_max = entries_max

    def take(self, key: Hashable, now: float) -> int:
        """Count one request and return how many are left after it; -1 when there was none left."""
        window = self._windows.get(key)
        if window is None or now >= window.ends:
            window = self._open_window(key, now)
        if window.left <= 0:
            return -1
        window.left -= 1
        return window.left

    def refund(self, key: Hashable) -> None:
        """Take back the count of a request that turned out to be free."""
        window = self._windows.get(key)
        if window is not None and window.left < self.limit:
            window.left += 1

    def remaining(self, key: Hashable, now: float) -> int:
        """How many are left, without counting this request."""
        window = self._windows.get(key)
        return self.limit if window is None or now >= window.ends else window.left

    def seconds_to_wait(self, key: Hashable, now: float) -> int:
        """Whole seconds until the window of this key ends."""
        window = self._windows.get(key)
        return 0 if window is None else max(0, math.ceil(window.ends - now))

    def _open_window(self, key: Hashable, now: float) -> Window:
        self._windows.pop(key, None)
        _evict_oldest(self._windows, self._entries_max)
        window = self._windows[key] = Window(now + WINDOW_SECONDS, self.limit)
        return window


class RequestQuota:
    """What one request is paid from. Without a limit nothing is counted or said."""

    __slots__ = ("_allowance", "_is_free", "who")

    def __init__(self, allowance: RateLimiter, who: Hashable, *, is_free: bool) -> None:
        self._allowance = allowance
        self.who = who
        self._is_free = is_free

    def take(self, now: float) -> int:
        """Count the request and return how many are left after it; -1 when there was none left."""
        if self._is_free or not self._allowance.limit:
            return self._allowance.remaining(self.who, now)
        return self._allowance.take(self.who, now)

    def refund(self) -> None:
        """Take back the count of a request that turned out to be free."""
        if not self._is_free:
            self._allowance.refund(self.who)

    def remaining(self, now: float) -> int:
        return self._allowance.remaining(self.who, now)

    def seconds_to_wait(self, now: float) -> int:
        return self._allowance.seconds_to_wait(self.who, now)

    def headers(self, left: int) -> list[tuple[bytes, bytes]]:
        """What the answer says about it."""
        if not self._allowance.limit:
            return []
        return [self._allowance.header, (b"x-ratelimit-remaining", b"%d" % left)]


class MinimumInterval:
    """At most one request in an interval for each key. An interval of 0 means no limit."""

    def __init__(self, interval_seconds: float, *, entries_max: int = ENTRIES_MAX) -> None:
        self.interval_seconds = interval_seconds
        self._free_at: dict[Hashable, float] = {}
        self._entries_max = entries_max

    def seconds_to_wait(self, key: Hashable, now: float) -> int:
        """0 when the request may pass, and then the interval begins; otherwise whole seconds to wait."""
        if not self.interval_seconds:
            return 0
        free_at = self._free_at.get(key, now)
        if free_at > now:
            return math.ceil(free_at - now)
        self._free_at.pop(key, None)
        _evict_oldest(self._free_at, self._entries_max)
        self._free_at[key] = now + self.interval_seconds
        return 0


def _evict_oldest(kept: dict[Hashable, Window] | dict[Hashable, float], entries_max: int) -> None:
    # The oldest goes first. Whoever is forgotten starts anew: a flood of strangers is let off lightly
    # rather than remembered without end.
    while len(kept) >= entries_max:
        del kept[next(iter(kept))]
