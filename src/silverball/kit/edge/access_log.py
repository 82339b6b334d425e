"""The access log.

Each computed request leaves one line. Answers from memory do not, since a line costs more than such
an answer: they are counted, and the count is logged once a minute.
"""

import logging
from collections.abc import Callable, MutableMapping
from typing import Any

from silverball.kit import logs
from silverball.kit.measures import RequestMeasures

LOG = logging.getLogger("silverball.front")
PATH_CHARACTERS_MAX = 500
REPORT_SECONDS = 60.0


class RequestCounts:
    """Counts since the last report. Used by one thread only."""

    def __init__(self, clock: Callable[[], float], measures: RequestMeasures) -> None:
        self._measures = measures
        self.from_memory = 0
        self.turned_away = 0
        self.shed = 0
        self._clock = clock
        self._report_at = clock() + REPORT_SECONDS

    def report_when_due(self, cached_count: int, cached_bytes: int) -> None:
        """Log the counts once a minute and reset them."""
        if self._clock() < self._report_at:
            return
        self._report_at = self._clock() + REPORT_SECONDS
        logs.log_line(
            LOG,
            "requests in the last minute",
            fromMemory=self.from_memory,
            turnedAway=self.turned_away,
            shed=self.shed,
            answersKept=cached_count,
            bytesKept=cached_bytes,
        )
        self._measures.turned_away += self.turned_away
        self._measures.shed += self.shed
        self.from_memory = self.turned_away = self.shed = 0


def log_request(
    scope: MutableMapping[str, Any], user_id: int | None, start: MutableMapping[str, Any], seconds: float
) -> None:
    """Log one computed request."""
    request_id = next(value for name, value in start["headers"] if name == b"x-request-id")
    logs.log_line(
        LOG,
        "request answered",
        requestId=request_id.decode(),
        method=scope["method"],
        path=scope["path"][:PATH_CHARACTERS_MAX],
        status=start["status"],
        milliseconds=round(seconds * 1000, 1),
        userId=user_id,
    )
