"""Webhooks and their deliveries.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from typing import Any

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Flag, Id, Instant, Json

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_webhook()
    _create_webhook_delivery()


def downgrade() -> None:
    for name in ("webhook_delivery", "webhook"):
        op.drop_table(name)


def _column(name: str, kind: Any = Text, *, null: bool = False) -> Column[object]:
    return Column(name, kind, nullable=null)


def _ref(table: str, name: str, target: str) -> Column[int]:
    rule = ForeignKey(target, name=f"fk_{table}_{name}", ondelete="CASCADE")
    return Column(name, Id, rule, nullable=False)


def _create_webhook() -> None:
    op.create_table(
        "webhook",
        Column("webhook_id", Id, primary_key=True),
        _ref("webhook", "tournament_id", "tournament.tournament_id"),
        _column("name"),
        _column("url"),
        _column("form"),
        _column("events", Json),
        _column("secret"),
        _column("is_active", Flag),
        _column("stopped_reason", null=True),
        _column("epoch"),
        _column("seq", Id),
        _column("told", Json),
        _column("failures", Id),
        _column("failing_since", Instant, null=True),
        _column("rest_until", Instant, null=True),
        _column("is_slow", Flag),
        _column("busy_until", Instant, null=True),
        _column("tried_at", Instant),
        _column("created_at", Instant),
        _column("updated_at", Instant),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_webhook_tournament_id", "webhook", ["tournament_id"])


def _create_webhook_delivery() -> None:
    op.create_table(
        "webhook_delivery",
        Column("webhook_delivery_id", Id, primary_key=True),
        _ref("webhook_delivery", "webhook_id", "webhook.webhook_id"),
        _column("message_id"),
        _column("event"),
        _column("epoch", null=True),
        _column("seq", Id, null=True),
        _column("about", null=True),
        _column("said", null=True),
        _column("status"),
        _column("tries", Id),
        _column("due_at", Instant, null=True),
        _column("tried_at", Instant, null=True),
        _column("response_status", Id, null=True),
        _column("reason", null=True),
        _column("created_at", Instant),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    for columns in (["webhook_id", "status", "due_at"], ["webhook_id", "about"], ["created_at"]):
        op.create_index(f"ix_webhook_delivery_{'_'.join(columns)}", "webhook_delivery", columns)
