"""Codes of an app asked for at the sign-in, and codes that replace them.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id, Instant

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "two_step",
        Column("user_id", Id, _account("two_step"), primary_key=True),
        Column("secret", Text, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("confirmed_at", Instant),
        Column("last_step", Id),
        sqlite_strict=True,
    )
    op.create_table(
        "recovery_code",
        Column("hash", Text, primary_key=True),
        Column("user_id", Id, _account("recovery_code"), nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_recovery_code_user_id", "recovery_code", ["user_id"])
    op.create_table(
        "half_sign_in",
        Column("hash", Text, primary_key=True),
        Column("user_id", Id, _account("half_sign_in"), nullable=False),
        Column("expires_at", Instant, nullable=False),
        sqlite_strict=True,
    )
    for name in ("user_id", "expires_at"):
        op.create_index(f"ix_half_sign_in_{name}", "half_sign_in", [name])


def downgrade() -> None:
    for name in ("half_sign_in", "recovery_code", "two_step"):
        op.drop_table(name)


def _account(name: str) -> ForeignKey:
    return ForeignKey("user.user_id", name=f"fk_{name}_user_id", ondelete="CASCADE")
