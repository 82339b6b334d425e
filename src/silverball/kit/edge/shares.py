"""The shares that limits are counted by: an account, a device, a code, or for strangers an address.

An IPv6 address counts for its /64 network once, for the /56 around it four times, and for the /48 sixteen
times: a provider gives one customer as much as that.
"""

import ipaddress
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from silverball.kit.edge.proxies import address_group, parse_address

IPV6_SHARES = ((64, 1), (56, 4), (48, 16))
# People who act for a running tournament are in the room with its players, behind one address.
DUTY_SECONDS = 15 * 60.0
DUTY_FACTOR = 4
DUTY_ADDRESSES_MAX = 10_000
# A list in the scope of a request for a page; the page adds to it when its sender acted on duty.
DUTY = "silverball.duty"
# The place of a request's connection in the table, in its scope.
CONNECTION = "silverball.connection"


class Share(NamedTuple):
    """A key that a limit is counted by, and how many times the limit it has."""

    key: Hashable
    factor: int = 1


class Visitor(Struct, frozen=True):
    """The account, device or code behind a request for a page."""

    key: Hashable
    # Whether it is a code that a player has on paper, which needs little.
    is_code: bool = False


@lru_cache(maxsize=4_096)
def address_shares(address: str) -> tuple[Share, ...]:
    """The networks that an address counts for, the narrowest first."""
    parsed = parse_address(address) if ":" in address else None
    if not isinstance(parsed, ipaddress.IPv6Address):
        return (Share(address_group(address)),)
    return tuple(
        Share(str(ipaddress.IPv6Network((parsed, prefix), strict=False)), factor)
        for prefix, factor in IPV6_SHARES
    )


class OpenCounts:
    """The number of what is open now, for each share. A limit of 0 means none."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._counts: Counter[Hashable] = Counter()

    def is_full(self, shares: Sequence[Share]) -> bool:
        """Whether one more would be too many."""
        return self.limit > 0 and any(self._counts[key] >= self.limit * factor for key, factor in shares)

    def enter(self, shares: Sequence[Share]) -> None:
        """Count one more."""
        for key, _ in shares:
            self._counts[key] += 1

    def leave(self, shares: Sequence[Share]) -> None:
        """Count one less."""
        for key, _ in shares:
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]


class DutyAddresses:
    """The addresses from which people who run a tournament acted lately."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def note(self, address: str, now: float) -> None:
        """Remember that somebody acted from this address."""
        group = address_group(address)
        self._until.pop(group, None)
        while len(self._until) >= DUTY_ADDRESSES_MAX:
            del self._until[next(iter(self._until))]
        self._until[group] = now + DUTY_SECONDS

    def factor(self, address: str, now: float) -> int:
        """How many allowances the strangers at this address have together."""
        return DUTY_FACTOR if self._until and self._until.get(address_group(address), 0.0) > now else 1
