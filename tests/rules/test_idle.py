"""Automatic completion of abandoned tournaments. Source: formats, sections 23 and 25 (test 14)."""

from datetime import UTC, datetime, timedelta

import pytest

from silverball.rules.mechanics import rounds

NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
PAST, FUTURE, ABSENT = NOW - timedelta(days=1), NOW + timedelta(days=1), None


@pytest.mark.parametrize(
    ("hours", "ends_at", "expected"),
    [
        (47, PAST, False),
        (47, FUTURE, False),
        (47, ABSENT, False),
        (48, PAST, False),
        (49, PAST, True),
        (49, FUTURE, False),
        (49, ABSENT, True),
        (49, NOW, True),
    ],
)
def test_two_days_without_activity_close_it_unless_its_end_is_to_come(
    hours: int, ends_at: datetime | None, expected: bool
) -> None:
    assert rounds.is_idle(NOW - timedelta(hours=hours), ends_at, NOW) is expected
