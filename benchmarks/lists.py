"""Page 400 of 100,000 tournaments against page 1, each asked first of a fresh server.

A page may cost 1.5 times page 1, with each filter. Every measured answer is the first of its list in a new
process: nothing is kept, and the rows are counted. Both pages are measured in turn, and the ratio is that
of the medians. PostgreSQL is measured where it is installed. Prints the table of docs/performance.md.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import insert

import run
from run import Row
from silverball.service.users import writes as users_writes
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store

TOURNAMENTS = 100_000
ROWS_AT_ONCE = 5_000
FAR_PAGE = 400
STARTS = 5
RATIO_MAX = 1.5
NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
TYPES = ("matchplay", "knockout", "golf", "group_matchplay")
OWNER, OTHER, READER, SERIES = 1, 2, 3, 1
FILTERS = {
    "no filter": "",
    "owner": f"owner={OWNER}",
    "status": "status=completed",
    "type": f"type={TYPES[0]}",
    "series": f"series={SERIES}",
    "played": f"played={READER}",
}
OPT_OUTS = ("ratings", "stats", "video", "profile", "history")


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        for row in _rows(Path(name)):
            rows.append(row)
            print(f"\r{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _rows(folder: Path) -> Iterator[Row]:
    yield from _rows_of_database("SQLite", f"sqlite:///{folder / 'lists.db'}")
    with throwaway_postgresql() as url:
        if url is None:
            print("PostgreSQL is not installed here: only SQLite is measured.", file=sys.stderr)
            return
        yield from _rows_of_database("PostgreSQL", url)


def _rows_of_database(name: str, url: str) -> Iterator[Row]:
    token = _fill(url)
    for label, query in FILTERS.items():
        seconds: dict[int, list[float]] = {1: [], FAR_PAGE: []}
        for _ in range(STARTS):
            for page, measured in seconds.items():
                measured.append(_first_answer_seconds(url, token, f"page={page}&{query}"))
        near, far = (statistics.median(measured) * 1000 for measured in seconds.values())
        text = f"{near:.1f} ms, {far:.1f} ms: {far / near:.2f} times"
        yield Row(
            f"{name}, {label}: page 1, page {FAR_PAGE}", text, f"<= {RATIO_MAX}", far <= RATIO_MAX * near
        )


def _first_answer_seconds(url: str, token: str, query: str) -> float:
    """The time of the first list that a new server sends."""
    port = run.free_port()
    serve = [str(run.BIN / "silverball"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    environment = {"SILVERBALL_DATABASE_URL": url, "SILVERBALL_QUOTAS": "open"}
    with run.running_server(serve, port, "/up", **environment):
        # The caller, the connection and the code are there; no list is.
        _get(port, token, "/api/tournaments/1")
        began = time.perf_counter()
        _get(port, token, f"/api/tournaments?{query}")
        return time.perf_counter() - began


def _get(port: int, token: str, path: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()


def _fill(url: str) -> str:
    """Write the tournaments in bulk; returns a token."""
    store = Store(url)
    migrate.migrate(store)
    dice = Random(400)
    with store.write() as transaction:
        db = transaction.connection
        db.execute(insert(tables.user), [_user(user_id) for user_id in (OWNER, OTHER, READER)])
        db.execute(insert(tables.series), [_series()])
        player = {"player_id": 1, "organizer_id": OWNER, "name": "Ada", "status": "active", "labels": []}
        db.execute(insert(tables.player), [{**player, "claimed_by": READER}])
        for first in range(1, TOURNAMENTS + 1, ROWS_AT_ONCE):
            ids = range(first, first + ROWS_AT_ONCE)
            db.execute(insert(tables.tournament), [_tournament(number, dice) for number in ids])
            db.execute(insert(tables.entrant), [_entrant(number) for number in ids if number % 5 == 0])
        token = users_writes.create_token(db, READER, "bench", abilities=["read"], now=NOW, dice=dice).text
    if not store.is_sqlite:
        # PostgreSQL does this by itself a minute after so many rows.
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as autocommitted:
            autocommitted.exec_driver_sql("VACUUM ANALYZE")
    store.close()
    return token


def _user(user_id: int) -> dict[str, Any]:
    hidden = {f"{name}_opt_out": False for name in OPT_OUTS}
    fixed = {"role": "organizer", "placeholder": False, "history_only_completed": False, "created_at": NOW}
    return {"user_id": user_id, "name": f"User {user_id}", **fixed, **hidden}


def _series() -> dict[str, Any]:
    scored = {"removed_results": 0, "playoffs_cutoffs": [], "scoring": "points", "test": False}
    fixed = {"series_id": SERIES, "organizer_id": OWNER, "name": "League", "status": "active"}
    return {**fixed, **scored, "placeholder": False}


def _tournament(number: int, dice: Random) -> dict[str, Any]:
    start = datetime(2015, 1, 1, tzinfo=UTC) + timedelta(minutes=dice.randrange(5_000_000))
    local = start.strftime("%Y-%m-%d %H:%M:%S")
    is_over = number % 20 != 0
    return {
        "tournament_id": number,
        "name": f"Night {number}",
        "status": "completed" if is_over else "planned",
        "type": TYPES[number % 4],
        "description": "A night of pinball with prizes for everybody. " * 5,
        "start_utc": start,
        "start_local": local,
        "end_utc": start,
        "end_local": local,
        "completed_at": start if is_over else None,
        "created_at": start,
        "updated_at": start,
        "timezone": "UTC",
        "organizer_id": OWNER if number % 4 == 1 else OTHER,
        "series_id": SERIES if number % 7 == 0 else None,
        "test": False,
        "points_map": [[7], [7, 1], [7, 4, 1], [7, 5, 3, 1]],
        "primary_config_settings": [],
        "managers": [],
        "settings": {
            "seeding": "random",
            "pairing": "balanced",
            "scorekeeping": "user",
            "playoffsCutoffs": [],
        },
        "revision": 1,
        "epoch": "k3f9",
        "seq": 0,
        "seq_low": 0,
    }


def _entrant(number: int) -> dict[str, Any]:
    adjustments = {"points_adjustment": Decimal(0), "score_adjustment": Decimal(0)}
    return {
        "tournament_id": number,
        "player_id": 1,
        "place": 0,
        "status": "active",
        "labels": [],
        **adjustments,
    }


@contextmanager
def throwaway_postgresql() -> Iterator[str | None]:
    """The address of a throw-away cluster; None where PostgreSQL is not installed."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (str(programs[-1]) if programs else None)
    if found is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="silverball-pg-"))
    program = Path(found).parent
    # The server refuses to run as root.
    as_user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]

    def call(name: str, *words: str) -> None:
        command = [*as_user, str(program / name), "-D", str(folder / "data"), *words]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, cwd=folder)

    call("initdb", "-U", "silverball", "-A", "trust", "-E", "UTF8", "--no-sync")
    call("pg_ctl", "-o", f"-k {folder} -c listen_addresses=''", "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql+psycopg://silverball@/postgres?host={folder}"
    finally:
        call("pg_ctl", "-m", "fast", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
