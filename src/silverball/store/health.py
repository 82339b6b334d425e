"""Facts about a database for whoever looks after it; nothing is changed."""

from datetime import UTC, datetime

from sqlalchemy import Connection, func, select

from silverball.store.tables import journal


def database_clock(db: Connection) -> datetime | None:
    """The present by the clock of a database server; None for SQLite, which has that of this machine."""
    if db.dialect.name == "sqlite":
        return None
    moment: datetime = db.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)


def newest_action_at(db: Connection) -> datetime | None:
    """The moment of the newest line of the journal; None before the first."""
    newest = select(journal.c.at).order_by(journal.c.journal_id.desc()).limit(1)
    return db.execute(newest).scalar_one_or_none()
