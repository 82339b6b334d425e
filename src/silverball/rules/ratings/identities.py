"""Who is who: a rating belongs to a person, by account, federation number or name. Source: ratings, A.5.

A person is found by the account that claimed the player, then by the number, then by the name in an
organizer's book; a name belongs only to somebody of whom neither is known. Who was known by name and
is claimed later keeps his rating. When two ratings prove to be one person's, the lower id survives.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from silverball.rules.ratings.events import RatedPerson

NameKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody who has a rating."""

    rating_id: int
    name: str
    user_id: int | None = None
    ifpa_id: int | None = None
    # Only of somebody with neither: whose book, and the name in it.
    organizer_id: int | None = None
    name_key: str | None = None


@dataclass
class IdentityRegister:
    """All identities, and what was learned about them since they were read."""

    next_id: int = 1
    by_id: dict[int, Identity] = field(default_factory=dict)
    by_user: dict[int, int] = field(default_factory=dict)
    by_ifpa: dict[int, int] = field(default_factory=dict)
    by_name: dict[NameKey, int] = field(default_factory=dict)
    # What is to be stored: new ones, those that are different, and who became whom.
    created_ids: set[int] = field(default_factory=set)
    changed_ids: set[int] = field(default_factory=set)
    merged: dict[int, int] = field(default_factory=dict)
    # Whoever was asked for, as long as nothing else is learned of anybody. Found by the object's own id:
    # a day asks for thousands, and hashing them would take longer than all the rest of the asking.
    _found_ids: dict[int, tuple[RatedPerson, int]] = field(default_factory=dict)

    def rating_id_for(self, person: RatedPerson) -> int:
        """The id of the person's rating; a stranger is given one."""
        known = self._found_ids.get(id(person))
        if known is None:
            # Kept with the answer, so that nobody else is given its id.
            known = self._found_ids[id(person)] = (person, self._find_or_create(person))
        return known[1]

    def _find_or_create(self, person: RatedPerson) -> int:
        name_key = _name_key(person)
        id_by_name = self.by_name.get(name_key) if name_key else None
        if person.user_id is None and person.ifpa_id is None:
            return id_by_name or self._create(person)
        rating_id = self._find_by_number(person)
        if rating_id is None:
            rating_id = id_by_name
        elif id_by_name is not None:
            rating_id = self._merge(rating_id, id_by_name)
        return self._create(person) if rating_id is None else self._link(rating_id, person)

    def add(self, identity: Identity) -> None:
        """An identity that is there already."""
        rating_id = identity.rating_id
        self.by_id[rating_id] = identity
        if identity.user_id is not None:
            self.by_user[identity.user_id] = rating_id
        if identity.ifpa_id is not None:
            self.by_ifpa[identity.ifpa_id] = rating_id
        if identity.organizer_id is not None and identity.name_key is not None:
            self.by_name[identity.organizer_id, identity.name_key] = rating_id

    def _find_by_number(self, person: RatedPerson) -> int | None:
        """By account, then by federation number; both may turn out to be the same person."""
        by_user = None if person.user_id is None else self.by_user.get(person.user_id)
        by_ifpa = None if person.ifpa_id is None else self.by_ifpa.get(person.ifpa_id)
        if by_ifpa is None:
            return by_user
        holder = self.by_id[by_ifpa]
        is_anothers = person.user_id is not None and holder.user_id not in (None, person.user_id)
        if is_anothers or by_user == by_ifpa:
            # The account is proved by its owner, the number is only written down.
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
        """The identity with what the person says of himself; one that has a number has no name key."""
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
        """Two identities are one person: the lower id goes on with the numbers of both."""
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
    """A register of these identities; new ones are numbered from `next_id`."""
    register = IdentityRegister(next_id=next_id)
    for identity in identities:
        register.add(identity)
    return register


def _name_key(person: RatedPerson) -> NameKey | None:
    if person.organizer_id is None or person.name_key is None:
        return None
    return person.organizer_id, person.name_key
