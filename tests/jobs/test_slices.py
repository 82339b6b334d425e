"""Jobs that delete much do it in short transactions: others write in between, and a crash loses nothing."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import Table, func, insert, select, update

import build
from silverball.jobs import pruning
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.database.slices import SLICE_ROWS
from silverball.store.people import audit
from silverball.store.tournament import announcements

ROWS = 8 * SLICE_ROWS
LONG_AGO = build.NOW - timedelta(days=400)


@dataclass
class OldRows:
    """Rows that a job deletes; another writer wants the same tournament meanwhile."""

    table: Table
    tournament_id: int
    run_job: Callable[[Store], None]


def old_announcements(store: Store) -> OldRows:
    over = {"status": "completed", "completed_at": LONG_AGO, "updated_at": LONG_AGO}
    night = build.a_tournament(store, players=0, arenas=0, **over)
    with store.write(night.tournament_id) as transaction:
        announcements.append(transaction, night.tournament_id, [("TournamentUpdated", "{}")] * ROWS, LONG_AGO)
    run_job = partial(pruning.prune_announcements, now=build.NOW)
    return OldRows(tables.announcement, night.tournament_id, run_job)


def old_entries(store: Store) -> OldRows:
    night = build.a_tournament(store, players=0, arenas=0)
    entry = {
        "event": "sign-in",
        "user_id": None,
        "source": "203.0.113.9",
        "detail": "",
        "at": LONG_AGO,
        "last_at": LONG_AGO,
        "count": 1,
        "bucket": None,
    }
    with store.write() as transaction:
        transaction.connection.execute(insert(tables.audit_entry), [entry] * ROWS)
    run_job = partial(pruning.prune_audit, now=build.NOW, days=365)
    return OldRows(tables.audit_entry, night.tournament_id, run_job)


def old_deliveries(store: Store) -> OldRows:
    night = build.a_tournament(store, players=0, arenas=0)
    hook = build.row(store, tables.webhook, tournament_id=night.tournament_id)
    delivery = {**build.DEFAULTS["webhook_delivery"], "webhook_id": hook}
    delivery |= {"status": "delivered", "created_at": LONG_AGO}
    with store.write() as transaction:
        transaction.connection.execute(insert(tables.webhook_delivery), [delivery] * ROWS)
    run_job = partial(pruning.prune_deliveries, now=build.NOW)
    return OldRows(tables.webhook_delivery, night.tournament_id, run_job)


def rows_left(store: Store, table: Table) -> int:
    with store.read() as db:
        return int(db.execute(select(func.count()).select_from(table)).scalar_one())


@pytest.mark.parametrize("fill", [old_announcements, old_entries, old_deliveries])
def test_others_write_between_the_slices_of_a_job(store: Store, fill: Callable[[Store], OldRows]) -> None:
    old = fill(store)
    rename = update(tables.tournament).where(tables.tournament.c.tournament_id == old.tournament_id)
    left = [ROWS]

    def write_until_over() -> None:
        while left[-1]:
            with store.write(old.tournament_id) as transaction:
                transaction.connection.execute(rename.values(name=f"Night {len(left)}"))
            left.append(rows_left(store, old.table))

    writer = threading.Thread(target=write_until_over)
    writer.start()
    old.run_job(store)
    writer.join()
    in_between = {rows for rows in left if 0 < rows < ROWS}
    assert in_between
    # Each slice is complete when others see it.
    assert all(rows % SLICE_ROWS == 0 for rows in in_between)


CRASHING_JOB = """
import os, sys, threading, time
from datetime import datetime
from sqlalchemy import func, select
from silverball.jobs import pruning
from silverball.store import tables
from silverball.store.database.engine import Store
store, rows = Store(sys.argv[1]), int(sys.argv[2])
now = datetime.fromisoformat(sys.argv[3])
threading.Thread(target=pruning.prune_announcements, args=(store, now), daemon=True).start()
while True:
    with store.read() as db:
        left = db.execute(select(func.count()).select_from(tables.announcement)).scalar_one()
    if left < rows:
        os.kill(os.getpid(), 9)
"""


def test_a_job_that_was_killed_between_two_slices_goes_on_where_it_was(store: Store) -> None:
    old = old_announcements(store)
    address = store.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", CRASHING_JOB, address, str(ROWS), build.NOW.isoformat()]
    assert subprocess.run(command, check=False, env=os.environ).returncode == -signal.SIGKILL
    left = rows_left(store, tables.announcement)
    assert 0 < left < ROWS

    def head() -> announcements.ChannelHead | None:
        with store.read() as db:
            return announcements.channel_head(db, old.tournament_id)

    before = head()
    assert before is not None
    # A follower is told what is gone, and gets the rest.
    assert (before.seq, before.low) == (ROWS, ROWS - left)
    old.run_job(store)
    after = head()
    assert after is not None
    assert (after.seq, after.low, rows_left(store, tables.announcement)) == (ROWS, ROWS, 0)


def test_the_oldest_counted_entries_beyond_the_limit_are_deleted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "COUNTED_KEPT_MAX", 3)
    monkeypatch.setattr("silverball.store.database.slices.SLICE_ROWS", 2)
    for number in range(8):
        with store.write() as transaction:
            audit.count(
                transaction.connection,
                "sign-in-refused",
                at=build.NOW + timedelta(minutes=number),
                source="203.0.113.9",
            )
    pruning.prune_audit(store, build.NOW, days=365)
    with store.read() as db:
        kept = db.execute(select(tables.audit_entry.c.at).order_by(tables.audit_entry.c.at)).scalars().all()
    assert kept == [build.NOW + timedelta(minutes=number) for number in (5, 6, 7)]
