"""Guessing of passwords is slowed down, for the guesser only."""

import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta

import pytest
from sqlalchemy import delete

import build
from conftest import PostgreSQL
from silverball.store.counts.sign_in_failures import StoredFailures
from silverball.store.database.engine import Store
from silverball.store.tables import sign_in_failure
from silverball.web.sign_in_throttle import WAIT_SECONDS_MAX, SignInLimiter

HOME, VENUE = "198.51.100.1", "192.0.2.1"
ADA, BO = "ada@silverball.test", "bo@silverball.test"


@pytest.fixture(scope="module", params=["own", "postgresql"])
def counted_in(request: pytest.FixtureRequest) -> Iterator[Store | None]:
    """Where failures are counted: in the process, or in the database of several nodes."""
    if request.param == "own":
        yield None
        return
    cluster: PostgreSQL = request.getfixturevalue("postgresql")
    store = Store(cluster.new_database())
    yield store
    store.close()


@pytest.fixture
def limiter(counted_in: Store | None) -> SignInLimiter:
    if counted_in is None:
        return SignInLimiter()
    with counted_in.engine.begin() as db:
        db.execute(delete(sign_in_failure))
    return SignInLimiter(StoredFailures(counted_in.engine))


def after(seconds: float) -> datetime:
    return build.NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("failures", "wait"), [(0, 0), (4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (14, 512), (15, 900), (40, 900)]
)
def test_the_wait_doubles_from_the_fifth_failure_on(failures: int, wait: int, limiter: SignInLimiter) -> None:
    at = 0.0
    for _ in range(failures):
        # Each failure comes as soon as it may.
        while seconds := limiter.seconds_to_wait(HOME, ADA, after(at)):
            at += seconds
    blocked = limiter.seconds_to_wait(HOME, ADA, after(at))
    assert blocked == wait


def test_an_attempt_that_has_to_wait_does_not_make_the_wait_longer(limiter: SignInLimiter) -> None:
    for _ in range(5):
        limiter.seconds_to_wait(HOME, ADA, after(0))
    for _ in range(100):
        assert limiter.seconds_to_wait(HOME, ADA, after(0)) == 1
    assert limiter.seconds_to_wait(HOME, ADA, after(1)) == 0


def test_a_success_forgets_the_failures_of_its_pair(limiter: SignInLimiter) -> None:
    for _ in range(4):
        assert limiter.seconds_to_wait(HOME, ADA, after(0)) == 0
    limiter.record_success(HOME, ADA)
    for _ in range(5):
        assert limiter.seconds_to_wait(HOME, ADA, after(1)) == 0


def test_failures_are_forgotten_after_an_hour(limiter: SignInLimiter) -> None:
    for _ in range(5):
        limiter.seconds_to_wait(HOME, ADA, after(0))
    assert limiter.seconds_to_wait(HOME, ADA, after(0)) > 0
    assert limiter.seconds_to_wait(HOME, ADA, after(3_601)) == 0


def test_a_guesser_who_tries_many_accounts_waits_longer_for_each(limiter: SignInLimiter) -> None:
    for n in range(200):
        limiter.seconds_to_wait(VENUE, f"{n}@silverball.test", after(0))
    assert limiter.seconds_to_wait(VENUE, "1@silverball.test", after(0)) > 30
    # Who has not failed does not wait.
    assert limiter.seconds_to_wait(VENUE, ADA, after(0)) == 0


def test_the_wait_has_an_end_however_many_fail(limiter: SignInLimiter) -> None:
    for n in range(300):
        limiter.seconds_to_wait(f"198.51.{n // 250}.{n % 250}", ADA, after(0))
    assert limiter.seconds_to_wait("198.51.0.1", ADA, after(0)) <= WAIT_SECONDS_MAX + 1
    assert limiter.seconds_to_wait(VENUE, ADA, after(0)) == 0
    assert limiter.seconds_to_wait(VENUE, BO, after(0)) == 0


def test_nodes_of_one_database_count_together(postgresql: PostgreSQL) -> None:
    url = postgresql.new_database()
    stores = [Store(url) for _ in range(3)]
    nodes = [SignInLimiter(StoredFailures(store.engine)) for store in stores]
    for n in range(5):
        assert nodes[n % 3].seconds_to_wait(HOME, ADA, after(0)) == 0
    assert [node.seconds_to_wait(HOME, ADA, after(0)) for node in nodes] == [1, 1, 1]
    nodes[0].record_success(HOME, ADA)
    assert nodes[1].seconds_to_wait(HOME, ADA, after(0)) == 0
    for store in stores:
        store.close()


def test_a_node_counts_for_itself_while_the_database_cannot(caplog: pytest.LogCaptureFixture) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    store = Store(f"postgresql+psycopg://silverball@127.0.0.1:{port}/gone")
    limiter = SignInLimiter(StoredFailures(store.engine))
    waits = [limiter.seconds_to_wait(HOME, ADA, after(0)) for _ in range(6)]
    assert waits == [0, 0, 0, 0, 0, 1]
    assert "counted by this process alone" in caplog.text
    store.close()
