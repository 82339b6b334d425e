"""Addresses to which messages may be sent, from the site's settings."""

from datetime import datetime, timedelta

from silverball.kit.errors import Invalid
from silverball.kit.security import addresses
from silverball.kit.security.addresses import AddressForbidden, AddressPolicy
from silverball.settings import Settings


def delivery_policy(settings: Settings) -> AddressPolicy:
    """Return the policy: public hosts over https.

    With SILVERBALL_WEBHOOK_LAN hosts of the venue's network are allowed too, and in the demo this machine.
    """
    own = frozenset({addresses.url_host(settings.base_url)} - {""})
    if not (settings.webhook_lan or settings.allow_loopback):
        return AddressPolicy(own_hosts=own)
    return AddressPolicy(
        own_hosts=own,
        schemes=("https", "http"),
        ports=addresses.EVERY_PORT,
        allows_lan=settings.webhook_lan,
        allows_loopback=settings.allow_loopback,
    )


def require_url(url: str, settings: Settings) -> str:
    """The address in a body, normalized. Raises Invalid unless messages may be sent there."""
    try:
        return addresses.parse_address(url, delivery_policy(settings)).url
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error


# Retry times of messages, and rests of addresses that fail. Pure.
#
# Each message has its own retry schedule, after Standard Webhooks. In addition a failing address rests:
# however many messages wait for a dead address, it is tried only once in a while.


# The delay after the first try, after the second, and so on. After the last the message has failed.
RETRIES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
TRIES_MAX = len(RETRIES) + 1
# After a single failure the next message is sent at once: the message may be the cause.
RESTS = (
    timedelta(0),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=1),
    timedelta(minutes=5),
)
# An address that accepted nothing for this long is switched off.
GIVEN_UP_AFTER = timedelta(days=5)
# Longer than a try can take: the process that claimed the message has died.
LOST_AFTER = timedelta(minutes=1)
# An address that answers more slowly would hold up quicker ones.
SLOW_SECONDS = 2.0


def next_try_at(tries: int, now: datetime) -> datetime | None:
    """The time of the next try after this many tries; None after the last one."""
    return now + RETRIES[tries - 1] if tries < TRIES_MAX else None


def resting_until(failures: int, now: datetime) -> datetime:
    """The time until which an address rests after this many failures in a row."""
    return now + RESTS[min(failures, len(RESTS)) - 1]


def is_given_up(failing_since: datetime, now: datetime) -> bool:
    """Whether an address has failed long enough to be switched off."""
    return failing_since <= now - GIVEN_UP_AFTER
