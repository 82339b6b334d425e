"""The front door: callers, cached responses, etags and compression."""

import asyncio
import gzip
from random import Random

import pytest

import asgi
from kit.stub_backend import BIG, PER_USER, STANDINGS, Clock, StubBackend, front_door
from silverball.kit.edge.caller_cache import CALLER_SECONDS

# Callers


def test_a_request_without_a_token_gets_the_specified_401(backend: StubBackend, clock: Clock) -> None:
    reply = asgi.get(front_door(backend, clock), STANDINGS)
    assert reply.status == 401
    assert reply.body == b'{"message":"Unauthenticated."}'
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-cache, private"


def test_a_caller_is_looked_up_again_within_five_seconds(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    asgi.get(app, STANDINGS, token="ada")
    assert backend.lookup_count == 1
    del backend.accounts[b"Bearer ada"]
    clock.now += CALLER_SECONDS - 0.1
    assert asgi.get(app, STANDINGS, token="ada").status == 200
    clock.now += 0.2
    assert CALLER_SECONDS + 0.1 < 5
    assert asgi.get(app, STANDINGS, token="ada").status == 401
    assert backend.lookup_count == 2


def test_a_caller_whose_account_changed_is_looked_up_at_once(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for token in ("ada", "bo"):
        asgi.get(app, STANDINGS, token=token)
    backend.account_changes[7] = 1
    for token in ("ada", "bo", "ada"):
        asgi.get(app, STANDINGS, token=token)
    assert backend.lookup_count == 3


def test_requests_that_come_together_look_their_caller_and_their_tournament_up_once(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)

    async def scenario() -> list[int]:
        backend.callers_released.clear()
        asked = [asyncio.create_task(asgi.send(app, STANDINGS, token="ada")) for _ in range(50)]
        await asyncio.sleep(0.05)
        # Who leaves takes the lookup from nobody.
        asked.pop(0).cancel()
        backend.callers_released.set()
        return [reply.status for reply in await asyncio.gather(*asked)]

    assert asyncio.run(scenario()) == [200] * 49
    assert (backend.lookup_count, backend.quota_lookup_count) == (1, 1)


def test_who_comes_after_a_change_of_an_account_does_not_join_an_earlier_lookup(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)

    async def scenario() -> list[int]:
        backend.callers_released.clear()
        before = asyncio.create_task(asgi.send(app, STANDINGS, token="ada"))
        while backend.lookup_count < 1:
            await asyncio.sleep(0.01)
        # The token is revoked, and that was acknowledged.
        del backend.accounts[b"Bearer ada"]
        backend.account_changes[7] = 1
        after = asyncio.create_task(asgi.send(app, STANDINGS, token="ada"))
        while backend.lookup_count < 2:
            await asyncio.sleep(0.01)
        backend.callers_released.set()
        return [(await asked).status for asked in (before, after)]

    assert asyncio.run(scenario()) == [200, 401]
    assert backend.lookup_count == 2
    assert asgi.get(app, STANDINGS, token="ada").status == 401


def test_a_lookup_that_fails_fails_for_all_who_waited_and_for_nobody_else(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)

    async def scenario() -> list[int]:
        asked = [asyncio.create_task(asgi.send(app, STANDINGS, token="ada")) for _ in range(3)]
        return [reply.status for reply in await asyncio.gather(*asked)]

    backend.outage_seconds = 1.0
    assert asyncio.run(scenario()) == [503] * 3
    backend.outage_seconds = 0.0
    assert asgi.get(app, STANDINGS, token="ada").status == 200


def test_a_header_too_long_for_a_token_is_not_looked_up(backend: StubBackend, clock: Clock) -> None:
    assert asgi.get(front_door(backend, clock), STANDINGS, token="x" * 300).status == 401
    assert backend.lookup_count == 0


# Cached responses


def test_a_response_is_computed_once_per_revision_for_all_callers_of_one_viewer_class(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    first = asgi.get(app, STANDINGS, token="ada")
    second = asgi.get(app, STANDINGS, token="bo")
    assert first.body == second.body == BIG
    assert backend.computed[STANDINGS] == 1


def test_a_new_revision_is_seen_by_the_next_request(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    backend.revisions[42] = 918
    backend.body = b'{"name":"new"}'
    assert asgi.get(app, STANDINGS, token="ada").json == {"name": "new"}


def test_a_change_elsewhere_does_not_invalidate_a_tournaments_responses(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    backend.revisions.update({0: 2, 7: 2})
    asgi.get(app, STANDINGS, token="ada")
    assert backend.computed[STANDINGS] == 1


@pytest.mark.parametrize("token", ["bo", "shy"])
def test_per_user_paths_and_hidden_accounts_have_responses_of_their_own(
    backend: StubBackend, clock: Clock, token: str
) -> None:
    app = front_door(backend, clock)
    path = PER_USER if token == "bo" else STANDINGS
    asgi.get(app, path, token="ada")
    asgi.get(app, path, token=token)
    assert backend.computed[path] == 2


def test_a_request_without_a_token_never_gets_a_callers_response(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    assert asgi.get(app, STANDINGS).status == 401


def test_each_query_has_its_own_response(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for path in (STANDINGS, f"{STANDINGS}?page=2", STANDINGS):
        asgi.get(app, path, token="ada")
    assert backend.computed[STANDINGS] == 2


def test_a_refusal_is_not_cached(backend: StubBackend, clock: Clock) -> None:
    backend.status = 404
    app = front_door(backend, clock)
    for _ in range(2):
        assert asgi.get(app, STANDINGS, token="ada").status == 404
    assert backend.computed[STANDINGS] == 2


def test_a_response_is_not_cached_when_its_tournament_has_no_revision(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    for _ in range(2):
        assert asgi.get(app, "/api/tournaments/99/rounds", token="ada").status == 200
    assert backend.computed["/api/tournaments/99/rounds"] == 2


def test_without_a_cache_every_response_is_computed_and_still_has_an_etag(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, cache_bytes=0)
    tags = {asgi.get(app, STANDINGS, token="ada").headers["etag"] for _ in range(2)}
    assert len(tags) == 1
    assert backend.computed[STANDINGS] == 2


def test_equal_requests_at_the_same_time_are_computed_once(backend: StubBackend, clock: Clock) -> None:
    backend.seconds = 0.1
    app = front_door(backend, clock)

    async def send_twenty_requests() -> list[asgi.Reply]:
        return await asyncio.gather(*(asgi.send(app, STANDINGS, token="ada") for _ in range(20)))

    replies = asyncio.run(send_twenty_requests())
    assert {reply.status for reply in replies} == {200}
    assert backend.computed[STANDINGS] == 1


def test_a_request_after_a_change_does_not_share_a_response_from_before(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)

    async def read_before_and_after_a_change() -> None:
        early = asyncio.create_task(asgi.send(app, STANDINGS, token="ada"))
        while backend.computed[STANDINGS] < 1:
            await asyncio.sleep(0.01)
        backend.revisions[42] = 918
        await asgi.send(app, STANDINGS, token="ada")
        await early

    asyncio.run(read_before_and_after_a_change())
    assert backend.computed[STANDINGS] == 2


def test_a_response_is_not_reused_when_a_change_came_during_its_computation(
    backend: StubBackend, clock: Clock
) -> None:
    backend.released.clear()
    app = front_door(backend, clock)

    async def change_during_a_read() -> None:
        early = asyncio.create_task(asgi.send(app, STANDINGS, token="ada"))
        assert await asyncio.to_thread(backend.is_computing.wait, 20)
        backend.revisions[42] = 918
        backend.released.set()
        await early
        await asgi.send(app, STANDINGS, token="ada")

    asyncio.run(change_during_a_read())
    assert backend.computed[STANDINGS] == 2


def test_a_caller_who_has_seen_a_newer_revision_never_gets_an_older_one(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    backend.newer_revisions[42] = 920
    backend.body = b'{"name":"new"}'
    headers = {"x-tournament-revision": "920"}
    assert asgi.get(app, STANDINGS, token="ada", headers=headers).json == {"name": "new"}
    assert asgi.get(app, STANDINGS, token="ada", headers=headers).json == {"name": "new"}
    assert backend.computed[STANDINGS] == 2


# Tags, compression, HEAD


@pytest.mark.parametrize(
    "pattern", ["{tag}", "W/{tag}", "{strong}", '"other", {tag}', "*", '{strong} , "x"', ' "a",W/"b", {tag} ']
)
def test_a_matching_etag_gets_a_304(backend: StubBackend, clock: Clock, pattern: str) -> None:
    app = front_door(backend, clock)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    assert tag.startswith('W/"')
    if_none_match = pattern.replace("W/{tag}", tag).format(tag=tag, strong=tag.removeprefix("W/"))
    reply = asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": if_none_match})
    assert (reply.status, reply.body) == (304, b"")
    assert reply.headers["etag"] == tag
    assert reply.headers["cache-control"] == "no-cache, private"
    assert "content-length" not in reply.headers


def test_a_different_etag_gets_the_response(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": 'W/"old"'}).status == 200


@pytest.mark.parametrize(
    ("accepts", "is_gzipped"),
    [
        (None, False),
        ("gzip", True),
        ("deflate, GZIP;q=0.5, br", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0, *", False),
        ("*;q=0", False),
        ("identity", False),
        ("gzip;q=x", False),
        ("", False),
    ],
)
def test_a_large_response_is_gzipped_for_clients_that_accept_it(
    backend: StubBackend, clock: Clock, accepts: str | None, is_gzipped: bool
) -> None:
    headers = {} if accepts is None else {"accept-encoding": accepts}
    app = front_door(backend, clock)
    for _ in range(2):
        reply = asgi.get(app, STANDINGS, token="ada", headers=headers)
        assert (reply.headers.get("content-encoding") == "gzip") is is_gzipped
        assert (gzip.decompress(reply.body) if is_gzipped else reply.body) == BIG
        assert int(reply.headers["content-length"]) == len(reply.body)
        assert "accept-encoding" in reply.headers["vary"]


def test_a_response_is_gzipped_once_and_both_bodies_count_as_cache_size(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    plain = app.cache.bytes_used
    gzipped = [
        asgi.get(app, STANDINGS, token="ada", headers={"accept-encoding": "gzip"}).body for _ in range(2)
    ]
    assert gzipped[0] == gzipped[1]
    assert app.cache.bytes_used == plain + len(gzipped[0])
    assert (len(app.cache), backend.computed[STANDINGS]) == (1, 1)


def test_a_body_that_does_not_shrink_is_sent_uncompressed(backend: StubBackend, clock: Clock) -> None:
    backend.body = Random(7).randbytes(5000)
    reply = asgi.get(front_door(backend, clock), STANDINGS, token="ada", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in reply.headers
    assert reply.body == backend.body


def test_a_small_response_is_not_gzipped(backend: StubBackend, clock: Clock) -> None:
    backend.body = b"{}"
    reply = asgi.get(front_door(backend, clock), STANDINGS, token="ada", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in reply.headers


def test_head_has_the_headers_of_get_and_no_body(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    head = asgi.get(app, STANDINGS, token="ada", method="HEAD")
    full = asgi.get(app, STANDINGS, token="ada")
    assert head.body == b""
    for name in ("etag", "content-length", "content-type"):
        assert head.headers[name] == full.headers[name]
    assert backend.computed[STANDINGS] == 1


def test_the_cache_stays_within_its_bound_and_drops_the_least_recently_used(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, cache_bytes=50_000, rate_per_minute=0)
    for page in range(40):
        asgi.get(app, f"{STANDINGS}?page={page}", token="ada")
        asgi.get(app, f"{STANDINGS}?page=0", token="ada")
    assert app.cache.bytes_used <= 50_000
    assert 2 <= len(app.cache) <= 18
    assert backend.computed[STANDINGS] == 40
