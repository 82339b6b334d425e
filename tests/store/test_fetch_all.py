"""Several statements at once: one round trip to PostgreSQL, the same rows and faults as one by one."""

import pytest
from sqlalchemy import bindparam, select, text
from sqlalchemy.exc import DBAPIError

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.database.statements import Statement, rows_of_all

pytestmark = pytest.mark.both_databases

_T, _E = tables.tournament.c, tables.entrant.c
STATEMENTS = {
    "tournament": Statement(select(_T.name).where(_T.tournament_id == bindparam("tournament_id"))),
    "entrants": Statement(
        select(_E.player_id, _E.place)
        .where(_E.tournament_id == bindparam("tournament_id"))
        .order_by(_E.place)
    ),
}


def test_the_rows_are_those_of_the_statements_one_by_one(store: Store) -> None:
    night = build.a_tournament(store)
    with store.read() as db:
        together = rows_of_all(db, STATEMENTS, tournament_id=night.tournament_id)
        apart = {
            part: statement.rows(db, tournament_id=night.tournament_id)
            for part, statement in STATEMENTS.items()
        }
        nothing = rows_of_all(db, STATEMENTS, tournament_id=0)
    assert together == apart
    assert [row.player_id for row in together["entrants"]] == list(night.player_ids)
    assert nothing == {"tournament": [], "entrants": []}


def test_a_writer_sees_its_own_changes_and_goes_on_writing(store: Store) -> None:
    night = build.a_tournament(store)
    own = {"tournament_id": night.tournament_id}
    with store.write() as transaction:
        db = transaction.connection
        rename = text("UPDATE tournament SET name = :name WHERE tournament_id = :tournament_id")
        db.execute(rename, {**own, "name": "During"})
        (row,) = rows_of_all(db, STATEMENTS, **own)["tournament"]
        assert row.name == "During"
        db.execute(rename, {**own, "name": "After"})
    with store.read() as db:
        assert STATEMENTS["tournament"].rows(db, **own)[0].name == "After"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_fault_of_any_of_them_is_raised_as_sqlalchemy_does_without_values(store: Store, place: int) -> None:
    constants = [("first", Statement(text("SELECT 1"))), ("second", Statement(text("SELECT 2")))]
    faulty = [*constants]
    faulty.insert(place, ("faulty", Statement(text("SELECT 'canary' FROM no_such_table"))))
    with pytest.raises(DBAPIError, match="no_such_table"), store.read() as db:
        rows_of_all(db, dict(faulty))
    # The connection serves the next one.
    with store.read() as db:
        assert rows_of_all(db, dict(constants)) == {"first": [(1,)], "second": [(2,)]}
