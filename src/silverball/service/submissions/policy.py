"""Hosts from which documents are fetched, and trusted hosts, from the site's settings."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy, AllowedAddress
from silverball.kit.errors import Invalid
from silverball.settings import Settings

CLOSED = "This site takes no rating submissions. Its operator can allow them with {setting}."
SETTING = "SILVERBALL_SUBMISSION_HOSTS"


def fetch_policy(settings: Settings) -> AddressPolicy:
    """The hosts from which documents may be fetched."""
    named = address_policy.parse_hosts(settings.submission_hosts)
    hosts = None if address_policy.EVERY_HOST in named else named | trusted_hosts(settings)
    own = address_policy.url_host(settings.base_url)
    return AddressPolicy(hosts=hosts, own_hosts=frozenset({own} - {""}))


def trusted_hosts(settings: Settings) -> frozenset[str]:
    """Hosts whose documents need no moderator; `*` is ignored here."""
    return address_policy.parse_hosts(settings.submission_hosts_trusted) - {address_policy.EVERY_HOST}


def require_target(url: str, settings: Settings) -> AllowedAddress:
    """The address in a body. Raises Invalid unless a document may be fetched from there."""
    policy = fetch_policy(settings)
    if policy.hosts == frozenset():
        raise Invalid({"url": [CLOSED.format(setting=SETTING)]})
    try:
        return address_policy.parse_address(url, policy)
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
