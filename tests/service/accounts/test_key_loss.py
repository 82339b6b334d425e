"""The key for secrets is lost: what waits, what comes back with the key, and what is given up with it."""

from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from pyotp import TOTP
from sqlalchemy import select

import build
from service.desk import Desk, a_desk
from service.webhooks.receiver import Outbox, a_webhook, hook_row, rename, statuses
from silverball.service.accounts import key_loss
from silverball.service.accounts.key_loss import KeyHeldElsewhere, KeyIsThere
from silverball.service.accounts.writes import sessions
from silverball.service.accounts.writes.sessions import AppCodesUnreadable
from silverball.service.moving import writes as moving
from silverball.service.webhooks.writes import KEY_LOST
from silverball.store.database.engine import Db, Store
from silverball.store.people import encryption
from silverball.store.tables import history_pull, two_step

pytestmark = pytest.mark.both_databases
SOURCE = "203.0.113.9"


@pytest.fixture
def desk(store: Store) -> Desk:
    desk = a_desk(store)
    assert encryption.open_keys(store) is None
    return desk


def put_aside(store: Store, folder: Path) -> Path:
    """Move the key file away, on a node that may make none."""
    assert store.key_file.path is not None
    store.key_file.may_make = False
    return store.key_file.path.rename(folder / "aside")


def turn_on_two_step(store: Store, user_id: int) -> tuple[TOTP, list[str]]:
    with store.write() as transaction:
        db = transaction.connection
        app = TOTP(sessions.begin(db, user_id, now=build.NOW, dice=Random(7)))
        recovery = sessions.new_recovery_codes(Random(8))
        sessions.confirm(db, user_id, app.at(build.NOW), recovery, now=build.NOW, source=SOURCE)
    return app, recovery.codes


def accepts(db: Db, user_id: int, code: str, minutes: int) -> bool:
    now = build.NOW + timedelta(minutes=minutes)
    recovery_hash = sessions.recovery_hash_of(db, user_id, code)()
    return sessions.accept_code(db, user_id, code, recovery_hash, now=now, source=SOURCE)


def test_messages_wait_for_the_key_and_arrive_once_it_is_back(desk: Desk, tmp_path: Path) -> None:
    a_webhook(desk)
    aside = put_aside(desk.store, tmp_path)
    rename(desk, "In the dark")
    assert Outbox(desk.store).run() == []
    assert statuses(desk) == ["waiting"]
    assert desk.store.key_file.path is not None
    aside.rename(desk.store.key_file.path)
    (message,) = Outbox(desk.store).run()
    assert message.payload["data"]["name"] == "In the dark"


def test_what_needs_the_key_is_refused_with_a_sentence(desk: Desk, tmp_path: Path) -> None:
    a_webhook(desk)
    put_aside(desk.store, tmp_path)
    path = f"/api/tournaments/{desk.night.tournament_id}/webhooks"
    body = {"url": "https://hooks.example.org/new"}
    status, answer, _ = build.do(desk.store, "POST", path, body, by=desk.callers["owner"])
    assert (status, answer["code"]) == (503, "encryption-key-unknown")
    assert "puts the key back" in answer["message"]
    assert len(desk.ok("GET", "/webhooks")["data"]) == 1


def test_without_the_key_only_a_recovery_code_gets_past_two_steps(store: Store, tmp_path: Path) -> None:
    user_id = build.a_user(store)
    encryption.open_keys(store)
    app, (recovery, *_) = turn_on_two_step(store, user_id)
    put_aside(store, tmp_path)
    with store.write() as transaction, pytest.raises(AppCodesUnreadable, match="recovery code"):
        accepts(transaction.connection, user_id, app.at(build.NOW + timedelta(minutes=5)), 5)
    with store.write() as transaction:
        assert not accepts(transaction.connection, user_id, recovery[::-1], 5)
        assert accepts(transaction.connection, user_id, recovery, 5)


def test_a_pull_with_a_token_waits_and_one_without_goes_on(store: Store, tmp_path: Path) -> None:
    users = {token: build.a_user(store) for token in ("1|x", "")}
    encryption.open_keys(store)
    for token, user_id in users.items():
        with store.write() as transaction:
            moving.start_pull(
                transaction.connection,
                user_id,
                address="https://other.example",
                token=token,
                wanted={},
                is_dry_run=True,
                now=build.NOW,
            )
    put_aside(store, tmp_path)
    with store.write() as transaction:
        claimed = moving.claim_next_pull(transaction.connection, build.NOW)
        assert claimed is not None
        assert claimed.user_id == users[""]
        assert moving.claim_next_pull(transaction.connection, build.NOW) is None


def test_giving_up_a_key_ends_what_it_kept_and_weakens_nothing(desk: Desk, tmp_path: Path) -> None:
    store = desk.store
    a_webhook(desk)
    user_id = build.a_user(store)
    app, (recovery, *_) = turn_on_two_step(store, user_id)
    with store.write() as transaction:
        moving.start_pull(
            transaction.connection,
            user_id,
            address="https://other.example",
            token="1|x",
            wanted={},
            is_dry_run=True,
            now=build.NOW,
        )
    with pytest.raises(KeyIsThere):
        key_loss.forget_key(store, build.NOW, Random(7))
    put_aside(store, tmp_path)
    rename(desk, "In the dark")
    with store.read() as db:
        lost = key_loss.find_lost(db)
    assert (lost.webhooks, lost.printed_codes, lost.two_step, lost.pulls) == (1, 0, 1, 1)
    fingerprint = key_loss.forget_key(store, build.NOW, Random(7))
    assert store.key_file.fingerprints() == (fingerprint,)
    hook = hook_row(store, 1)
    assert (hook.is_active, hook.stopped_reason) == (False, KEY_LOST)
    with store.read() as db:
        assert encryption.decrypt(db, hook.secret)
        assert encryption.missing_key(db) is None
        assert db.execute(select(history_pull.c.status, history_pull.c.secret)).one() == ("failed", None)
        stored = db.execute(select(two_step.c.secret)).scalar_one()
        assert encryption.decrypt(db, stored) != app.secret
    with store.write() as transaction:
        # Neither the old app nor no code at all gets in.
        for code in (app.at(build.NOW + timedelta(minutes=5)), ""):
            assert not accepts(transaction.connection, user_id, code, 5)
        assert accepts(transaction.connection, user_id, recovery, 5)
    desk.ok("POST", "/webhooks/1/secret")
    desk.ok("PATCH", "/webhooks/1", {"isActive": True})
    rename(desk, "In the light")
    assert len(Outbox(store).run()) == 1


def test_a_key_that_another_node_held_a_moment_ago_is_not_given_up(desk: Desk, tmp_path: Path) -> None:
    a_webhook(desk)
    key_loss.note_key(desk.store, build.NOW)
    put_aside(desk.store, tmp_path)
    # A node without the key notes nothing.
    key_loss.note_key(desk.store, build.NOW + timedelta(seconds=59))
    with pytest.raises(KeyHeldElsewhere, match="59 seconds ago"):
        key_loss.forget_key(desk.store, build.NOW + timedelta(seconds=59), Random(7))
    desk.store.key_file.may_make = True
    assert key_loss.forget_key(desk.store, build.NOW + timedelta(seconds=60), Random(7))
