"""Players of one organizer's book who may be one person."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Row, select

from silverball.store import tables
from silverball.store.people import names, near_names, person_numbers

# The newest players of a large book are compared; names with a word that so many have are not.
COMPARED_MAX, SHARING_A_WORD_MAX = 5_000, 200
_PLAYER = tables.player.c


class LikelyDouble(Struct, frozen=True):
    """Two players who may be one person, the older entry first."""

    player_ids: tuple[int, int]
    names: tuple[str, str]
    # Whether they have one federation number.
    share_number: bool


def likely_doubles(db: Connection, organizer_id: int, most: int) -> list[LikelyDouble]:
    """Pairs of the book with one number, then with near names; two numbers or accounts are two people."""
    people = _people(db, organizer_id)
    numbers = person_numbers.numbers_in_book(db, organizer_id)
    found: dict[tuple[int, int], LikelyDouble] = {}
    for share_number, pairs in ((True, _by_number(people, numbers)), (False, _by_name(people, numbers))):
        for first, second in pairs:
            ids = (first.player_id, second.player_id)
            found.setdefault(ids, LikelyDouble(ids, (first.name, second.name), share_number))
            if len(found) == most:
                return list(found.values())
    return list(found.values())


def doubles_by_number(db: Connection, tournament_ids: Collection[int]) -> list[LikelyDouble]:
    """Players of one book with one number, of whom at least one is in these tournaments."""
    entrant = tables.entrant.c
    in_them = select(entrant.player_id).where(entrant.tournament_id.in_(tournament_ids))
    new_ids = set(db.execute(in_them).scalars())
    organizer_ids = set(
        db.execute(select(_PLAYER.organizer_id).where(_PLAYER.player_id.in_(in_them)).distinct()).scalars()
    )
    found = []
    for organizer_id in sorted(organizer_ids):
        numbers = person_numbers.numbers_in_book(db, organizer_id)
        for first, second in _by_number(_people(db, organizer_id), numbers):
            ids = (first.player_id, second.player_id)
            if not new_ids.isdisjoint(ids):
                found.append(LikelyDouble(ids, (first.name, second.name), share_number=True))
    return found


def _people(db: Connection, organizer_id: int) -> list[Any]:
    """The newest players of the book, oldest first, without those who were erased."""
    rows = db.execute(
        select(_PLAYER.player_id, _PLAYER.name, _PLAYER.status, _PLAYER.claimed_by)
        .where(_PLAYER.organizer_id == organizer_id)
        .order_by(_PLAYER.player_id.desc())
        .limit(COMPARED_MAX)
    ).all()
    return [row for row in reversed(rows) if not is_erased(row)]


def double_text(double: LikelyDouble) -> str:
    """The double as a sentence, which asks whoever reads it to decide."""
    (first, second), (name, other) = double.player_ids, double.names
    return (
        f"Players {first} ({name}) and {second} ({other}) have one federation number: merge them in the book"
        " if they are one person."
    )


def is_erased(row: Row[Any]) -> bool:
    """Whether the player has the pseudonym of somebody whose account was erased."""
    return bool(row.name == f"Player {row.player_id}" and row.status == "inactive")


def _by_number(people: Sequence[Row[Any]], numbers: dict[int, int]) -> Iterator[tuple[Row[Any], Row[Any]]]:
    groups: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in people:
        if row.player_id in numbers:
            groups[numbers[row.player_id]].append(row)
    for group in groups.values():
        yield from combinations(group, 2)


def _by_name(people: Sequence[Row[Any]], numbers: dict[int, int]) -> Iterator[tuple[Row[Any], Row[Any]]]:
    by_word: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for row in people:
        for word in set(names.strip_punctuation(row.name).split()):
            by_word[word].append(row)
    for group in by_word.values():
        for first, second in combinations(islice(group, SHARING_A_WORD_MAX), 2):
            if _may_be_one(first, second, numbers) and near_names.may_be_one_person(first.name, second.name):
                yield first, second


def _may_be_one(first: Row[Any], second: Row[Any], numbers: dict[int, int]) -> bool:
    has_two_numbers = first.player_id in numbers and second.player_id in numbers
    return not has_two_numbers and not (first.claimed_by and second.claimed_by)
