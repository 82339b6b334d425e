"""Whether an id is among many: one parameter for all of them, the same answer on both databases."""

import pytest
from sqlalchemy import ColumnElement, false, insert, not_, or_, select

from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.database.engine import Store

pytestmark = pytest.mark.both_databases

WORLD = tables.world
LARGEST = 2**63 - 1
# Slots that no worker has.
STORED = [1_000_001, 1_000_002, 1_000_003, LARGEST]


def stored_among(store: Store, condition: ColumnElement[bool]) -> list[int]:
    with store.read() as db:
        found = select(WORLD.c.slot).where(WORLD.c.slot > 1_000_000, condition).order_by(WORLD.c.slot)
        return list(db.execute(found).scalars())


@pytest.fixture
def stored(store: Store) -> Store:
    with store.migration() as db:
        db.execute(insert(WORLD), [{"slot": slot, "revision": 1, "stamp": 0} for slot in STORED])
    return store


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ([], []),
        ([1_000_002], [1_000_002]),
        ([1_000_003, 1_000_001, 1_000_003], [1_000_001, 1_000_003]),
        ([-1, 0, 7], []),
        ([LARGEST], [LARGEST]),
        (range(1_000_000, 1_020_000), STORED[:3]),
        ({1_000_001, LARGEST}, [1_000_001, LARGEST]),
        ({1_000_002: "a key"}, [1_000_002]),
    ],
    ids=["none", "single", "repeated, unordered", "unknown", "largest", "20,000", "a set", "keys"],
)
def test_ids_are_found_among_the_stored(stored: Store, ids: list[int], found: list[int]) -> None:
    assert stored_among(stored, is_among(WORLD.c.slot, ids)) == found


def test_the_condition_is_part_of_longer_conditions(stored: Store) -> None:
    own, other = is_among(WORLD.c.slot, [1_000_001]), is_among(WORLD.c.slot, [LARGEST, 3])
    assert stored_among(stored, or_(own, other)) == [1_000_001, LARGEST]
    assert stored_among(stored, or_(WORLD.c.slot == 1_000_002, own)) == [1_000_001, 1_000_002]
    assert stored_among(stored, not_(own)) == STORED[1:]
    assert stored_among(stored, own & other) == []


def test_the_ids_may_be_those_of_a_statement(stored: Store) -> None:
    other = WORLD.alias()
    theirs = select(other.c.slot - 1).where(other.c.slot.in_([1_000_002, 1_000_003]))
    assert stored_among(stored, is_among(WORLD.c.slot, theirs)) == [1_000_001, 1_000_002]
    assert stored_among(stored, or_(WORLD.c.slot == LARGEST, is_among(WORLD.c.slot, theirs))) == [
        1_000_001,
        1_000_002,
        LARGEST,
    ]
    assert stored_among(stored, is_among(WORLD.c.slot, theirs.where(false()))) == []


def test_any_number_of_ids_makes_the_same_statement(store: Store) -> None:
    written = {
        str(select(WORLD.c.slot).where(is_among(WORLD.c.slot, range(count))).compile(store.engine))
        for count in (0, 1, 2, 250)
    }
    assert len(written) == 1
