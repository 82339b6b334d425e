"""Hosts from which documents are fetched, and trusted hosts, from the site's settings."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy, AllowedAddress
from silverball.kit.errors import Invalid, NotAllowed
from silverball.settings import Settings


class SubmissionsClosed(NotAllowed):
    sentence = (
        "This site takes no rating submissions. Its operator can allow them with SILVERBALL_SUBMISSION_HOSTS."
    )


def fetch_policy(settings: Settings) -> AddressPolicy:
    """Return the hosts from which documents may be fetched; in the demo this machine is one of them."""
    named = address_policy.parse_hosts(settings.submission_hosts)
    hosts = None if address_policy.EVERY_HOST in named else named | trusted_hosts(settings)
    own = address_policy.url_host(settings.base_url)
    own_hosts = frozenset({own} - {""})
    if not settings.allow_loopback:
        return AddressPolicy(hosts=hosts, own_hosts=own_hosts)
    return AddressPolicy(
        hosts=hosts,
        own_hosts=own_hosts,
        schemes=("https", "http"),
        ports=address_policy.EVERY_PORT,
        allows_loopback=True,
    )


def trusted_hosts(settings: Settings) -> frozenset[str]:
    """Hosts whose documents need no moderator; `*` is ignored here."""
    return address_policy.parse_hosts(settings.submission_hosts_trusted) - {address_policy.EVERY_HOST}


def require_target(url: str, settings: Settings) -> AllowedAddress:
    """The address in a body. Raises SubmissionsClosed, and Invalid when it may not be fetched."""
    policy = fetch_policy(settings)
    if policy.hosts == frozenset() and not policy.allows_loopback:
        raise SubmissionsClosed
    try:
        return address_policy.parse_address(url, policy)
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
