"""A suspended account does nothing from the next request on. Source: issue 13, item 9."""

from typing import Any

import pytest
from sqlalchemy import select

import asgi
import build
from service.desk import a_desk
from service.devices.device_steps import codes
from silverball.service.accounts.writes import accounts
from silverball.service.users import reads as users_reads
from silverball.store.database.engine import Store
from silverball.store.tables import audit_entry, webhook
from test_app import a_token, running_app


def audited(store: Store) -> list[tuple[Any, ...]]:
    entry = audit_entry.c
    rows = select(entry.event, entry.user_id, entry.detail).where(entry.event.startswith("account-"))
    with store.read() as db:
        return [tuple(row) for row in db.execute(rows.order_by(entry.audit_entry_id))]


@pytest.mark.both_databases
def test_an_admin_suspends_an_account_and_its_tokens_are_refused_at_once(store: Store) -> None:
    admin, spammer = build.a_user(store, role="admin"), build.a_user(store, role="organizer")
    by = a_token(store, admin, ability="admin")
    token = a_token(store, spammer, seed=8, ability="manage")
    path = f"/api/users/{spammer}/suspension"
    with running_app(store) as site:
        assert asgi.get(site, "/api/tokens", token=token).status == 200
        done = asgi.get(site, path, method="PUT", token=by)
        assert (done.status, done.json["data"]["userId"]) == (200, spammer)
        assert done.json["data"]["suspendedAt"]
        assert asgi.get(site, "/api/tokens", token=token).status == 401
        assert asgi.get(site, "/api/arenas", method="POST", body=b"{}", token=token).status == 401
        assert asgi.get(site, path, method="PUT", token=by).json == done.json
        done = asgi.get(site, path, method="DELETE", token=by)
        assert done.json == {"data": {"userId": spammer, "suspendedAt": None}}
        # What could act does not come back with the account.
        assert asgi.get(site, "/api/tokens", token=token).status == 401
    assert audited(store) == [
        ("account-suspended", spammer, f"by {admin}"),
        ("account-unsuspended", spammer, f"by {admin}"),
    ]


def test_only_admins_suspend_and_never_themselves(store: Store) -> None:
    admin, organizer = build.a_user(store, role="admin"), build.a_user(store, role="organizer")
    for by, user_id, status in (
        (build.caller(organizer, role="organizer", ability="manage"), admin, 403),
        (None, admin, 401),
        (build.caller(admin, role="admin", ability="admin"), admin, 409),
        (build.caller(admin, role="admin", ability="admin"), 999, 404),
    ):
        assert build.do(store, "PUT", f"/api/users/{user_id}/suspension", by=by)[0] == status
    assert audited(store) == []


@pytest.mark.both_databases
def test_codes_and_webhooks_of_a_suspended_organizer_stop(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    mine, _ = desk.open_round()
    player_id = mine["playerIds"][0]
    made = codes(desk).player_code(player_id)
    desk.ok("POST", "/webhooks", {"url": "https://hooks.example.org/in"})
    organizer_id = desk.night.organizer_id
    for is_suspended in (True, False):
        change = accounts.suspend if is_suspended else accounts.unsuspend
        with store.write() as transaction:
            change(transaction, organizer_id, now=build.NOW)
        with store.read() as db:
            known = users_reads.find_code(db, desk.night.tournament_id, made, player_id=player_id)
            hook = db.execute(select(webhook.c.is_active, webhook.c.stopped_reason)).one()
        assert known is not None
        assert known.is_revoked is is_suspended
        assert tuple(hook) == (False, accounts.WEBHOOK_STOPPED)
