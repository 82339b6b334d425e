"""A day's games with players identified, and the fingerprint that tells whether they have changed."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable
from datetime import date

from msgspec import Struct, field

from silverball.rules.ratings.events import RatedEvent
from silverball.rules.ratings.identities import IdentityRegister

# Raised whenever the same games would give other ratings, and stored with each day. 2: equal strikes are
# no result.
ALGORITHM_VERSION = 2
# The fingerprints' own number: days without equal strikes have the same ones as in version 1.
FINGERPRINT_VERSION = 1
PLAYERS_MIN = 2


def _empty_integers() -> "array[int]":
    return array("q")


class RatingDay(Struct):
    """The games of a day, seat by seat; players are rating ids."""

    day: date
    players: "array[int]" = field(default_factory=_empty_integers)
    places: "array[int]" = field(default_factory=_empty_integers)
    # By game: the number of seats listed here, and the number of players in the real game.
    seat_counts: "array[int]" = field(default_factory=_empty_integers)
    played_counts: "array[int]" = field(default_factory=_empty_integers)
    # By game: 1 when equal places are a draw, 0 when they are no result.
    has_draws: "array[int]" = field(default_factory=_empty_integers)
    # Kind and id of each event, in order.
    events: list[tuple[str, int]] = field(default_factory=list)
    # Events with games that have one person in two seats; those games are left out.
    skipped: list[tuple[str, int]] = field(default_factory=list)

    def add_event(self, event: RatedEvent, register: IdentityRegister) -> None:
        """Add the games of an event; games with fewer than two known players are left out."""
        games, people = event.games, event.people
        self.events.append((event.kind, event.event_id))
        keys = dict.fromkeys(games.keys)
        ratings = {key: register.rating_id_for(people[key]) for key in keys if key in people}
        if len(set(ratings.values())) < len(keys):
            self._add_identified_games(event, ratings)
            return
        self.players.extend([ratings[key] for key in games.keys])
        self.places.extend(games.places)
        self.seat_counts.extend(games.seat_counts)
        self.played_counts.extend(games.played_counts)
        self.has_draws.extend(games.has_draws)

    def _add_identified_games(self, event: RatedEvent, ratings: dict[int, int]) -> None:
        """Add games one by one where a person is unknown or appears under two names."""
        games, start = event.games, 0
        counts = zip(games.seat_counts, games.played_counts, games.has_draws, strict=True)
        for length, size, has_draws in counts:
            seats = slice(start, start + length)
            start += length
            identified = [
                (ratings[key], place)
                for key, place in zip(games.keys[seats], games.places[seats], strict=True)
                if key in ratings
            ]
            if len({rating_id for rating_id, _ in identified}) < len(identified):
                self.skipped.append((event.kind, event.event_id))
            elif len(identified) >= PLAYERS_MIN and (
                has_draws or len({place for _, place in identified}) > 1
            ):
                self.players.extend([rating_id for rating_id, _ in identified])
                self.places.extend([place for _, place in identified])
                self.seat_counts.append(len(identified))
                self.played_counts.append(size)
                self.has_draws.append(has_draws)

    def apply_merges(self, merged: dict[int, int]) -> None:
        """Replace ratings that were merged during the day by the surviving ones, in all games."""
        if not merged:
            return
        for seat, rating_id in enumerate(self.players):
            self.players[seat] = surviving_id(merged, rating_id)

    def fingerprint(self, parameters: object) -> str:
        """SHA-256 in hex of the input of the day's ratings, except for the ratings before the day."""
        digest = hashlib.sha256(repr((FINGERPRINT_VERSION, parameters, self.events)).encode())
        parts = [self.players, self.places, self.seat_counts, self.played_counts]
        for part in [*parts, self.has_draws] if 0 in self.has_draws else parts:
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part.tobytes())
        return digest.hexdigest()

    @property
    def result_count(self) -> int:
        """Number of results of pairs, each counted once."""
        count, start = 0, 0
        for length, has_draws in zip(self.seat_counts, self.has_draws, strict=True):
            count += length * (length - 1) // 2
            if not has_draws:
                equal = Counter(self.places[start : start + length]).values()
                count -= sum(players * (players - 1) // 2 for players in equal)
            start += length
        return count

    @property
    def player_count(self) -> int:
        return len(set(self.players))


def surviving_id(merged: dict[int, int], rating_id: int) -> int:
    """The rating that this one was merged into, through any number of merges; else itself."""
    while rating_id in merged:
        rating_id = merged[rating_id]
    return rating_id


def day_of_events(day: date, events: Iterable[RatedEvent], register: IdentityRegister) -> RatingDay:
    """A rating day with these events."""
    rating_day = RatingDay(day)
    for event in events:
        rating_day.add_event(event, register)
    rating_day.apply_merges(register.merged)
    return rating_day
