"""The ratings of many people are published in short transactions, and readers see those of one day."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, select, update

from service.ratings.circuit import NOW, Circuit
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.periods import rating_run
from silverball.service.periods import writes as periods_writes
from silverball.service.ratings import reads as ratings_reads
from silverball.store import tables
from silverball.store.database import slices
from silverball.store.database.engine import Store
from silverball.store.database.transaction import Transaction
from silverball.store.people import book, rating_days

SLICE = 3
PEOPLE = [f"Player {n:02}" for n in range(11)]
# One row for the lock of the run, those of two periods, and the counter of the world's revisions.
ROWS_OF_THE_SWITCH_MAX = 5


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_ROWS", SLICE)


class PowerCut(Exception):
    """The run ends here, as a killed process does."""


def a_circuit(store: Store) -> Circuit:
    """Eleven people who played on the first two days."""
    circuit = Circuit(store)
    circuit.night(1, PEOPLE[:4], PEOPLE[4:8])
    circuit.night(2, PEOPLE[7:11], [PEOPLE[0], PEOPLE[9]])
    return circuit


def published(store: Store) -> list[tuple[Any, ...]]:
    """All ratings as readers see them, and the day of the current period."""
    with store.read() as db:
        rows = select(book.PUBLISHED).order_by(book.PUBLISHED.c.rating_id)
        day = select(tables.rating_period.c.period_date).where(tables.rating_period.c.is_current)
        return [tuple(row) for row in db.execute(rows)] + [tuple(row) for row in db.execute(day)]


def moved(store: Store) -> int:
    with store.read() as db:
        staged = db.execute(select(func.count()).select_from(tables.staged_rating)).scalar_one()
    return len(PEOPLE) - int(staged)


@dataclass
class Written:
    """The rows that each transaction of a run has written, by its number."""

    rows: list[int] = field(default_factory=list)
    shows: list[int] = field(default_factory=list)


@contextmanager
def watched(store: Store) -> Iterator[Written]:
    """Count the rows that each transaction writes, and note those that change the current period."""
    written, count = Written(), [0]

    def note(_db: Connection, cursor: Any, statement: str, *_more: Any) -> None:
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            count[0] += max(cursor.rowcount, 0)
            if "is_current" in statement and "staged_run" in statement:
                written.shows.append(len(written.rows))

    write = store.write

    @contextmanager
    def write_and_close(*given: Any, **named: Any) -> Iterator[Transaction]:
        with write(*given, **named) as transaction:
            yield transaction
        written.rows.append(count[0])
        count[0] = 0

    event.listen(store.engine, "after_cursor_execute", note)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "write", write_and_close)
        yield written
    event.remove(store.engine, "after_cursor_execute", note)


def test_the_transaction_that_shows_new_ratings_writes_a_handful_of_rows(store: Store) -> None:
    circuit = a_circuit(store)
    run = rating_run.RatingRun(store, DEFAULTS, NOW)
    with watched(store) as written:
        run.rate_until(date(2026, 3, 2), None, lambda _done, _all: written.rows.clear())
    assert written.shows
    assert all(written.rows[number] <= ROWS_OF_THE_SWITCH_MAX for number in written.shows)
    # A slice is written, or moved: its rows there, and its rows here.
    assert max(written.rows) <= 2 * SLICE + 1
    assert sum(written.rows) >= 3 * len(PEOPLE)
    assert len(circuit.get_json("/api/ratings")["data"]) == len(PEOPLE)


@pytest.mark.both_databases
def test_slices_publish_what_one_transaction_publishes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = a_circuit(store)
    circuit.claim(PEOPLE[3], ratings_opt_out=True)
    circuit.rate(3)
    in_slices = circuit.stored_rows()
    monkeypatch.setattr(slices, "SLICE_ROWS", 2_000)
    circuit.rate(3, rerate_from=date.min)
    assert circuit.stored_rows() == in_slices
    assert moved(store) == len(PEOPLE)


@contextmanager
def cut_after(monkeypatch: pytest.MonkeyPatch, name: str, times: int) -> Iterator[None]:
    """Let a run end when it has done this step of a publication so many times."""
    step, calls = getattr(periods_writes, name), [0]

    def cut(*given: Any, **named: Any) -> Any:
        if calls[0] == times:
            raise PowerCut
        calls[0] += 1
        return step(*given, **named)

    with monkeypatch.context() as patched, pytest.raises(PowerCut):
        patched.setattr(periods_writes, name, cut)
        yield


@pytest.mark.both_databases
def test_readers_see_the_ratings_of_one_day_while_they_are_staged_and_moved(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    circuit = a_circuit(store)
    circuit.rate(2)
    before = published(store)
    circuit.night(3, PEOPLE[2:6], [PEOPLE[10], PEOPLE[0]])
    with cut_after(monkeypatch, "store_slice", 2):
        circuit.rate(3)
    assert published(store) == before
    with cut_after(monkeypatch, "move_slice", 2):
        circuit.rate(3)
    assert moved(store) == 2 * SLICE
    # Half of them are moved, and everybody reads all of them.
    shown = published(store)
    pages = [circuit.get_json("/api/ratings"), circuit.get_json("/api/ratings/compare?userIds=1")]
    with store.read() as db:
        file = list(ratings_reads.rating_csv_lines(db))
    assert circuit.rate(3) == 1
    assert published(store) == shown != before
    assert [circuit.get_json("/api/ratings"), circuit.get_json("/api/ratings/compare?userIds=1")] == pages
    with store.read() as db:
        assert list(ratings_reads.rating_csv_lines(db)) == file
    assert moved(store) == len(PEOPLE)
    resumed = circuit.stored_rows()
    circuit.rate(3, rerate_from=date.min)
    assert circuit.stored_rows() == resumed
    with store.read() as db:
        stored = db.execute(select(tables.rating).order_by(tables.rating.c.rating_id)).all()
    assert [tuple(row) for row in stored] == shown[:-1]


def assert_ranks_leave_out(store: Store, name: str) -> None:
    """The ranks follow from the lower bounds of all but this person."""
    own = book.PUBLISHED.c
    with store.read() as db:
        rows = db.execute(select(own.name, own.lower_bound, own.rank)).all()
    bounds = [row.lower_bound for row in rows if row.name != name]
    expected = {row.name: 1 + sum(bound > row.lower_bound for bound in bounds) for row in rows}
    assert {row.name: row.rank for row in rows} == {**expected, name: None}


@pytest.mark.parametrize(("step", "times"), [("store_slice", 3), ("move_slice", 0), ("move_slice", 2)])
def test_opting_out_between_two_slices_leaves_no_rank(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, times: int
) -> None:
    circuit = a_circuit(store)
    user_id = circuit.claim(PEOPLE[0])
    circuit.rate(2)
    circuit.night(3, [PEOPLE[0], *PEOPLE[8:11]])
    with cut_after(monkeypatch, step, times):
        circuit.rate(3)
    body = {"ratingsOptOut": True}
    assert circuit.change_profile(user_id, body) == 200
    assert_ranks_leave_out(store, PEOPLE[0])
    assert PEOPLE[0] not in {rating["name"] for rating in circuit.get_json("/api/ratings")["data"]}
    circuit.rate(3)
    assert_ranks_leave_out(store, PEOPLE[0])


@pytest.mark.both_databases
def test_opting_out_while_ratings_are_staged_stages_them_once_more(store: Store) -> None:
    circuit = a_circuit(store)
    user_id = circuit.claim(PEOPLE[0])
    tries: list[rating_run.Publication] = []

    class OptingOut(rating_run.RatingRun):
        def _prepare_publication(self, *given: Any) -> rating_run.Publication:
            tries.append(super()._prepare_publication(*given))
            if len(tries) == 1:
                with store.write() as transaction:
                    own = update(tables.user).where(tables.user.c.user_id == user_id)
                    transaction.connection.execute(own.values(ratings_opt_out=True))
                    rating_days.update_user(transaction.connection, user_id, was_hidden=False)
            return tries[-1]

    assert OptingOut(store, DEFAULTS, NOW).rate_until(date(2026, 3, 2), None, lambda _done, _all: None) == 2
    assert [publication.hidden_ids for publication in tries] == [set(), {1}]
    assert_ranks_leave_out(store, PEOPLE[0])


def test_a_run_that_is_superseded_moves_nothing_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = a_circuit(store)
    step = periods_writes.move_slice

    def supersede(db: Connection, run: int) -> int:
        count = step(db, run)
        rating_days.begin_run(db)
        return count

    with monkeypatch.context() as patched:
        patched.setattr(periods_writes, "move_slice", supersede)
        with pytest.raises(periods_writes.RunSuperseded):
            circuit.rate(2)
    shown = published(store)
    assert moved(store) == SLICE
    assert circuit.rate(2) == 1
    assert published(store) == shown
    assert moved(store) == len(PEOPLE)
