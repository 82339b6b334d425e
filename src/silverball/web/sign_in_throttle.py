"""How often somebody may try to sign in: five failures a minute for an address and for an e-mail."""

import hashlib
import ipaddress
import threading
from datetime import datetime

from silverball.kit.edge.rate_limit import RateLimiter

FAILURES_PER_MINUTE = 5
IPV6_PREFIX = 64


class SignInLimiter:
    """Counts attempts in this process. An attempt that succeeds is given back."""

    def __init__(self) -> None:
        self._failures = RateLimiter(FAILURES_PER_MINUTE)
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def seconds_to_wait(self, address: str, email: str, now: datetime) -> int:
        """0 when the attempt may be made, and then it is counted; otherwise whole seconds to wait."""
        keys, at = _limit_keys(address, email), now.timestamp()
        with self._lock:
            used_up = [key for key in keys if self._failures.remaining(key, at) <= 0]
            if used_up:
                return max(1, *(self._failures.seconds_to_wait(key, at) for key in used_up))
            for key in keys:
                self._failures.take(key, at)
        return 0

    def record_success(self, address: str, email: str) -> None:
        """Only failures count: a venue with many organizers shares one address."""
        with self._lock:
            for key in _limit_keys(address, email):
                self._failures.refund(key)


def _limit_keys(address: str, email: str) -> tuple[str, str]:
    # A digest, because a typed e-mail is as long as somebody likes.
    typed = hashlib.sha256(email.strip().lower().encode("utf-8", "surrogatepass")).hexdigest()
    return f"address {_network(address)}", f"email {typed}"


def _network(address: str) -> str:
    """Who has an IPv6 address has the whole network of it."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is None:
        return str(ipaddress.ip_network((known, IPV6_PREFIX), strict=False))
    return str(known)
