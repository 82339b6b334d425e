"""From where documents are fetched, and whose are trusted: what the site's settings say."""

from silverball.kit import outgoing
from silverball.kit.errors import Invalid
from silverball.kit.outgoing import Forbidden, Policy, Target
from silverball.settings import Settings

CLOSED = "This site takes no rating submissions. Whoever runs it can change that with {setting}."
SETTING = "SILVERBALL_SUBMISSION_HOSTS"


def policy_of(settings: Settings) -> Policy:
    """Where documents may be fetched from."""
    named = outgoing.hosts_of(settings.submission_hosts)
    hosts = None if outgoing.ANY_HOST in named else named | trusted_hosts(settings)
    own = outgoing.host_of(settings.base_url)
    return Policy(hosts=hosts, own_hosts=frozenset({own} - {""}))


def trusted_hosts(settings: Settings) -> frozenset[str]:
    """Whose documents need no moderator. Nobody trusts everybody, so `*` means nothing here."""
    return outgoing.hosts_of(settings.submission_hosts_trusted) - {outgoing.ANY_HOST}


def required_target(url: str, settings: Settings) -> Target:
    """The address in a body, when a document may be fetched from there. Raises Invalid."""
    policy = policy_of(settings)
    if policy.hosts == frozenset():
        raise Invalid({"url": [CLOSED.format(setting=SETTING)]})
    try:
        return outgoing.target(url, policy)
    except Forbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
