"""What the program says about itself: one JSON object a line on stderr, always.

Only what is named in a call is written; headers, tokens, cookies, passwords, query strings and
bodies never are. JSON escapes line breaks and control characters, so a line cannot be forged.
"""

import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

ROOT = "silverball"
TEXT_CHARACTERS_MAX = 20_000
# Which request the current thread works for; empty outside of one.
request_id: ContextVar[str] = ContextVar("request_id", default="")
# JSON escapes the first 32; these would still move a terminal's cursor or turn its text around.
_INVISIBLE = dict.fromkeys(
    [*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_ENCODE = msgspec.json.Encoder(enc_hook=str).encode


class JsonLines(logging.Formatter):
    """A record as one line of JSON; `extra={"silverball": {...}}` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        members: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage()[:TEXT_CHARACTERS_MAX],
        }
        asked = request_id.get()
        if asked:
            members["requestId"] = asked
        members.update(getattr(record, ROOT, {}))
        if record.exc_info:
            members["traceback"] = self.formatException(record.exc_info)[-TEXT_CHARACTERS_MAX:]
        return _ENCODE(members).decode().translate(_INVISIBLE)


def configure(stream: TextIO | None = None) -> None:
    """Send every record of this program, and warnings of its libraries, to stderr."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(ROOT).setLevel(logging.INFO)


def say(log: logging.Logger, message: str, **members: object) -> None:
    """One line with members beside the message."""
    log.info(message, extra={ROOT: members})
