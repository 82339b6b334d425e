"""Deliveries that nobody looks at any more are taken out."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete

from silverball.store.tables import webhook_delivery

# Longer than any message is tried.
KEPT_FOR = timedelta(days=7)
_D = webhook_delivery.c


def prune(db: Connection, now: datetime) -> int:
    """Take out what was decided a week ago; returns how many."""
    old = (_D.created_at <= now - KEPT_FOR, _D.status != "waiting")
    return int(db.execute(delete(webhook_delivery).where(*old)).rowcount)
