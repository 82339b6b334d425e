"""People that a document's players may be: accounts, and players of any book."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, or_, select

from silverball.service.access import AuthenticatedCaller
from silverball.service.ratings.reads import ratings
from silverball.service.submissions.document import DocumentPlayer
from silverball.service.submissions.people import KnownPeople, KnownPerson
from silverball.store import name_search, names, rating_days
from silverball.store.published_ratings import PUBLISHED
from silverball.store.tables import confirmed_number, player, user

_USER, _PLAYER, _RATING, _CONFIRMED = user.c, player.c, PUBLISHED.c, confirmed_number.c


def known_people(db: Connection, players: Collection[DocumentPlayer]) -> KnownPeople:
    """The people that these players of a document may be."""
    wanted = {names.fold(player.name) or "" for player in players}
    namesakes = _namesakes(db, wanted)
    people = [person for listed in namesakes.values() for person in listed]
    user_ids = [*(player.matchplay_user_id for player in players), *(person.user_id for person in people)]
    numbers = [*(player.ifpa_id for player in players), *(person.ifpa_id for person in people)]
    users = _people_by_user_id(db, _without_none(user_ids), _without_none(numbers))
    by_ifpa: defaultdict[int, list[KnownPerson]] = defaultdict(list)
    for person in users.values():
        if person.ifpa_id is not None:
            by_ifpa[person.ifpa_id].append(person)
    known = KnownPeople(users, dict(by_ifpa))
    by_name = {name: _distinct_people(known, listed) for name, listed in namesakes.items()}
    return KnownPeople(users, known.by_ifpa, by_name)


def people_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> KnownPeople:
    """The people with one of these federation numbers."""
    users = _people_by_user_id(db, (), ifpa_ids)
    by_ifpa: defaultdict[int, list[KnownPerson]] = defaultdict(list)
    for person in users.values():
        by_ifpa[person.ifpa_id or 0].append(person)
    return KnownPeople(users, dict(by_ifpa))


def rating_ids_of_people(
    db: Connection, people: Iterable[KnownPerson], viewer: AuthenticatedCaller | None
) -> dict[KnownPerson, int]:
    """The listed rating of each of these people who has one.

    Users who hide their number from this viewer are left out: together with a document that names the
    number, the rating would reveal whose it is.
    """
    wanted = list(people)
    user_ids, numbers = (
        _without_none(person.user_id for person in wanted),
        _without_none(person.ifpa_id for person in wanted),
    )
    rows = select(_RATING.rating_id, _RATING.user_id, _RATING.ifpa_id).where(
        rating_days.IS_LISTED,
        ratings.is_findable_by(viewer),
        or_(_RATING.user_id.in_(user_ids), _RATING.ifpa_id.in_(numbers)),
    )
    ratings_found = db.execute(rows).all()
    by_user = {row.user_id: row.rating_id for row in ratings_found if row.user_id is not None}
    by_ifpa = {row.ifpa_id: row.rating_id for row in ratings_found if row.ifpa_id is not None}
    rating_ids = {person: by_user.get(person.user_id) or by_ifpa.get(person.ifpa_id) for person in wanted}
    return {person: rating_id for person, rating_id in rating_ids.items() if rating_id is not None}


def _without_none(values: Iterable[int | None]) -> set[int]:
    return {value for value in values if value is not None}


def _people_by_user_id(
    db: Connection, user_ids: Collection[int], ifpa_ids: Collection[int]
) -> dict[int, KnownPerson]:
    # The number in a profile is only what its user typed.
    rows = (
        select(_USER.user_id, _CONFIRMED.ifpa_id)
        .outerjoin(confirmed_number, _CONFIRMED.user_id == _USER.user_id)
        .where(or_(_USER.user_id.in_(user_ids), _CONFIRMED.ifpa_id.in_(ifpa_ids)))
    )
    return {
        row.user_id: KnownPerson(row.user_id, row.ifpa_id) for row in db.execute(rows.order_by(_USER.user_id))
    }


def _namesakes(db: Connection, wanted: Collection[str]) -> dict[str, list[KnownPerson]]:
    """Folded name -> users of that name, and book players with an account or a federation number."""
    people: defaultdict[str, list[KnownPerson]] = defaultdict(list)
    users = (
        select(_USER.name, _USER.user_id, _CONFIRMED.ifpa_id)
        .outerjoin(confirmed_number, _CONFIRMED.user_id == _USER.user_id)
        .where(name_search.name_is_among(db, _USER.name, wanted))
    )
    for name, user_id, ifpa_id in db.execute(users.order_by(_USER.user_id)):
        people[names.fold(name) or ""].append(KnownPerson(user_id, ifpa_id))
    players = (
        select(_PLAYER.name, _PLAYER.claimed_by, _PLAYER.ifpa_id)
        .distinct()
        .where(
            name_search.name_is_among(db, _PLAYER.name, wanted),
            or_(_PLAYER.claimed_by.is_not(None), _PLAYER.ifpa_id.is_not(None)),
        )
    )
    for name, user_id, ifpa_id in db.execute(players.order_by(_PLAYER.claimed_by, _PLAYER.ifpa_id)):
        people[names.fold(name) or ""].append(KnownPerson(user_id, ifpa_id))
    return dict(people)


def _distinct_people(known: KnownPeople, namesakes: Iterable[KnownPerson]) -> list[KnownPerson]:
    """Each person once, by account where there is one."""
    people = (
        known.users.get(person.user_id, person)
        if person.user_id is not None
        else known.person_by_ifpa(person.ifpa_id or 0)
        for person in namesakes
    )
    return list(dict.fromkeys(people))
