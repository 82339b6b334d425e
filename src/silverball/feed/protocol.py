"""One connection as the protocol sees it: texts in, texts and a close out. No sockets, no clock, no chance.

The socket hands in what arrived and when; what comes back is to be sent, asked of the hub, or the end.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from silverball.feed import messages

# What arrives: a frame and a whole message, the frames that a message may come in.
MESSAGE_BYTES_MAX = 16_384
FRAGMENTS_MAX = 8
EVENT_CHARACTERS_MAX = 200
CHANNEL_CHARACTERS_MAX = 200
MESSAGES_PER_SECOND = 20.0
MESSAGES_BURST_MAX = 60.0
# What comes faster waits here. A client that follows as many channels as it may after a reconnect
# sends more than the burst, and must not be thrown out for it.
WAITING_MESSAGES_MAX = 512
WAITING_BYTES_MAX = 65_536
FAULTS_MAX = 10
FAULTS_SECONDS = 60.0

# A control frame after so much silence: half of what proxies allow a connection to be idle.
PROBE_SECONDS = 25.0
# Then a ping in text, for clients that answer nothing else.
PING_SECONDS = messages.ACTIVITY_SECONDS + 10.0
PONG_SECONDS = 30.0
IDLE_SECONDS = 86_400.0

TLS_ONLY = 4000
UNKNOWN_APP = 4001
APP_DISABLED = 4003
OVER_QUOTA = 4004
WRONG_PATH = 4005
BAD_VERSION = 4006
UNSUPPORTED_VERSION = 4007
UNAUTHORIZED = 4009
OVER_CAPACITY = 4100
RECONNECT = 4200
NO_PONG = 4201
IDLE = 4202
CLIENT_EVENT_REJECTED = 4301
NOT_TEXT = 1003
NOT_UTF8 = 1007
POLICY = 1008
TOO_BIG = 1009
INTERNAL = 1011

ID_MAX = 2**63 - 1
CHANNEL = re.compile(r"[-a-zA-Z0-9_=@,.;]+", re.ASCII)
TOURNAMENT_CHANNEL = re.compile(r"tournaments\.([0-9]+)", re.ASCII)


@dataclass(frozen=True)
class Close:
    """The end of a connection. The reason fits into a close frame: 123 bytes."""

    code: int
    reason: str


BINARY_REFUSED = Close(NOT_TEXT, "Only text messages are understood here.")


@dataclass(frozen=True)
class Resume:
    """Where a client stands: the newest event that it has. Number -1: it has none yet."""

    epoch: str
    seq: int


@dataclass(frozen=True)
class Subscribe:
    """A client wants to follow a tournament."""

    tournament_id: int
    resume: Resume | None = None


@dataclass(frozen=True)
class Unsubscribe:
    """A client no longer wants to follow a tournament."""

    tournament_id: int


@dataclass(slots=True)
class SessionOutput:
    """What follows from something that arrived, or from time that passed."""

    texts: list[bytes] = field(default_factory=list)
    subscription_requests: list[Subscribe | Unsubscribe] = field(default_factory=list)
    close: Close | None = None
    # Whether to send a ping as a control frame.
    sends_ping: bool = False

    def end_with(self, code: int, sentence: str) -> None:
        """Close, and say why in a text too: some clients read nothing else."""
        self.texts.append(messages.error(code if code >= 4000 else None, sentence))
        self.close = Close(code, sentence)


class _InboundMessage(msgspec.Struct, frozen=True):
    event: Annotated[str, msgspec.Meta(max_length=EVENT_CHARACTERS_MAX)]
    data: msgspec.Raw = msgspec.Raw(b"{}")


class _ResumeData(msgspec.Struct, frozen=True):
    epoch: Annotated[str, msgspec.Meta(max_length=64)] = ""
    seq: Annotated[int, msgspec.Meta(ge=0, le=ID_MAX)] = -1


class _SubscribeData(msgspec.Struct, frozen=True):
    channel: str
    resume: _ResumeData | None = None


class _UnsubscribeData(msgspec.Struct, frozen=True):
    channel: str


_inbound_decoder = msgspec.json.Decoder(_InboundMessage)
_subscribe_decoder = msgspec.json.Decoder(_SubscribeData)
_unsubscribe_decoder = msgspec.json.Decoder(_UnsubscribeData)
# A text may be nested deeper than anybody's stack.
BAD_JSON = (msgspec.DecodeError, RecursionError)


class TokenBucket:
    """How much may come at once, and how quickly it is allowed again."""

    __slots__ = ("_at", "_left")

    def __init__(self, now: float) -> None:
        self._left = MESSAGES_BURST_MAX
        self._at = now

    def try_take(self, now: float) -> bool:
        """Whether one more is allowed now; if so it is counted."""
        self._left = min(MESSAGES_BURST_MAX, self._left + (now - self._at) * MESSAGES_PER_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class PusherSession:
    """One connection that was let in."""

    __slots__ = (
        "_bucket",
        "_control_bucket",
        "_faults",
        "_heard_at",
        "_is_probed",
        "_pinged_at",
        "_said_at",
        "_waiting",
        "_waiting_bytes",
        "due",
        "socket_id",
    )

    def __init__(self, socket_id: str, now: float) -> None:
        self.socket_id = socket_id
        self._bucket = TokenBucket(now)
        self._control_bucket = TokenBucket(now)
        self._waiting: deque[bytes] | None = None
        self._waiting_bytes = 0
        self._faults: list[float] = []
        self._heard_at = self._said_at = now
        self._pinged_at: float | None = None
        self._is_probed = False
        # Before this time `check` has nothing to do.
        self.due = now + PROBE_SECONDS

    def greeting(self) -> bytes:
        """The first text."""
        return messages.connection_established(self.socket_id)

    def receive(self, text: bytes, now: float) -> SessionOutput:
        """A text message arrived."""
        out = SessionOutput()
        self._note_activity(now)
        self._said_at = now
        if self._waiting or not self._bucket.try_take(now):
            self._defer(text, now, out)
        else:
            self._handle(text, now, out)
        return out

    def receive_control(self, now: float) -> SessionOutput:
        """A ping or a pong arrived as a control frame; the ping was answered."""
        out = SessionOutput()
        self._note_activity(now)
        if not self._control_bucket.try_take(now):
            out.end_with(POLICY, "Too many control frames.")
        return out

    def check_timeouts(self, now: float, told_at: float) -> SessionOutput:
        """Time has passed. `told_at` is when an event was last sent to this connection."""
        out = SessionOutput()
        self._handle_deferred(now, out)
        silence = now - self._heard_at
        if out.close is not None:
            pass
        elif self._pinged_at is not None and now - self._pinged_at >= PONG_SECONDS:
            out.end_with(NO_PONG, "No answer to the ping in time.")
        elif now - max(self._said_at, told_at) >= IDLE_SECONDS:
            out.end_with(IDLE, "Nothing was said for a day.")
        elif self._pinged_at is None and silence >= PING_SECONDS:
            self._pinged_at = now
            out.texts.append(messages.PING)
        elif not self._is_probed and silence >= PROBE_SECONDS:
            self._is_probed = out.sends_ping = True
        self.due = self._next_due(now)
        return out

    def _next_due(self, now: float) -> float:
        if self._waiting:
            return now
        if self._pinged_at is not None:
            return self._pinged_at + PONG_SECONDS
        return self._heard_at + (PING_SECONDS if self._is_probed else PROBE_SECONDS)

    def _note_activity(self, now: float) -> None:
        self._heard_at = now
        self._pinged_at = None
        self._is_probed = False

    # More than is allowed at once

    def _defer(self, text: bytes, now: float, out: SessionOutput) -> None:
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(text)
        self._waiting_bytes += len(text)
        self.due = now
        if len(self._waiting) > WAITING_MESSAGES_MAX or self._waiting_bytes > WAITING_BYTES_MAX:
            self._drop_deferred()
            out.end_with(POLICY, f"Too many messages: {MESSAGES_PER_SECOND:.0f} a second are read.")

    def _handle_deferred(self, now: float, out: SessionOutput) -> None:
        while self._waiting and out.close is None and self._bucket.try_take(now):
            text = self._waiting.popleft()
            self._waiting_bytes -= len(text)
            self._handle(text, now, out)
        if not self._waiting or out.close is not None:
            self._drop_deferred()

    def _drop_deferred(self) -> None:
        self._waiting, self._waiting_bytes = None, 0

    # One message

    def _handle(self, text: bytes, now: float, out: SessionOutput) -> None:
        try:
            text.decode()
        except UnicodeDecodeError:
            out.end_with(NOT_UTF8, "A text message must be UTF-8.")
            return
        try:
            message = _inbound_decoder.decode(text)
            known = _HANDLERS.get(message.event)
            if known is not None:
                known(self, message.data, out)
            else:
                self._report_unknown(message.event, out)
        except BAD_JSON:
            self._report_malformed(now, out)

    def _report_malformed(self, now: float, out: SessionOutput) -> None:
        self._faults = [at for at in self._faults if now - at < FAULTS_SECONDS]
        self._faults.append(now)
        out.texts.append(messages.error(None, "The message is malformed."))
        if len(self._faults) >= FAULTS_MAX:
            out.close = Close(POLICY, "Too many malformed messages.")

    def _report_unknown(self, event: str, out: SessionOutput) -> None:
        if event.startswith("client-"):
            sentence = "Clients cannot send events here: all events come from the tournaments."
            out.texts.append(messages.error(CLIENT_EVENT_REJECTED, sentence))
        elif not event.startswith("pusher:"):
            # Newer libraries may speak of things that are not known here; others should know better.
            out.texts.append(messages.error(None, "The event is not known here."))

    def _handle_ping(self, _data: msgspec.Raw, out: SessionOutput) -> None:
        out.texts.append(messages.PONG)

    def _handle_pong(self, _data: msgspec.Raw, _out: SessionOutput) -> None:
        # That it arrived was all that was asked for.
        return

    def _handle_signin(self, _data: msgspec.Raw, out: SessionOutput) -> None:
        out.texts.append(messages.signin_error("Nobody needs to sign in here: every channel is public."))

    def _handle_subscribe(self, data: msgspec.Raw, out: SessionOutput) -> None:
        asked = _subscribe_decoder.decode(_unpack(data))
        tournament_id = _read_tournament_id(asked.channel, out)
        if tournament_id is not None:
            resume = None if asked.resume is None else Resume(asked.resume.epoch, asked.resume.seq)
            out.subscription_requests.append(Subscribe(tournament_id, resume))

    def _handle_unsubscribe(self, data: msgspec.Raw, out: SessionOutput) -> None:
        asked = _unsubscribe_decoder.decode(_unpack(data))
        found = TOURNAMENT_CHANNEL.fullmatch(asked.channel)
        if found is not None and len(found[1]) < 20:
            out.subscription_requests.append(Unsubscribe(int(found[1])))


_HANDLERS: dict[str, Callable[[PusherSession, msgspec.Raw, SessionOutput], None]] = {
    "pusher:ping": PusherSession._handle_ping,
    "pusher:pong": PusherSession._handle_pong,
    "pusher:signin": PusherSession._handle_signin,
    "pusher:subscribe": PusherSession._handle_subscribe,
    "pusher:unsubscribe": PusherSession._handle_unsubscribe,
}


def _unpack(data: msgspec.Raw) -> bytes:
    """The object of a message; some libraries send it as a text that holds it."""
    raw = bytes(data)
    return msgspec.json.decode(raw, type=str).encode() if raw.startswith(b'"') else raw


def _read_tournament_id(channel: str, out: SessionOutput) -> int | None:
    """The tournament of a channel, or None after saying why there is none."""
    if len(channel) > CHANNEL_CHARACTERS_MAX or not CHANNEL.fullmatch(channel.removeprefix("#")):
        sentence = "A channel name has 1 to 200 letters, digits and - _ = @ , . ;"
        shown = channel[:CHANNEL_CHARACTERS_MAX]
        out.texts.append(messages.subscription_error(shown, "InvalidName", sentence, 400))
        return None
    found = TOURNAMENT_CHANNEL.fullmatch(channel)
    if found is None:
        sentence = "Only the public channels tournaments.<id> can be followed here."
        out.texts.append(messages.subscription_error(channel, "AuthError", sentence, 403))
        return None
    # Another spelling of a number would be a channel of its own, which nothing is ever sent on.
    tournament_id = int(found[1]) if len(found[1]) < 20 else 0
    if not 0 < tournament_id <= ID_MAX or str(tournament_id) != found[1]:
        out.texts.append(no_such_tournament(channel))
        return None
    return tournament_id


def no_such_tournament(channel: str) -> bytes:
    """The answer to a subscription to a tournament that does not exist, or no longer."""
    return messages.subscription_error(channel, "NotFound", "There is no such tournament.", 404)
