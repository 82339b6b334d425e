"""Sessions that are open when a site is upgraded to listed sign-ins go on."""

from datetime import timedelta
from random import Random

import pytest

import build
from downgrade import downgrade
from silverball.service.sessions import reads, writes
from silverball.store import migrate
from silverball.store.engine import Store

pytestmark = pytest.mark.both_databases

DAYS = timedelta(days=1)


def test_an_open_session_goes_on_after_the_upgrade(store: Store) -> None:
    user_id = build.a_user(store, email="ada@silverball.test", password_hash="hash")
    with store.write() as transaction:
        db, dice = transaction.connection, Random(7)
        started = writes.start_session(db, user_id, now=build.NOW, lifetime=14 * DAYS, dice=dice)
    downgrade(store, "0014")
    migrate.migrate(store)
    with store.read() as db:
        found = reads.find_signed_in_user(db, started.secret, build.NOW + 13 * DAYS, 3 * DAYS)
        (listed,) = reads.open_sessions(db, user_id, started.secret, build.NOW, 3 * DAYS)
    assert found is not None
    assert (found.proved_at, found.is_use_due) == (None, True)
    assert (listed.network, listed.browser, listed.is_this) == ("", "", True)
