"""Stored responses by Idempotency-Key: a request that is sent again acts once, on every node.

The key is claimed and the response stored in the transaction of the change, so there is never a change
without its response, nor a response without its change. A claim waits for another transaction that has
just claimed the same key.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, delete, select, text, tuple_, update

from silverball.kit.edge.idempotency import IdempotencyKey, StoredResponse
from silverball.store.counts import quotas
from silverball.store.database.statements import Statement
from silverball.store.people import hidings
from silverball.store.tables import idempotency
from silverball.store.types import Instant

RETENTION = timedelta(hours=24)
DELETED_AT_ONCE = 20
_C = idempotency.c
_IS_KEY = (_C.user_id == bindparam("own_user_id"), _C.key == bindparam("own_key"))
_LOAD = Statement(
    select(_C.fingerprint, _C.status, _C.body, _C.headers).where(*_IS_KEY, _C.at >= bindparam("since"))
)
_CLAIM = Statement(
    text(
        "INSERT INTO idempotency (user_id, key, fingerprint, status, body, headers, at)"
        " VALUES (:user_id, :key, :fingerprint, 0, '', '[]', :at)"
        " ON CONFLICT (user_id, key) DO UPDATE"
        " SET fingerprint = excluded.fingerprint, status = 0, body = '', headers = '[]', at = excluded.at"
        " WHERE idempotency.at < :expired RETURNING key"
    ).bindparams(bindparam("at", type_=Instant), bindparam("expired", type_=Instant))
)
_STORE = Statement(
    update(idempotency)
    .where(*_IS_KEY)
    .values(status=bindparam("new_status"), body=bindparam("new_body"), headers=bindparam("new_headers"))
)
_EXPIRED = Statement(
    select(_C.user_id, _C.key)
    .where(_C.at < bindparam("before"))
    .order_by(_C.at)
    .limit(DELETED_AT_ONCE)
    # Rows that another transaction is deleting already are not worth waiting for.
    .with_for_update(skip_locked=True)
)


def load_response(db: Connection, key: IdempotencyKey, now: datetime) -> StoredResponse | None:
    """The stored response to this key, without what was hidden since; None without one, or if too old."""
    rows = _LOAD.rows(db, own_user_id=key.user_id, own_key=key.key, since=now - RETENTION)
    if not rows:
        return None
    ((fingerprint, status, body, headers),) = rows
    body = hidings.reply_as_shown(db, body, key.user_id)
    names_and_values = tuple((str(name), str(value)) for name, value in headers)
    return StoredResponse(fingerprint, status, body.encode(), names_and_values)


def claim_key(db: Connection, key: IdempotencyKey, now: datetime) -> bool:
    """Claim the key for this transaction. False when a response to it is stored already.

    Raises TooManyStoredReplies.
    """
    quotas.require_room_for_reply(db, key.user_id)
    claimed = _CLAIM.rows(
        db,
        user_id=key.user_id,
        key=key.key,
        fingerprint=key.fingerprint,
        at=now,
        expired=now - RETENTION,
    )
    return bool(claimed)


def store_response(db: Connection, key: IdempotencyKey, response: StoredResponse, now: datetime) -> None:
    """Store the response to a claimed key, and delete a few expired ones of any account."""
    _STORE.run(
        db,
        own_user_id=key.user_id,
        own_key=key.key,
        new_status=response.status,
        new_body=response.body.decode(),
        new_headers=response.headers,
    )
    _delete_expired(db, now)


def _delete_expired(db: Connection, now: datetime) -> None:
    rows = _EXPIRED.rows(db, before=now - RETENTION)
    if rows:
        db.execute(delete(idempotency).where(tuple_(_C.user_id, _C.key).in_(rows)))
