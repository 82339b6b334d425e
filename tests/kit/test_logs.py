"""Each log record is one line of JSON, whatever text it contains."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address
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


def test_a_line_of_a_request_has_its_id_and_a_silent_logger_no_lines(lines: io.StringIO) -> None:
    log = logging.getLogger("silverball.test")
    token = logs.request_id.set("order-18")
    logs.log_line(log, "answered")
    logs.request_id.reset(token)
    logging.getLogger(logs.LOGGER_NAME).setLevel(logging.WARNING)
    logs.log_line(log, "answered")
    assert _only_line(lines)["requestId"] == "order-18"


def test_a_value_that_json_does_not_have_is_written_as_its_text(lines: io.StringIO) -> None:
    logs.log_line(logging.getLogger("silverball.test"), "answered", source=IPv4Address("192.0.2.7"))
    assert _only_line(lines)["source"] == "192.0.2.7"


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


class Clock:
    """A clock set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(lines: io.StringIO) -> Clock:
    """The clock of the log, by which it leaves out repeated errors."""
    clock = Clock()
    (handler,) = logging.getLogger().handlers
    handler.filters[:] = [logs.RepeatedErrors(clock)]
    return clock


def _fail(error: Exception, sentence: str = "the request failed") -> None:
    logging.getLogger("silverball.test").error(sentence, exc_info=error)


def _decoded(lines: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_a_batch_of_statements_that_fails_is_not_logged_once_more(lines: io.StringIO) -> None:
    logging.getLogger("psycopg").warning("error ignored terminating the pipeline")
    assert lines.getvalue() == ""


def test_an_outage_logs_a_line_a_second_with_a_count(lines: io.StringIO, clock: Clock) -> None:
    for request in range(30_000):
        clock.now = request / 1_000
        _fail(ConnectionError(f"the database is gone, says request {request}\nand more"))
    logged = _decoded(lines)
    assert len(logged) == 30
    assert len(lines.getvalue()) < 10_000
    assert "ConnectionError" in logged[0]["traceback"]
    assert [line["count"] for line in logged[1:]] == [1_000] * 29
    assert logged[1]["error"] == "ConnectionError: the database is gone, says request 1000"
    assert not any("traceback" in line for line in logged[1:])


def test_errors_of_another_kind_are_logged_at_once(lines: io.StringIO, clock: Clock) -> None:
    for error in (ConnectionError("gone"), TimeoutError("late"), ConnectionError("gone")):
        _fail(error)
        _fail(error, "a job failed")
    logging.getLogger("silverball.test").warning("no exception")
    logging.getLogger("silverball.test").warning("no exception")
    assert len(_decoded(lines)) == 6


def test_an_error_that_comes_back_later_has_its_traceback_again(lines: io.StringIO, clock: Clock) -> None:
    for moment in (0.0, 2.0, 63.0):
        clock.now = moment
        _fail(ConnectionError("gone"))
    assert ["traceback" in line for line in _decoded(lines)] == [True, False, True]


def test_kinds_of_errors_are_remembered_within_a_bound(lines: io.StringIO, clock: Clock) -> None:
    for number in range(3 * logs.KINDS_MAX):
        _fail(ConnectionError("gone"), f"failure {number}")
    _fail(ConnectionError("gone"), "failure 0")
    assert len(_decoded(lines)) == 3 * logs.KINDS_MAX + 1
