"""A day's games with everybody known, and the fingerprint that says whether they are still the same."""

import hashlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from silverball.rules.ratings.events import Event
from silverball.rules.ratings.identities import Register

# Raised when the same games would give other ratings: what was rated before is then rated again.
ALGORITHM_VERSION = 1
PLAYERS_MIN = 2


def _integers() -> "array[int]":
    return array("q")


@dataclass
class Day:
    """The games of a day, seat by seat; players are ids of ratings."""

    day: date
    players: "array[int]" = field(default_factory=_integers)
    places: "array[int]" = field(default_factory=_integers)
    # By game: how many seats it has here, and how many really played.
    lengths: "array[int]" = field(default_factory=_integers)
    sizes: "array[int]" = field(default_factory=_integers)
    # Kind and id of each event, in order.
    events: list[tuple[str, int]] = field(default_factory=list)
    # Games in which one person sat twice: they are left out.
    skipped: list[tuple[str, int]] = field(default_factory=list)

    def add(self, event: Event, register: Register) -> None:
        """Take the games of an event; those that leave fewer than two known players say nothing."""
        games, people = event.games, event.people
        self.events.append((event.kind, event.event_id))
        keys = dict.fromkeys(games.keys)
        ratings = {key: register.rating_of(people[key]) for key in keys if key in people}
        if len(set(ratings.values())) < len(keys):
            self._add_one_by_one(event, ratings)
            return
        self.players.extend([ratings[key] for key in games.keys])
        self.places.extend(games.places)
        self.lengths.extend(games.lengths)
        self.sizes.extend(games.sizes)

    def _add_one_by_one(self, event: Event, ratings: dict[int, int]) -> None:
        """Somebody is not known, or is there under two names."""
        games, start = event.games, 0
        for length, size in zip(games.lengths, games.sizes, strict=True):
            seats = slice(start, start + length)
            start += length
            there = [
                (ratings[key], place)
                for key, place in zip(games.keys[seats], games.places[seats], strict=True)
                if key in ratings
            ]
            if len({rating_id for rating_id, _ in there}) < len(there):
                self.skipped.append((event.kind, event.event_id))
            elif len(there) >= PLAYERS_MIN:
                self.players.extend([rating_id for rating_id, _ in there])
                self.places.extend([place for _, place in there])
                self.lengths.append(len(there))
                self.sizes.append(size)

    def renamed(self, merged: dict[int, int]) -> None:
        """Ratings that turned out to be one person's during the day are one in all its games."""
        if not merged:
            return
        for seat, rating_id in enumerate(self.players):
            self.players[seat] = final(merged, rating_id)

    def fingerprint(self, parameters: object) -> str:
        """SHA-256 in hex of everything that the day's ratings follow from, but for those before it."""
        made = hashlib.sha256(repr((ALGORITHM_VERSION, parameters, self.events)).encode())
        for part in (self.players, self.places, self.lengths, self.sizes):
            made.update(len(part).to_bytes(8, "little"))
            made.update(part.tobytes())
        return made.hexdigest()

    @property
    def result_count(self) -> int:
        """Results of pairs, each counted once."""
        return sum(length * (length - 1) // 2 for length in self.lengths)

    @property
    def player_count(self) -> int:
        return len(set(self.players))


def final(merged: dict[int, int], rating_id: int) -> int:
    """Who goes on in place of this rating; a merged one may have been merged again."""
    while rating_id in merged:
        rating_id = merged[rating_id]
    return rating_id


def of_events(day: date, events: Iterable[Event], register: Register) -> Day:
    """The day with these events."""
    made = Day(day)
    for event in events:
        made.add(event, register)
    made.renamed(register.merged)
    return made
