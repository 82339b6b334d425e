"""Delete old deliveries."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from silverball.store.slices import delete_slice
from silverball.store.tables import webhook_delivery

# Longer than the retries of any message last.
RETENTION = timedelta(days=7)
_D = webhook_delivery.c


def prune_slice(db: Connection, now: datetime) -> int:
    """Delete some of the deliveries that ended more than a week ago, and return how many."""
    return delete_slice(db, webhook_delivery, _D.created_at <= now - RETENTION, _D.status != "waiting")
