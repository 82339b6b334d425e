"""The five questions of docs/statistics.md have the same answers in SQLite, DuckDB and pandas."""

import importlib.util
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from exchange import bundles
from house import doc_blocks
from house.doc_blocks import ROOT
from silverball.cli.demo import BUNDLES
from silverball.exchange import bulk
from silverball.jobs import nightly_exports, rating_period
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.store.database.engine import Store

NIGHTS = ("15-group_knockout", "17-knockout", "63-frenzy", "70-group_matchplay", "71-group_matchplay")
NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
PAGE = list(doc_blocks.blocks(ROOT / "docs" / "statistics.md"))
SQL = [block.text for block in PAGE if block.language == "sql"]
_DOWNLOAD, DUCKDB, SQLITE, PANDAS, *PANDAS_ANSWERS = [
    block.text for block in PAGE if block.language == "python"
]
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path) -> Path:
    """The tables of some nights of the demo, in both forms."""
    made = tmp_path_factory.mktemp("statistics")
    (made / "site.db").write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{made / 'site.db'}")
    try:
        for name in NIGHTS:
            bundles.import_bundle(store, BUNDLES / f"{name}.json")
        rating_period.run(store, NOW, parameters=DEFAULTS, delay_days=0)
        nightly_exports.run(made / "exports", store, NOW)
        bulk.write_database(store, made / "public.db")
    finally:
        store.close()
    return made


@pytest.fixture(autouse=True)
def stand_in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where the reader of the page stands."""
    monkeypatch.chdir(folder)


def run(*programs: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for program in programs:
        exec(program, names)
    return names


def answers_in_sql(preparation: str) -> Iterator[Rows]:
    db = run(preparation)["db"]
    try:
        for question in SQL:
            yield [tuple(row) for row in db.execute(question).fetchall()]
    finally:
        db.close()


def require(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed here: pip install pyarrow duckdb pandas")


def assert_equal_answers(answers: list[Rows]) -> None:
    expected = list(answers_in_sql(SQLITE))
    assert len(answers) == len(expected) == 5
    for rows, known in zip(answers, expected, strict=True):
        assert len(rows) == len(known)
        for row, other in zip(rows, known, strict=True):
            assert list(row) == [pytest.approx(each) if isinstance(each, float) else each for each in other]


def test_every_question_has_an_answer() -> None:
    """Answers that somebody who knows the nights would believe."""
    machines, order, meetings, favourites, months = answers_in_sql(SQLITE)
    assert all(games >= 5 and 1 < minutes < 60 for _, games, minutes in machines)
    assert [place for size, place, _, _ in order if size == 4] == [1, 2, 3, 4]
    assert all(0 <= wins <= games for _, _, games, wins in meetings)
    assert [ahead for ahead, _, _ in favourites] == ["50 and more", "below 50"]
    assert sum(tournaments for _, _, tournaments, _ in months) == len(NIGHTS)


def test_duckdb_answers_the_same() -> None:
    require("duckdb", "pyarrow")
    assert_equal_answers(list(answers_in_sql(DUCKDB)))


def test_pandas_answers_the_same() -> None:
    require("pandas", "pyarrow")
    answers = []
    with warnings.catch_warnings():
        # What the library says of itself is not about the page.
        warnings.simplefilter("ignore")
        names = run(PANDAS)
        for program in PANDAS_ANSWERS:
            answer = run_with(names, program)
            answers.append([tuple(row) for row in answer.itertuples(index=False)])
    assert_equal_answers(answers)


def run_with(names: dict[str, Any], program: str) -> Any:
    exec(program, names)
    return names["answer"]
