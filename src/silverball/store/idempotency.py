"""Stored answers by Idempotency-Key: a request that is sent again acts once, on every node.

A key is claimed in the transaction of the change and the answer is kept in the same one, so there is
never a change without its answer, nor an answer without its change. A claim of a key that another
transaction has just claimed waits for that one.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, select, text, tuple_, update

from silverball.kit.edge.idempotency import IdempotencyKey, StoredResponse
from silverball.store.tables import idempotency
from silverball.store.types import Instant

RETENTION = timedelta(hours=24)
DELETED_AT_ONCE = 20
CLAIM = text(
    "INSERT INTO idempotency (user_id, key, fingerprint, status, body, headers, at)"
    " VALUES (:user_id, :key, :fingerprint, 0, '', '[]', :at)"
    " ON CONFLICT (user_id, key) DO UPDATE"
    " SET fingerprint = excluded.fingerprint, status = 0, body = '', headers = '[]', at = excluded.at"
    " WHERE idempotency.at < :expired RETURNING key"
).bindparams(bindparam("at", type_=Instant), bindparam("expired", type_=Instant))


def load_response(db: Connection, ticket: IdempotencyKey, now: datetime) -> StoredResponse | None:
    """The stored answer to this key, unless it is too old."""
    columns = (idempotency.c.fingerprint, idempotency.c.status, idempotency.c.body, idempotency.c.headers)
    row = db.execute(
        select(*columns).where(*_key_conditions(ticket), idempotency.c.at >= now - RETENTION)
    ).mappings()
    one = row.first()
    return None if one is None else _stored_response(one)


def claim_key(db: Connection, ticket: IdempotencyKey, now: datetime) -> bool:
    """Take the key for this transaction. False when another one has it: then there is a stored answer."""
    values = {
        "user_id": ticket.user_id,
        "key": ticket.key,
        "fingerprint": ticket.fingerprint,
        "at": now,
        "expired": now - RETENTION,
    }
    return db.execute(CLAIM, values).first() is not None


def store_response(db: Connection, ticket: IdempotencyKey, kept: StoredResponse, now: datetime) -> None:
    """Store the answer to a claimed key, and forget a few old ones of anybody."""
    values = {"status": kept.status, "body": kept.body.decode(), "headers": kept.headers}
    db.execute(update(idempotency).where(*_key_conditions(ticket)).values(**values))
    _delete_expired(db, now)


def _delete_expired(db: Connection, now: datetime) -> None:
    key = (idempotency.c.user_id, idempotency.c.key)
    old = (
        select(*key)
        .where(idempotency.c.at < now - RETENTION)
        .order_by(idempotency.c.at)
        .limit(DELETED_AT_ONCE)
        # What another transaction is forgetting already is no reason to wait for it.
        .with_for_update(skip_locked=True)
    )
    rows = db.execute(old).all()
    if rows:
        db.execute(delete(idempotency).where(tuple_(*key).in_([tuple(row) for row in rows])))


def _key_conditions(ticket: IdempotencyKey) -> Sequence[Any]:
    return (idempotency.c.user_id == ticket.user_id, idempotency.c.key == ticket.key)


def _stored_response(row: RowMapping) -> StoredResponse:
    headers = tuple((str(name), str(value)) for name, value in row["headers"])
    return StoredResponse(row["fingerprint"], row["status"], row["body"].encode(), headers)
