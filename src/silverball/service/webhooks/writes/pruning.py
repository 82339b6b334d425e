"""Delete old deliveries."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete

from silverball.store.tables import webhook_delivery

# Longer than the retries of any message last.
RETENTION = timedelta(days=7)
_D = webhook_delivery.c


def prune_deliveries(db: Connection, now: datetime) -> int:
    """Delete the deliveries that ended more than a week ago, and return their number."""
    old = (_D.created_at <= now - RETENTION, _D.status != "waiting")
    return int(db.execute(delete(webhook_delivery).where(*old)).rowcount)
