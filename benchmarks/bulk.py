"""`make bench`: the bulk tables of 100,000 games as CSV and Parquet, and as an SQLite database.

Whole commands on an SQLite file. The other bulk files, ratings among them, are part of the command. All
seconds are CPU seconds: the machine may have other work.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import big_world
import run
from run import Row
from silverball.exchange import bulk
from silverball.exchange.bulk import CurrentTables
from silverball.service.users import writes as users
from silverball.store.database.engine import Store

# Of the big database, which has a million games.
SCALE = 0.1
SECONDS_MAX = 10.0


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    return run.measure(_rows)


def _rows(folder: Path) -> Iterator[Row]:
    url = f"sqlite:///{folder / 'bench.db'}"
    big_world.build(url, SCALE)
    formats = "CSV and Parquet" if bulk.is_available() else "CSV only, without pyarrow"
    exports = folder / "exports"
    for label, words in (
        (f"bulk files of 100,000 games, {formats}", ("nightly", str(exports))),
        ("the same again, nothing new", ("nightly", str(exports))),
        ("the same as an SQLite database", ("sqlite", str(folder / "public.db"))),
    ):
        began = _seconds_of_children()
        run.silverball("export", *words, folder=folder)
        seconds = _seconds_of_children() - began
        yield Row(label, f"{seconds:.2f} s", f"< {SECONDS_MAX:.0f} s", seconds < SECONDS_MAX)
    size = sum(path.stat().st_size for path in exports.iterdir()) / 1e6
    yield Row("size of the folder", f"{size:.0f} MB", "reported", is_met=True)
    with closing(Store(url)) as store:
        yield _row_of_opt_out(store, exports)


def _seconds_of_children() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def _row_of_opt_out(store: Store, exports: Path) -> Row:
    """The time until a month of somebody who opted out is served without them."""
    person_id = big_world.FIRST_PERSON_ID + 1
    with store.write() as transaction:
        users.change_profile(transaction, person_id, users.ChangedProfile(stats_opt_out=True))
    tables = CurrentTables(store, exports, lambda: big_world.NOW)
    month = next(part for part in bulk.written_parts(exports) if part != bulk.ALL)
    began = time.process_time()
    wait = tables.seconds_to_wait(f"results-{month}.csv")
    seconds = time.process_time() - began
    is_met = seconds < 2 and wait == 0
    return Row("a month after an opt-out, written anew", f"{seconds:.2f} s", "< 2 s", is_met)


if __name__ == "__main__":
    sys.exit(main())
