"""The client's half of the websocket protocol. Source: RFC 6455, sections 5.2 to 5.8 and 7."""

import contextlib
import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball_client.frames import (
    BINARY,
    CLOSE,
    CONTINUATION,
    FINAL,
    MESSAGE_BYTES_MAX,
    PING,
    PONG,
    TEXT,
    BrokenFrame,
    Frames,
    accept_for,
    encode_frame,
    new_key,
)
from typed_client.server_socket import frame_of_server, unmasked

LENGTHS = (0, 1, 125, 126, 127, 65_535, 65_536, 100_000)


def test_the_handshake_is_answered_as_in_the_standard() -> None:
    # RFC 6455, section 1.3.
    assert accept_for("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert len(new_key()) == 24
    assert new_key() != new_key()


def test_a_masked_text_is_the_one_of_the_standard() -> None:
    # RFC 6455, section 5.7: "Hello" with the mask 37 fa 21 3d.
    frame = encode_frame(TEXT, b"Hello", bytes.fromhex("37fa213d"))
    assert frame == bytes.fromhex("818537fa213d7f9f4d5158")


@pytest.mark.parametrize("length", LENGTHS)
def test_texts_of_every_length_go_out_masked(length: int) -> None:
    text = "x" * length
    frames = Frames()
    frames.say(text)
    assert unmasked(frames.take_outgoing()) == (FINAL | TEXT, text.encode())
    assert frames.take_outgoing() == b""


def test_each_frame_has_a_mask_of_its_own() -> None:
    frames = Frames()
    masks = set()
    for _ in range(8):
        frames.say("the same")
        masks.add(frames.take_outgoing()[2:6])
    assert len(masks) == 8


@pytest.mark.parametrize("length", LENGTHS)
def test_texts_of_every_length_are_read(length: int) -> None:
    text = "y" * length
    frames = Frames()
    frames.feed(frame_of_server(TEXT, text.encode()))
    assert list(frames.texts) == [text]


@given(
    texts=st.lists(st.text(max_size=200), max_size=5),
    cuts=st.lists(st.integers(0, 2000), max_size=20),
)
def test_texts_come_whole_however_the_bytes_are_cut(texts: list[str], cuts: list[int]) -> None:
    data = b"".join(frame_of_server(TEXT, text.encode()) for text in texts)
    frames, places = Frames(), sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(places):
        frames.feed(data[start:end])
    assert list(frames.texts) == texts


@given(text=st.text(min_size=1, max_size=100), places=st.lists(st.integers(0, 400), min_size=1, max_size=4))
def test_a_text_in_parts_is_joined_also_inside_a_letter(text: str, places: list[int]) -> None:
    data = text.encode()
    cuts = sorted(place % (len(data) + 1) for place in places)
    parts = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    frames = Frames()
    for position, part in enumerate(parts):
        opcode = CONTINUATION if position else TEXT
        # A ping may come between the parts.
        frames.feed(frame_of_server(opcode, part, head=FINAL if position == len(parts) - 1 else 0))
        frames.feed(frame_of_server(PING, b""))
    assert list(frames.texts) == [text]


@pytest.mark.parametrize("payload", [b"", b"beat", b"\xff\x00" * 62])
def test_a_ping_is_answered_with_its_payload(payload: bytes) -> None:
    frames = Frames()
    frames.feed(frame_of_server(PING, payload))
    assert unmasked(frames.take_outgoing()) == (FINAL | PONG, payload)
    assert not frames.texts


def test_a_pong_needs_no_answer() -> None:
    frames = Frames()
    frames.feed(frame_of_server(PONG, b"late"))
    assert frames.take_outgoing() == b""


@pytest.mark.parametrize(
    ("payload", "closed"),
    [
        (b"", (1005, "")),
        (struct.pack("!H", 1000), (1000, "")),
        (struct.pack("!H", 4201) + "später".encode(), (4201, "später")),
        (struct.pack("!H", 1001) + b"\xff", (1001, "\ufffd")),
    ],
)
def test_a_close_is_answered_with_its_code(payload: bytes, closed: tuple[int, str]) -> None:
    frames = Frames()
    frames.feed(frame_of_server(CLOSE, payload))
    assert frames.closed == closed
    assert unmasked(frames.take_outgoing()) == (FINAL | CLOSE, payload[:2])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (encode_frame(TEXT, b"hello", b"mask"), "masked or extended"),
        (frame_of_server(TEXT, b"hello", head=FINAL | 0x40), "masked or extended"),
        (frame_of_server(BINARY, b"hello"), "a frame of the kind 2"),
        (frame_of_server(0x3, b"hello"), "a frame of the kind 3"),
        (frame_of_server(0xB, b"hello"), "a frame of the kind 11"),
        (frame_of_server(CONTINUATION, b"hello"), "parts of two messages"),
        (frame_of_server(TEXT, b"hel", head=0) + frame_of_server(TEXT, b"lo"), "parts of two messages"),
        (frame_of_server(TEXT, b"", head=0) + frame_of_server(TEXT, b"lo"), "parts of two messages"),
        (frame_of_server(PING, b"x" * 126), "short and whole"),
        (frame_of_server(PING, b"x", head=0), "short and whole"),
        (frame_of_server(CLOSE, b"\x03"), "half a close code"),
        (frame_of_server(TEXT, b"\xff\xfe"), "not UTF-8"),
        (struct.pack("!BBQ", FINAL | TEXT, 127, MESSAGE_BYTES_MAX + 1), "too long"),
        (struct.pack("!BBQ", FINAL | TEXT, 127, 2**63), "too long"),
    ],
)
def test_what_breaks_the_protocol_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(BrokenFrame, match=sentence):
        Frames().feed(data)


def test_parts_that_are_too_long_together_are_refused() -> None:
    half = b"z" * (MESSAGE_BYTES_MAX // 2)
    frames = Frames()
    frames.feed(frame_of_server(TEXT, half, head=0))
    frames.feed(frame_of_server(CONTINUATION, half, head=0))
    with pytest.raises(BrokenFrame, match="too long"):
        frames.feed(frame_of_server(CONTINUATION, b"!"))


@given(data=st.binary(max_size=300))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(BrokenFrame):
        Frames().feed(data)
