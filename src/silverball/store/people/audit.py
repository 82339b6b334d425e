"""The audit log: what concerns security, apart from the journals of tournaments.

Callers record inside the transaction of what they do, so that neither is there without the other. What
was refused has no such transaction, nor has a download: they are counted in one of their own, in one row
for each address and minute, and in few rows a minute in all, so that nobody can fill the disk.

Nothing here is a secret or text that somebody typed. Entries are also lines of the log `silverball.audit`.
"""

import ipaddress
import logging
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update

from silverball.kit import logs
from silverball.kit.edge.proxies import address_group
from silverball.kit.errors import Conflict, Invalid
from silverball.store.counts import quotas
from silverball.store.database.slices import delete_slice
from silverball.store.tables import audit_entry, blocked_network
from silverball.store.types import Instant

LOG = logging.getLogger("silverball.audit")
SecurityEvent = Literal[
    "account-cleaned",
    "account-erased",
    "account-made",
    "account-suspended",
    "account-unsuspended",
    "backup-made",
    "data-exported",
    "encryption-key-changed",
    "encryption-key-forgotten",
    "first-code-refused",
    "invitation-made",
    "invitation-withdrawn",
    "password-refused",
    "network-blocked",
    "network-unblocked",
    "number-confirmed",
    "number-withdrawn",
    "password-set",
    "recovery-code-used",
    "recovery-link-made",
    "recovery-mail-refused",
    "recovery-mailed",
    "role-changed",
    "sign-in",
    "sign-in-code-refused",
    "sign-in-refused",
    "sign-ins-ended",
    "site-changed",
    "token-made",
    "token-revoked",
    "token-rotated",
    "too-many-sign-ins",
    "tournament-restored",
    "two-step-demanded",
    "two-step-off",
    "two-step-on",
]
# What was refused. The source need not be the account's own person.
REFUSALS: frozenset[SecurityEvent] = frozenset(
    {
        "first-code-refused",
        "password-refused",
        "recovery-mail-refused",
        "sign-in-code-refused",
        "sign-in-refused",
        "too-many-sign-ins",
    }
)
# The source of what was done on the machine itself.
COMMAND_LINE = "command line"
COUNTED_PER_MINUTE_MAX = 100
COUNTED_KEPT_MAX = 200_000
_ENTRY = audit_entry.c
_COUNT = text(
    "INSERT INTO audit_entry (event, user_id, source, detail, at, last_at, count, bucket)"
    " VALUES (:event, :user_id, :source, '', :at, :at, 1, :bucket)"
    " ON CONFLICT (bucket) DO UPDATE SET count = audit_entry.count + 1, last_at = excluded.last_at"
).bindparams(bindparam("at", type_=Instant))


def record(
    db: Connection, event: SecurityEvent, *, at: datetime, user_id: int | None, source: str, detail: str = ""
) -> None:
    """Record what was done, with or to the account, from an address or the command line.

    `detail` is a word of the program or an id, never text from outside.
    """
    values = {"event": event, "user_id": user_id, "source": source, "detail": detail}
    db.execute(insert(audit_entry).values(**values, at=at, last_at=at, count=1, bucket=None))
    # Before the commit: a line about something that then failed is better than none about what happened.
    logs.log_line(LOG, event, userId=user_id, source=source, detail=detail)


def count(
    db: Connection, event: SecurityEvent, *, at: datetime, source: str, user_id: int | None = None
) -> None:
    """Count what anybody may do often: in one row for each minute, event, address and account."""
    minute = at.replace(second=0, microsecond=0)
    source = address_group(source)
    recent = select(func.count()).where(_ENTRY.at >= minute, _ENTRY.bucket.is_not(None))
    if db.execute(recent).scalar_one() >= COUNTED_PER_MINUTE_MAX:
        # Many addresses at once: what they do is counted together.
        source, user_id = "", None
    bucket = f"{minute:%Y-%m-%dT%H:%M} {event} {user_id or '-'} {source}"
    values = {"event": event, "user_id": user_id, "source": source, "at": at, "bucket": bucket}
    db.execute(_COUNT, values)
    logs.log_line(LOG, event, userId=user_id, source=source)


def forget_person(db: Connection, user_id: int) -> None:
    """Erase from where the account was used, and keep that something was done."""
    rows = update(audit_entry).where(_ENTRY.user_id == user_id)
    # The bucket has the address in it.
    db.execute(rows.values(source="", bucket=None))


def prune_slice(db: Connection, now: datetime, days: int) -> int:
    """Delete some of the entries older than this, then of the oldest counted ones above their limit.

    Returns how many; 0 when none are left.
    """
    deleted = delete_slice(db, audit_entry, _ENTRY.at < now - timedelta(days=days))
    if deleted:
        return deleted
    counted = select(_ENTRY.audit_entry_id).where(_ENTRY.bucket.is_not(None))
    newest_first = counted.order_by(_ENTRY.audit_entry_id.desc())
    too_many = db.execute(newest_first.offset(COUNTED_KEPT_MAX).limit(1)).scalar_one_or_none()
    if too_many is None:
        return 0
    return delete_slice(db, audit_entry, _ENTRY.bucket.is_not(None), _ENTRY.audit_entry_id <= too_many)


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
    quotas.require_room(
        db,
        blocked_network,
        owner="the site",
        limit=NETWORKS_MAX,
        refusal=lambda _: TooManyNetworks(limit=NETWORKS_MAX),
    )
    db.execute(insert(blocked_network).values(network=network, created_at=now))
    record(db, "network-blocked", at=now, user_id=None, source=COMMAND_LINE, detail=network)
    return network


def unblock(db: Connection, text: str, *, now: datetime) -> str:
    """Unblock a network that is listed, and return it. Raises Invalid and NetworkNotBlocked."""
    network = _parse(text)
    if not db.execute(delete(blocked_network).where(blocked_network.c.network == network)).rowcount:
        raise NetworkNotBlocked(network=network)
    record(db, "network-unblocked", at=now, user_id=None, source=COMMAND_LINE, detail=network)
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
