"""Following a tournament over the feed (Pusher Channels, protocol 7), without doing any I/O itself.

Like `exchange.py`, a generator that says what to do next. A service that numbers its events is asked for
those after the last one; of one that does not, the tournament is read again and compared.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from silverball_client.calling import Request
from silverball_client.comparing import Snapshot, snapshot_steps
from silverball_client.errors import (
    Gone,
    NoAnswer,
    NotAllowed,
    NotFound,
    Refused,
    ServerFault,
    TooManyRequests,
)
from silverball_client.events import Connected, Disconnected, Event, Missed, Quiet, State, payload
from silverball_client.exchange import VERSION, Loss, Send, Session, Wait
from silverball_client.operations.tournaments import TournamentsResource
from silverball_wire.events import EventsPage

CLIENT_QUERY = f"protocol=7&client=silverball-client&version={VERSION}&flash=false"
# Laravel's names of events stand in a namespace.
NAMESPACE = "App\\Events\\"
# A silent service is pinged after PING_SECONDS, and given up ANSWER_SECONDS later.
PING_SECONDS = 45.0
ANSWER_SECONDS = 15.0
QUIET_SECONDS = 2.0
# A service without numbers is silent about some changes, so it is compared this often.
COMPARE_SECONDS = 60.0
RECONNECT_SECONDS = (0.5, 10.0)
# Codes of `pusher:error` after which connecting again is of no use.
FINAL_CODES = range(4001, 4100)
PING = '{"event":"pusher:ping","data":{}}'
PONG = '{"event":"pusher:pong","data":{}}'


@dataclass(frozen=True)
class Open:
    """A socket to open, in place of the one before."""

    url: str


@dataclass(frozen=True)
class Say:
    """A text to send over the socket."""

    text: str


@dataclass(frozen=True)
class Listen:
    """Wait for the next text of the socket, so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Emit:
    """Something for the caller."""

    item: Event | Missed | State


FeedStep = Open | Say | Listen | Emit | Send | Wait
FeedSteps = Generator[FeedStep, Any, Any]


class Frame(msgspec.Struct, frozen=True):
    """A message of the feed. `data` is JSON, mostly inside a string."""

    event: str
    data: Any = None
    seq: int = 0
    epoch: str = ""
    revision: int = 0


class Subscribed(msgspec.Struct, frozen=True):
    """The confirmation of a subscription; all is absent where events have no numbers."""

    epoch: str = ""
    seq: int = 0
    recovered: bool = False


class FeedFault(msgspec.Struct, frozen=True):
    """The data of `pusher:error` and of `pusher:subscription_error`."""

    message: str = ""
    error: str = ""
    code: int | None = None
    status: int | None = None


@dataclass
class Follower:
    """One tournament and the place in its feed."""

    session: Session
    tournament_id: int
    feed_url: str
    clock: Callable[[], float]
    dice: Random
    epoch: str = ""
    seq: int = 0
    # Whether the newest event of each thing that changed will do, where hundreds were missed.
    is_compact: bool = False
    # None until it is known whether the service numbers its events.
    is_numbered: bool | None = None
    snapshot: Snapshot | None = None
    compared_at: float = 0.0

    def steps(self) -> FeedSteps:
        """Follow without end. Raises SilverballError when the service refuses for good."""
        if self.epoch:
            self.is_numbered = True
        else:
            yield from self._start_at_head()
        shortest, longest = RECONNECT_SECONDS
        wait = shortest
        while True:
            loss = yield Open(f"{self.feed_url}?{CLIENT_QUERY}")
            if loss is None:
                wait = shortest
                loss = yield from self._connection_or_fault()
            yield Emit(Disconnected(loss.reason))
            yield Wait(self.dice.uniform(wait / 2, wait))
            wait = min(wait * 2, longest)

    def _start_at_head(self) -> FeedSteps:
        try:
            page = yield from self.session.steps(self._events_request())
        except NotFound as fault:
            # A Silverball gives its refusals codes; another service may lack the route only.
            if fault.code:
                raise
            yield from self.session.steps(TournamentsResource.get.describe(None, self.tournament_id))
            self.is_numbered = False
        else:
            self.epoch, self.seq, self.is_numbered = page.epoch, page.seq, True

    def _events_request(self, after: int | None = None, epoch: str | None = None) -> Request[EventsPage]:
        describe = TournamentsResource.events.describe
        return describe(None, self.tournament_id, after=after, epoch=epoch)

    def _connection_or_fault(self) -> Generator[FeedStep, Any, Loss]:
        """Follow until the connection is lost, also while something is read over HTTP."""
        try:
            return (yield from self._connection())
        except (NoAnswer, ServerFault, TooManyRequests) as fault:
            return Loss(str(fault), was_refused=False)

    def _connection(self) -> Generator[FeedStep, Any, Loss]:
        """Follow until the connection is lost, and return how."""
        loss = yield self._subscribe()
        heard_at, pinged_at = self.clock(), 0.0
        while not isinstance(loss, Loss):
            text = yield Listen(QUIET_SECONDS)
            if isinstance(text, Loss):
                return text
            now = self.clock()
            if text is None:
                yield Emit(Quiet())
                if pinged_at and now - pinged_at > ANSWER_SECONDS:
                    return Loss("the service does not answer", was_refused=False)
                if not pinged_at and now - heard_at > PING_SECONDS:
                    pinged_at = now
                    loss = yield Say(PING)
            else:
                heard_at, pinged_at = now, 0.0
                loss = yield from self._take(text)
            if self.snapshot is not None and now - self.compared_at > COMPARE_SECONDS:
                yield from self._compare()
        return loss

    def _subscribe(self) -> Say:
        data: dict[str, Any] = {"auth": "", "channel": f"tournaments.{self.tournament_id}"}
        if self.is_numbered:
            data["resume"] = {"epoch": self.epoch, "seq": self.seq}
            if self.is_compact:
                data["compact"] = True
        return Say(msgspec.json.encode({"event": "pusher:subscribe", "data": data}).decode())

    def _take(self, text: str) -> Generator[FeedStep, Any, Loss | None]:
        """Take a message; the loss when the connection is of no use any more."""
        try:
            frame = msgspec.json.decode(text, type=Frame)
        except msgspec.DecodeError as error:
            return Loss(f"a message in an unknown form: {error}", was_refused=False)
        if frame.event == "pusher:ping":
            loss: Loss | None = yield Say(PONG)
            return loss
        if frame.event in ("pusher:error", "pusher:subscription_error"):
            return self._refusal(_inner(frame, FeedFault))
        if frame.event == "pusher_internal:subscription_succeeded":
            return (yield from self._begin(_inner(frame, Subscribed)))
        if frame.event == "silverball:tick":
            tick = _inner(frame, Subscribed)
            is_behind = tick.seq > self.seq or tick.epoch != self.epoch
            return (yield self._subscribe()) if is_behind else None
        if not frame.event.startswith(("pusher:", "pusher_internal:", "silverball:")):
            yield from self._announce(frame)
        return None

    def _refusal(self, fault: FeedFault) -> Loss:
        """Return the loss that the fault means. Raises Refused when trying again is of no use."""
        sentence = fault.error or fault.message or "The feed refused the connection."
        kinds: dict[int | None, type[Refused]] = {404: NotFound, 403: NotAllowed, 400: Refused}
        if fault.status in kinds:
            raise kinds[fault.status](fault.status or 0, "", sentence)
        if fault.code in FINAL_CODES:
            raise NotAllowed(fault.code or 0, "", sentence)
        return Loss(sentence, was_refused=False)

    def _begin(self, subscribed: Subscribed) -> Generator[FeedStep, Any, Loss | None]:
        """The subscription stands: fetch what the socket does not bring."""
        if not self.is_numbered:
            yield from self._compare()
        elif not subscribed.recovered and subscribed.epoch:
            yield from self._missed_events()
            loss: Loss | None = yield self._subscribe()
            return loss
        yield Emit(Connected())
        return None

    def _missed_events(self) -> FeedSteps:
        """The missed events by page, or Missed when they are not kept any more."""
        is_complete = False
        while not is_complete:
            try:
                page = yield from self.session.steps(self._events_request(self.seq, self.epoch))
            except Gone:
                yield from self._start_at_head()
                yield Emit(Missed(epoch=self.epoch, seq=self.seq))
                return
            for sent in page.data:
                yield from self._announce(
                    Frame(sent.event, sent.data, sent.seq, sent.epoch, sent.revision or 0)
                )
            is_complete = page.complete

    def _announce(self, frame: Frame) -> FeedSteps:
        """Hand an event to the caller, unless they have it."""
        if self.is_numbered:
            if frame.epoch != self.epoch or frame.seq <= self.seq:
                return
            self.seq = frame.seq
        if frame.revision:
            self.session.note_revision(self.tournament_id, frame.revision)
        name = frame.event.removeprefix(NAMESPACE)
        text = frame.data if isinstance(frame.data, str) else msgspec.json.encode(frame.data).decode()
        event = Event(name=name, data=payload(name, text), json=text, epoch=frame.epoch, seq=frame.seq)
        if self.snapshot is not None:
            self.snapshot.take(event.data)
        yield Emit(event)

    def _compare(self) -> FeedSteps:
        """Read the tournament, and announce how it differs from what is known."""
        current = yield from snapshot_steps(self.session, self.tournament_id)
        before, self.snapshot, self.compared_at = self.snapshot, current, self.clock()
        if before is not None:
            for event in before.changes_to(current, self.tournament_id):
                yield Emit(event)


def _inner(frame: Frame, kind: Any) -> Any:
    """The data of a message, which is an object or JSON in a string. All of `kind` may be absent."""
    try:
        if isinstance(frame.data, str):
            return msgspec.json.decode(frame.data or "{}", type=kind)
        return msgspec.convert(frame.data or {}, kind)
    except msgspec.DecodeError:
        return kind()
