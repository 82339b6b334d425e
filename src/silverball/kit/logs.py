"""The program's log: one JSON object per line on stderr.

A line contains only the members named in the call, never headers, tokens, cookies, passwords, query
strings or bodies. Line breaks and control characters are escaped, so a line cannot be forged.
"""

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGER_NAME = "silverball"
TEXT_CHARACTERS_MAX = 20_000
_ENCODE = json.JSONEncoder(default=str).encode
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
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)[-TEXT_CHARACTERS_MAX:]
        # ASCII only, so that a line cannot move a terminal's cursor or change the direction of its text.
        return _ENCODE(members)


def configure(stream: TextIO | None = None) -> None:
    """Send the records of this program, and the warnings of its libraries, to stderr."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(LOGGER_NAME).setLevel(logging.INFO)


def log_line(log: logging.Logger, message: str, **members: object) -> None:
    """Log one line with members beside the message."""
    log.info(message, extra={LOGGER_NAME: members})
