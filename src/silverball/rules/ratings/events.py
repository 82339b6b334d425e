"""What a period is made of: events with their games, from whatever source. Source: ratings, section A.4."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(slots=True)
class GameSeats:
    """Games seat by seat, game after game, each in columns: a day has thousands of seats."""

    # By seat: the key of a person in the event, and his place; equal places are a draw.
    keys: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    # By game: how many seats it has here, and how many really played.
    seat_counts: list[int] = field(default_factory=list)
    played_counts: list[int] = field(default_factory=list)

    def add(self, places: Mapping[int, int], size: int | None = None) -> None:
        """One game: key -> place, and how many played when that is more than are named."""
        self.keys += places.keys()
        self.places += places.values()
        self.seat_counts.append(len(places))
        self.played_counts.append(len(places) if size is None else size)


@dataclass(frozen=True, slots=True)
class RatedPerson:
    """Somebody who played, as far as it is known who he is."""

    name: str
    user_id: int | None = None
    ifpa_id: int | None = None
    # Whose book he stands in, and his name there without case and accents; None for other software.
    organizer_id: int | None = None
    name_key: str | None = None


@dataclass(frozen=True, slots=True)
class RatedEvent:
    """Something that was played, with results that count."""

    # `tournament`, or what another source calls its own.
    kind: str
    event_id: int
    name: str
    day: date
    # Key -> person; the keys mean nothing outside the event.
    people: Mapping[int, RatedPerson]
    games: GameSeats
