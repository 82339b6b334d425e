"""The audit log: what is recorded, how refusals are bounded, and how long it stays."""

import json
import logging
from datetime import timedelta

import pytest
from sqlalchemy import func, select

import build
from silverball.jobs import pruning
from silverball.kit.logs import JsonFormatter
from silverball.store.database.engine import Store
from silverball.store.people import audit
from silverball.store.tables import audit_entry

pytestmark = pytest.mark.both_databases

NOW = build.NOW


def entries(store: Store) -> list[tuple[object, ...]]:
    columns = (audit_entry.c.event, audit_entry.c.user_id, audit_entry.c.source, audit_entry.c.count)
    with store.read() as db:
        return [tuple(row) for row in db.execute(select(*columns).order_by(audit_entry.c.audit_entry_id))]


def refuse(store: Store, source: str, *, seconds: int = 0, user_id: int | None = None) -> None:
    with store.write(quiet=True) as transaction:
        at = NOW + timedelta(seconds=seconds)
        audit.count(transaction.connection, "sign-in-refused", at=at, source=source, user_id=user_id)


def test_refusals_are_one_entry_for_each_address_account_and_minute(store: Store) -> None:
    user_id = build.a_user(store)
    for seconds in (0, 10, 59, 60):
        refuse(store, "203.0.113.7", seconds=seconds)
    refuse(store, "203.0.113.7", user_id=user_id)
    for last in "12":
        refuse(store, f"2001:db8:1:2::{last}")
    assert entries(store) == [
        ("sign-in-refused", None, "203.0.113.7", 3),
        ("sign-in-refused", None, "203.0.113.7", 1),
        ("sign-in-refused", user_id, "203.0.113.7", 1),
        ("sign-in-refused", None, "2001:db8:1:2::/64", 2),
    ]


def test_many_addresses_at_once_do_not_fill_the_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "COUNTED_PER_MINUTE_MAX", 3)
    for last in range(10):
        refuse(store, f"203.0.113.{last}")
    assert len(entries(store)) == 4
    assert entries(store)[-1] == ("sign-in-refused", None, "", 7)


def test_entries_are_kept_for_the_days_of_the_setting(store: Store) -> None:
    with store.write(quiet=True) as transaction:
        for days in (366, 364):
            audit.record(
                transaction.connection,
                "sign-in",
                at=NOW - timedelta(days=days),
                user_id=None,
                source=f"{days}",
            )
    pruning.prune_audit(store, NOW, days=365)
    assert [source for _, _, source, _ in entries(store)] == ["364"]


def test_refusals_have_a_limit_that_what_was_done_does_not_count_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "COUNTED_KEPT_MAX", 2)
    with store.write(quiet=True) as transaction:
        for _ in range(4):
            audit.record(transaction.connection, "sign-in", at=NOW, user_id=None, source="x")
    for minute in range(4):
        refuse(store, "203.0.113.7", seconds=60 * minute)
    pruning.prune_audit(store, NOW, days=365)
    with store.read() as db:
        counted = db.execute(select(func.count()).where(audit_entry.c.bucket.is_not(None))).scalar_one()
    assert (counted, len(entries(store))) == (2, 6)


def test_an_erased_person_leaves_no_address(store: Store) -> None:
    user_id = build.a_user(store)
    refuse(store, "203.0.113.7", user_id=user_id)
    with store.write() as transaction:
        db = transaction.connection
        audit.record(db, "sign-in", at=NOW, user_id=user_id, source="203.0.113.7")
        audit.forget_person(db, user_id)
    with store.read() as db:
        rows = db.execute(select(audit_entry)).all()
    assert len(rows) == 2
    assert "203.0.113.7" not in str(rows)


def test_entries_are_lines_for_a_collector(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "silverball.audit"), store.write(quiet=True) as transaction:
        db = transaction.connection
        audit.record(db, "token-made", at=NOW, user_id=None, source="203.0.113.7", detail="7 read")
    line = json.loads(JsonFormatter().format(caplog.records[-1]))
    members = {name: line[name] for name in ("from", "message", "userId", "source", "detail")}
    assert members == {
        "from": "silverball.audit",
        "message": "token-made",
        "userId": None,
        "source": "203.0.113.7",
        "detail": "7 read",
    }
