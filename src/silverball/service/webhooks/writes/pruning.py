"""Deliveries that nobody looks at any more are taken out."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete

from silverball.store.tables import webhook_delivery

# Longer than any message is tried.
RETENTION = timedelta(days=7)
_D = webhook_delivery.c


def prune_deliveries(db: Connection, now: datetime) -> int:
    """Take out what was decided a week ago; returns how many."""
    old = (_D.created_at <= now - RETENTION, _D.status != "waiting")
    return int(db.execute(delete(webhook_delivery).where(*old)).rowcount)
