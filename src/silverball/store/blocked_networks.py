"""The networks that are blocked, as the operator of the site listed them."""

import ipaddress
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from silverball.kit.errors import Conflict, Invalid
from silverball.store import audit
from silverball.store.tables import blocked_network

# Larger networks are nearly always a mistake: they have millions of people in them.
PREFIX_MIN = {4: 8, 6: 19}
NETWORKS_MAX = 10_000


class NetworkNotBlocked(Conflict):
    sentence = "{network} is not blocked. `silverball network list` shows what is."


class TooManyNetworks(Conflict):
    sentence = "{limit} networks are blocked already."


def blocked_networks(db: Connection) -> list[str]:
    """The blocked networks, in the order of their text."""
    rows = select(blocked_network.c.network).order_by(blocked_network.c.network).limit(NETWORKS_MAX)
    return list(db.execute(rows).scalars())


def block(db: Connection, text: str, *, now: datetime) -> str:
    """Block an address or a network, and return the network. Raises Invalid and TooManyNetworks."""
    network = _parse(text)
    listed = blocked_networks(db)
    if network in listed:
        return network
    if len(listed) >= NETWORKS_MAX:
        raise TooManyNetworks(limit=NETWORKS_MAX)
    db.execute(insert(blocked_network).values(network=network, created_at=now))
    audit.record(db, "network-blocked", at=now, user_id=None, source=audit.COMMAND_LINE, detail=network)
    return network


def unblock(db: Connection, text: str, *, now: datetime) -> str:
    """Unblock a network that is listed, and return it. Raises Invalid and NetworkNotBlocked."""
    network = _parse(text)
    if not db.execute(delete(blocked_network).where(blocked_network.c.network == network)).rowcount:
        raise NetworkNotBlocked(network=network)
    audit.record(db, "network-unblocked", at=now, user_id=None, source=audit.COMMAND_LINE, detail=network)
    return network


def _parse(text: str) -> str:
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError as error:
        sentence = f"{text!r} is no address and no network such as 203.0.113.0/24."
        raise Invalid({"network": [sentence]}) from error
    if network.prefixlen < PREFIX_MIN[network.version]:
        sentence = f"{network} is too large: at least /{PREFIX_MIN[network.version]}."
        raise Invalid({"network": [sentence]})
    return str(network)
