"""A day's games with everybody known, and the fingerprint that says whether they are still the same."""

import hashlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from silverball.rules.ratings.events import RatedEvent
from silverball.rules.ratings.identities import IdentityRegister

# Raised when the same games would give other ratings: what was rated before is then rated again.
ALGORITHM_VERSION = 1
PLAYERS_MIN = 2


def _empty_integers() -> "array[int]":
    return array("q")


@dataclass
class RatingDay:
    """The games of a day, seat by seat; players are ids of ratings."""

    day: date
    players: "array[int]" = field(default_factory=_empty_integers)
    places: "array[int]" = field(default_factory=_empty_integers)
    # By game: how many seats it has here, and how many really played.
    seat_counts: "array[int]" = field(default_factory=_empty_integers)
    played_counts: "array[int]" = field(default_factory=_empty_integers)
    # Kind and id of each event, in order.
    events: list[tuple[str, int]] = field(default_factory=list)
    # Games in which one person sat twice: they are left out.
    skipped: list[tuple[str, int]] = field(default_factory=list)

    def add_event(self, event: RatedEvent, register: IdentityRegister) -> None:
        """Take the games of an event; those that leave fewer than two known players say nothing."""
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

    def _add_identified_games(self, event: RatedEvent, ratings: dict[int, int]) -> None:
        """Somebody is not known, or is there under two names."""
        games, start = event.games, 0
        for length, size in zip(games.seat_counts, games.played_counts, strict=True):
            seats = slice(start, start + length)
            start += length
            identified = [
                (ratings[key], place)
                for key, place in zip(games.keys[seats], games.places[seats], strict=True)
                if key in ratings
            ]
            if len({rating_id for rating_id, _ in identified}) < len(identified):
                self.skipped.append((event.kind, event.event_id))
            elif len(identified) >= PLAYERS_MIN:
                self.players.extend([rating_id for rating_id, _ in identified])
                self.places.extend([place for _, place in identified])
                self.seat_counts.append(len(identified))
                self.played_counts.append(size)

    def apply_merges(self, merged: dict[int, int]) -> None:
        """Ratings that turned out to be one person's during the day are one in all its games."""
        if not merged:
            return
        for seat, rating_id in enumerate(self.players):
            self.players[seat] = surviving_id(merged, rating_id)

    def fingerprint(self, parameters: object) -> str:
        """SHA-256 in hex of everything that the day's ratings follow from, but for those before it."""
        digest = hashlib.sha256(repr((ALGORITHM_VERSION, parameters, self.events)).encode())
        for part in (self.players, self.places, self.seat_counts, self.played_counts):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part.tobytes())
        return digest.hexdigest()

    @property
    def result_count(self) -> int:
        """Results of pairs, each counted once."""
        return sum(length * (length - 1) // 2 for length in self.seat_counts)

    @property
    def player_count(self) -> int:
        return len(set(self.players))


def surviving_id(merged: dict[int, int], rating_id: int) -> int:
    """Who goes on in place of this rating; a merged one may have been merged again."""
    while rating_id in merged:
        rating_id = merged[rating_id]
    return rating_id


def day_of_events(day: date, events: Iterable[RatedEvent], register: IdentityRegister) -> RatingDay:
    """The day with these events."""
    rating_day = RatingDay(day)
    for event in events:
        rating_day.add_event(event, register)
    rating_day.apply_merges(register.merged)
    return rating_day
