"""Where messages may be sent: what the site's settings say."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy
from silverball.kit.errors import Invalid
from silverball.settings import Settings

EVERY_PORT = frozenset(range(1, 65536))


def delivery_policy(settings: Settings) -> AddressPolicy:
    """Every public host behind https; in a venue, where the site says so, machines of its own network too."""
    own = frozenset({address_policy.url_host(settings.base_url)} - {""})
    if settings.webhook_lan:
        return AddressPolicy(own_hosts=own, schemes=("https", "http"), ports=EVERY_PORT, allows_lan=True)
    return AddressPolicy(own_hosts=own)


def require_url(url: str, settings: Settings) -> str:
    """The address in a body in its one form, when messages may be sent there. Raises Invalid."""
    try:
        return address_policy.parse_address(url, delivery_policy(settings)).url
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
