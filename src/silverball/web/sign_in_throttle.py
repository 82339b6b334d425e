"""Slow down guessing of passwords without locking anybody out.

Failures are counted for each pair of an address and an account: whoever fails five times for one
account from one address waits, for twice as long each time. Others wait for nothing, neither people
at the same address with other accounts nor the owner at another address; and a browser that has
signed in to the account before has a count of its own. Many failures at an address, or for an account
from anywhere, make the waits of those who have failed themselves grow faster.
"""

import hashlib
import math
import threading
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime

from silverball.kit.edge.proxies import address_group

FREE_FAILURES = 5
WAIT_SECONDS_MAX = 900
FORGOTTEN_AFTER_SECONDS = 3_600
ENTRIES_MAX = 50_000
# So many failures at an address, or for an account, count as one more of one's own.
ADDRESS_FAILURES, ACCOUNT_FAILURES = 20, 50


@dataclass
class FailureCount:
    """Failures for one key, and the time of the last."""

    number: int = 0
    last_at: float = 0.0


class SignInLimiter:
    """Failed sign-ins counted in this process."""

    def __init__(self) -> None:
        # The key that failed last is at the end.
        self._failures: dict[Hashable, FailureCount] = {}
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def seconds_to_wait(self, address: str, email: str, now: datetime, *, device: str = "") -> int:
        """Count an attempt and return 0; or return the seconds to wait when there were too many.

        `device` names a browser that has signed in to this account before; empty for others.
        """
        keys, at = _keys(address, email, device), now.timestamp()
        with self._lock:
            own = self._read(keys[0], at)
            if own.number:
                others = sum(
                    self._read(key, at).number // share
                    for key, share in zip(keys[1:], (ADDRESS_FAILURES, ACCOUNT_FAILURES), strict=False)
                )
                wait = own.last_at + _wait_after(own.number + others) - at
                if wait > 0:
                    return math.ceil(wait)
            # Counted before the password is compared, so that many attempts at once are as slow.
            for key in keys:
                self._count(key, at)
        return 0

    def record_success(self, address: str, email: str, *, device: str = "") -> None:
        """Forget the failures of this pair, and give the attempt back to the address and the account."""
        own, *shared = _keys(address, email, device)
        with self._lock:
            self._failures.pop(own, None)
            for key in shared:
                count = self._failures.get(key)
                if count is not None:
                    count.number = max(0, count.number - 1)

    def _read(self, key: Hashable, at: float) -> FailureCount:
        count = self._failures.get(key)
        if count is None or at - count.last_at > FORGOTTEN_AFTER_SECONDS:
            return FailureCount()
        return count

    def _count(self, key: Hashable, at: float) -> None:
        count = self._read(key, at)
        self._failures.pop(key, None)
        while len(self._failures) >= ENTRIES_MAX:
            del self._failures[next(iter(self._failures))]
        self._failures[key] = FailureCount(count.number + 1, at)


def too_many_attempts(seconds: int) -> str:
    """The sentence for somebody who has to wait."""
    return f"Too many attempts. Wait {seconds} second{'' if seconds == 1 else 's'} and try again."


def _wait_after(failures: int) -> float:
    """Seconds to wait after so many failures: none after four, then 1, 2, 4 and so on."""
    if failures < FREE_FAILURES:
        return 0.0
    return float(min(WAIT_SECONDS_MAX, 2 ** min(failures - FREE_FAILURES, 20)))


def _keys(address: str, email: str, device: str) -> tuple[Hashable, ...]:
    # A digest has a fixed length; an e-mail as typed has none.
    account = hashlib.sha256(email.strip().lower().encode("utf-8", "surrogatepass")).hexdigest()
    if device:
        return ((device, account),)
    group = address_group(address)
    return (group, account), ("address", group), ("account", account)
