"""The input of a rating period: events with their games, from any source. Source: ratings, section A.4."""

from collections.abc import Mapping
from datetime import date

from msgspec import Struct, field


class GameSeats(Struct):
    """Games as columns of seats, game after game, because a day has thousands of seats."""

    # By seat: the key of a person in the event, and their place; equal places are a draw or no result.
    keys: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    # By game: the number of seats listed here, and the number of players in the real game.
    seat_counts: list[int] = field(default_factory=list)
    played_counts: list[int] = field(default_factory=list)
    # By game: 1 when equal places are a draw, 0 when they are no result.
    has_draws: list[int] = field(default_factory=list)

    def add(self, places: Mapping[int, int], size: int | None = None, *, has_draws: bool = True) -> None:
        """Add a game: key -> place, and the number of players if it had more than are listed."""
        self.keys += places.keys()
        self.places += places.values()
        self.seat_counts.append(len(places))
        self.played_counts.append(len(places) if size is None else size)
        self.has_draws.append(int(has_draws))


class RatedPerson(Struct, frozen=True):
    """A person who played, with all that identifies them."""

    name: str
    user_id: int | None = None
    ifpa_id: int | None = None
    # The organizer who lists the player, and the name without case and accents; None for other software.
    organizer_id: int | None = None
    name_key: str | None = None


class RatedEvent(Struct, frozen=True):
    """A tournament or submission with results that count."""

    # `tournament`, or the kind that another source uses.
    kind: str
    event_id: int
    name: str
    day: date
    # Key -> person; keys are local to the event.
    people: Mapping[int, RatedPerson]
    games: GameSeats
