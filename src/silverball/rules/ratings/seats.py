"""A day's games with players identified, and the fingerprint that tells whether they have changed."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from msgspec import Struct, field

from silverball.kit.values import replace

# The input of a rating period: events with their games, from any source. Source: ratings, section A.4.


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


# Identities: a rating belongs to a person by account, federation number or name. Source: ratings, A.5.
#
# A person is found by the account that claimed the player, then by federation number, then by the name in
# an organizer's book; a name only identifies people without account and number. People who are known by
# name and claimed later keep their rating. A person with an account has a number only if an administrator
# confirmed it for that account; then the ratings of both are joined, and the lower id survives.


NameKey = tuple[int, str]


class Identity(Struct, frozen=True):
    """A person who has a rating."""

    rating_id: int
    name: str
    user_id: int | None = None
    ifpa_id: int | None = None
    # Only for people with neither: the organizer who lists them, and the name in that book.
    organizer_id: int | None = None
    name_key: str | None = None


class IdentityRegister(Struct):
    """All identities, and the changes since they were loaded."""

    next_id: int = 1
    by_id: dict[int, Identity] = field(default_factory=dict)
    by_user: dict[int, int] = field(default_factory=dict)
    by_ifpa: dict[int, int] = field(default_factory=dict)
    by_name: dict[NameKey, int] = field(default_factory=dict)
    # To be stored: new identities, changed ones, and absorbed id -> surviving id.
    created_ids: set[int] = field(default_factory=set)
    changed_ids: set[int] = field(default_factory=set)
    merged: dict[int, int] = field(default_factory=dict)
    # Cache of lookups, cleared on every change. It is keyed by `id(person)`, because a day looks up
    # thousands of people, and hashing them would take longer than all other work of the lookup.
    _found_ids: dict[int, tuple[RatedPerson, int]] = field(default_factory=dict)

    def rating_id_for(self, person: RatedPerson) -> int:
        """The id of the person's rating; unknown people get a new one."""
        known = self._found_ids.get(id(person))
        if known is None:
            # The person is cached too, so that no other object can get its `id`.
            known = self._found_ids[id(person)] = (person, self._find_or_create(person))
        return known[1]

    def _find_or_create(self, person: RatedPerson) -> int:
        if person.user_id is None and person.ifpa_id is not None:
            # Anybody can type a number: it finds the number's rating and joins nothing else to it, so
            # that a rebuild after the number was removed gives everybody their own again.
            by_ifpa = self.by_ifpa.get(person.ifpa_id)
            return self._create(person) if by_ifpa is None else self._link(by_ifpa, person)
        name_key = _name_key(person)
        id_by_name = self.by_name.get(name_key) if name_key else None
        if person.user_id is None:
            return id_by_name or self._create(person)
        rating_id = self._find_by_number(person)
        if rating_id is None:
            rating_id = id_by_name
        elif id_by_name is not None:
            rating_id = self._merge(rating_id, id_by_name)
        return self._create(person) if rating_id is None else self._link(rating_id, person)

    def add(self, identity: Identity) -> None:
        """Add an existing identity."""
        rating_id = identity.rating_id
        self.by_id[rating_id] = identity
        if identity.user_id is not None:
            self.by_user[identity.user_id] = rating_id
        if identity.ifpa_id is not None:
            self.by_ifpa[identity.ifpa_id] = rating_id
        if identity.organizer_id is not None and identity.name_key is not None:
            self.by_name[identity.organizer_id, identity.name_key] = rating_id

    def join_confirmed(self, number_by_user: Mapping[int, int]) -> None:
        """Merge the ratings of accounts and of the numbers that are theirs, where both have one."""
        for user_id, ifpa_id in number_by_user.items():
            if user_id in self.by_user and ifpa_id in self.by_ifpa:
                self._find_by_number(RatedPerson(name="", user_id=user_id, ifpa_id=ifpa_id))

    def _find_by_number(self, person: RatedPerson) -> int | None:
        """The rating id by account, then by federation number; merges the two when they are one person."""
        by_user = None if person.user_id is None else self.by_user.get(person.user_id)
        by_ifpa = None if person.ifpa_id is None else self.by_ifpa.get(person.ifpa_id)
        if by_ifpa is None:
            return by_user
        holder = self.by_id[by_ifpa]
        is_anothers = person.user_id is not None and holder.user_id not in (None, person.user_id)
        if is_anothers or by_user == by_ifpa:
            # A confirmed number belongs to one account.
            return by_user
        if by_user is None:
            return by_ifpa
        return by_user if self.by_id[by_user].ifpa_id is not None else self._merge(by_user, by_ifpa)

    def _create(self, person: RatedPerson) -> int:
        rating_id = self.next_id
        self.next_id += 1
        is_named = person.user_id is None and person.ifpa_id is None
        free_ifpa = None if person.ifpa_id in self.by_ifpa else person.ifpa_id
        self.add(
            Identity(
                rating_id=rating_id,
                name=person.name,
                user_id=person.user_id,
                ifpa_id=free_ifpa,
                organizer_id=person.organizer_id if is_named else None,
                name_key=person.name_key if is_named else None,
            )
        )
        self.created_ids.add(rating_id)
        return rating_id

    def _link(self, rating_id: int, person: RatedPerson) -> int:
        """Complete the identity with the person's data; with a number or an account the name key goes."""
        before = self.by_id[rating_id]
        user_id = before.user_id if before.user_id is not None else person.user_id
        ifpa_id = before.ifpa_id
        if ifpa_id is None and person.ifpa_id not in self.by_ifpa:
            ifpa_id = person.ifpa_id
        name = person.name if person.user_id is not None or before.user_id is None else before.name
        self._update(
            replace(before, name=name, user_id=user_id, ifpa_id=ifpa_id, organizer_id=None, name_key=None)
        )
        return rating_id

    def _merge(self, one_id: int, other_id: int) -> int:
        """Merge two identities of one person: the lower id survives, with the numbers of both."""
        if one_id == other_id:
            return one_id
        low, high = sorted((one_id, other_id))
        surviving, absorbed = self.by_id[low], self.by_id[high]
        self._forget_name(absorbed)
        self._found_ids.clear()
        del self.by_id[high]
        self.merged[high] = low
        joined = replace(
            surviving,
            user_id=surviving.user_id if surviving.user_id is not None else absorbed.user_id,
            ifpa_id=surviving.ifpa_id if surviving.ifpa_id is not None else absorbed.ifpa_id,
            name=absorbed.name if absorbed.user_id is not None else surviving.name,
            organizer_id=None,
            name_key=None,
        )
        self._update(joined)
        return low

    def _update(self, after: Identity) -> None:
        before = self.by_id[after.rating_id]
        if before == after:
            return
        self._forget_name(before)
        self._found_ids.clear()
        self.add(after)
        self.changed_ids.add(after.rating_id)

    def _forget_name(self, identity: Identity) -> None:
        if identity.organizer_id is not None and identity.name_key is not None:
            self.by_name.pop((identity.organizer_id, identity.name_key), None)


def build_register(identities: Iterable[Identity], next_id: int) -> IdentityRegister:
    """A register of these identities; new identities are numbered from `next_id`."""
    register = IdentityRegister(next_id=next_id)
    for identity in identities:
        register.add(identity)
    return register


def _name_key(person: RatedPerson) -> NameKey | None:
    if person.organizer_id is None or person.name_key is None:
        return None
    return person.organizer_id, person.name_key


# Raised whenever the same games would give other ratings, and stored with each day. 2: equal strikes are
# no result. 3: a tournament lasts from its first game to its last one.
ALGORITHM_VERSION = 3
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
