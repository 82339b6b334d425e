"""GET /api/audit. Source: issue 13, item 9."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

import asgi
import build
from silverball.store.database.engine import Store
from silverball.store.people import audit
from test_app import a_token, running_app


@pytest.fixture
def site(store: Store) -> Iterator[Any]:
    with running_app(store) as front_door:
        yield front_door


@pytest.mark.both_databases
def test_an_admin_reads_the_log_newest_first_25_a_page(store: Store, site: Any) -> None:
    admin = build.a_user(store, role="admin")
    token = a_token(store, admin, ability="admin")
    with store.write(quiet=True) as transaction:
        for seconds in range(30):
            at = build.NOW + timedelta(seconds=seconds)
            source = f"203.0.113.{seconds}"
            audit.record(transaction.connection, "sign-in", at=at, user_id=None, source=source)
    reply = asgi.get(site, "/api/audit?event=sign-in", token=token)
    assert reply.status == 200
    assert [len(reply.json["data"]), reply.json["meta"]["total"]] == [25, 30]
    assert reply.json["data"][0] == {
        "auditEntryId": 31,
        "event": "sign-in",
        "userId": None,
        "source": "203.0.113.29",
        "detail": "",
        "at": "2026-03-05T19:30:29.000000Z",
        "lastAt": "2026-03-05T19:30:29.000000Z",
        "count": 1,
    }
    (made,) = asgi.get(site, f"/api/audit?userId={admin}", token=token).json["data"]
    assert (made["event"], made["source"], made["detail"]) == ("token-made", "command line", "1 admin")
    assert asgi.get(site, "/api/audit?event=none", token=token).status == 422


def test_others_do_not_read_it(store: Store, site: Any) -> None:
    organizer = build.a_user(store, role="organizer")
    assert asgi.get(site, "/api/audit").status == 401
    assert asgi.get(site, "/api/audit", token=a_token(store, organizer, ability="manage")).status == 403
    admin = build.a_user(store, role="admin")
    assert asgi.get(site, "/api/audit", token=a_token(store, admin, seed=8, ability="manage")).status == 403
