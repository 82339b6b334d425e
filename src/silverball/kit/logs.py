"""The program's log: one JSON object per line on stderr.

A line contains only the members named in the call, never headers, tokens, cookies, passwords, query
strings or bodies. Line breaks and control characters are escaped, so a line cannot be forged.
"""

import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGER_NAME = "silverball"
TEXT_CHARACTERS_MAX = 20_000
# A kind of error is logged this often, and with its traceback again after so long without any.
REPEAT_SECONDS = 1.0
TRACEBACK_SECONDS = 60.0
KINDS_MAX = 200
# On a record whose traceback was logged a moment ago.
SHORTENED = "is_shortened"
_ENCODE = json.JSONEncoder(default=str, separators=(",", ":")).encode
# The id of the request that the current thread works on; empty outside a request.
request_id: ContextVar[str] = ContextVar("request_id", default="")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON; `extra={"silverball": {...}}` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        members: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage()[:TEXT_CHARACTERS_MAX],
        }
        current_request = request_id.get()
        if current_request:
            members["requestId"] = current_request
        members.update(getattr(record, LOGGER_NAME, {}))
        if record.exc_info and getattr(record, SHORTENED, False):
            members["error"] = _last_line(record.exc_info[1])
        elif record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)[-TEXT_CHARACTERS_MAX:]
        # ASCII only, so that no text moves a terminal's cursor or changes its direction.
        return _ENCODE(members)


class RepeatedErrors(logging.Filter):
    """Lets errors of a kind through once a second, with the number of those left out in between.

    An outage fails thousands of requests in the same way. The first line of a kind has the traceback;
    the next ones have it again after a minute without any. Lines without an exception all pass.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: dict[object, _ErrorKind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this record is logged."""
        if not record.exc_info or record.exc_info[0] is None:
            return True
        now, key = self._clock(), (record.name, record.levelno, record.msg, record.exc_info[0])
        with self._lock:
            kind = self._kinds.pop(key, None)
            # The kind that was seen last comes last.
            self._kinds[key] = kind or _ErrorKind(now)
            if kind is None:
                if len(self._kinds) > KINDS_MAX:
                    del self._kinds[next(iter(self._kinds))]
                return True
            seen_at, kind.seen_at = kind.seen_at, now
            kind.left_out += 1
            if now - kind.logged_at < REPEAT_SECONDS:
                return False
            kind.logged_at = now
            members = {**getattr(record, LOGGER_NAME, {}), "count": kind.left_out}
            setattr(record, LOGGER_NAME, members)
            setattr(record, SHORTENED, now - seen_at < TRACEBACK_SECONDS)
            kind.left_out = 0
        return True


class _ErrorKind:
    """When errors of a kind were seen, and how many were left out since the last line."""

    __slots__ = ("left_out", "logged_at", "seen_at")

    def __init__(self, now: float) -> None:
        self.seen_at = now
        self.logged_at = now
        self.left_out = 0


def _last_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:TEXT_CHARACTERS_MAX]


def configure(stream: TextIO | None = None) -> None:
    """Send the records of this program, and the warnings of its libraries, to stderr."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    handler.addFilter(RepeatedErrors())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(LOGGER_NAME).setLevel(logging.INFO)
    # Its warnings repeat errors that are raised: each statement after one that failed, in the same batch.
    logging.getLogger("psycopg").setLevel(logging.ERROR)


def log_line(log: logging.Logger, message: str, **members: object) -> None:
    """Log one line with members beside the message."""
    log.info(message, extra={LOGGER_NAME: members})
