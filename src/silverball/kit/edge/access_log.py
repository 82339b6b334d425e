"""What is said about requests in the log.

Every request that is computed leaves one line. Answers from memory do not, since a line costs more
than such an answer: they are counted, and the count is reported once a minute.
"""

import logging
from collections.abc import Callable, MutableMapping
from typing import Any

from silverball.kit import logs

LOG = logging.getLogger("silverball.front")
PATH_CHARACTERS_MAX = 500
REPORT_SECONDS = 60.0


class RequestCounts:
    """What is counted until the next report. Touched by one thread only."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.from_memory = 0
        self.turned_away = 0
        self._clock = clock
        self._report_at = clock() + REPORT_SECONDS

    def report_when_due(self, answers_kept: int, bytes_kept: int) -> None:
        """One line a minute, and the counts begin anew."""
        if self._clock() < self._report_at:
            return
        self._report_at = self._clock() + REPORT_SECONDS
        logs.log_line(
            LOG,
            "in the last minute",
            fromMemory=self.from_memory,
            turnedAway=self.turned_away,
            answersKept=answers_kept,
            bytesKept=bytes_kept,
        )
        self.from_memory = self.turned_away = 0


def log_request(
    scope: MutableMapping[str, Any], user_id: int | None, start: MutableMapping[str, Any], seconds: float
) -> None:
    """The line of one request that was computed."""
    request_id = next(value for name, value in start["headers"] if name == b"x-request-id")
    logs.log_line(
        LOG,
        "answered",
        requestId=request_id.decode(),
        method=scope["method"],
        path=scope["path"][:PATH_CHARACTERS_MAX],
        status=start["status"],
        milliseconds=round(seconds * 1000, 1),
        userId=user_id,
    )
