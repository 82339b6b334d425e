"""The texts that go out, byte for byte: no spaces, UTF-8, slashes as they are.

`data` is a JSON text inside the JSON wherever existing clients parse it once more (what was
established, what was subscribed to, what happened), and an object in errors.
"""

from typing import Literal

import msgspec

from silverball.store.announcements import Announcement

Style = Literal["plain", "laravel"]
PREFIXES: dict[Style, str] = {"plain": "", "laravel": "App\\Events\\"}
# What a client that hears nothing for so long asks about.
ACTIVITY_SECONDS = 30
# Compared as text by clients that do not parse it.
PING = b'{"event":"pusher:ping"}'
PONG = b'{"event":"pusher:pong"}'
_encode = msgspec.json.Encoder().encode


def _json_text(data: object) -> str:
    return _encode(data).decode()


def channel_name(tournament_id: int) -> str:
    """The channel of a tournament."""
    return f"tournaments.{tournament_id}"


def connection_established(socket_id: str) -> bytes:
    """The first text of every connection that is let in."""
    data = {"socket_id": socket_id, "activity_timeout": ACTIVITY_SECONDS}
    return _encode({"event": "pusher:connection_established", "data": _json_text(data)})


def error(code: int | None, message: str) -> bytes:
    """Something was wrong; the connection stays unless a close follows."""
    return _encode({"event": "pusher:error", "data": {"code": code, "message": message}})


def subscription_succeeded(channel: str) -> bytes:
    """The channel's events follow from here on."""
    return _encode({"event": "pusher_internal:subscription_succeeded", "channel": channel, "data": "{}"})


def subscription_resumed(channel: str, epoch: str, seq: int, *, recovered: bool) -> bytes:
    """The same for who asked to resume: where the channel stands, and whether what was missed follows."""
    data = _json_text({"epoch": epoch, "seq": seq, "recovered": recovered})
    return _encode({"event": "pusher_internal:subscription_succeeded", "channel": channel, "data": data})


def subscription_error(channel: str, kind: str, sentence: str, status: int) -> bytes:
    """The channel cannot be followed; the connection stays."""
    data = {"type": kind, "error": sentence, "status": status}
    return _encode({"event": "pusher:subscription_error", "channel": channel, "data": data})


def signin_error(sentence: str) -> bytes:
    """Nobody signs in here."""
    data = {"type": "AuthError", "error": sentence, "status": 403}
    return _encode({"event": "pusher:signin_error", "data": data})


def event(announced: Announcement, style: Style) -> bytes:
    """What happened. Members that existing clients do not know come after those that they do."""
    return _encode(
        {
            "event": PREFIXES[style] + announced.name,
            "data": announced.data,
            "channel": channel_name(announced.tournament_id),
            "id": f"{announced.epoch}:{announced.seq}",
            "seq": announced.seq,
            "epoch": announced.epoch,
        }
    )


def tick(channel: str, epoch: str, seq: int) -> bytes:
    """Nothing happened for a while, and this is the newest number: whoever has it misses nothing."""
    return _encode(
        {"event": "silverball:tick", "channel": channel, "data": _json_text({"epoch": epoch, "seq": seq})}
    )
