"""Addresses to which messages may be sent, from the site's settings."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy
from silverball.kit.errors import Invalid
from silverball.settings import Settings

EVERY_PORT = frozenset(range(1, 65536))


def delivery_policy(settings: Settings) -> AddressPolicy:
    """Public hosts over https; with SILVERBALL_WEBHOOK_LAN also hosts of the venue's network."""
    own = frozenset({address_policy.url_host(settings.base_url)} - {""})
    if settings.webhook_lan:
        return AddressPolicy(own_hosts=own, schemes=("https", "http"), ports=EVERY_PORT, allows_lan=True)
    return AddressPolicy(own_hosts=own)


def require_url(url: str, settings: Settings) -> str:
    """The address in a body, normalized. Raises Invalid unless messages may be sent there."""
    try:
        return address_policy.parse_address(url, delivery_policy(settings)).url
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
