"""Every frame that is sent is one that the published libraries can read (docs/feed.md)."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from silverball.feed import messages, protocol
from silverball.store.tournament.announcements import Announcement

PAGE = Path(__file__).parents[2] / "docs" / "feed.md"
EVENT = Announcement(42, "k3f9", 7, "GameCreatedOrUpdated", '{"gameId":7}', datetime(2026, 3, 5, tzinfo=UTC))
FRAMES: dict[str, bytes] = {
    "established": messages.connection_established("123.456"),
    "event": messages.event(EVENT, "plain"),
    "event in a namespace": messages.event(EVENT, "laravel"),
    "subscribed": messages.subscription_succeeded("tournaments.42"),
    "resumed": messages.subscription_resumed("tournaments.42", "k3f9", 7, recovered=True),
    "tick": messages.tick("tournaments.42", "k3f9", 7),
    "no subscription": messages.subscription_error("tournaments.42", "NotFound", "There is none.", 404),
    "no sign-in": messages.signin_error("Nobody needs to."),
    "fault": messages.error(None, "The message is malformed."),
    "close": messages.error(protocol.OVER_CAPACITY, "The server is full."),
    "ping": messages.PING,
    "pong": messages.PONG,
}


def _data(frame: dict[str, Any]) -> Any:
    data = frame["data"]
    return json.loads(data) if isinstance(data, str) else data


def _is_error(frame: dict[str, Any]) -> bool:
    return bool(frame["event"] == "pusher:error")


def pusher_js(frame: dict[str, Any]) -> bool:
    if frame["event"] == "pusher:connection_established":
        return _data(frame)["activity_timeout"] > 0 and bool(_data(frame)["socket_id"])
    return "code" in _data(frame) if _is_error(frame) else isinstance(frame["event"], str)


def java(frame: dict[str, Any]) -> bool:
    if _is_error(frame):
        code = _data(frame)["code"]
        return isinstance(_data(frame)["message"], str) and (code is None or isinstance(code, int))
    return isinstance(frame["event"], str) and (frame["event"] == "pusher:ping" or "data" in frame)


def dotnet(frame: dict[str, Any]) -> bool:
    is_readable = isinstance(frame["event"], str) and isinstance(frame.get("channel", ""), str)
    return is_readable and (not _is_error(frame) or -(2**31) <= (_data(frame)["code"] or 0) < 2**31)


def swift(frame: dict[str, Any]) -> bool:
    is_event = not frame["event"].startswith("pusher:")
    return isinstance(frame["event"], str) and (not is_event or isinstance(frame["data"], str))


def ruby(frame: dict[str, Any]) -> bool:
    return frame["event"] != "pusher:connection_established" or "socket_id" in json.loads(frame["data"])


def go(frame: dict[str, Any]) -> bool:
    return isinstance(frame["event"], str) and len(FRAMES["established"]) < 11_000


def rust(frame: dict[str, Any]) -> bool:
    is_readable = isinstance(frame["event"], str) and isinstance(frame.get("channel", ""), str)
    is_event = not frame["event"].startswith(("pusher:", "pusher_internal:"))
    return is_readable and (not is_event or isinstance(json.loads(frame["data"]), dict))


def pysher(frame: dict[str, Any]) -> bool:
    return "event" in frame and ("channel" not in frame or "data" in frame)


RULES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "pusher-js 4 to 8, Laravel Echo 1 and 2": pusher_js,
    "pusher-websocket-java": java,
    "pusher-websocket-dotnet": dotnet,
    "pusher-websocket-swift": swift,
    "pusher-websocket-ruby": ruby,
    "go-pusher": go,
    "pusher-rs": rust,
    "Pysher 1": pysher,
}


def test_each_library_of_the_table_has_a_rule() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| Library |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([^|-][^|]*) \|", table, re.MULTILINE) == list(RULES)


@pytest.mark.parametrize("library", RULES)
def test_every_frame_has_what_the_library_requires(library: str) -> None:
    assert [name for name, text in FRAMES.items() if not RULES[library](json.loads(text))] == []


def test_data_is_text_in_every_frame_that_libraries_parse_once_more() -> None:
    texts = {name for name, text in FRAMES.items() if isinstance(json.loads(text).get("data"), str)}
    events = {"event", "event in a namespace", "tick"}
    assert texts == {"established", "subscribed", "resumed", "pong"} | events
