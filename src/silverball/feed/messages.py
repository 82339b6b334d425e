"""The texts that the server sends, byte for byte: no spaces, UTF-8, slashes unescaped.

`data` is a JSON text inside the JSON wherever existing clients parse it once more (the established
connection, the confirmed subscription, the event), and an object in errors.
"""

from typing import Literal

import msgspec

from silverball.store.announcements import Announcement

Style = Literal["plain", "laravel"]
PREFIXES: dict[Style, str] = {"plain": "", "laravel": "App\\Events\\"}
# After this much silence a client sends a ping.
ACTIVITY_SECONDS = 30
# Some clients compare these as text and do not parse them.
PING = b'{"event":"pusher:ping"}'
PONG = b'{"event":"pusher:pong"}'
_encode = msgspec.json.Encoder().encode


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


def subscription_resumed(channel: str, epoch: str, seq: int, *, recovered: bool) -> bytes:
    """The confirmation of a resume: the channel's position, and whether the missed events follow."""
    data = _json_text({"epoch": epoch, "seq": seq, "recovered": recovered})
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
            **({} if head is None else {"journalHead": head}),
        }
    )


def tick(channel: str, epoch: str, seq: int) -> bytes:
    """The newest number of a quiet channel, by which a client notices a lost event."""
    return _encode(
        {"event": "silverball:tick", "channel": channel, "data": _json_text({"epoch": epoch, "seq": seq})}
    )
