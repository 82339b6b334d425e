"""`make bench`: how long rating periods take, and the file of all ratings.

The kernel is measured beside `glicko2`, which rates the same results one player at a time. Days and years
are rated from tournaments in an SQLite file, storage included. All seconds are CPU seconds: the machine may
have other work.
"""

import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import glicko2
import numpy as np
from rich.console import Console
from rich.progress import Progress
from sqlalchemy import Table, insert

import run
from run import Row
from silverball.rules.ratings import kernel
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.periods import rating_run as runs
from silverball.service.periods.writes import ImportedRating
from silverball.service.ratings import reads as ratings_reads
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.deadlines import LONG_COMMANDS
from silverball.store.database.engine import Store

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import build  # the tests' own defaults of rows

PLAYERS = 150_000
GAMES = 100_000
# The peer rates one player at a time, so a share of the players is enough to know its pace.
PEER_SHARE = 20
DAYS = 3_650
FIRST_DAY = date(2016, 1, 1)
TOURNAMENTS_A_DAY = 25
GAMES_EACH = 40
FIELD = 24
# Of every four games: two of two players, one of three, one of four.
SIZES = (2, 2, 3, 4)
BOOK = 20_000
REPEATS = 9


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    rows = []
    for part in (_kernel_rows, _file_rows, _years_rows):
        for row in part():
            rows.append(row)
            print(f"{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _kernel_rows() -> Iterator[Row]:
    dice = np.random.default_rng(1)
    field = kernel.RatingArrays(dice.normal(1500, 150, PLAYERS), dice.uniform(20, 75, PLAYERS))
    first = dice.integers(0, PLAYERS, GAMES)
    second = (first + dice.integers(1, PLAYERS, GAMES)) % PLAYERS
    scores = dice.choice([0.0, 1.0], GAMES)
    results = kernel.HeadToHeadResults(first, second, scores, np.ones(GAMES))
    seconds = statistics.median(_kernel_seconds(field, results) for _ in range(REPEATS))
    yield Row(
        f"one period: {PLAYERS:,} rated, {GAMES:,} games",
        f"{seconds * 1000:.1f} ms",
        "< 25 ms",
        seconds < 0.025,
    )
    ratio = _peer_seconds(field, results) / seconds
    yield Row("the same : glicko2", f"{ratio:.0f} times faster", ">= 120", ratio >= 120)


def _kernel_seconds(field: kernel.RatingArrays, results: kernel.HeadToHeadResults) -> float:
    began = time.process_time()
    onset = kernel.RatingArrays(field.ratings, kernel.deviations_after(field.rds, 1, DEFAULTS))
    kernel.rate_results(onset, results, DEFAULTS)
    return time.process_time() - began


def _peer_seconds(field: kernel.RatingArrays, results: kernel.HeadToHeadResults) -> float:
    """The peer's seconds for all players, measured on every twentieth."""
    met: dict[int, list[tuple[int, float]]] = {}
    for player, other, score in zip(results.first, results.second, results.scores, strict=True):
        met.setdefault(int(player), []).append((int(other), float(score)))
        met.setdefault(int(other), []).append((int(player), 1 - float(score)))
    work = []
    for player in range(0, PLAYERS, PEER_SHARE):
        opponents = met.get(player, [])
        work.append(
            (
                glicko2.Player(field.ratings[player], field.rds[player]),
                [float(field.ratings[other]) for other, _ in opponents],
                [float(field.rds[other]) for other, _ in opponents],
                [score for _, score in opponents],
            )
        )
    began = time.process_time()
    for player, ratings, rds, scores in work:
        if scores:
            player.update_player(ratings, rds, scores)
        else:
            player.did_not_compete()
    return (time.process_time() - began) * PEER_SHARE


def _file_rows() -> Iterator[Row]:
    """150,000 ratings: a day of 1,000 games among them, and the export of all as CSV."""
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        store = _create_store(Path(name) / "many.db")
        dice = np.random.default_rng(2)
        yesterday = FIRST_DAY - timedelta(days=1)
        seeds = [
            ImportedRating(
                f"Player {n}", None, n, float(rating), float(rd), yesterday - timedelta(days=n % 900)
            )
            for n, rating, rd in zip(
                count(1), dice.normal(1500, 150, PLAYERS), dice.uniform(20, 75, PLAYERS), strict=False
            )
        ]
        with store.write() as transaction:
            runs.import_ratings(transaction.connection, seeds, yesterday, DEFAULTS, datetime.now(UTC))
        _fill(store, 1, lambda _done: None)
        began = time.process_time()
        runs.rate_days(store, FIRST_DAY, DEFAULTS, datetime.now(UTC))
        seconds = time.process_time() - began
        games = TOURNAMENTS_A_DAY * GAMES_EACH
        label = f"a day of {games:,} games among {PLAYERS:,} rated, stored"
        yield Row(label, f"{seconds:.2f} s", "< 2 s", seconds < 2)
        yield from _csv_rows(store)
        store.close()


def _csv_rows(store: Store) -> Iterator[Row]:
    began = time.process_time()
    lines = _lines_written(store)
    seconds = time.process_time() - began
    label = f"{lines - 1:,} ratings as CSV"
    yield Row(label, f"{seconds:.2f} s", "< 3 s", seconds < 3)
    tracemalloc.start()
    _lines_written(store)
    peak = tracemalloc.get_traced_memory()[1] / 1_000_000
    tracemalloc.stop()
    yield Row(f"{label}, memory above idle", f"{peak:.1f} MB", "< 100 MB", peak < 100)


def _lines_written(store: Store) -> int:
    with store.read() as db:
        return sum(1 for _ in ratings_reads.rating_csv_lines(db))


def _years_rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        store = _create_store(Path(name) / "years.db")
        with Progress(console=Console(stderr=True), transient=True) as bars:
            bar = bars.add_task("playing ten years", total=DAYS)
            _fill(store, DAYS, lambda done: bars.update(bar, completed=done))
            first, again = (_rated_seconds(store, bars, label) for label in ("rating", "rating again"))
        store.close()
    games = TOURNAMENTS_A_DAY * GAMES_EACH
    yield Row(f"{DAYS:,} days x {games:,} games rated", f"{first:.1f} s", "reported", is_met=True)
    yield Row(f"{DAYS:,} days x {games:,} games rebuilt", f"{again:.1f} s", "< 60 s", again < 60)


def _rated_seconds(store: Store, bars: Progress, label: str) -> float:
    last = FIRST_DAY + timedelta(days=DAYS - 1)
    bar = bars.add_task(label, total=DAYS)
    began = time.process_time()
    runs.rate_days(
        store,
        last,
        DEFAULTS,
        datetime.now(UTC),
        rerate_from=FIRST_DAY,
        progress=lambda done, _all: bars.update(bar, completed=done),
    )
    return time.process_time() - began


def _create_store(file: Path) -> Store:
    # A book of this size is imported in one transaction.
    store = Store(f"sqlite:///{file}", limits=LONG_COMMANDS)
    migrate.migrate(store)
    return store


def _fill(store: Store, days: int, report_progress: Any) -> None:
    """Insert tournaments of `days` days, played by the players of one large book."""
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    players = [
        {**build.DEFAULTS["player"], "organizer_id": organizer_id, "name": f"Player {n}", "ifpa_id": n}
        for n in range(1, BOOK + 1)
    ]
    with store.write() as transaction:
        transaction.connection.execute(insert(tables.player), players)
    dice, tournament_ids, game_ids = np.random.default_rng(7), count(1), count(1)
    connection = store.engine.raw_connection()
    for day in range(days):
        rows = _day_rows(organizer_id, FIRST_DAY + timedelta(days=day), dice, tournament_ids, game_ids)
        connection.cursor().execute("BEGIN")
        for table, listed in rows.items():
            names = list(listed[0])
            values = [[row[name] for name in names] for row in listed]
            marks = ", ".join("?" * len(names))
            words = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})"
            connection.cursor().executemany(words, values)
        connection.cursor().execute("COMMIT")
        report_progress(day + 1)
    connection.close()


def _day_rows(
    organizer_id: int, day: date, dice: Any, tournament_ids: Iterator[int], game_ids: Iterator[int]
) -> dict[Table, list[dict[str, Any]]]:
    """The rows of a day, as SQLite stores them."""
    rows: dict[Table, list[dict[str, Any]]] = {
        table: [] for table in (tables.tournament, tables.entrant, tables.game, tables.game_player)
    }
    at = f"{day}T20:00:00.000000Z"
    moments = dict.fromkeys(("start_utc", "completed_at", "created_at", "updated_at"), at)
    words = {"status": "completed", "type": "matchplay", "timezone": "UTC", "start_local": at, "epoch": "e"}
    empty = dict.fromkeys(("primary_config_settings", "managers"), "[]")
    zeros = dict.fromkeys(("test", "revision", "seq", "seq_low"), 0)
    for _ in range(TOURNAMENTS_A_DAY):
        own = {"tournament_id": next(tournament_ids)}
        night = {**own, "name": "Night", "organizer_id": organizer_id, "settings": "{}"}
        rows[tables.tournament].append({**night, **moments, **words, **empty, **zeros})
        field = (dice.choice(BOOK, FIELD, replace=False) + 1).tolist()
        for place, player_id in enumerate(field):
            entered = {"player_id": player_id, "place": place, "status": "active", "labels": "[]"}
            rows[tables.entrant].append({**own, **entered, "points_adjustment": 0, "score_adjustment": 0})
        for number in range(GAMES_EACH):
            seated = dice.permutation(field)[: SIZES[number % len(SIZES)]].tolist()
            _add_game(rows, {"game_id": next(game_ids), **own}, seated, dice.permutation(seated).tolist())
    return rows


def _add_game(
    rows: dict[Table, list[dict[str, Any]]], own: dict[str, int], seated: Sequence[int], order: Sequence[int]
) -> None:
    nothing = dict.fromkeys(("set_number", "bye", "scorbit_verified", "result_count_mismatch"), 0)
    rows[tables.game].append({**own, "status": "completed", **nothing})
    for slot, (player_id, finished) in enumerate(zip(seated, order, strict=True)):
        seat = {"slot": slot, "player_id": player_id, "result_position": finished}
        rows[tables.game_player].append({**own, **seat})


if __name__ == "__main__":
    raise SystemExit(main())
