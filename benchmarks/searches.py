"""A part of a name among 100,000 accounts: by the index, and by comparing all names as without it.

Both conditions are run in turns on one connection, by the statement of a search. PostgreSQL is measured
where it is installed. Prints the table of docs/performance.md.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from sqlalchemy import Connection, Select, insert, literal, select, text

import run
from lists import throwaway_postgresql
from run import Row
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.people.names import NameContains, name_contains

NAMES, TURNS = 100_000, 9
SEARCH_MS_MAX = 50
ROWS_AT_ONCE = 5_000
NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
USER = tables.user.c
# Four of ten first names, and a fifth of the last names, are not ASCII.
FIRST_NAMES = ("Ada", "Björn", "Chloé", "Dmitri", "Elif", "Farah", "Günther", "Hana", "Ines", "Jörg")
LAST_NAMES = ("Kicker", "Lane", "Magnus", "Nunes", "Orbit", "Plunger", "Quist", "Ramp", "Łuk", "Núñez")
WORDS = {"in no name": "xyzzy", "in few names": "9999", "in 10,000 names": "magnus", "a letter": "q"}
OPT_OUTS = ("ratings", "stats", "video", "profile", "history")


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    return run.measure(_rows)


def _rows(folder: Path) -> Iterator[Row]:
    yield from _rows_of_database("SQLite", f"sqlite:///{folder / 'names.db'}")
    with throwaway_postgresql() as url:
        if url is not None:
            yield from _rows_of_database("PostgreSQL", url)


def _rows_of_database(name: str, url: str) -> Iterator[Row]:
    store = Store(url)
    migrate.migrate(store)
    began = time.perf_counter()
    with store.migration() as db:
        for first in range(0, NAMES, ROWS_AT_ONCE):
            db.execute(insert(tables.user), [_user(number) for number in range(first, first + ROWS_AT_ONCE)])
    yield Row(f"{name}: {NAMES:,} accounts written", f"{_since(began):.0f} ms", "reported", is_met=True)
    with store.migration() as db:
        db.execute(text("ANALYZE"))
    for label, words in WORDS.items():
        with store.read() as db:
            by_index, by_all, count = _milliseconds(db, words)
        is_bounded = len(words) > 1
        yield Row(
            f"{name}, {label} ({count:,} found): by the index, all names",
            f"{by_index:.1f}, {by_all:.1f} ms",
            f"< {SEARCH_MS_MAX} ms" if is_bounded else "reported",
            is_met=by_index < SEARCH_MS_MAX or not is_bounded,
        )
    store.close()


def _user(number: int) -> dict[str, object]:
    dice = Random(number)
    opt_outs = {f"{kind}_opt_out": False for kind in OPT_OUTS}
    return {
        "name": f"{dice.choice(FIRST_NAMES)} {LAST_NAMES[number % len(LAST_NAMES)]} {number}",
        "role": "player",
        "placeholder": False,
        **opt_outs,
        "history_only_completed": False,
        "created_at": NOW,
    }


def _milliseconds(db: Connection, words: str) -> tuple[float, float, int]:
    """The medians with and without the index, and the number of names found."""
    rows = select(USER.user_id).order_by(USER.user_id)
    ways: list[Callable[[], Select[tuple[int]]]] = [
        lambda: rows.where(name_contains(db, USER.name, words)),
        lambda: rows.where(NameContains(USER.name, literal(words))),
    ]
    measured: list[list[float]] = [[], []]
    found: list[list[int]] = [[], []]
    for _ in range(TURNS):
        for number, way in enumerate(ways):
            began = time.perf_counter()
            found[number] = list(db.scalars(way()))
            measured[number].append(_since(began))
    if found[0] != found[1]:
        raise RuntimeError(f"{words}: the index finds other names")
    by_index, by_all = map(statistics.median, measured)
    return by_index, by_all, len(found[0])


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    raise SystemExit(main())
