"""Who the players of a document may be: accounts and the players of everybody's book."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, or_, select

from silverball.service.access import AuthenticatedCaller
from silverball.service.ratings.reads import ratings
from silverball.service.submissions.document import DocumentPlayer
from silverball.service.submissions.people import KnownPeople, KnownPerson
from silverball.store import names, rating_days
from silverball.store.tables import player, rating, user

_USER, _PLAYER, _RATING = user.c, player.c, rating.c


def known_people(db: Connection, players: Collection[DocumentPlayer]) -> KnownPeople:
    """Everybody whom these players of a document can mean."""
    wanted = {names.fold(one.name) or "" for one in players}
    namesakes = _namesakes(db, wanted)
    people = [one for listed in namesakes.values() for one in listed]
    user_ids = [*(one.matchplay_user_id for one in players), *(one.user_id for one in people)]
    numbers = [*(one.ifpa_id for one in players), *(one.ifpa_id for one in people)]
    users = _people_by_user_id(db, _without_none(user_ids), _without_none(numbers))
    by_ifpa: defaultdict[int, list[KnownPerson]] = defaultdict(list)
    for one in users.values():
        if one.ifpa_id is not None:
            by_ifpa[one.ifpa_id].append(one)
    found = KnownPeople(users, dict(by_ifpa))
    by_name = {name: _distinct_people(found, listed) for name, listed in namesakes.items()}
    return KnownPeople(users, found.by_ifpa, by_name)


def people_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> KnownPeople:
    """Everybody who has one of these federation numbers."""
    users = _people_by_user_id(db, (), ifpa_ids)
    by_ifpa: defaultdict[int, list[KnownPerson]] = defaultdict(list)
    for one in users.values():
        by_ifpa[one.ifpa_id or 0].append(one)
    return KnownPeople(users, dict(by_ifpa))


def rating_ids_of_people(
    db: Connection, people: Iterable[KnownPerson], viewer: AuthenticatedCaller | None
) -> dict[KnownPerson, int]:
    """The rating of each of these people who has one that is shown.

    Without those of users who hide their number from this viewer: a document that names the number
    would tell whose it is.
    """
    asked = list(people)
    user_ids, numbers = (
        _without_none(one.user_id for one in asked),
        _without_none(one.ifpa_id for one in asked),
    )
    rows = select(_RATING.rating_id, _RATING.user_id, _RATING.ifpa_id).where(
        rating_days.IS_LISTED,
        ratings.is_findable_by(viewer),
        or_(_RATING.user_id.in_(user_ids), _RATING.ifpa_id.in_(numbers)),
    )
    found = db.execute(rows).all()
    by_user = {row.user_id: row.rating_id for row in found if row.user_id is not None}
    by_ifpa = {row.ifpa_id: row.rating_id for row in found if row.ifpa_id is not None}
    rating_ids = {one: by_user.get(one.user_id) or by_ifpa.get(one.ifpa_id) for one in asked}
    return {one: rating_id for one, rating_id in rating_ids.items() if rating_id is not None}


def _without_none(values: Iterable[int | None]) -> set[int]:
    return {one for one in values if one is not None}


def _people_by_user_id(
    db: Connection, user_ids: Collection[int], ifpa_ids: Collection[int]
) -> dict[int, KnownPerson]:
    rows = select(_USER.user_id, _USER.ifpa_id).where(
        or_(_USER.user_id.in_(user_ids), _USER.ifpa_id.in_(ifpa_ids))
    )
    return {
        row.user_id: KnownPerson(row.user_id, row.ifpa_id) for row in db.execute(rows.order_by(_USER.user_id))
    }


def _namesakes(db: Connection, wanted: Collection[str]) -> dict[str, list[KnownPerson]]:
    """Name without case and accents -> users of that name, and players in books who are more than a name."""
    found: defaultdict[str, list[KnownPerson]] = defaultdict(list)
    users = select(_USER.name, _USER.user_id, _USER.ifpa_id).where(names.FoldedName(_USER.name).in_(wanted))
    for name, user_id, ifpa_id in db.execute(users.order_by(_USER.user_id)):
        found[names.fold(name) or ""].append(KnownPerson(user_id, ifpa_id))
    players = (
        select(_PLAYER.name, _PLAYER.claimed_by, _PLAYER.ifpa_id)
        .distinct()
        .where(
            names.FoldedName(_PLAYER.name).in_(wanted),
            or_(_PLAYER.claimed_by.is_not(None), _PLAYER.ifpa_id.is_not(None)),
        )
    )
    for name, user_id, ifpa_id in db.execute(players.order_by(_PLAYER.claimed_by, _PLAYER.ifpa_id)):
        found[names.fold(name) or ""].append(KnownPerson(user_id, ifpa_id))
    return dict(found)


def _distinct_people(found: KnownPeople, namesakes: Iterable[KnownPerson]) -> list[KnownPerson]:
    """Each of them once, by account when there is one."""
    people = (
        found.users.get(one.user_id, one)
        if one.user_id is not None
        else found.person_by_ifpa(one.ifpa_id or 0)
        for one in namesakes
    )
    return list(dict.fromkeys(people))
