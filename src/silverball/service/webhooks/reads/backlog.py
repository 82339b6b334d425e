"""The messages to webhooks that wait."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from silverball.service.webhooks.reads.due import is_due
from silverball.store.tables import webhook, webhook_delivery


def backlog(db: Connection, now: datetime) -> tuple[int, float]:
    """The number of messages that are due, and for how many seconds the first of them has been."""
    due = webhook_delivery.c
    rows = select(func.count(), func.min(due.due_at)).where(
        due.webhook_id.in_(select(webhook.c.webhook_id).where(webhook.c.is_active)), is_due(now)
    )
    number, oldest = db.execute(rows).one()
    return int(number), max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
