"""Follow a tournament through the published interface alone.

    for event in follow("http://127.0.0.1:8000", 42):
        print(event.name, event.data)

Following starts at the channel's newest event, answers pings, reconnects, resumes at the last event, and
reads missed events over HTTP when the socket does not resend them. Control names stand between the
events: `RELOAD` means that everything must be read again, `LOST` and `LIVE` report the connection, and
`IDLE` means that nothing happened for a while.
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

QUERY = "protocol=7&client=silverball-watch&version=1.0&flash=false"
# A silent server is pinged after QUIET_SECONDS, and given up ANSWER_SECONDS later.
QUIET_SECONDS = 45.0
ANSWER_SECONDS = 15.0
# How often followers of a quiet channel get IDLE, so that they can do postponed work.
IDLE_SECONDS = 2.0
RECONNECT_SECONDS = (0.5, 10.0)
RELOAD, LIVE, LOST, IDLE = "(anew)", "(live)", "(lost)", "(idle)"
# Names that are not events of the feed.
CONTROL_NAMES = frozenset({RELOAD, LIVE, LOST, IDLE})
CONNECTION_ERRORS = (OSError, WebSocketException, TimeoutError)


@dataclass(frozen=True)
class FollowerEvent:
    """An event of the feed, or one of CONTROL_NAMES."""

    name: str
    data: Any = None
    epoch: str = ""
    seq: int = 0


class CannotFollow(Exception):
    """The tournament does not exist, or the server refuses this client for good."""


@dataclass
class _ChannelPosition:
    """A follower's position in the channel."""

    base_url: str
    tournament_id: int
    key: str
    epoch: str = ""
    seq: int = 0

    def events_url(self, **query: object) -> str:
        parameters = urllib.parse.urlencode(query)
        return f"{self.base_url}/api/tournaments/{self.tournament_id}/events?{parameters}"

    def start_at_head(self) -> None:
        """Move to the channel's newest event."""
        page = fetch_json(self.events_url())
        self.epoch, self.seq = page["epoch"], page["seq"]

    def accept(self, event: Any) -> FollowerEvent | None:
        """Advance to the event and return it; None when it is not new."""
        if event["epoch"] != self.epoch or event["seq"] <= self.seq:
            return None
        self.seq = event["seq"]
        return FollowerEvent(event["event"], json.loads(event["data"]), self.epoch, self.seq)

    def missed_events(self) -> Iterator[FollowerEvent]:
        """The missed events, or RELOAD when they are no longer stored."""
        is_complete = False
        while not is_complete:
            try:
                page = fetch_json(self.events_url(after=self.seq, epoch=self.epoch))
            except urllib.error.HTTPError as error:
                if error.code != 410:
                    raise
                self.start_at_head()
                yield FollowerEvent(RELOAD)
                return
            yield from filter(None, map(self.accept, page["data"]))
            is_complete = page["complete"]


def fetch_json(url: str, headers: dict[str, str] | None = None) -> Any:
    """The decoded answer. Raises CannotFollow for 404, and urllib's errors."""
    return fetch_json_with_etag(url, headers)[0]


def fetch_json_with_etag(url: str, headers: dict[str, str] | None = None) -> tuple[Any, str]:
    """The decoded answer and its ETag. Raises like `fetch_json`."""
    request = urllib.request.Request(url, headers=headers or {})  # noqa: S310  # the address is the user's own
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  # as above
            return json.load(answer), answer.headers.get("etag", "")
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise CannotFollow(_error_sentence(error)) from error
        raise


def _error_sentence(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["message"])
    except (ValueError, KeyError, TypeError):
        return str(error)


def follow(
    base_url: str,
    tournament_id: int,
    *,
    key: str = "silverball",
    sleep: Callable[[float], None] = time.sleep,
    dice: Random | None = None,
) -> Iterator[FollowerEvent]:
    """The tournament's events, without end. Raises CannotFollow."""
    position = _ChannelPosition(base_url.rstrip("/"), tournament_id, key)
    dice = dice or Random()  # noqa: S311  # spreads reconnects; no secret
    wait = RECONNECT_SECONDS[0]
    while True:
        try:
            if not position.epoch:
                position.start_at_head()
                yield FollowerEvent(RELOAD)
            for event in _follow_connection(position):
                wait = RECONNECT_SECONDS[0]
                yield event
        except CONNECTION_ERRORS:
            yield FollowerEvent(LOST)
        sleep(dice.uniform(wait / 2, wait))
        wait = min(wait * 2, RECONNECT_SECONDS[1])


def _follow_connection(position: _ChannelPosition) -> Iterator[FollowerEvent]:
    address = urllib.parse.urlsplit(position.base_url)
    scheme = "wss" if address.scheme == "https" else "ws"
    url = f"{scheme}://{address.netloc}{address.path}/app/{position.key}?{QUERY}"
    with connect(
        url, compression=None, open_timeout=15, close_timeout=2, max_size=None, proxy=None
    ) as socket:
        _subscribe(socket, position)
        last_event_at, pinged_at = time.monotonic(), 0.0
        while True:
            try:
                event = json.loads(socket.recv(timeout=IDLE_SECONDS))
            except TimeoutError:
                pinged_at = _ping_if_quiet(socket, last_event_at, pinged_at)
                yield FollowerEvent(IDLE)
                continue
            last_event_at, pinged_at = time.monotonic(), 0.0
            name = event["event"]
            if name == "pusher:ping":
                socket.send('{"event":"pusher:pong","data":{}}')
            elif name in ("pusher:error", "pusher:subscription_error"):
                _raise_refusal(event["data"])
            elif name == "pusher_internal:subscription_succeeded":
                yield from _catch_up(socket, position, json.loads(event["data"]))
            elif "seq" in event:
                accepted = position.accept(event)
                if accepted is not None:
                    yield accepted


def _ping_if_quiet(socket: ClientConnection, last_event_at: float, pinged_at: float) -> float:
    """Ping a silent server, and return the time of the ping, 0 without one.

    Raises TimeoutError when the server did not answer the last ping.
    """
    now = time.monotonic()
    if pinged_at and now - pinged_at > ANSWER_SECONDS:
        raise TimeoutError("the server does not answer")
    if not pinged_at and now - last_event_at > QUIET_SECONDS:
        socket.send('{"event":"pusher:ping","data":{}}')
        return now
    return pinged_at


def _subscribe(socket: ClientConnection, position: _ChannelPosition) -> None:
    resume = {"epoch": position.epoch, "seq": position.seq}
    data = {"auth": "", "channel": f"tournaments.{position.tournament_id}", "resume": resume}
    socket.send(json.dumps({"event": "pusher:subscribe", "data": data}))


def _catch_up(socket: ClientConnection, position: _ChannelPosition, data: Any) -> Iterator[FollowerEvent]:
    if data.get("recovered"):
        yield FollowerEvent(LIVE)
        return
    # The socket cannot resend all missed events, so they are read over HTTP.
    yield from position.missed_events()
    _subscribe(socket, position)


def _raise_refusal(data: Any) -> None:
    """Raise CannotFollow for a final refusal, else ConnectionError as for any lost connection."""
    status, code = data.get("status"), data.get("code")
    if status == 404 or (isinstance(code, int) and 4001 <= code < 4100):
        raise CannotFollow(str(data.get("error") or data.get("message")))
    raise ConnectionError(str(data))
