"""Stored responses by Idempotency-Key: a request that is sent again acts once, on every node.

The key is claimed and the response stored in the transaction of the change, so there is never a change
without its response, nor a response without its change. A claim waits for another transaction that has
just claimed the same key.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, text, tuple_, update

from silverball.kit.edge.idempotency import IdempotencyKey, StoredResponse
from silverball.store import account_storage, erasures, hidden_profiles
from silverball.store.erased_replies import ReplyEraser
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


def load_response(db: Connection, key: IdempotencyKey, now: datetime) -> StoredResponse | None:
    """The stored response to this key, without what was hidden since; None without one, or if too old."""
    columns = (idempotency.c.fingerprint, idempotency.c.status, idempotency.c.body, idempotency.c.headers)
    rows = select(*columns).where(*_key_conditions(key), idempotency.c.at >= now - RETENTION)
    row = db.execute(rows).first()
    if row is None:
        return None
    body = hidden_profiles.hide_in_reply(db, row.body, key.user_id)
    for pending in erasures.all_pending(db):
        body = ReplyEraser(pending).erase_text(body)
    headers = tuple((str(name), str(value)) for name, value in row.headers)
    return StoredResponse(row.fingerprint, row.status, body.encode(), headers)


def claim_key(db: Connection, key: IdempotencyKey, now: datetime) -> bool:
    """Claim the key for this transaction. False when a response to it is stored already.

    Raises TooManyStoredReplies.
    """
    account_storage.require_room_for_reply(db, key.user_id)
    values = {
        "user_id": key.user_id,
        "key": key.key,
        "fingerprint": key.fingerprint,
        "at": now,
        "expired": now - RETENTION,
    }
    return db.execute(CLAIM, values).first() is not None


def store_response(db: Connection, key: IdempotencyKey, response: StoredResponse, now: datetime) -> None:
    """Store the response to a claimed key, and delete a few expired ones of any account."""
    values = {"status": response.status, "body": response.body.decode(), "headers": response.headers}
    db.execute(update(idempotency).where(*_key_conditions(key)).values(**values))
    _delete_expired(db, now)


def _delete_expired(db: Connection, now: datetime) -> None:
    columns = (idempotency.c.user_id, idempotency.c.key)
    expired = (
        select(*columns)
        .where(idempotency.c.at < now - RETENTION)
        .order_by(idempotency.c.at)
        .limit(DELETED_AT_ONCE)
        # Rows that another transaction is deleting already are not worth waiting for.
        .with_for_update(skip_locked=True)
    )
    rows = db.execute(expired).all()
    if rows:
        db.execute(delete(idempotency).where(tuple_(*columns).in_([tuple(row) for row in rows])))


def _key_conditions(key: IdempotencyKey) -> Sequence[Any]:
    return (idempotency.c.user_id == key.user_id, idempotency.c.key == key.key)
