"""A search by the indexes of names finds exactly what a comparison of all names finds, on both databases."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import ColumnElement, Connection, delete, func, insert, literal, select, text, update

import build
from query_plans import SqlitePlans
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.people.names import (
    SEARCHED,
    NameContains,
    SearchedNames,
    fold,
    name_contains,
    name_is_among,
)

pytestmark = pytest.mark.both_databases

# Letters with accents, ligatures, strokes and two cases; signs that LIKE, FTS5 and SQL know; other scripts.
SIGNS = (
    "aAbBnN áÁñÑöÖøØłŁ\u0131İß\u017fﬁﬃĳς\u03c3ΣδΔжЖ0123%_\\\"'*^-+()[]{}:;,.?!&|$"
    "\u0301\u0308🎩👩‍🚀王小明カﾞＦｕ"
)
PARTS = (
    "magnus",
    "MAGNUS",
    "Núñez",
    "Nun\u0303ez",
    "o'brien",
    "100%",
    "r_s",
    "k\\s",
    "AND",
    "OR",
    "NEAR",
    "a b",
)
CASES = [
    # Words, and the names among NAMES that they are part of.
    ("magnus", ["Ada Magnus", "MAGNUS Ö.", "Björn Magnusson"]),
    ("agn", ["Ada Magnus", "MAGNUS Ö.", "Björn Magnusson"]),
    ("björn mag", ["Björn Magnusson"]),
    ("bjorn MAG", ["Björn Magnusson"]),
    ("NUÑEZ", ["Núñez", "Nun\u0303ez"]),
    ("ffi", ["O\ufb03ce"]),
    ("OFFICE", ["O\ufb03ce"]),
    ("100%", ["100% Tilt"]),
    ("%", ["100% Tilt"]),
    ("0_0", []),
    ("r_s", ["under_score"]),
    ("k\\s", ["back\\slash"]),
    ('"x', ['say "x" AND y']),
    ("x*", []),
    ('" AND y', ['say "x" AND y']),
    ("🎩", ["🎩🎩🎩 hat"]),
    ("🎩🎩🎩", ["🎩🎩🎩 hat"]),
    ("王小", ["王小明"]),
    ("王小明", ["王小明"]),
    ("us", ["Ada Magnus", "MAGNUS Ö.", "Björn Magnusson"]),
    ("us b", []),
    ("zzz", []),
    (" ", ["Ada Magnus", "MAGNUS Ö.", "Björn Magnusson", "100% Tilt", 'say "x" AND y', "🎩🎩🎩 hat"]),
]
NAMES = [
    *("Ada Magnus", "MAGNUS Ö.", "Björn Magnusson", "Núñez", "Nun\u0303ez", "O\ufb03ce", "100% Tilt", "1000"),
    *("under_score", "underscore", "back\\slash", 'say "x" AND y', "🎩🎩🎩 hat", "王小明", "x"),
]
RANDOM_NAMES = st.lists(
    st.text(SIGNS, max_size=12) | st.lists(st.sampled_from(PARTS), max_size=3).map(" ".join),
    min_size=1,
    max_size=8,
)


def _fill(store: Store, searched: SearchedNames, names: Sequence[str]) -> None:
    """Give the table a row for each name, and no others."""
    organizer = build.a_user(store, name="")
    with store.write() as transaction:
        db = transaction.connection
        if searched.table != "user":
            db.execute(delete(searched.names.table))
        _insert(db, searched, names, organizer)


def _insert(db: Connection, searched: SearchedNames, names: Sequence[str], organizer: int) -> None:
    columns = searched.names.table.c
    rows = []
    for number, name in enumerate(names):
        row = {**build.DEFAULTS.get(searched.table, {}), "name": name}
        row |= {"organizer_id": organizer} if searched.table in {"player", "tournament"} else {}
        row |= {"ifpa_id": number + 1, "name_plain": ""} if searched.table == "federation_player" else {}
        row |= {"name_folded": fold(name)} if searched.are_folded else {}
        rows.append({column: value for column, value in row.items() if column in columns})
    db.execute(insert(searched.names.table), rows)


def _found(db: Connection, searched: SearchedNames, condition: ColumnElement[bool]) -> list[Any]:
    rows = select(searched.key, searched.names).where(condition).order_by(searched.key)
    return [tuple(row) for row in db.execute(rows)]


def _compared(db: Connection, searched: SearchedNames, words: str) -> list[Any]:
    """The rows that a comparison of all names finds."""
    if not searched.are_folded:
        return _found(db, searched, NameContains(searched.names, literal(words)))
    position = func.strpos if db.dialect.name == "postgresql" else func.instr
    return _found(db, searched, position(searched.names, words) > 0)


def _words_of(searched: SearchedNames, words: str) -> str:
    return fold(words) or "" if searched.are_folded else words


@pytest.mark.parametrize("searched", SEARCHED.values(), ids=lambda searched: searched.table)
def test_words_are_found_in_names_without_case_and_accents(store: Store, searched: SearchedNames) -> None:
    _fill(store, searched, NAMES)
    with store.read() as db:
        for words, expected in CASES:
            wanted = _words_of(searched, words)
            found = _found(db, searched, name_contains(db, searched.names, wanted))
            shown = [fold(name) or "" for name in expected] if searched.are_folded else expected
            assert [name for _, name in found] == shown, words
            assert found == _compared(db, searched, wanted), words


@pytest.mark.parametrize("searched", SEARCHED.values(), ids=lambda searched: searched.table)
def test_no_words_are_in_every_name(store: Store, searched: SearchedNames) -> None:
    _fill(store, searched, NAMES)
    with store.read() as db:
        assert len(_found(db, searched, name_contains(db, searched.names, ""))) >= len(NAMES)


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(names=RANDOM_NAMES, others=RANDOM_NAMES, data=st.data())
def test_the_indexes_find_what_a_comparison_of_all_names_finds(
    store: Store, names: list[str], others: list[str], data: st.DataObject
) -> None:
    searched = data.draw(st.sampled_from(list(SEARCHED.values())))
    with store.write() as transaction:
        db = transaction.connection
        organizer = _any_organizer(db)
        _insert(db, searched, names, organizer)
        # Some are renamed before they are searched.
        for key, name in zip(_keys(db, searched), others, strict=False):
            stored = fold(name) if searched.are_folded else name
            db.execute(
                update(searched.names.table).where(searched.key == key).values({searched.names: stored})
            )
        for _ in range(5):
            name = data.draw(st.sampled_from([*names, *others]))
            begin = data.draw(st.integers(0, len(name)))
            part = name[begin : data.draw(st.integers(begin, len(name)))]
            words = data.draw(
                st.sampled_from([part, part.upper(), part.lower()]) | st.text(SIGNS, max_size=5)
            )
            wanted = _words_of(searched, words)
            found = _found(db, searched, name_contains(db, searched.names, wanted))
            assert found == _compared(db, searched, wanted), words
        whole = {fold(name) or "" for name in [*others, words]}
        among = _found(db, searched, name_is_among(db, searched.names, whole))
        assert among == _found(db, searched, searched.fold(searched.names).in_(whole))
        _clear(db, searched, organizer)


def _any_organizer(db: Connection) -> int:
    rows = insert(tables.user).values({**build.DEFAULTS["user"], "name": "Olga"})
    return int(db.execute(rows.returning(tables.user.c.user_id)).scalar_one())


def _keys(db: Connection, searched: SearchedNames) -> list[int]:
    return list(db.execute(select(searched.key).order_by(searched.key.desc())).scalars())


def _clear(db: Connection, searched: SearchedNames, organizer: int) -> None:
    db.execute(delete(searched.names.table))
    db.execute(delete(tables.user).where(tables.user.c.user_id == organizer))


@pytest.mark.parametrize("searched", SEARCHED.values(), ids=lambda searched: searched.table)
def test_sqlite_reads_only_the_index(tmp_path: Any, searched: SearchedNames) -> None:
    plans = SqlitePlans(str(tmp_path / "small.db"))
    migrate.migrate(plans.store)
    with plans.store.read() as db:
        plans.forget()
        _found(db, searched, name_contains(db, searched.names, "magnus"))
    assert searched.table not in {read.table for read in plans.whole_reads()}
    plans.close()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("searched", SEARCHED.values(), ids=lambda searched: searched.table)
def test_postgresql_reads_only_the_index(store: Store, searched: SearchedNames) -> None:
    dice = Random(7)
    _fill(store, searched, [f"{dice.choice(PARTS)} {number}" for number in range(300)])
    with store.migration() as db:
        db.execute(text("SET LOCAL enable_seqscan = off"))
        rows = select(searched.key).where(name_contains(db, searched.names, "brien 7"))
        statement = str(rows.compile(db, compile_kwargs={"literal_binds": True})).replace("%%", "%")
        plan = "\n".join(row[0] for row in db.execute(text("EXPLAIN " + statement.replace(":", "\\:"))))
    assert f"Bitmap Index Scan on {searched.index}" in plan, plan
