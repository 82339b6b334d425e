"""The events of a tournament, as `client.follow` gives them.

for event in client.follow(42):
    match event:
        case Event(data=Game() as game):
            print(game.status)
        case Missed():
            print("read the tournament again")
"""

from typing import Any

import msgspec

from silverball_wire.base import decode_answer
from silverball_wire.events import (
    EVENTS,
    ArenasAdded,
    ArenasChanged,
    CardsDeleted,
    GamesDeleted,
    PlayersAdded,
    PlayersChanged,
    QueueChanged,
    RoundsDeleted,
    SinglePlayerGamesDeleted,
)
from silverball_wire.games import Game
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.tournaments import Tournament

__all__ = [
    "EVENTS",
    "ArenasAdded",
    "ArenasChanged",
    "Card",
    "CardsDeleted",
    "Connected",
    "Disconnected",
    "Event",
    "Game",
    "GamesDeleted",
    "Missed",
    "Payload",
    "PlayersAdded",
    "PlayersChanged",
    "QueueChanged",
    "Quiet",
    "Round",
    "RoundsDeleted",
    "SinglePlayerGame",
    "SinglePlayerGamesDeleted",
    "State",
    "Tournament",
    "payload",
]

# An event that only a newer service knows, or that is in an unknown form, is a dict.
Payload = (
    Tournament
    | Round
    | Game
    | SinglePlayerGame
    | Card
    | PlayersAdded
    | PlayersChanged
    | ArenasAdded
    | ArenasChanged
    | RoundsDeleted
    | GamesDeleted
    | SinglePlayerGamesDeleted
    | CardsDeleted
    | QueueChanged
    | dict[str, Any]
)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the tournament: the type of `data` follows from `name`.

    `epoch` and `seq` are the place in the feed, where the service numbers its events: give them to `follow`
    to go on after this event, also in another run of your program. From a service without numbers they
    are "" and 0.
    """

    name: str
    data: Payload
    # The data as the service sent it, with fields that are unknown here.
    json: str = ""
    epoch: str = ""
    seq: int = 0


class Missed(msgspec.Struct, frozen=True, kw_only=True):
    """Events are lost for good: read what you need again. What comes now follows on `epoch` and `seq`."""

    epoch: str = ""
    seq: int = 0


class Connected(msgspec.Struct, frozen=True):
    """The connection stands, and nothing is missing up to here."""


class Disconnected(msgspec.Struct, frozen=True):
    """The connection is lost; it is opened again by itself."""

    reason: str


class Quiet(msgspec.Struct, frozen=True):
    """Nothing has happened for some seconds."""


State = Connected | Disconnected | Quiet


def payload(name: str, text: str) -> Payload:
    """Decode the payload of an event."""
    decoded: Payload
    try:
        decoded = decode_answer(text, EVENTS.get(name, dict[str, Any]))
    except msgspec.DecodeError:
        decoded = _unknown_payload(text)
    return decoded


def _unknown_payload(text: str) -> dict[str, Any]:
    """The payload as a dict; what is no object is its member `value`."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        value = text
    return value if isinstance(value, dict) else {"value": value}
