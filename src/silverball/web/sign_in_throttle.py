"""Slow down guessing of passwords without locking anybody out.

Failures are counted for each pair of an address and an account: whoever fails five times for one
account from one address waits, for twice as long each time. Others wait for nothing, neither people
at the same address with other accounts nor the owner at another address; and a browser that has
signed in to the account before has a count of its own. Many failures at an address, or for an account
from anywhere, make the waits of those who have failed themselves grow faster.
"""

import hashlib
import logging
import math
import threading
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from silverball.kit.edge.proxies import address_group
from silverball.store.counts.sign_in_failures import StoredFailures, WaitFor
from silverball.store.database.faults import DatabaseFault, short_message

LOG = logging.getLogger("silverball.web")
FREE_FAILURES = 5
WAIT_SECONDS_MAX = 900
FORGOTTEN_AFTER_SECONDS = 3_600
ENTRIES_MAX = 50_000
# So many failures at an address, or for an account, count as one more of one's own.
ADDRESS_FAILURES, ACCOUNT_FAILURES = 20, 50
# Requests for a mail of an address until it waits for as long as they are remembered.
RECOVERIES_MAX = 10
MAILS_TRIED_MAX = 5


class FailureCount(Struct):
    """Failures for one key, and the time of the last."""

    number: int = 0
    last_at: float = 0.0


class Failures:
    """Failures by key, counted where all processes of the site do; without that, or lost, in this process."""

    def __init__(self, stored: StoredFailures | None) -> None:
        self._stored = stored
        # The key that failed last is at the end.
        self._failures: dict[str, FailureCount] = {}
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def attempt(self, names: Sequence[str], at: float, wait_for: WaitFor) -> float:
        """Count an attempt for each key and return 0; or count nothing and return the seconds to wait."""
        if self._stored is not None:
            try:
                return self._stored.attempt(names, at, wait_for)
            except DatabaseFault as error:
                LOG.warning("failed sign-ins are counted by this process alone: %s", short_message(error))
        with self._lock:
            counts = [self._read(name, at) for name in names]
            wait = wait_for([(count.number, count.last_at) for count in counts])
            if wait <= 0:
                for name in names:
                    self._count(name, at)
        return wait

    def forgive(self, own: str, shared: Sequence[str]) -> None:
        """Forget the failures of one key, and take one from each of the others."""
        with self._lock:
            self._failures.pop(own, None)
            for name in shared:
                count = self._failures.get(name)
                if count is not None:
                    count.number = max(0, count.number - 1)
        if self._stored is not None:
            try:
                self._stored.forgive(own, shared)
            except DatabaseFault as error:
                LOG.warning("a success was not counted: %s", short_message(error))

    def _read(self, name: str, at: float) -> FailureCount:
        count = self._failures.get(name)
        if count is None or at - count.last_at > FORGOTTEN_AFTER_SECONDS:
            return FailureCount()
        return count

    def _count(self, name: str, at: float) -> None:
        count = self._read(name, at)
        self._failures.pop(name, None)
        while len(self._failures) >= ENTRIES_MAX:
            del self._failures[next(iter(self._failures))]
        self._failures[name] = FailureCount(count.number + 1, at)


class HourlyLimiter:
    """How often mails of a kind may be asked for: so many times until an hour without a request."""

    def __init__(self, kind: str, number_max: int, stored: StoredFailures | None = None) -> None:
        self._kind = kind
        self._number_max = number_max
        self._failures = Failures(stored)

    def seconds_to_wait(self, address: str, now: datetime) -> int:
        """Count a request and return 0; or return the seconds to wait when there were too many."""
        name, at = f"{self._kind}:{_digest(address_group(address))}", now.timestamp()

        def wait_for(counts: Sequence[tuple[int, float]]) -> float:
            ((number, last_at),) = counts
            return max(0.0, last_at + FORGOTTEN_AFTER_SECONDS - at) if number >= self._number_max else 0.0

        return math.ceil(self._failures.attempt([name], at, wait_for))


class SignInLimiter:
    """How soon somebody may try to sign in again."""

    def __init__(self, stored: StoredFailures | None = None) -> None:
        self._failures = Failures(stored)

    def seconds_to_wait(self, address: str, email: str, now: datetime, *, device: str = "") -> int:
        """Count an attempt and return 0; or return the seconds to wait when there were too many.

        `device` names a browser that has signed in to this account before; empty for others.
        """
        names, at = _keys(address, email, device), now.timestamp()

        # Counted before the password is compared, so that many attempts at once are as slow.
        def wait_for(counts: Sequence[tuple[int, float]]) -> float:
            return _seconds_to_wait(counts, at)

        return math.ceil(self._failures.attempt(names, at, wait_for))

    def record_success(self, address: str, email: str, *, device: str = "") -> None:
        """Forget the failures of this pair, and give the attempt back to the address and the account."""
        own, *others = _keys(address, email, device)
        self._failures.forgive(own, others)


def too_many_attempts(seconds: int) -> str:
    """The sentence for somebody who has to wait."""
    return f"Too many attempts. Wait {seconds} second{'' if seconds == 1 else 's'} and try again."


def _wait_after(failures: int) -> float:
    """Seconds to wait after so many failures: none after four, then 1, 2, 4 and so on."""
    if failures < FREE_FAILURES:
        return 0.0
    return float(min(WAIT_SECONDS_MAX, 2 ** min(failures - FREE_FAILURES, 20)))


def _seconds_to_wait(counts: Sequence[tuple[int, float]], at: float) -> float:
    """Seconds that whoever has these counts, their own first, has to wait still."""
    numbers = [number if at - last_at <= FORGOTTEN_AFTER_SECONDS else 0 for number, last_at in counts]
    own, last_at = numbers[0], counts[0][1]
    if not own:
        return 0.0
    others = sum(
        number // share
        for number, share in zip(numbers[1:], (ADDRESS_FAILURES, ACCOUNT_FAILURES), strict=False)
    )
    return max(0.0, last_at + _wait_after(own + others) - at)


def _keys(address: str, email: str, device: str) -> tuple[str, ...]:
    # Digests have a fixed length, and are of no use to whoever reads the table.
    account = _digest(email.strip().lower())
    if device:
        return (f"device:{_digest(device)}:{account}",)
    group = _digest(address_group(address))
    return f"pair:{group}:{account}", f"address:{group}", f"account:{account}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
