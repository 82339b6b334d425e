"""From where documents are fetched, and whose are trusted: what the site's settings say."""

from silverball.kit import address_policy
from silverball.kit.address_policy import AddressForbidden, AddressPolicy, AllowedAddress
from silverball.kit.errors import Invalid
from silverball.settings import Settings

CLOSED = "This site takes no rating submissions. Whoever runs it can change that with {setting}."
SETTING = "SILVERBALL_SUBMISSION_HOSTS"


def fetch_policy(settings: Settings) -> AddressPolicy:
    """Where documents may be fetched from."""
    named = address_policy.parse_hosts(settings.submission_hosts)
    hosts = None if address_policy.EVERY_HOST in named else named | trusted_hosts(settings)
    own = address_policy.url_host(settings.base_url)
    return AddressPolicy(hosts=hosts, own_hosts=frozenset({own} - {""}))


def trusted_hosts(settings: Settings) -> frozenset[str]:
    """Whose documents need no moderator. Nobody trusts everybody, so `*` means nothing here."""
    return address_policy.parse_hosts(settings.submission_hosts_trusted) - {address_policy.EVERY_HOST}


def require_target(url: str, settings: Settings) -> AllowedAddress:
    """The address in a body, when a document may be fetched from there. Raises Invalid."""
    policy = fetch_policy(settings)
    if policy.hosts == frozenset():
        raise Invalid({"url": [CLOSED.format(setting=SETTING)]})
    try:
        return address_policy.parse_address(url, policy)
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
