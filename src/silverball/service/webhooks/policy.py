"""Addresses to which messages may be sent, from the site's settings."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy
from silverball.kit.errors import Invalid
from silverball.settings import Settings


def delivery_policy(settings: Settings) -> AddressPolicy:
    """Return the policy: public hosts over https.

    With SILVERBALL_WEBHOOK_LAN hosts of the venue's network are allowed too, and in the demo this machine.
    """
    own = frozenset({address_policy.url_host(settings.base_url)} - {""})
    if not (settings.webhook_lan or settings.allow_loopback):
        return AddressPolicy(own_hosts=own)
    return AddressPolicy(
        own_hosts=own,
        schemes=("https", "http"),
        ports=address_policy.EVERY_PORT,
        allows_lan=settings.webhook_lan,
        allows_loopback=settings.allow_loopback,
    )


def require_url(url: str, settings: Settings) -> str:
    """The address in a body, normalized. Raises Invalid unless messages may be sent there."""
    try:
        return address_policy.parse_address(url, delivery_policy(settings)).url
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
