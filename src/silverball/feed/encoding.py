"""An event on its way out: encoded once for each form that its subscribers want it in."""

import zlib
from functools import cached_property
from typing import NamedTuple

import msgspec
from websockets.frames import Frame, Opcode

from silverball.feed import messages
from silverball.feed.messages import Style
from silverball.store.announcements import Announcement

# The member that says which thing a model is of. Of a thing only the newest model matters.
MODEL_ID_MEMBERS: dict[str, tuple[str, ...]] = {
    "TournamentUpdated": (),
    "RoundCreatedOrUpdated": ("roundId",),
    "GameCreatedOrUpdated": ("gameId",),
    "SinglePlayerGameCreatedOrUpdated": ("singlePlayerGameId",),
    "CardCreatedOrUpdated": ("cardId",),
    "QueueChanged": ("arenaId", "roundId"),
}


class FrameEncoding(NamedTuple):
    """What a connection wants its texts as."""

    style: Style
    # Bare texts are for hosts that make frames themselves. They end in a line feed, which is in none of
    # them, so that several can be handed over at once like frames.
    is_framed: bool = True
    # The window of permessage-deflate that was agreed on, 9 to 15; 0: nothing is compressed.
    window_bits: int = 0


def frame(text: bytes, window_bits: int = 0) -> bytes:
    """The text as one frame of a server."""
    if not window_bits:
        return Frame(Opcode.TEXT, text).serialize(mask=False)
    # Nothing is carried over from frame to frame, so this one can be shared.
    packer = zlib.compressobj(wbits=-window_bits)
    packed = packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)
    header = Frame(Opcode.TEXT, packed.removesuffix(b"\x00\x00\xff\xff")).serialize(mask=False)
    # The bit that says "compressed", which a frame by itself may not carry.
    return bytes([header[0] | 0x40]) + header[1:]


def encode_text(text: bytes, form: FrameEncoding) -> bytes:
    """The text as a connection of this form wants it."""
    return frame(text, form.window_bits) if form.is_framed else text + b"\n"


class OutgoingEvent:
    """One announcement, with what was made of it so far."""

    def __init__(self, announced: Announcement) -> None:
        self.announced = announced
        self.tournament_id = announced.tournament_id
        self.seq = announced.seq
        self._texts: dict[Style, bytes] = {}
        self._encodings: dict[FrameEncoding, bytes] = {}

    def text(self, style: Style) -> bytes:
        """The JSON text in this style."""
        made = self._texts.get(style)
        if made is None:
            made = self._texts[style] = messages.event(self.announced, style)
        return made

    def encode(self, form: FrameEncoding) -> bytes:
        """What is written to a connection of this form."""
        made = self._encodings.get(form)
        if made is None:
            made = self._encodings[form] = encode_text(self.text(form.style), form)
        return made

    @cached_property
    def conflation_key(self) -> tuple[object, ...]:
        """What it is about. A newer event about the same makes it worthless to who shows only what is.

        An event without a model (somebody came, something was deleted) is about its own payload.
        """
        one = self.announced
        members = MODEL_ID_MEMBERS.get(one.name)
        if members is None:
            return (one.tournament_id, one.name, one.data)
        model = msgspec.json.decode(one.data)
        if not isinstance(model, dict) or not model.keys() >= set(members):
            return (one.tournament_id, one.name, one.data)
        return (one.tournament_id, one.name, *(model[member] for member in members))
