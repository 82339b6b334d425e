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

import msgspec

LOGGER_NAME = "silverball"
TEXT_CHARACTERS_MAX = 20_000
# A kind of error is logged this often, and with its traceback again after so long without any.
REPEAT_SECONDS = 1.0
TRACEBACK_SECONDS = 60.0
KINDS_MAX = 200
# On a record whose traceback was logged a moment ago.
SHORTENED = "is_shortened"
_ENCODE_ASCII = json.JSONEncoder(default=str, separators=(",", ":")).encode
_ENCODE = msgspec.json.Encoder().encode
# The id of the request that the current thread works on; empty outside a request.
request_id: ContextVar[str] = ContextVar("request_id", default="")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON; `extra={"silverball": {...}}` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        level, message = record.levelname.lower(), record.getMessage()[:TEXT_CHARACTERS_MAX]
        members = _members(record.created, level, record.name, message)
        members.update(getattr(record, LOGGER_NAME, {}))
        if record.exc_info and getattr(record, SHORTENED, False):
            members["error"] = _last_line(record.exc_info[1])
        elif record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)[-TEXT_CHARACTERS_MAX:]
        return _ENCODE_ASCII(members)


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes the program's own lines without a record, which would cost as much again as the line."""

    def write_line(self, logger_name: str, message: str, members: dict[str, object]) -> None:
        """Write an informative line; a stream that cannot be written loses it, as it loses records."""
        line = _encode(_members(time.time(), "info", logger_name, message) | members)
        assert self.lock is not None  # as its base class makes it
        # `acquire` and `flush` of the base class would take it twice.
        with self.lock:
            try:
                self.stream.write(f"{line}\n")
                self.stream.flush()
            except (OSError, ValueError):
                # Full, or closed.
                return


def _members(at: float, level: str, logger_name: str, message: str) -> dict[str, Any]:
    """The members of every line."""
    members: dict[str, Any] = {
        "at": datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
        "level": level,
        "from": logger_name,
        "message": message,
    }
    current_request = request_id.get()
    if current_request:
        members["requestId"] = current_request
    return members


def _encode(members: dict[str, object]) -> str:
    """A line of ASCII only, so that no text moves a terminal's cursor or changes its direction."""
    try:
        line = _ENCODE(members)
    except (TypeError, ValueError):
        return _ENCODE_ASCII(members)
    if line.isascii() and b"\x7f" not in line:
        return line.decode("ascii")
    return _ENCODE_ASCII(members)


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
    # No line says where in the code it was written, or by which thread, so nothing looks that up.
    logging._srcfile = None  # as the manual of `logging` has it
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = LineHandler(stream or sys.stderr)
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
    handlers = logging.root.handlers
    # Whoever puts handlers of their own there gets records.
    if len(handlers) == 1 and isinstance(handlers[0], LineHandler) and log.isEnabledFor(logging.INFO):
        handlers[0].write_line(log.name, message, members)
    else:
        log.info(message, extra={LOGGER_NAME: members})
