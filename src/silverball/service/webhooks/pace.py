"""When a message is tried again, and for how long somebody who does not answer is left alone. Pure.

A message has a schedule of its own, after Standard Webhooks. Beside it an address rests while it fails:
however many messages wait for a dead one, it is knocked at once in a while.
"""

from datetime import datetime, timedelta

# After the first try, after the second, and so on; then it has failed.
RETRIES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
TRIES_MAX = len(RETRIES) + 1
# After one failure in a row the next message goes at once: it may be the message's own fault.
RESTS = (
    timedelta(0),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=1),
    timedelta(minutes=5),
)
# Who has not taken anything for so long is given up.
GIVEN_UP_AFTER = timedelta(days=5)
# Longer than a try can take: whoever took it then is not there any more.
LOST_AFTER = timedelta(minutes=1)
# An answer that takes longer makes others wait who are quicker.
SLOW_SECONDS = 2.0


def next_try_at(tries: int, now: datetime) -> datetime | None:
    """When a message is due again that was tried so often; None when that was the last try."""
    return now + RETRIES[tries - 1] if tries < TRIES_MAX else None


def resting_until(failures: int, now: datetime) -> datetime:
    """Until when an address is left alone that failed so often in a row."""
    return now + RESTS[min(failures, len(RESTS)) - 1]


def is_given_up(failing_since: datetime, now: datetime) -> bool:
    """Whether an address has failed for so long that it is switched off."""
    return failing_since <= now - GIVEN_UP_AFTER
