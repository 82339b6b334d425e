"""Where messages may be sent: what the site's settings say."""

from silverball.kit import outgoing
from silverball.kit.errors import Invalid
from silverball.kit.outgoing import Forbidden, Policy
from silverball.settings import Settings

EVERY_PORT = frozenset(range(1, 65536))


def policy_of(settings: Settings) -> Policy:
    """Every public host behind https; in a venue, where the site says so, machines of its own network too."""
    own = frozenset({outgoing.host_of(settings.base_url)} - {""})
    if settings.webhook_lan:
        return Policy(own_hosts=own, schemes=("https", "http"), ports=EVERY_PORT, lan=True)
    return Policy(own_hosts=own)


def required_url(url: str, settings: Settings) -> str:
    """The address in a body in its one form, when messages may be sent there. Raises Invalid."""
    try:
        return outgoing.target(url, policy_of(settings)).url
    except Forbidden as error:
        raise Invalid({"url": [error.sentence]}) from error
