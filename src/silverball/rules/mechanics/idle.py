"""Abandoned tournaments, which are closed automatically. Source: formats, section 23."""

from datetime import datetime, timedelta

IDLE_MAX = timedelta(hours=48)


def is_idle(touched_at: datetime, ends_at: datetime | None, now: datetime) -> bool:
    """Whether nothing happened for more than 48 hours and the planned end, if any, has passed.

    Takes the time of the last result, round, game, or change of players or settings.
    """
    return now - touched_at > IDLE_MAX and (ends_at is None or ends_at <= now)
