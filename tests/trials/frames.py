"""Frames that nobody should send: chance puts together connections that follow the protocol or break it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from feed.raw_connection import BINARY, CLOSE, MASK, PING, PONG, TEXT

CONTINUATION = 0x80
# Without the bit that ends a message.
OPEN_TEXT, OPEN_CONTINUATION = 0x01, 0x00
RESERVED_BITS, RESERVED_CODES = (0xC1, 0xA1, 0x91), (0x83, 0x87, 0x8B, 0x8F)
TOO_LONG = 70_000


@dataclass(frozen=True)
class Frame:
    """A frame, and the codes with which a server may close after it; none when it goes on."""

    first: int
    payload: bytes
    mask: bytes | None = MASK
    closes: frozenset[int] = frozenset()


def _text(value: object) -> Frame:
    return Frame(TEXT, json.dumps(value).encode())


def _subscription(channel: object, **more: object) -> Frame:
    return _text({"event": "pusher:subscribe", "data": {"channel": channel, **more}})


def _deep(dice: Random) -> Frame:
    depth = dice.choice([30, 500, 3_000])
    return Frame(TEXT, b"[" * depth + b"]" * depth)


def _duplicate_keys(_dice: Random) -> Frame:
    return Frame(TEXT, b'{"event":"pusher:ping","event":"pusher:subscribe","data":{},"data":7}')


def _strange_subscription(dice: Random) -> Frame:
    channels: list[object] = [7, None, ["tournaments.42"], {"a": 1}, True, "", "tournaments.", "x" * 5_000]
    resumes: list[object] = [7, {}, {"epoch": 7, "seq": "x"}, {"epoch": "k3f9", "seq": -1}, {"seq": 10**30}]
    return _subscription(dice.choice(channels), resume=dice.choice(resumes))


def _client_event(dice: Random) -> Frame:
    return _text({"event": "client-typing", "channel": "tournaments.42", "data": "x" * dice.randrange(2_000)})


def _rubbish(dice: Random) -> Frame:
    # Always valid UTF-8, seldom JSON.
    return Frame(TEXT, dice.randbytes(dice.randrange(200)).decode("latin-1").encode())


# Each of these leaves the connection as it was.
HARMLESS: list[Callable[[Random], Frame]] = [
    lambda _dice: _text({"event": "pusher:ping"}),
    lambda dice: Frame(PING, dice.randbytes(dice.randrange(126))),
    lambda dice: Frame(PONG, dice.randbytes(dice.randrange(126))),
    lambda dice: _subscription(f"tournaments.{dice.randrange(50)}"),
    lambda _dice: _text({"event": "pusher:unsubscribe", "data": {"channel": "tournaments.42"}}),
    _strange_subscription,
    _duplicate_keys,
    _client_event,
    _rubbish,
    _deep,
]


def _breaking(first: int, payload: bytes, *codes: int, mask: bytes | None = MASK) -> Frame:
    return Frame(first, payload, mask, frozenset(codes))


# Each of these ends the connection. Source: RFC 6455, 5.1 to 5.5, 7.4 and 8.1.
BREAKING: list[Callable[[Random], Frame]] = [
    lambda dice: _breaking(dice.choice(RESERVED_BITS), b"x", 1002),
    lambda dice: _breaking(dice.choice(RESERVED_CODES), b"x", 1002),
    # Control frames are short and in one piece.
    lambda _dice: _breaking(PING, b"x" * 126, 1002),
    lambda dice: _breaking(dice.choice([0x08, 0x09, 0x0A]), b"", 1002),
    lambda _dice: _breaking(TEXT, b"x", 1002, mask=None),
    lambda _dice: _breaking(CONTINUATION, b"nothing to continue", 1002),
    lambda _dice: _breaking(TEXT, b"\xff\xfe", 1007),
    lambda dice: _breaking(BINARY, dice.randbytes(20), 1003, 1007),
    lambda _dice: _breaking(TEXT, b"x" * TOO_LONG, 1009),
    lambda dice: _breaking(CLOSE, dice.choice([b"\x03\xe8", b"\x03\xe9bye"]), 1000, 1001),
    lambda dice: _breaking(CLOSE, dice.choice([b"\x00", b"\x00\x00", b"\x03\xec"]), 1002),
]


# Ten malformed messages within a minute would end a connection too, and so would 64 KB at once.
HARMLESS_MAX = 9


def connection_frames(dice: Random) -> list[Frame]:
    """The frames of a connection: harmless ones, some of them in pieces, and one that ends it."""
    frames: list[Frame] = []
    for _ in range(dice.randint(0, HARMLESS_MAX)):
        frame = dice.choice(HARMLESS)(dice)
        if frame.first == TEXT and dice.random() < 0.2:
            middle = len(frame.payload) // 2
            frames.append(Frame(OPEN_TEXT, frame.payload[:middle]))
            frames.append(Frame(PING, b"between"))
            frames.append(Frame(CONTINUATION, frame.payload[middle:]))
        else:
            frames.append(frame)
    return [*frames, dice.choice(BREAKING)(dice)]
