"""Time between two moments that clocks gave, which may have been set back meanwhile."""

from datetime import datetime


def seconds_between(began_at: datetime, ended_at: datetime) -> float:
    """Seconds from one moment to another; 0 when the clock says that the end was first."""
    return max(0.0, (ended_at - began_at).total_seconds())


def end_at(began_at: datetime | None, now: datetime | None) -> datetime | None:
    """The end of something that ends now: not before it began, whatever the clock says."""
    return now if began_at is None or now is None else max(began_at, now)
