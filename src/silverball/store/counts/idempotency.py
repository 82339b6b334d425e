"""Stored responses by Idempotency-Key: a request that is sent again acts once, on every node.

The key is claimed and the response stored in the transaction of the change, so there is never a change
without its response, nor a response without its change. A claim waits for another transaction that has
just claimed the same key.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, bindparam, delete, or_, select, text, tuple_, update

from silverball.kit.edge.idempotency import IdempotencyKey, StoredResponse
from silverball.store.counts import quotas, running_minutes
from silverball.store.database.slices import SLICE_ROWS
from silverball.store.database.statements import Statement
from silverball.store.people import hidings
from silverball.store.tables import idempotency, tournament
from silverball.store.types import Id, Instant

# A response goes when so much running time and so much time by the wall are over, or when its tournament has
# been over for a while, in which a repeated request is refused anyway.
RUNNING_MINUTES = 24 * 60
RETENTION = timedelta(hours=24)
RETENTION_AFTER_COMPLETION = timedelta(days=7)
DELETED_AT_ONCE = 200
_C, _T = idempotency.c, tournament.c
_IS_KEY = (_C.user_id == bindparam("own_user_id"), _C.key == bindparam("own_key"))
_LOAD = Statement(select(_C.fingerprint, _C.status, _C.body, _C.headers).where(*_IS_KEY))
_CLAIM = Statement(
    text(
        "INSERT INTO idempotency"
        " (user_id, key, fingerprint, status, body, headers, at, tournament_id, minute)"
        " VALUES (:user_id, :key, :fingerprint, 0, '', '[]', :at, :tournament_id,"
        " COALESCE((SELECT CAST(value AS BIGINT) FROM site_value WHERE name = :counter), 0))"
        " ON CONFLICT (user_id, key) DO NOTHING RETURNING key"
    ).bindparams(bindparam("at", type_=Instant), bindparam("tournament_id", type_=Id))
)
_STORE = Statement(
    update(idempotency)
    .where(*_IS_KEY)
    .values(status=bindparam("new_status"), body=bindparam("new_body"), headers=bindparam("new_headers"))
)


def load_response(db: Connection, key: IdempotencyKey) -> StoredResponse | None:
    """The stored response to this key, without what was hidden since; None without one."""
    rows = _LOAD.rows(db, own_user_id=key.user_id, own_key=key.key)
    if not rows:
        return None
    ((fingerprint, status, body, headers),) = rows
    body = hidings.reply_as_shown(db, body, key.user_id)
    names_and_values = tuple((str(name), str(value)) for name, value in headers)
    return StoredResponse(fingerprint, status, body.encode(), names_and_values)


def claim_key(db: Connection, key: IdempotencyKey, tournament_id: int | None, now: datetime) -> bool:
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
        tournament_id=tournament_id,
        counter=running_minutes.NAME,
    )
    return bool(claimed)


def store_response(db: Connection, key: IdempotencyKey, response: StoredResponse) -> None:
    """Store the response to a claimed key."""
    _STORE.run(
        db,
        own_user_id=key.user_id,
        own_key=key.key,
        new_status=response.status,
        new_body=response.body.decode(),
        new_headers=response.headers,
    )


def prune_slice(db: Connection, now: datetime) -> int:
    """Delete some of the responses that nobody can be expected to ask for again; returns how many.

    The time of the wall alone says little: an outbox is sent again after a clock has jumped by days.
    """
    minute = running_minutes.current_minute(db)
    is_old = and_(_C.minute <= minute - RUNNING_MINUTES, _C.at <= now - RETENTION)
    completed = select(_T.tournament_id).where(
        _T.status == "completed", _T.updated_at <= now - RETENTION_AFTER_COMPLETION
    )
    some = select(_C.user_id, _C.key).where(or_(is_old, _C.tournament_id.in_(completed)))
    # Rows that another transaction is deleting already are not worth waiting for.
    rows = db.execute(some.order_by(_C.at).limit(SLICE_ROWS).with_for_update(skip_locked=True)).all()
    for start in range(0, len(rows), DELETED_AT_ONCE):
        batch = [tuple(row) for row in rows[start : start + DELETED_AT_ONCE]]
        db.execute(delete(idempotency).where(tuple_(_C.user_id, _C.key).in_(batch)))
    return len(rows)
