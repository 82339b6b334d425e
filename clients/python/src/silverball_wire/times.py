"""Times in the forms of the interface; each field has its own (interface.md 2, row 22)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def iso(moment: datetime) -> str:
    """`2025-01-16T00:10:45.000000Z`: fields ending in Utc, completedAt, startedAt, a user's createdAt."""
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def plain(moment: datetime) -> str:
    """`2025-01-16 00:10:45`: a tournament's createdAt and updatedAt, in UTC."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def plain_z(moment: datetime) -> str:
    """`2025-01-16 00:10:45Z`: a round's createdAt and completedAt."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def plain_z_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else plain_z(moment)


def local(moment: datetime, timezone: str) -> str:
    """`2025-01-15 19:10:45`: local time of the timezone."""
    return moment.astimezone(ZoneInfo(timezone)).strftime("%Y-%m-%d %H:%M:%S")


def parse_moment(text: str) -> datetime:
    """The time in any of the forms above; UTC when it names no zone. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
