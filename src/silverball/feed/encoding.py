"""An event on its way out, encoded once for each encoding that its subscribers want."""

import zlib
from functools import cached_property
from typing import NamedTuple

import msgspec
from websockets.frames import Frame, Opcode

from silverball.feed import messages
from silverball.feed.messages import Style
from silverball.store.announcements import Announcement

# Event name -> the members that identify the object it shows. Only the newest state of it matters.
MODEL_ID_MEMBERS: dict[str, tuple[str, ...]] = {
    "TournamentUpdated": (),
    "RoundCreatedOrUpdated": ("roundId",),
    "GameCreatedOrUpdated": ("gameId",),
    "SinglePlayerGameCreatedOrUpdated": ("singlePlayerGameId",),
    "CardCreatedOrUpdated": ("cardId",),
    "QueueChanged": ("arenaId", "roundId"),
}


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
            text = self._texts[style] = messages.event(self.announcement, style)
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
