"""The addresses that a page may pull from: public ones, by https."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressPolicy
from silverball.settings import Settings


def source_policy(settings: Settings) -> AddressPolicy:
    """The hosts that may be asked; in the demo this machine is one of them."""
    own_hosts = frozenset({address_policy.url_host(settings.base_url)} - {""})
    if not settings.allow_loopback:
        return AddressPolicy(own_hosts=own_hosts)
    return AddressPolicy(
        own_hosts=own_hosts,
        schemes=("https", "http"),
        ports=address_policy.EVERY_PORT,
        allows_loopback=True,
    )
