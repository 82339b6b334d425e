"""Identities: a rating belongs to a person by account, federation number or name. Source: ratings, A.5.

A person is found by the account that claimed the player, then by federation number, then by the name in
an organizer's book; a name only identifies people without account and number. People who are known by
name and claimed later keep their rating. A person with an account has a number only if an administrator
confirmed it for that account; then the ratings of both are joined, and the lower id survives.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.ratings.events import RatedPerson

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
