"""Every route and page of a big database, with nothing kept: SQLite, and PostgreSQL where it is installed.

Each request is answered by this process as a worker thread of the server would answer it; lists and
snapshots are forgotten before it. `--scale 0.1` builds a tenth, to try something out; `--slowest 20` prints
the slowest lines; `--database sqlite` measures one.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import big_requests
import big_world
import run
from big_requests import TimedRequest
from big_visitors import Visitors
from big_world import BigWorld
from lists import throwaway_postgresql
from run import Row
from silverball.store.database.engine import Store

TURNS = 24
MEDIAN_MS_MAX, SLOWEST_MS_MAX = 50, 150


@dataclass(frozen=True)
class Timing:
    """The times of one line, in milliseconds."""

    request: TimedRequest
    milliseconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.milliseconds)

    @property
    def slowest(self) -> float:
        return max(self.milliseconds)


def main() -> int:
    """Build, measure, print the table, and say by the exit code whether every bound is met."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--slowest", type=int, default=0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"))
    chosen = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="silverball-big-") as folder:
        for name, url in databases(Path(folder), chosen.database):
            began = time.perf_counter()
            world = big_world.build(url, chosen.scale)
            built = time.perf_counter() - began
            rows.append(Row(f"{name}: built in", f"{built:.0f} s", "reported", is_met=True))
            timings = time_all(url, world)
            for line in slowest_lines(timings, chosen.slowest):
                print(f"{name}: {line}", file=sys.stderr)
            rows += list(_rows(name, timings))
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def databases(folder: Path, chosen: str | None) -> Iterator[tuple[str, str]]:
    if chosen != "postgresql":
        yield "SQLite", f"sqlite:///{folder / 'big.db'}"
    if chosen != "sqlite":
        with throwaway_postgresql() as url:
            if url is not None:
                yield "PostgreSQL", url


def time_all(url: str, world: BigWorld) -> list[Timing]:
    """The timings of all lines; the first answer of each has loaded code and statements."""
    store = Store(url)
    visitors = Visitors(store)
    timings = []
    for request in big_requests.requests(world):
        visitors.milliseconds(request, TURNS)
        timings.append(Timing(request, tuple(visitors.milliseconds(request, n) for n in range(TURNS))))
    visitors.close()
    store.close()
    return timings


def slowest_lines(timings: list[Timing], count: int) -> list[str]:
    """The slowest lines by median, as text."""
    ordered = sorted(timings, key=lambda timing: -timing.median)[:count]
    return [f"{timing.median:7.1f} {timing.slowest:7.1f} ms  {timing.request.name}" for timing in ordered]


def _rows(name: str, timings: list[Timing]) -> Iterator[Row]:
    bounded = [timing for timing in timings if timing.request.is_bounded]
    by_median = max(bounded, key=lambda timing: timing.median)
    by_slowest = max(bounded, key=lambda timing: timing.slowest)
    yield Row(
        f"{name}, {len(bounded)} routes, pages and filters: slowest p50",
        f"{by_median.median:.0f} ms, {by_median.request.name}",
        f"< {MEDIAN_MS_MAX} ms",
        is_met=by_median.median < MEDIAN_MS_MAX,
    )
    yield Row(
        f"{name}: slowest p99",
        f"{by_slowest.slowest:.0f} ms, {by_slowest.request.name}",
        f"< {SLOWEST_MS_MAX} ms",
        is_met=by_slowest.slowest < SLOWEST_MS_MAX,
    )
    for timing in timings:
        if not timing.request.is_bounded:
            yield Row(f"{name}: {timing.request.name}", f"{timing.median:.0f} ms", "reported", is_met=True)


if __name__ == "__main__":
    raise SystemExit(main())
