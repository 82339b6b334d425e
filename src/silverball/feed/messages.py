"""The texts that the server sends, byte for byte, and their frames: no spaces, UTF-8, slashes unescaped.

`data` is a JSON text inside the JSON wherever existing clients parse it once more (the established
connection, the confirmed subscription, the event), and an object in errors.
"""

import zlib
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec
from websockets.frames import Frame, Opcode

from silverball.store.tournament.announcements import Announcement

Style = Literal["plain", "laravel"]
PREFIXES: dict[Style, str] = {"plain": "", "laravel": "App\\Events\\"}
# After this much silence a client sends a ping.
ACTIVITY_SECONDS = 30
# Some clients compare these as text and do not parse them.
PING = b'{"event":"pusher:ping"}'
PONG = b'{"event":"pusher:pong","data":"{}"}'
_encode = msgspec.json.Encoder().encode
# Event name -> the members that identify the object it shows. Only the newest state of it matters.
MODEL_ID_MEMBERS: dict[str, tuple[str, ...]] = {
    "TournamentUpdated": (),
    "RoundCreatedOrUpdated": ("roundId",),
    "GameCreatedOrUpdated": ("gameId",),
    "SinglePlayerGameCreatedOrUpdated": ("singlePlayerGameId",),
    "CardCreatedOrUpdated": ("cardId",),
    "QueueChanged": ("arenaId", "roundId"),
}


def _json_text(data: object) -> str:
    return _encode(data).decode()


def channel_name(tournament_id: int) -> str:
    """The name of a tournament's channel."""
    return f"tournaments.{tournament_id}"


def connection_established(socket_id: str) -> bytes:
    """The first text of every admitted connection."""
    data = {"socket_id": socket_id, "activity_timeout": ACTIVITY_SECONDS}
    return _encode({"event": "pusher:connection_established", "data": _json_text(data)})


def error(code: int | None, message: str) -> bytes:
    """The report of a fault; the connection stays open unless a close follows."""
    return _encode({"event": "pusher:error", "data": {"code": code, "message": message}})


def subscription_succeeded(channel: str) -> bytes:
    """The confirmation of a subscription; the channel's events follow."""
    return _encode({"event": "pusher_internal:subscription_succeeded", "channel": channel, "data": "{}"})


def subscription_resumed(
    channel: str, epoch: str, seq: int, *, recovered: bool, compacted: bool = False
) -> bytes:
    """The confirmation of a resume: the channel's position, and whether the missed events follow."""
    compaction = {"compacted": True} if compacted else {}
    data = _json_text({"epoch": epoch, "seq": seq, "recovered": recovered, **compaction})
    return _encode({"event": "pusher_internal:subscription_succeeded", "channel": channel, "data": data})


def subscription_error(channel: str, kind: str, sentence: str, status: int) -> bytes:
    """The refusal of a subscription; the connection stays open."""
    data = {"type": kind, "error": sentence, "status": status}
    return _encode({"event": "pusher:subscription_error", "channel": channel, "data": data})


def signin_error(sentence: str) -> bytes:
    """The refusal of a sign-in."""
    data = {"type": "AuthError", "error": sentence, "status": 403}
    return _encode({"event": "pusher:signin_error", "data": data})


def event(announcement: Announcement, style: Style) -> bytes:
    """A feed event. Members that existing clients do not know come after those that they do."""
    head = announcement.journal_head
    return _encode(
        {
            "event": PREFIXES[style] + announcement.name,
            "data": announcement.data,
            "channel": channel_name(announcement.tournament_id),
            "id": f"{announcement.epoch}:{announcement.seq}",
            "seq": announcement.seq,
            "epoch": announcement.epoch,
            **({} if announcement.revision is None else {"revision": announcement.revision}),
            **({} if head is None else {"journalHead": head}),
        }
    )


def tick(channel: str, epoch: str, seq: int) -> bytes:
    """The newest number of a quiet channel, by which a client notices a lost event."""
    return _encode(
        {"event": "silverball:tick", "channel": channel, "data": _json_text({"epoch": epoch, "seq": seq})}
    )


class FrameEncoding(NamedTuple):
    """The form in which a connection takes its texts."""

    style: Style
    # The window of permessage-deflate that was agreed on, 9 to 15; 0: nothing is compressed.
    window_bits: int = 0


def encode_text(text: bytes, encoding: FrameEncoding) -> bytes:
    """The text as one frame of a server."""
    if not encoding.window_bits:
        return Frame(Opcode.TEXT, text).serialize(mask=False)
    # The compressor keeps no state between frames, so that one frame fits every connection.
    compressor = zlib.compressobj(wbits=-encoding.window_bits)
    compressed = compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH)
    header = Frame(Opcode.TEXT, compressed.removesuffix(b"\x00\x00\xff\xff")).serialize(mask=False)
    # The bit that says "compressed", which `Frame` does not set.
    return bytes([header[0] | 0x40]) + header[1:]


class OutgoingEvent:
    """One announcement and its encodings so far."""

    def __init__(self, announcement: Announcement) -> None:
        self.announcement = announcement
        self.tournament_id = announcement.tournament_id
        self.seq = announcement.seq
        self._texts: dict[Style, bytes] = {}
        self._encodings: dict[FrameEncoding, bytes] = {}

    def text(self, style: Style) -> bytes:
        """The JSON text in this style."""
        text = self._texts.get(style)
        if text is None:
            text = self._texts[style] = event(self.announcement, style)
        return text

    def encode(self, encoding: FrameEncoding) -> bytes:
        """The bytes for connections with this encoding."""
        encoded = self._encodings.get(encoding)
        if encoded is None:
            encoded = self._encodings[encoding] = encode_text(self.text(encoding.style), encoding)
        return encoded

    @cached_property
    def conflation_key(self) -> tuple[object, ...]:
        """The object that the event shows: a newer event with the same key replaces this one.

        An event that shows no object (a player joined, a game was deleted) has its payload as key.
        """
        announcement = self.announcement
        payload = (announcement.tournament_id, announcement.name, announcement.data)
        members = MODEL_ID_MEMBERS.get(announcement.name)
        if members is None:
            return payload
        model = msgspec.json.decode(announcement.data)
        if not isinstance(model, dict) or not model.keys() >= set(members):
            return payload
        return (announcement.tournament_id, announcement.name, *(model[member] for member in members))
