"""`make bench`: 1,000 pulled tournaments of 16 players, imported from disk into an SQLite file.

Each is read, checked, mapped and stored in a transaction of its own, as a pull does it; the club's regulars
are the same in all of them. Seconds are CPU seconds: the machine may have other work.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import run
from run import Row
from silverball.cli.demo import BUNDLES
from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle import id_map
from silverball.service.journal.reads import verification
from silverball.store.database import migrate
from silverball.store.database.engine import Store

TOURNAMENTS = 1_000
PER_SECOND_MIN = 25
MEGABYTES_MAX = 150
# Nights of 16 players.
NIGHTS = ("00-group_knockout.json", "20-group_knockout.json")
# What is another one in each tournament.
KINDS = ("tournamentId", "roundId", "gameId")
SOURCE = "results.example"
NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    return run.measure(_rows)


def _rows(folder: Path) -> Iterator[Row]:
    files = folder / "pulled"
    files.mkdir()
    for number in range(TOURNAMENTS):
        (files / f"{number:04}.json").write_bytes(_night(number))
    with closing(Store(f"sqlite:///{folder / 'bench.db'}")) as store:
        migrate.migrate(store)
        paths = sorted(files.iterdir())
        began, first = time.process_time(), 0
        for count, path in enumerate(paths, start=1):
            _import(store, path)
            if count == TOURNAMENTS // 10:
                # Everything is loaded by then.
                first = _resident_megabytes()
        rate = TOURNAMENTS / (time.process_time() - began)
        last = _resident_megabytes()
        label = "pulled tournaments of 16 players, imported in a second"
        yield Row(label, f"{rate:.0f}", f">= {PER_SECOND_MIN}", rate >= PER_SECOND_MIN)
        memory = f"{first} MB, {last} MB"
        is_flat = last < MEGABYTES_MAX and last - first < 20
        label = "memory after 100 and after 1,000 of them"
        yield Row(label, memory, f"< {MEGABYTES_MAX} MB, flat", is_flat)
        yield from _later_rows(store, paths)


def _later_rows(store: Store, paths: list[Path]) -> Iterator[Row]:
    began = time.process_time()
    for path in paths[:100]:
        _import(store, path)
    rate = 100 / (time.process_time() - began)
    yield Row("the same again, nothing new", f"{rate:.0f}", "reported", is_met=True)
    began = time.process_time()
    faults = 0
    for path in paths[:100]:
        tournament_id = json.loads(path.read_bytes())["tournament"]["tournamentId"]
        with store.read() as db:
            faults += len(verification.verify_tournament(db, tournament_id).faults)
    rate = 100 / (time.process_time() - began)
    yield Row("verified in a second", f"{rate:.0f}", "reported", is_met=True)
    yield Row("differences that were found", str(faults), "0", faults == 0)


def _night(number: int) -> bytes:
    """A night with its own ids, players and arenas that all nights of its kind share."""
    raw: Any = json.loads((BUNDLES / NIGHTS[number % len(NIGHTS)]).read_bytes())
    ids = id_map.ids_in(raw)
    own = {
        kind: {old: 1_000_000 + number * 1_000 + place for place, old in enumerate(sorted(ids[kind]))}
        for kind in KINDS
    }
    id_map.renumber(raw, own)
    raw["tournament"].pop("shortcut", None)
    return json.dumps(raw).encode()


def _import(store: Store, path: Path) -> None:
    file = bundle_file.read(path)
    with store.write() as transaction:
        bundle_file.import_bundle(transaction, file, source=SOURCE, now=NOW, dice=Random(7))


def _resident_megabytes() -> int:
    """The memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


if __name__ == "__main__":
    sys.exit(main())
