"""The front door while the database cannot be asked: it sends what it keeps, marked, for a while."""

import pytest

import asgi
from kit.stub_backend import BIG, PER_USER, STANDINGS, Clock, StubBackend, front_door
from kit.test_cached_pages import HTML, PAGE, StubPages
from silverball.kit.edge.caller_cache import CALLER_SECONDS
from silverball.kit.edge.front import FrontDoor


@pytest.fixture
def backend() -> StubBackend:
    backend = StubBackend()
    backend.is_public = True
    return backend


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(backend: StubBackend, clock: Clock) -> FrontDoor:
    """A front door that has answered a caller and a visitor before the outage."""
    door = front_door(backend, clock)
    for token in ("ada", None):
        for path in (STANDINGS, PER_USER):
            assert asgi.get(door, path, token=token).status == 200
    return door


def test_a_visitor_gets_what_is_kept_for_a_minute_with_its_age(backend: StubBackend, door: FrontDoor) -> None:
    for seconds in (2.5, 60.0):
        backend.outage_seconds = seconds
        reply = asgi.get(door, STANDINGS)
        assert (reply.status, reply.body, reply.headers["age"]) == (200, BIG, str(int(seconds)))
        again = asgi.get(door, STANDINGS, headers={"if-none-match": reply.headers["etag"]})
        assert (again.status, again.headers["age"]) == (304, str(int(seconds)))
        for answer in (reply, again):
            exposed = answer.headers["access-control-expose-headers"]
            # Or the script of another site's page could not tell.
            assert "Age" in exposed.split(", ")
    backend.outage_seconds = 60.1
    assert asgi.get(door, STANDINGS).status == 503


def test_a_caller_gets_what_is_kept_as_long_as_the_token_is_known(
    backend: StubBackend, door: FrontDoor, clock: Clock
) -> None:
    backend.outage_seconds = 2.5
    clock.now += CALLER_SECONDS - 0.1
    assert asgi.get(door, PER_USER, token="ada").headers["age"] == "2"
    clock.now += 0.1
    assert asgi.get(door, PER_USER, token="ada").status == 503
    assert asgi.get(door, STANDINGS, token="bo").status == 503


def test_what_must_be_new_is_not_answered_from_what_is_kept(backend: StubBackend, door: FrontDoor) -> None:
    backend.outage_seconds = 2.5
    assert asgi.get(door, STANDINGS, headers={"x-tournament-revision": "917"}).status == 503
    assert asgi.get(door, f"{STANDINGS}?page=2").status == 503
    # It has changed since it was kept.
    backend.revisions[42] += 1
    assert asgi.get(door, STANDINGS).status == 503


def test_answers_of_an_outage_are_counted(backend: StubBackend, clock: Clock) -> None:
    door = front_door(backend, clock, rate_per_minute=3)
    asgi.get(door, STANDINGS)
    backend.outage_seconds = 2.5
    replies = [asgi.get(door, STANDINGS) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 429]
    assert ["age" in reply.headers for reply in replies] == [True, True, False]


def test_without_an_outage_nothing_has_an_age(door: FrontDoor) -> None:
    assert "age" not in asgi.get(door, STANDINGS).headers


def test_a_page_says_as_of_when_it_is_and_no_browser_keeps_it() -> None:
    stub = StubPages()
    door = stub.front_door()
    kept = asgi.get(door, PAGE)
    stub.is_broken, stub.outage_seconds = True, 17.9
    for headers in ({}, {"if-none-match": kept.headers["etag"]}, {"accept-encoding": "gzip"}):
        reply = asgi.get(door, PAGE, headers=headers)
        assert (reply.status, reply.body) == (200, HTML + b" 17.9 s old")
        assert reply.headers["age"] == "17"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["content-security-policy"] == kept.headers["content-security-policy"]
        assert "etag" not in reply.headers
    assert asgi.get(door, PAGE, method="HEAD").body == b""
    stub.outage_seconds = 60.1
    assert asgi.get(door, PAGE).status == 503
