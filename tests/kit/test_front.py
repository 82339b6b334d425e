"""The front door, over a stub backend: who asks, how often, and what is at hand."""

import asyncio
import gzip
import threading
import time
from collections import Counter
from random import Random
from typing import Any

import pytest

import asgi
import build
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http.endpoints import Caller, HttpResponse, Request
from silverball.service.access import AuthenticatedCaller as Account
from silverball.service.tournaments import paths

STANDINGS = "/api/tournaments/42/standings"
PER_USER = "/api/arenas"
RESULT = "/api/tournaments/42/games/10/result"
BIG = b'{"name":"' + b"Meteor Shower " * 200 + b'"}'


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class StubBackend:
    """A backend whose answers are counted and whose revisions are set by hand."""

    def __init__(self) -> None:
        self.revisions = {0: 1, 42: 917, 7: 1}
        # What the database has, when memory is behind.
        self.newer_revisions: dict[int, int] = {}
        self.accounts: dict[bytes, Account] = {
            b"Bearer ada": build.caller(7),
            b"Bearer bo": build.caller(8),
            b"Bearer shy": build.caller(9, is_hidden=True),
        }
        self.computed: Counter[str] = Counter()
        self.lookup_count = 0
        self.status = 200
        self.body = BIG
        self.is_throttled = False
        self.seconds = 0.0
        self.calls: list[tuple[str, int | None]] = []
        self.requests: list[Request] = []
        # Who runs which tournament now.
        self.running_tournaments: set[tuple[int, int]] = set()
        self.quota_lookup_count = 0
        self.lock = threading.Lock()

    def find_caller(self, authorization: bytes) -> Caller | None:
        self.lookup_count += 1
        return self.accounts.get(authorization)

    def refresh(self, scope_id: int) -> int:
        self.revisions.update({one: to for one, to in self.newer_revisions.items() if one == scope_id})
        return self.revisions.get(scope_id, 0)

    def answer(self, request: Request) -> HttpResponse:
        time.sleep(self.seconds)
        with self.lock:
            self.computed[request.path] += 1
            self.calls.append((request.method, request.caller.user_id if request.caller else None))
            self.requests.append(request)
        if request.caller is None:
            return HttpResponse(401, b'{"message":"Unauthenticated."}')
        if request.method == "PUT":
            self.revisions[42] += 1
            return HttpResponse(200, b'{"written":true}', headers=((b"x-tournament-revision", b"918"),))
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(405, b'{"message":"no"}', headers=((b"allow", b"GET, HEAD"),))
        return HttpResponse(self.status, self.body, is_throttled=self.is_throttled)

    def has_own_quota(self, caller: Caller, scope_id: int) -> bool:
        self.quota_lookup_count += 1
        return (caller.user_id, scope_id) in self.running_tournaments

    def answer_error(self, error: Exception) -> HttpResponse:
        return HttpResponse(500, b'{"message":"Server Error"}')


@pytest.fixture
def backend() -> StubBackend:
    return StubBackend()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def front_door(backend: StubBackend, clock: Clock, **limits: Any) -> FrontDoor:
    given = Backend(
        find_caller=backend.find_caller,
        revision_of=lambda scope_id: backend.revisions.get(scope_id, 0),
        refresh=backend.refresh,
        answer=backend.answer,
        answer_error=backend.answer_error,
        scope_for=paths.tournament_in,
        is_uncounted=paths.is_uncounted,
        has_own_quota=backend.has_own_quota,
        methods_for=lambda path: ["GET", "HEAD", "PUT"] if path == RESULT else [],
        per_user_paths=[PER_USER, "/api/tournaments/{tournament_id}/journal"],
    )
    return FrontDoor(given, FrontDoorLimits(**limits), clock=clock, wall_clock=lambda: 1_770_000_000.0)


# Who is asking


def test_without_a_token_the_body_and_headers_of_the_401_are_those_of_the_specification(
    backend: StubBackend, clock: Clock
) -> None:
    reply = asgi.get(front_door(backend, clock), STANDINGS)
    assert reply.status == 401
    assert reply.body == b'{"message":"Unauthenticated."}'
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-cache, private"


def test_a_caller_is_looked_up_again_after_five_seconds(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    asgi.get(app, STANDINGS, token="ada")
    assert backend.lookup_count == 1
    del backend.accounts[b"Bearer ada"]
    clock.now += 4.9
    assert asgi.get(app, STANDINGS, token="ada").status == 200
    clock.now += 0.2
    assert asgi.get(app, STANDINGS, token="ada").status == 401
    assert backend.lookup_count == 2


def test_a_header_that_no_token_can_be_is_not_looked_up(backend: StubBackend, clock: Clock) -> None:
    assert asgi.get(front_door(backend, clock), STANDINGS, token="x" * 300).status == 401
    assert backend.lookup_count == 0


# Finished answers


def test_an_answer_is_computed_once_for_a_revision_and_all_who_see_the_same(
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


def test_a_change_elsewhere_leaves_a_tournaments_answers_at_hand(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    backend.revisions.update({0: 2, 7: 2})
    asgi.get(app, STANDINGS, token="ada")
    assert backend.computed[STANDINGS] == 1


@pytest.mark.parametrize("token", ["bo", "shy"])
def test_own_things_and_hidden_accounts_have_answers_of_their_own(
    backend: StubBackend, clock: Clock, token: str
) -> None:
    app = front_door(backend, clock)
    path = PER_USER if token == "bo" else STANDINGS
    asgi.get(app, path, token="ada")
    asgi.get(app, path, token=token)
    assert backend.computed[path] == 2


def test_nobody_is_never_given_what_was_computed_for_a_caller(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    assert asgi.get(app, STANDINGS).status == 401


def test_another_query_is_another_answer(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for path in (STANDINGS, f"{STANDINGS}?page=2", STANDINGS):
        asgi.get(app, path, token="ada")
    assert backend.computed[STANDINGS] == 2


def test_a_refusal_is_not_kept(backend: StubBackend, clock: Clock) -> None:
    backend.status = 404
    app = front_door(backend, clock)
    for _ in range(2):
        assert asgi.get(app, STANDINGS, token="ada").status == 404
    assert backend.computed[STANDINGS] == 2


def test_an_answer_whose_tournament_has_no_revision_is_not_kept(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for _ in range(2):
        assert asgi.get(app, "/api/tournaments/99/rounds", token="ada").status == 200
    assert backend.computed["/api/tournaments/99/rounds"] == 2


def test_without_memory_everything_is_computed_and_still_has_a_tag(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, cache_bytes=0)
    tags = {asgi.get(app, STANDINGS, token="ada").headers["etag"] for _ in range(2)}
    assert len(tags) == 1
    assert backend.computed[STANDINGS] == 2


def test_equal_questions_at_the_same_time_are_computed_once(backend: StubBackend, clock: Clock) -> None:
    backend.seconds = 0.1
    app = front_door(backend, clock)

    async def crowd() -> list[asgi.Reply]:
        return await asyncio.gather(*(asgi.send(app, STANDINGS, token="ada") for _ in range(20)))

    replies = asyncio.run(crowd())
    assert {reply.status for reply in replies} == {200}
    assert backend.computed[STANDINGS] == 1


def test_a_question_after_a_change_does_not_join_one_from_before(backend: StubBackend, clock: Clock) -> None:
    backend.seconds = 0.1
    app = front_door(backend, clock)

    async def two() -> None:
        early = asyncio.create_task(asgi.send(app, STANDINGS, token="ada"))
        await asyncio.sleep(0.03)
        backend.revisions[42] = 918
        await asgi.send(app, STANDINGS, token="ada")
        await early

    asyncio.run(two())
    assert backend.computed[STANDINGS] == 2


def test_a_change_during_the_computation_makes_its_answer_worthless(
    backend: StubBackend, clock: Clock
) -> None:
    backend.seconds = 0.1
    app = front_door(backend, clock)

    async def changed_meanwhile() -> None:
        early = asyncio.create_task(asgi.send(app, STANDINGS, token="ada"))
        await asyncio.sleep(0.03)
        backend.revisions[42] = 918
        await early
        await asgi.send(app, STANDINGS, token="ada")

    asyncio.run(changed_meanwhile())
    assert backend.computed[STANDINGS] == 2


def test_a_caller_who_has_seen_a_newer_revision_is_never_shown_an_older_one(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    backend.newer_revisions[42] = 920
    backend.body = b'{"name":"new"}'
    seen = {"x-tournament-revision": "920"}
    assert asgi.get(app, STANDINGS, token="ada", headers=seen).json == {"name": "new"}
    assert asgi.get(app, STANDINGS, token="ada", headers=seen).json == {"name": "new"}
    assert backend.computed[STANDINGS] == 2


# Tags, compression, HEAD


@pytest.mark.parametrize(
    "wanted", ["{tag}", "W/{tag}", "{strong}", '"other", {tag}', "*", '{strong} , "x"', ' "a",W/"b", {tag} ']
)
def test_what_the_caller_has_already_is_not_sent_again(
    backend: StubBackend, clock: Clock, wanted: str
) -> None:
    app = front_door(backend, clock)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    assert tag.startswith('W/"')
    asked = wanted.replace("W/{tag}", tag).format(tag=tag, strong=tag.removeprefix("W/"))
    reply = asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": asked})
    assert (reply.status, reply.body) == (304, b"")
    assert reply.headers["etag"] == tag
    assert reply.headers["cache-control"] == "no-cache, private"
    assert "content-length" not in reply.headers


def test_another_tag_gets_the_answer(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": 'W/"old"'}).status == 200


@pytest.mark.parametrize(
    ("accepts", "is_packed"),
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
def test_a_large_answer_is_compressed_for_who_takes_it(
    backend: StubBackend, clock: Clock, accepts: str | None, is_packed: bool
) -> None:
    headers = {} if accepts is None else {"accept-encoding": accepts}
    app = front_door(backend, clock)
    for _ in range(2):
        reply = asgi.get(app, STANDINGS, token="ada", headers=headers)
        assert (reply.headers.get("content-encoding") == "gzip") is is_packed
        assert (gzip.decompress(reply.body) if is_packed else reply.body) == BIG
        assert int(reply.headers["content-length"]) == len(reply.body)
        assert "accept-encoding" in reply.headers["vary"]


def test_an_answer_is_compressed_once_and_counted_with_both_bodies(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    plain = app.cache.bytes_used
    packed = [
        asgi.get(app, STANDINGS, token="ada", headers={"accept-encoding": "gzip"}).body for _ in range(2)
    ]
    assert packed[0] == packed[1]
    assert app.cache.bytes_used == plain + len(packed[0])
    assert (len(app.cache), backend.computed[STANDINGS]) == (1, 1)


def test_what_does_not_shrink_is_sent_as_it_is(backend: StubBackend, clock: Clock) -> None:
    backend.body = Random(7).randbytes(5000)
    reply = asgi.get(front_door(backend, clock), STANDINGS, token="ada", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in reply.headers
    assert reply.body == backend.body


def test_a_small_answer_is_not_compressed(backend: StubBackend, clock: Clock) -> None:
    backend.body = b"{}"
    reply = asgi.get(front_door(backend, clock), STANDINGS, token="ada", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in reply.headers


def test_head_says_what_get_would_and_sends_no_body(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    head = asgi.get(app, STANDINGS, token="ada", method="HEAD")
    got = asgi.get(app, STANDINGS, token="ada")
    assert head.body == b""
    for name in ("etag", "content-length", "content-type"):
        assert head.headers[name] == got.headers[name]
    assert backend.computed[STANDINGS] == 1


def test_the_memory_stays_within_its_bound_and_forgets_the_oldest_first(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, cache_bytes=50_000, rate_per_minute=0)
    for page in range(40):
        asgi.get(app, f"{STANDINGS}?page={page}", token="ada")
        asgi.get(app, f"{STANDINGS}?page=0", token="ada")
    assert app.cache.bytes_used <= 50_000
    assert 2 <= len(app.cache) <= 18
    assert backend.computed[STANDINGS] == 40


# The allowance


def test_the_allowance_counts_down_and_then_says_how_long_to_wait(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=3)
    left = [asgi.get(app, STANDINGS, token="ada").headers["x-ratelimit-remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    clock.now += 20
    reply = asgi.get(app, STANDINGS, token="ada")
    assert (reply.status, reply.json) == (429, {"message": "Too Many Attempts.", "code": "too-many-attempts"})
    assert reply.headers["x-ratelimit-limit"] == "3"
    assert reply.headers["x-ratelimit-remaining"] == "0"
    assert reply.headers["retry-after"] == "40"
    assert reply.headers["x-ratelimit-reset"] == "1770000040"
    assert reply.headers["access-control-allow-origin"] == "*"
    clock.now += 40
    assert asgi.get(app, STANDINGS, token="ada").status == 200


def test_each_user_has_an_allowance_of_his_own(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    assert [asgi.get(app, STANDINGS, token=who).status for who in ("ada", "bo", "ada", "bo")] == [
        200,
        200,
        429,
        429,
    ]


def test_whoever_is_not_known_is_counted_by_address(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    statuses = [
        asgi.get(app, STANDINGS, client=client).status for client in ("192.0.2.1",) * 2 + ("192.0.2.2",)
    ]
    assert statuses == [401, 429, 401]
    assert asgi.get(app, STANDINGS, token="wrong", client="192.0.2.1").status == 429
    assert asgi.get(app, STANDINGS, token="ada", client="192.0.2.1").status == 200


def test_a_proxy_on_this_machine_is_believed_and_no_other(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    for client, forwarded, status in [
        ("127.0.0.1", "198.51.100.1", 401),
        ("127.0.0.1", "198.51.100.2", 401),
        ("127.0.0.1", "198.51.100.2", 429),
        ("192.0.2.9", "198.51.100.3", 401),
        ("192.0.2.9", "198.51.100.4", 429),
    ]:
        reply = asgi.get(app, STANDINGS, client=client, headers={"x-forwarded-for": forwarded})
        assert reply.status == status


def test_a_304_costs_nothing_and_is_served_when_nothing_is_left(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=2)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    for _ in range(5):
        reply = asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag})
        assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (304, "1")
    assert asgi.get(app, STANDINGS, token="ada").status == 200
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag}).status == 304
    assert asgi.get(app, STANDINGS, token="ada").status == 429


def test_a_304_that_had_to_be_computed_costs_nothing_either(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=2)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    backend.revisions[42] = 918
    reply = asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag})
    assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (304, "1")


def test_nobody_computes_for_free_when_nothing_is_left(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    backend.revisions[42] = 918
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag}).status == 429
    assert backend.computed[STANDINGS] == 1


def test_without_a_limit_nothing_is_counted_or_said(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=0)
    for _ in range(100):
        reply = asgi.get(app, STANDINGS, token="ada")
        assert reply.status == 200
    assert "x-ratelimit-limit" not in reply.headers


# The standings interval


def test_running_standings_are_served_once_in_the_interval(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    clock.now += 5
    reply = asgi.get(app, STANDINGS, token="ada")
    assert (reply.status, reply.headers["retry-after"]) == (429, "10")
    assert asgi.get(app, "/api/tournaments/042/standings", token="ada").status == 429
    assert asgi.get(app, STANDINGS, token="bo").status == 200
    assert asgi.get(app, "/api/tournaments/7/standings", token="ada").status == 200
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag}).status == 304
    backend.revisions[42] = 918
    backend.body = b'{"name":"new"}'
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag}).status == 200
    clock.now += 10
    assert asgi.get(app, STANDINGS, token="ada").status == 200


def test_the_interval_can_be_switched_off(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock, standings_interval_seconds=0)
    assert [asgi.get(app, STANDINGS, token="ada").status for _ in range(3)] == [200, 200, 200]


# Other verbs, other sites, other faults


def test_a_page_of_another_site_may_ask_everything_and_read_what_it_needs(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    reply = asgi.get(app, STANDINGS, token="ada", headers={"origin": "https://club.example"})
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in reply.headers
    exposed = reply.headers["access-control-expose-headers"].lower()
    for name in (
        "etag",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "retry-after",
        "link",
    ):
        assert name in exposed


def test_a_preflight_is_free_and_needs_no_token(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    asked = {
        "origin": "https://club.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
    }
    for _ in range(3):
        reply = asgi.get(app, STANDINGS, method="OPTIONS", headers=asked)
        assert (reply.status, reply.body) == (204, b"")
        assert reply.headers["access-control-max-age"] == "7200"
        assert reply.headers["access-control-allow-methods"] == "*"
        assert "authorization" in reply.headers["access-control-allow-headers"].lower()
    assert asgi.get(app, STANDINGS, token="ada").status == 200


def test_options_that_is_no_preflight_lists_the_verbs(backend: StubBackend, clock: Clock) -> None:
    reply = asgi.get(front_door(backend, clock), STANDINGS, method="OPTIONS")
    assert (reply.status, reply.body, reply.headers["allow"]) == (200, b"", "GET,HEAD")


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "TRACE"])
def test_other_verbs_are_answered_by_the_endpoint_table(
    backend: StubBackend, clock: Clock, method: str
) -> None:
    reply = asgi.get(front_door(backend, clock), STANDINGS, token="ada", method=method, body=b"{}")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")
    assert backend.calls == [(method, 7)]


@pytest.mark.parametrize(
    "headers", [{"content-length": "1000001"}, {"content-length": "9" * 30}, {"transfer-encoding": "chunked"}]
)
def test_a_body_that_nobody_reads_to_its_end_is_refused(
    backend: StubBackend, clock: Clock, headers: dict[str, str]
) -> None:
    reply = asgi.get(
        front_door(backend, clock),
        STANDINGS,
        token="ada",
        method="POST",
        headers=headers,
        body=b"x" * 1_000_001,
    )
    assert (reply.status, reply.json) == (
        413,
        {"message": "The POST data is too large.", "code": "body-too-large"},
    )
    assert backend.calls == []


@pytest.mark.parametrize(
    ("given", "is_kept"), [("order-17.a_b", True), ("x" * 65, False), ("a b", False), ("<script>", False)]
)
def test_every_answer_has_a_request_id_and_a_sane_one_is_kept(
    backend: StubBackend, clock: Clock, given: str, is_kept: bool
) -> None:
    app = front_door(backend, clock)
    for _ in range(2):
        reply = asgi.get(app, STANDINGS, token="ada", headers={"x-request-id": given})
        assert (reply.headers["x-request-id"] == given) is is_kept
    ids = {asgi.get(app, STANDINGS, token="ada").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


def test_a_lookup_that_fails_is_answered_in_json_without_its_reason(clock: Clock) -> None:
    class Broken(StubBackend):
        def find_caller(self, authorization: bytes) -> Caller | None:
            raise RuntimeError("the secret is 42")

    reply = asgi.get(front_door(Broken(), clock), STANDINGS, token="ada")
    assert (reply.status, reply.json) == (500, {"message": "Server Error"})


def test_what_is_not_below_api_is_not_counted_and_not_found_without_pages(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    assert [asgi.get(app, path).status for path in ("/", "/apix", "/account")] == [404, 404, 404]
    assert asgi.get(app, STANDINGS).status == 401


# Writes


def test_a_write_brings_its_body_its_key_and_its_source(backend: StubBackend, clock: Clock) -> None:
    headers = {
        "idempotency-key": "a-1",
        "if-match": '"917"',
        "x-forwarded-for": "198.51.100.9",
        "content-length": "70000",
    }
    body = b"x" * 70_000
    reply = asgi.get(
        front_door(backend, clock),
        RESULT + "?a=1",
        method="PUT",
        token="ada",
        headers=headers,
        body=body,
        client="127.0.0.1",
    )
    assert (reply.status, reply.headers["x-tournament-revision"]) == (200, "918")
    (request,) = backend.requests
    assert (request.method, request.path, request.query, request.body) == ("PUT", RESULT, b"a=1", body)
    assert (request.idempotency_key, request.if_match) == (b"a-1", b'"917"')
    assert request.source == "198.51.100.9"


def test_a_write_is_never_answered_from_memory_and_the_next_read_sees_it(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    asgi.get(app, STANDINGS, token="ada")
    for _ in range(2):
        headers = {"content-length": "2"}
        assert asgi.get(app, RESULT, method="PUT", token="ada", headers=headers, body=b"{}").status == 200
    asgi.get(app, STANDINGS, token="ada")
    assert backend.computed == {STANDINGS: 2, RESULT: 2}
    assert len(app.cache) == 1


@pytest.mark.parametrize("headers", [{"content-length": "1000001"}, {"transfer-encoding": "chunked"}])
def test_a_write_with_too_large_a_body_is_refused_and_does_nothing(
    backend: StubBackend, clock: Clock, headers: dict[str, str]
) -> None:
    body = b"x" * 1_000_001
    reply = asgi.get(
        front_door(backend, clock), RESULT, method="PUT", token="ada", headers=headers, body=body
    )
    assert (reply.status, reply.json) == (
        413,
        {"message": "The POST data is too large.", "code": "body-too-large"},
    )
    assert backend.requests == []


def test_a_sender_who_goes_away_in_the_middle_does_nothing(backend: StubBackend, clock: Clock) -> None:
    messages = [
        {"type": "http.request", "body": b'{"resultPositions":[1,2]}', "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "method": "PUT",
        "path": RESULT,
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer ada"), (b"transfer-encoding", b"chunked")],
        "client": ("203.0.113.7", 50000),
    }

    async def receive() -> Any:
        return messages.pop(0)

    async def send(_message: Any) -> None: ...

    asyncio.run(front_door(backend, clock)(scope, receive, send))
    assert backend.requests == []


def test_reads_with_other_bodies_are_other_questions(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for body in (b"", b'{"a":1}', b'{"a":2}', b'{"a":1}', b""):
        headers = {"content-length": str(len(body))}
        assert asgi.get(app, STANDINGS, token="ada", headers=headers, body=body).status == 200
    assert [request.body for request in backend.requests] == [b"", b'{"a":1}', b'{"a":2}']


def test_options_lists_the_verbs_of_the_path(backend: StubBackend, clock: Clock) -> None:
    reply = asgi.get(front_door(backend, clock), RESULT, method="OPTIONS")
    assert reply.headers["allow"] == "GET,HEAD,PUT"


def test_a_private_part_of_a_tournament_is_kept_per_user(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    path = "/api/tournaments/42/journal"
    for token in ("ada", "bo", "ada", "bo"):
        asgi.get(app, path, token=token)
    assert backend.computed[path] == 2


# The allowance of who runs a tournament


def test_who_runs_a_tournament_has_a_bucket_of_his_own_for_it(backend: StubBackend, clock: Clock) -> None:
    backend.running_tournaments = {(7, 42)}
    app = front_door(backend, clock, rate_per_minute=2, own_per_minute=5)
    lefts = [asgi.get(app, STANDINGS, token="ada").headers["x-ratelimit-remaining"] for _ in range(3)]
    assert lefts == ["4", "3", "2"]
    assert asgi.get(app, RESULT, method="PUT", token="ada").headers["x-ratelimit-limit"] == "5"
    # Another tournament and everything else is counted as ever.
    elsewhere = asgi.get(app, "/api/tournaments/7/standings", token="ada")
    assert (elsewhere.headers["x-ratelimit-limit"], elsewhere.headers["x-ratelimit-remaining"]) == ("2", "1")
    assert asgi.get(app, PER_USER, token="ada").headers["x-ratelimit-remaining"] == "0"
    assert asgi.get(app, PER_USER, token="ada").status == 429
    assert asgi.get(app, STANDINGS, token="ada").status == 200
    assert asgi.get(app, STANDINGS, token="ada").status == 429
    # And so is a spectator.
    assert asgi.get(app, STANDINGS, token="bo").headers["x-ratelimit-limit"] == "2"


def test_who_runs_a_tournament_is_asked_once_in_five_seconds(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for _ in range(3):
        asgi.get(app, STANDINGS, token="ada")
    assert backend.quota_lookup_count == 1
    backend.running_tournaments = {(7, 42)}
    clock.now += 5.1
    assert asgi.get(app, STANDINGS, token="ada").headers["x-ratelimit-limit"] == "600"
    assert backend.quota_lookup_count == 2


def test_naming_many_tournaments_does_not_ask_for_each(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=10)
    for number in range(100, 200):
        asgi.get(app, f"/api/tournaments/{number}/standings", token="ada")
    assert backend.quota_lookup_count == 50


def test_resolving_names_is_free(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=2)
    for number in range(5):
        reply = asgi.get(app, f"/api/players/resolve-unknown?players={number}", token="ada")
        assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (200, "2")
