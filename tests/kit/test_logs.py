"""Each log record is one line of JSON, whatever text it contains."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from silverball.kit import logs


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log output. The loggers are restored afterwards."""
    root, own = logging.getLogger(), logging.getLogger(logs.LOGGER_NAME)
    saved = root.handlers[:], root.level, own.level
    stream = io.StringIO()
    logs.configure(stream)
    yield stream
    root.handlers[:] = saved[0]
    root.setLevel(saved[1])
    own.setLevel(saved[2])


def _only_line(lines: io.StringIO) -> dict[str, Any]:
    (line,) = lines.getvalue().splitlines()
    decoded: dict[str, Any] = json.loads(line)
    return decoded


def test_a_line_has_its_members(lines: io.StringIO) -> None:
    logs.log_line(logging.getLogger("silverball.test"), "answered", status=200, path="/api/arenas")
    line = _only_line(lines)
    assert (line["message"], line["status"], line["path"], line["level"]) == (
        "answered",
        200,
        "/api/arenas",
        "info",
    )


@pytest.mark.parametrize(
    "path", ["/api/x\n{}", "/api/x\r\x1b[2J", "/api/x\x7f\x85\u2028y", "/api/\u202etxet", "/api/\ud83c"]
)
def test_text_cannot_forge_a_line_or_move_the_cursor(lines: io.StringIO, path: str) -> None:
    logs.log_line(logging.getLogger("silverball.test"), "answered", path=path)
    text = lines.getvalue()
    assert text.endswith("}\n")
    assert text[:-1].isprintable()
    _only_line(lines)


def test_an_error_has_its_traceback_and_request_id(lines: io.StringIO) -> None:
    token = logs.request_id.set("order-17")
    try:
        raise RuntimeError("the tilt bob fell off")
    except RuntimeError:
        logging.getLogger("silverball.test").error("failed", exc_info=sys.exc_info())
    finally:
        logs.request_id.reset(token)
    line = _only_line(lines)
    assert line["requestId"] == "order-17"
    assert "RuntimeError: the tilt bob fell off" in line["traceback"]


def test_libraries_log_warnings_only(lines: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").info("chatter")
    logging.getLogger("uvicorn.error").warning("trouble")
    assert _only_line(lines)["message"] == "trouble"
