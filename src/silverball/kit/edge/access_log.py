"""The access log.

Each computed request leaves one line. Answers from memory do not, since a line costs more than such
an answer: they are counted, and the count is logged once a minute.
"""

import logging
from collections.abc import Callable

from silverball.kit import logs
from silverball.kit.edge.response_cache import ResponseCache
from silverball.kit.http.asgi import Scope
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

    def report_when_due(self, cache: ResponseCache) -> None:
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
            answersKept=len(cache),
            bytesKept=cache.bytes_used,
        )
        self._measures.turned_away += self.turned_away
        self._measures.shed += self.shed
        self.from_memory = self.turned_away = self.shed = 0


def log_request(scope: Scope, status: int, seconds: float, request_id: bytes, user_id: int = 0) -> None:
    """Log one computed request with the status of its answer; the user is 0 without a token."""
    logs.log_line(
        LOG,
        "request answered",
        requestId=request_id.decode(),
        method=scope["method"],
        path=scope["path"][:PATH_CHARACTERS_MAX],
        status=status,
        milliseconds=round(seconds * 1000, 1),
        userId=user_id or None,
    )
