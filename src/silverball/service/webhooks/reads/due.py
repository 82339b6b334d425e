"""Webhooks with announcements to plan or messages to send."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from silverball.store.tables import tournament, webhook, webhook_delivery

_W, _D, _T = webhook.c, webhook_delivery.c, tournament.c


def webhooks_behind() -> Select[Any]:
    """The oldest active webhook with announcements that are not planned yet."""
    rows = select(webhook, _T.epoch.label("own_epoch"), _T.seq.label("own_seq"), _T.seq_low.label("own_low"))
    rows = rows.join(tournament, _T.tournament_id == _W.tournament_id)
    is_behind = or_(_W.epoch != _T.epoch, _W.seq < _T.seq)
    return rows.where(_W.is_active, is_behind).order_by(_W.webhook_id).limit(1)


def webhooks_ready(now: datetime, *, slow: bool) -> Select[Any]:
    """The webhook with a message to send now whose last turn was longest ago.

    Slow or failing webhooks have a queue of their own (`slow`), so they wait only for each other.
    """
    is_free = or_(_W.busy_until.is_(None), _W.busy_until < now)
    is_rested = or_(_W.rest_until.is_(None), _W.rest_until <= now)
    has_message = select(_D.webhook_delivery_id).where(_D.webhook_id == _W.webhook_id, is_due(now)).exists()
    rows = select(webhook).where(_W.is_active, _W.is_slow == slow, is_free, is_rested, has_message)
    return rows.order_by(_W.tried_at, _W.webhook_id).limit(1)


def is_due(now: datetime) -> ColumnElement[bool]:
    """Whether a delivery is due to be sent now."""
    return and_(_D.status == "waiting", _D.due_at <= now)


def is_any_webhook_behind(db: Connection) -> bool:
    """Whether a webhook has announcements that are not planned yet."""
    rows = webhooks_behind().with_only_columns(_W.webhook_id, maintain_column_froms=True)
    return db.execute(rows).first() is not None


def is_any_message_ready(db: Connection, now: datetime, *, slow: bool) -> bool:
    """Whether a message is due to be sent."""
    rows = webhooks_ready(now, slow=slow).with_only_columns(_W.webhook_id)
    return db.execute(rows).first() is not None
