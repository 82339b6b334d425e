"""Sessions: signing in, staying signed in, and being signed out."""

from datetime import timedelta
from random import Random

import pytest
from sqlalchemy import func, select, update

import build
from silverball.kit.security import tokens
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import sessions
from silverball.service.users import writes as user_writes
from silverball.store import tables
from silverball.store.database.engine import Store

NOW = build.NOW
LIFETIME, IDLE_LIMIT = timedelta(days=14), timedelta(days=3)


def an_account(store: Store) -> int:
    return build.a_user(store, email="ada@silverball.test", password_hash="hash")


def start(store: Store, user_id: int, seed: int = 7, later: timedelta = timedelta()) -> str:
    with store.write() as transaction:
        return sessions.start_session(
            transaction.connection, user_id, now=NOW + later, lifetime=LIFETIME, dice=Random(seed)
        ).secret


def find(store: Store, secret: str, later: timedelta = timedelta()) -> accounts_reads.SignedInUser | None:
    with store.read() as db:
        return accounts_reads.find_signed_in_user(db, secret, NOW + later, IDLE_LIMIT)


def count(store: Store) -> int:
    with store.read() as db:
        return int(db.execute(select(func.count()).select_from(tables.session)).scalar_one())


def use(store: Store, secret: str, later: timedelta) -> None:
    with store.write() as transaction:
        sessions.record_use(transaction.connection, secret, NOW + later)


@pytest.mark.both_databases
def test_a_session_that_is_used_is_found_by_its_secret_for_fourteen_days(store: Store) -> None:
    user_id = an_account(store)
    secret = start(store, user_id)
    for days in range(2, 14, 2):
        use(store, secret, timedelta(days=days))
    found = find(store, secret, timedelta(days=14, seconds=-1))
    assert found is not None
    assert (found.user_id, found.name, found.email) == (user_id, "Ada Quill", "ada@silverball.test")
    assert find(store, secret, timedelta(days=14)) is None


def test_a_session_ends_three_days_after_its_last_use(store: Store) -> None:
    secret = start(store, an_account(store))
    use(store, secret, timedelta(days=1))
    assert find(store, secret, timedelta(days=4, seconds=-1)) is not None
    assert find(store, secret, timedelta(days=4)) is None


@pytest.mark.both_databases
def test_a_session_from_before_the_upgrade_goes_on(store: Store) -> None:
    secret = start(store, an_account(store))
    with store.write() as transaction:
        transaction.connection.execute(update(tables.session).values(seen_at=None, proved_at=None))
    found = find(store, secret, timedelta(days=13))
    assert found is not None
    assert found.is_use_due
    assert found.proved_at is None


def test_a_use_is_due_every_five_minutes(store: Store) -> None:
    secret = start(store, an_account(store))
    for minutes, is_due in ((4, False), (5, True)):
        found = find(store, secret, timedelta(minutes=minutes))
        assert found is not None
        assert found.is_use_due is is_due


@pytest.mark.both_databases
def test_a_session_is_ended_by_its_label_only_by_its_owner(store: Store) -> None:
    owner, other = an_account(store), build.a_user(store)
    secret, kept = start(store, owner, 1), start(store, owner, 2)
    label = tokens.digest(secret)[:16]
    with store.write() as transaction:
        db = transaction.connection
        for user_id, wrong in (
            (other, label),
            (owner, ""),
            (owner, "%"),
            (owner, label[:8]),
            (owner, "_" * 16),
        ):
            assert sessions.end_named_session(db, user_id, wrong) is None
        assert sessions.end_named_session(db, owner, label) == tokens.digest(secret)
    assert find(store, secret) is None
    assert find(store, kept) is not None


def test_neither_the_database_nor_a_log_holds_the_secret(store: Store) -> None:
    secret = start(store, an_account(store))
    with store.read() as db:
        row = db.execute(select(tables.session)).mappings().one()
    assert secret not in str(dict(row))
    found = find(store, secret)
    assert found is not None
    assert found.csrf not in repr(found)


@pytest.mark.parametrize("guess", ["", "guess", "\x00", "é" * 500])
def test_a_guessed_secret_finds_no_session(store: Store, guess: str) -> None:
    start(store, an_account(store))
    assert find(store, guess) is None


def test_every_session_has_a_form_secret_of_its_own(store: Store) -> None:
    user_id = an_account(store)
    first, other = find(store, start(store, user_id, 1)), find(store, start(store, user_id, 2))
    assert first is not None
    assert other is not None
    assert first.csrf != other.csrf


@pytest.mark.both_databases
def test_signing_out_ends_one_session_and_a_new_password_ends_all(store: Store) -> None:
    user_id = an_account(store)
    first, second = start(store, user_id, 1), start(store, user_id, 2)
    with store.write() as transaction:
        sessions.end_session(transaction.connection, first)
    assert find(store, first) is None
    assert find(store, second) is not None
    with store.write() as transaction:
        user_writes.set_password(transaction.connection, user_id, "another")
    assert find(store, second) is None


def test_expired_sessions_are_deleted_by_the_next_sign_in(store: Store) -> None:
    user_id = an_account(store)
    start(store, user_id, 1)
    start(store, user_id, 2, timedelta(days=15))
    assert count(store) == 1


@pytest.mark.parametrize("email", ["", "nobody@silverball.test", "a\x00b@c.test", "x" * 300, "ada"])
def test_nobody_signs_in_with_an_unknown_email(store: Store, email: str) -> None:
    an_account(store)
    with store.read() as db:
        assert accounts_reads.find_credentials(db, email) is None


@pytest.mark.both_databases
def test_an_email_signs_in_in_any_case_and_only_with_a_password(store: Store) -> None:
    user_id = an_account(store)
    build.a_user(store, email="bo@silverball.test")
    with store.read() as db:
        assert accounts_reads.find_credentials(db, " ADA@silverball.test") == accounts_reads.Credentials(
            user_id, "hash"
        )
        assert accounts_reads.find_credentials(db, "bo@silverball.test") is None
