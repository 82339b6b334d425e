"""`make bench`: what a result costs where two tournaments share a room, and how long their games wait.

Sixty players, twenty of them in both tournaments, on twenty machines, in groups of four. The rule alone is
measured in memory, for both tournaments after each result; the whole way, with the requests of an organizer
and what follows in the other tournament, on an SQLite file.
"""

import statistics
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

from run import Row, measure
from silverball.rules.mechanics import shared_room
from silverball.store.database import migrate
from silverball.store.database.engine import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
# The tests' own evenings, in memory and on a database.
from rules.test_shared_room import Evening, an_evening
from stories.room import Room

SECONDS_MAX = 0.05
PLAYERS, OTHERS, SHARED, MACHINES = 48, 32, 20, 20
MINUTES = 240


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    return measure(_rows)


def _rows(folder: Path) -> Iterator[Row]:
    seconds, evening = _rule_seconds()
    yield _row("call-ups of both after a result, the rule", seconds)
    longest = max(evening.waits, default=timedelta())
    text = f"{longest // timedelta(minutes=1)} min"
    yield Row("longest wait, games of 6 to 12 min", text, "< 36 min", longest < timedelta(minutes=36))
    yield _row("a result with its call-ups in both, SQLite", _request_seconds(folder))


def _row(label: str, seconds: list[float]) -> Row:
    ordered = sorted(seconds)
    p95 = ordered[int(len(ordered) * 0.95)]
    text = f"median {statistics.median(ordered) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms"
    return Row(label, text, f"p95 < {SECONDS_MAX * 1000:.0f} ms", p95 < SECONDS_MAX)


def _rule_seconds() -> tuple[list[float], Evening]:
    """The time of the rule for both tournaments, once for each minute of an evening."""
    evening = an_evening(7, PLAYERS, OTHERS, SHARED, MACHINES)
    seconds = []
    for _ in range(MINUTES):
        evening.pass_minute()
        began = time.perf_counter()
        for own, other in (evening.halls, evening.halls[::-1]):
            shared_room.settle_room(own, own, shared_room.busy_elsewhere([other]), evening.now)
        seconds.append(time.perf_counter() - began)
    return seconds, evening


def _request_seconds(folder: Path) -> list[float]:
    """The time of each result, and of what follows from it in the other tournament."""
    store = Store(f"sqlite:///{folder / 'bench.db'}")
    migrate.migrate(store)
    room = Room(
        store, "group_matchplay", PLAYERS, "group_matchplay", OTHERS, shared=SHARED, machines=MACHINES
    )
    room.main.mirror = None
    room.start()
    dice, seconds = Random(7), list[float]()
    for hall in room.halls:
        hall.post("/rounds", {})
        room.follow()
    while games := [(hall, game) for hall in room.halls for game in room.playing(hall)]:
        hall, game = dice.choice(games)
        began = time.perf_counter()
        hall.finish(game, *hall.players_of(game))
        while room.caller.call_due():
            pass
        seconds.append(time.perf_counter() - began)
    store.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
