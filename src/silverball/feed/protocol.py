"""The Pusher session of one connection, without I/O: texts in, texts and a close out.

The connection hands in texts and times; the output is to be sent, requested of the hub, or the close.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Struct, field

from silverball.feed import messages
from silverball.kit.values import decode

# Limits of one message, and of the frames that it may come in.
MESSAGE_BYTES_MAX = 16_384
FRAGMENTS_MAX = 8
EVENT_CHARACTERS_MAX = 200
CHANNEL_CHARACTERS_MAX = 200
MESSAGES_PER_SECOND = 20.0
MESSAGES_BURST_MAX = 60.0
# Messages beyond the burst are deferred. A client that follows as many channels as it may after a
# reconnect sends more than the burst, and must not be disconnected for it.
DEFERRED_MESSAGES_MAX = 512
DEFERRED_BYTES_MAX = 65_536
FAULTS_MAX = 10
FAULTS_SECONDS = 60.0

# Silence before a ping frame: half of what proxies allow a connection to be idle.
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
INTERNAL = 1011

ID_MAX = 2**63 - 1
CHANNEL = re.compile(r"[-a-zA-Z0-9_=@,.;]+", re.ASCII)
TOURNAMENT_CHANNEL = re.compile(r"tournaments\.([0-9]+)", re.ASCII)


class Close(Struct, frozen=True):
    """The end of a connection. The reason fits into a close frame: 123 bytes."""

    code: int
    reason: str


BINARY_REFUSED = Close(NOT_TEXT, "Only text messages are understood here.")


class Resume(Struct, frozen=True):
    """The newest event that a client has. Number -1: it has none yet."""

    epoch: str
    seq: int
    # Whether the newest event of each thing that changed will do, where there are too many.
    is_compact: bool = False


class Subscribe(Struct, frozen=True):
    """A request to follow a tournament."""

    tournament_id: int
    resume: Resume | None = None


class Unsubscribe(Struct, frozen=True):
    """A request to follow a tournament no longer."""

    tournament_id: int


class SessionOutput(Struct):
    """The reaction to input, or to the passing of time."""

    texts: list[bytes] = field(default_factory=list)
    subscription_requests: list[Subscribe | Unsubscribe] = field(default_factory=list)
    close: Close | None = None
    # Whether to send a ping frame.
    sends_ping: bool = False

    def end_with(self, code: int, sentence: str) -> None:
        """Close, with the reason in a text too: some clients read nothing else."""
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
    compact: bool = False


class _UnsubscribeData(msgspec.Struct, frozen=True):
    channel: str


_inbound_decoder = msgspec.json.Decoder(_InboundMessage)
_subscribe_decoder = msgspec.json.Decoder(_SubscribeData)
_unsubscribe_decoder = msgspec.json.Decoder(_UnsubscribeData)
# A text may be nested deeper than the decoder can go.
BAD_JSON = (msgspec.DecodeError, RecursionError)


class TokenBucket:
    """The rate limit of one connection's messages."""

    __slots__ = ("_refilled_at", "_tokens")

    def __init__(self, now: float) -> None:
        self._tokens = MESSAGES_BURST_MAX
        self._refilled_at = now

    def try_take(self, now: float) -> bool:
        """Take one token, and return whether there was one."""
        self._tokens = min(MESSAGES_BURST_MAX, self._tokens + (now - self._refilled_at) * MESSAGES_PER_SECOND)
        self._refilled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class PusherSession:
    """The session of one admitted connection."""

    __slots__ = (
        "_bucket",
        "_control_bucket",
        "_deferred",
        "_deferred_bytes",
        "_faults",
        "_has_pinged_frame",
        "_last_message_at",
        "_last_received_at",
        "_pinged_at",
        "next_check_at",
        "socket_id",
    )

    def __init__(self, socket_id: str, now: float) -> None:
        self.socket_id = socket_id
        self._bucket = TokenBucket(now)
        self._control_bucket = TokenBucket(now)
        self._deferred: deque[bytes] | None = None
        self._deferred_bytes = 0
        self._faults: list[float] = []
        self._last_received_at = self._last_message_at = now
        self._pinged_at: float | None = None
        self._has_pinged_frame = False
        # Before this time `check_timeouts` has nothing to do.
        self.next_check_at = now + PROBE_SECONDS

    def greeting(self) -> bytes:
        """The first text."""
        return messages.connection_established(self.socket_id)

    def receive(self, text: bytes, now: float) -> SessionOutput:
        """Handle a text message."""
        output = SessionOutput()
        self._note_activity(now)
        self._last_message_at = now
        if self._deferred or not self._bucket.try_take(now):
            self._defer(text, now, output)
        else:
            self._handle_message(text, now, output)
        return output

    def receive_control(self, now: float) -> SessionOutput:
        """Handle a ping or a pong that arrived as a control frame; the ping is answered already."""
        output = SessionOutput()
        self._note_activity(now)
        if not self._control_bucket.try_take(now):
            output.end_with(POLICY, "Too many control frames.")
        return output

    def check_timeouts(self, now: float, last_event_at: float) -> SessionOutput:
        """Do what is due by now. `last_event_at` is when an event was last published to this connection."""
        output = SessionOutput()
        self._handle_deferred(now, output)
        silence = now - self._last_received_at
        if output.close is not None:
            pass
        elif self._pinged_at is not None and now - self._pinged_at >= PONG_SECONDS:
            output.end_with(NO_PONG, "No answer to the ping in time.")
        elif now - max(self._last_message_at, last_event_at) >= IDLE_SECONDS:
            output.end_with(IDLE, "Nothing was said for a day.")
        elif self._pinged_at is None and silence >= PING_SECONDS:
            self._pinged_at = now
            output.texts.append(messages.PING)
        elif not self._has_pinged_frame and silence >= PROBE_SECONDS:
            self._has_pinged_frame = output.sends_ping = True
        self.next_check_at = self._next_due(now)
        return output

    def _next_due(self, now: float) -> float:
        if self._deferred:
            return now
        if self._pinged_at is not None:
            return self._pinged_at + PONG_SECONDS
        return self._last_received_at + (PING_SECONDS if self._has_pinged_frame else PROBE_SECONDS)

    def _note_activity(self, now: float) -> None:
        self._last_received_at = now
        self._pinged_at = None
        self._has_pinged_frame = False

    # Messages beyond the burst

    def _defer(self, text: bytes, now: float, output: SessionOutput) -> None:
        if self._deferred is None:
            self._deferred = deque()
        self._deferred.append(text)
        self._deferred_bytes += len(text)
        self.next_check_at = now
        if len(self._deferred) > DEFERRED_MESSAGES_MAX or self._deferred_bytes > DEFERRED_BYTES_MAX:
            self._drop_deferred()
            output.end_with(POLICY, f"Too many messages: {MESSAGES_PER_SECOND:.0f} a second are read.")

    def _handle_deferred(self, now: float, output: SessionOutput) -> None:
        while self._deferred and output.close is None and self._bucket.try_take(now):
            text = self._deferred.popleft()
            self._deferred_bytes -= len(text)
            self._handle_message(text, now, output)
        if not self._deferred or output.close is not None:
            self._drop_deferred()

    def _drop_deferred(self) -> None:
        self._deferred, self._deferred_bytes = None, 0

    # One message

    def _handle_message(self, text: bytes, now: float, output: SessionOutput) -> None:
        try:
            text.decode()
        except UnicodeDecodeError:
            output.end_with(NOT_UTF8, "A text message must be UTF-8.")
            return
        try:
            message = _inbound_decoder.decode(text)
            handler = _HANDLERS.get(message.event)
            if handler is not None:
                handler(self, message.data, output)
            else:
                self._report_unknown(message.event, output)
        except BAD_JSON:
            self._report_malformed(now, output)

    def _report_malformed(self, now: float, output: SessionOutput) -> None:
        self._faults = [at for at in self._faults if now - at < FAULTS_SECONDS]
        self._faults.append(now)
        output.texts.append(messages.error(None, "The message is malformed."))
        if len(self._faults) >= FAULTS_MAX:
            output.close = Close(POLICY, "Too many malformed messages.")

    def _report_unknown(self, event: str, output: SessionOutput) -> None:
        if event.startswith("client-"):
            sentence = "Clients cannot send events here: all events come from the tournaments."
            output.texts.append(messages.error(CLIENT_EVENT_REJECTED, sentence))
        elif not event.startswith("pusher:"):
            # Newer libraries may send pusher events that are unknown here; any other is the client's mistake.
            output.texts.append(messages.error(None, "The event is not known here."))

    def _handle_ping(self, _data: msgspec.Raw, output: SessionOutput) -> None:
        output.texts.append(messages.PONG)

    def _handle_pong(self, _data: msgspec.Raw, _out: SessionOutput) -> None:
        # Its arrival is noted already.
        return

    def _handle_signin(self, _data: msgspec.Raw, output: SessionOutput) -> None:
        output.texts.append(messages.signin_error("Nobody needs to sign in here: every channel is public."))

    def _handle_subscribe(self, data: msgspec.Raw, output: SessionOutput) -> None:
        request = _subscribe_decoder.decode(_unpack(data))
        tournament_id = _read_tournament_id(request.channel, output)
        if tournament_id is not None:
            wanted = request.resume
            resume = None if wanted is None else Resume(wanted.epoch, wanted.seq, request.compact)
            output.subscription_requests.append(Subscribe(tournament_id, resume))

    def _handle_unsubscribe(self, data: msgspec.Raw, output: SessionOutput) -> None:
        request = _unsubscribe_decoder.decode(_unpack(data))
        match = TOURNAMENT_CHANNEL.fullmatch(request.channel)
        if match is not None and len(match[1]) < 20:
            output.subscription_requests.append(Unsubscribe(int(match[1])))


_HANDLERS: dict[str, Callable[[PusherSession, msgspec.Raw, SessionOutput], None]] = {
    "pusher:ping": PusherSession._handle_ping,
    "pusher:pong": PusherSession._handle_pong,
    "pusher:signin": PusherSession._handle_signin,
    "pusher:subscribe": PusherSession._handle_subscribe,
    "pusher:unsubscribe": PusherSession._handle_unsubscribe,
}


def _unpack(data: msgspec.Raw) -> bytes:
    """The data object of a message, as JSON; some libraries send it as a string of JSON."""
    raw = bytes(data)
    return decode(raw, str).encode() if raw.startswith(b'"') else raw


def _read_tournament_id(channel: str, output: SessionOutput) -> int | None:
    """The tournament of a channel; None after a refusal was added to the output."""
    if len(channel) > CHANNEL_CHARACTERS_MAX or not CHANNEL.fullmatch(channel.removeprefix("#")):
        sentence = "A channel name has 1 to 200 letters, digits and - _ = @ , . ;"
        shortened = channel[:CHANNEL_CHARACTERS_MAX]
        output.texts.append(messages.subscription_error(shortened, "InvalidName", sentence, 400))
        return None
    match = TOURNAMENT_CHANNEL.fullmatch(channel)
    if match is None:
        sentence = "Only the public channels tournaments.<id> can be followed here."
        output.texts.append(messages.subscription_error(channel, "AuthError", sentence, 403))
        return None
    # Another spelling of the number (042) would name a channel on which nothing is ever sent.
    tournament_id = int(match[1]) if len(match[1]) < 20 else 0
    if not 0 < tournament_id <= ID_MAX or str(tournament_id) != match[1]:
        output.texts.append(no_such_tournament(channel))
        return None
    return tournament_id


def no_such_tournament(channel: str) -> bytes:
    """The refusal of a subscription to a tournament that does not exist, or no longer."""
    return messages.subscription_error(channel, "NotFound", "There is no such tournament.", 404)
