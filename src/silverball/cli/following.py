"""Following a tournament from outside, over nothing but the published interface.

    for told in follow("http://127.0.0.1:8000", 42):
        print(told.name, told.data)

It begins where the channel stands, answers pings, comes back when the connection is lost, says what it
has seen last, and pages over HTTP what a socket does not bring. `ANEW` in place of an event says that
everything has to be read again; `LOST` and `LIVE` say how the connection is, and `IDLE` that nothing happens.
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

QUERY = "protocol=7&client=silverball-watch&version=1.0&flash=false"
# After so long without a word the server is asked whether it is there, and after so long again given up.
QUIET_SECONDS = 45.0
ANSWER_SECONDS = 15.0
# How often a follower of a quiet channel gets the word, so that it can do what it put off.
IDLE_SECONDS = 2.0
RECONNECT_SECONDS = (0.5, 10.0)
RELOAD, LIVE, LOST, IDLE = "(anew)", "(live)", "(lost)", "(idle)"
# What is no event of the feed.
CONTROL_NAMES = frozenset({RELOAD, LIVE, LOST, IDLE})
CONNECTION_ERRORS = (OSError, WebSocketException, TimeoutError)


@dataclass(frozen=True)
class FollowerEvent:
    """An event of the feed, or one of WORDS."""

    name: str
    data: Any = None
    epoch: str = ""
    seq: int = 0


class CannotFollow(Exception):
    """There is no such tournament, or the server refuses this client for good."""


@dataclass
class _ChannelPosition:
    """Where a follower is in the channel."""

    base_url: str
    tournament_id: int
    key: str
    epoch: str = ""
    seq: int = 0
    # What has been told and not been taken yet.
    told: list[FollowerEvent] = field(default_factory=list)

    def events_url(self, **query: object) -> str:
        asked = urllib.parse.urlencode(query)
        return f"{self.base_url}/api/tournaments/{self.tournament_id}/events?{asked}"

    def start_at_head(self) -> None:
        """Stand where the channel stands."""
        page = fetch_json(self.events_url())
        self.epoch, self.seq = page["epoch"], page["seq"]

    def accept(self, event: Any) -> FollowerEvent | None:
        """The event, unless it was here already."""
        if event["epoch"] != self.epoch or event["seq"] <= self.seq:
            return None
        self.seq = event["seq"]
        return FollowerEvent(event["event"], json.loads(event["data"]), self.epoch, self.seq)

    def missed_events(self) -> Iterator[FollowerEvent]:
        """What was missed; ANEW when nobody can tell any more."""
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
    """The decoded answer. Raises CannotFollow for what is not there, and urllib's errors."""
    return fetch_json_with_etag(url, headers)[0]


def fetch_json_with_etag(url: str, headers: dict[str, str] | None = None) -> tuple[Any, str]:
    """The decoded answer and its ETag. Raises as `fetched` does."""
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
    """Whatever happens in the tournament, for ever. Raises CannotFollow."""
    place = _ChannelPosition(base_url.rstrip("/"), tournament_id, key)
    dice = dice or Random()  # noqa: S311  # spreads those who come back; hides nothing
    wait = RECONNECT_SECONDS[0]
    while True:
        try:
            if not place.epoch:
                place.start_at_head()
                yield FollowerEvent(RELOAD)
            for told in _follow_connection(place):
                wait = RECONNECT_SECONDS[0]
                yield told
        except CONNECTION_ERRORS:
            yield FollowerEvent(LOST)
        sleep(dice.uniform(wait / 2, wait))
        wait = min(wait * 2, RECONNECT_SECONDS[1])


def _follow_connection(place: _ChannelPosition) -> Iterator[FollowerEvent]:
    address = urllib.parse.urlsplit(place.base_url)
    scheme = "wss" if address.scheme == "https" else "ws"
    url = f"{scheme}://{address.netloc}{address.path}/app/{place.key}?{QUERY}"
    with connect(
        url, compression=None, open_timeout=15, close_timeout=2, max_size=None, proxy=None
    ) as socket:
        _subscribe(socket, place)
        heard_at, asked_at = time.monotonic(), 0.0
        while True:
            try:
                event = json.loads(socket.recv(timeout=IDLE_SECONDS))
            except TimeoutError:
                asked_at = _ping_if_quiet(socket, heard_at, asked_at)
                yield FollowerEvent(IDLE)
                continue
            heard_at, asked_at = time.monotonic(), 0.0
            name = event["event"]
            if name == "pusher:ping":
                socket.send('{"event":"pusher:pong","data":{}}')
            elif name in ("pusher:error", "pusher:subscription_error"):
                _raise_refusal(event["data"])
            elif name == "pusher_internal:subscription_succeeded":
                yield from _catch_up(socket, place, json.loads(event["data"]))
            elif "seq" in event:
                told = place.accept(event)
                if told is not None:
                    yield told


def _ping_if_quiet(socket: ClientConnection, heard_at: float, asked_at: float) -> float:
    """Ask a server that is quiet whether it is there; returns when it was asked, 0 if it was not.

    Raises TimeoutError when it has not answered.
    """
    now = time.monotonic()
    if asked_at and now - asked_at > ANSWER_SECONDS:
        raise TimeoutError("the server does not answer")
    if not asked_at and now - heard_at > QUIET_SECONDS:
        socket.send('{"event":"pusher:ping","data":{}}')
        return now
    return asked_at


def _subscribe(socket: ClientConnection, place: _ChannelPosition) -> None:
    resume = {"epoch": place.epoch, "seq": place.seq}
    data = {"auth": "", "channel": f"tournaments.{place.tournament_id}", "resume": resume}
    socket.send(json.dumps({"event": "pusher:subscribe", "data": data}))


def _catch_up(socket: ClientConnection, place: _ChannelPosition, data: Any) -> Iterator[FollowerEvent]:
    if data.get("recovered"):
        yield FollowerEvent(LIVE)
        return
    # More was missed than a socket brings at once, or nobody can tell: the pages know.
    yield from place.missed_events()
    _subscribe(socket, place)


def _raise_refusal(data: Any) -> None:
    """Raise what a refusal means; one that goes by is an OSError like any lost connection."""
    status, code = data.get("status"), data.get("code")
    if status == 404 or (isinstance(code, int) and 4001 <= code < 4100):
        raise CannotFollow(str(data.get("error") or data.get("message")))
    raise ConnectionError(str(data))
