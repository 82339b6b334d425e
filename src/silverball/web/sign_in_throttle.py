"""The limit on failed sign-ins: five a minute for each address and for each e-mail."""

import hashlib
import ipaddress
import threading
from datetime import datetime

from silverball.kit.edge.rate_limit import RateLimiter

FAILURES_PER_MINUTE = 5
IPV6_PREFIX = 64


class SignInLimiter:
    """Failed sign-ins counted in this process."""

    def __init__(self) -> None:
        self._failures = RateLimiter(FAILURES_PER_MINUTE)
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def seconds_to_wait(self, address: str, email: str, now: datetime) -> int:
        """Count an attempt and return 0; or return the seconds to wait when there were too many."""
        keys, at = _limit_keys(address, email), now.timestamp()
        with self._lock:
            used_up = [key for key in keys if self._failures.remaining(key, at) <= 0]
            if used_up:
                return max(1, *(self._failures.seconds_to_wait(key, at) for key in used_up))
            for key in keys:
                self._failures.take(key, at)
        return 0

    def record_success(self, address: str, email: str) -> None:
        """Give an attempt back. Only failures count: many organizers may share a venue's address."""
        with self._lock:
            for key in _limit_keys(address, email):
                self._failures.refund(key)


def _limit_keys(address: str, email: str) -> tuple[str, str]:
    # A digest has a fixed length; an e-mail as typed has none.
    digest = hashlib.sha256(email.strip().lower().encode("utf-8", "surrogatepass")).hexdigest()
    return f"address {_network(address)}", f"email {digest}"


def _network(address: str) -> str:
    """The /64 network of an IPv6 address, since one client owns all of it; else the address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))
    return str(parsed)
