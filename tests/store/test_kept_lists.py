"""What long lists have in all is kept in memory, and never outlives a commit."""

from array import array
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select, update

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions.kept_lists import LIST_COST, KeptList, KeptLists, kept_list
from silverball.store.revisions.stamps import Revision

pytestmark = pytest.mark.both_databases

FILTERS = ("locations",)


class Counter:
    """Counts the locations, and how often it was asked to."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asked = 0

    def total(self) -> int:
        with self.store.read() as db:

            def count() -> int:
                self.asked += 1
                return int(db.execute(select(func.count()).select_from(tables.location)).scalar_one())

            return kept_list(db, FILTERS, lambda: KeptList(count(), array("q"))).total


@pytest.fixture
def other_process(store: Store) -> Iterator[Store]:
    """The same database, opened again with a memory of its own."""
    opened = Store(store.url.render_as_string(hide_password=False))
    yield opened
    opened.close()


def test_a_total_is_counted_once_until_somebody_commits(store: Store) -> None:
    counter = Counter(store)
    build.row(store, tables.location, organizer_id=build.a_user(store))
    assert [counter.total(), counter.total()] == [1, 1]
    assert counter.asked == 1
    build.row(store, tables.location, organizer_id=build.a_user(store))
    assert [counter.total(), counter.total()] == [2, 2]
    assert counter.asked == 2


def test_a_commit_of_another_process_counts_at_once(store: Store, other_process: Store) -> None:
    here, there = Counter(store), Counter(other_process)
    assert (here.total(), there.total()) == (0, 0)
    build.row(other_process, tables.location, organizer_id=build.a_user(other_process))
    assert (here.total(), there.total()) == (1, 1)


def test_a_reader_of_an_older_snapshot_keeps_nothing_newer_away(store: Store) -> None:
    newer, older = KeptList(2, array("q")), KeptList(1, array("q"))
    lists = KeptLists()
    lists.keep(FILTERS, Revision(8, 0), newer)
    lists.keep(FILTERS, Revision(7, 0), older)
    assert (lists.get(FILTERS, Revision(8, 0)), lists.get(FILTERS, Revision(7, 0))) == (newer, None)


def test_a_writer_sees_its_own_rows_and_leaves_nothing_behind(store: Store) -> None:
    counter = Counter(store)
    assert counter.total() == 0

    with pytest.raises(RuntimeError), store.write() as transaction:
        assert kept_list(transaction.connection, FILTERS, lambda: KeptList(5, array("q"))).total == 5
        transaction.connection.execute(update(tables.location).values(name="x"))
        raise RuntimeError
    assert counter.total() == 0


def test_the_memory_is_bounded_by_ids_and_drops_what_was_used_longest_ago() -> None:
    lists = KeptLists(ids_max=3 * (LIST_COST + 10))
    for name in "abc":
        lists.keep(name, Revision(1, 0), KeptList(10, array("q", range(10))))
    assert lists.get("a", Revision(1, 0)) is not None
    lists.keep("d", Revision(1, 0), KeptList(10, array("q", range(10))))
    assert [name for name in "abcd" if lists.get(name, Revision(1, 0)) is not None] == ["a", "c", "d"]
    # The same list again costs nothing more.
    for revision in range(2, 50):
        lists.keep("d", Revision(revision, 0), KeptList(10, array("q", range(10))))
    assert len(lists) == 3
    lists.keep("huge", Revision(1, 0), KeptList(10_000, array("q", range(10_000))))
    assert len(lists) == 0
