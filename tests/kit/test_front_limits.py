"""The front door: rate limits, other methods and sites, failures, writes."""

import asyncio
from typing import Any

import pytest

import asgi
from kit.stub_backend import PER_USER, RESULT, STANDINGS, Clock, StubBackend, front_door
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.http.endpoints import Caller

# Rate limits


def test_the_rate_limit_counts_down_and_then_says_how_long_to_wait(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=3)
    remaining = [asgi.get(app, STANDINGS, token="ada").headers["x-ratelimit-remaining"] for _ in range(3)]
    assert remaining == ["2", "1", "0"]
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


def test_each_user_has_a_rate_limit_of_their_own(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    assert [asgi.get(app, STANDINGS, token=token).status for token in ("ada", "bo", "ada", "bo")] == [
        200,
        200,
        429,
        429,
    ]


def test_requests_without_a_valid_token_are_counted_by_address(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    statuses = [
        asgi.get(app, STANDINGS, client=client).status for client in ("192.0.2.1",) * 2 + ("192.0.2.2",)
    ]
    assert statuses == [401, 429, 401]
    assert asgi.get(app, STANDINGS, token="wrong", client="192.0.2.1").status == 429
    assert asgi.get(app, STANDINGS, token="ada", client="192.0.2.1").status == 200


def test_only_a_trusted_proxy_may_name_the_client(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1, proxies=TrustedProxies.parse("127.0.0.1"))
    for client, forwarded, status in [
        ("127.0.0.1", "198.51.100.1", 401),
        ("127.0.0.1", "198.51.100.2", 401),
        ("127.0.0.1", "198.51.100.2", 429),
        ("192.0.2.9", "198.51.100.3", 401),
        ("192.0.2.9", "198.51.100.4", 429),
    ]:
        reply = asgi.get(app, STANDINGS, client=client, headers={"x-forwarded-for": forwarded})
        assert reply.status == status


def test_a_304_is_not_counted_and_served_when_the_quota_is_used_up(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=2)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    for _ in range(5):
        reply = asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag})
        assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (304, "1")
    assert asgi.get(app, STANDINGS, token="ada").status == 200
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag}).status == 304
    assert asgi.get(app, STANDINGS, token="ada").status == 429


def test_a_304_that_had_to_be_computed_is_counted(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=2)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    backend.revisions[42] = 918
    reply = asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag})
    assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (304, "0")


def test_an_etag_that_matches_everything_is_counted(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=60)
    statuses = [
        asgi.get(app, f"{STANDINGS}?n={n}", token="ada", headers={"if-none-match": "*"}).status
        for n in range(100)
    ]
    assert statuses == [304] * 60 + [429] * 40
    clock.now += 61
    again = [
        asgi.get(app, f"{STANDINGS}?n=1", token="ada", headers={"if-none-match": "*"}).status
        for _ in range(100)
    ]
    assert again == [304] * 60 + [429] * 40


def test_nothing_is_computed_when_the_quota_is_used_up(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    backend.revisions[42] = 918
    assert asgi.get(app, STANDINGS, token="ada", headers={"if-none-match": tag}).status == 429
    assert backend.computed[STANDINGS] == 1


def test_without_a_rate_limit_there_are_no_rate_limit_headers(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=0)
    for _ in range(100):
        reply = asgi.get(app, STANDINGS, token="ada")
        assert reply.status == 200
    assert "x-ratelimit-limit" not in reply.headers


# Standings that a caller was given lately


def test_a_board_that_asks_every_ten_seconds_is_never_refused(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock)
    statuses: list[int] = []
    for _ in range(30):
        backend.revisions[42] += 1
        statuses.append(asgi.get(app, STANDINGS, token="ada").status)
        clock.now += 10
    assert statuses == [200] * 30
    # Every second answer is the one before.
    assert backend.computed[STANDINGS] == 15


def test_within_the_interval_a_caller_is_given_the_same_bytes_with_their_age(
    backend: StubBackend, clock: Clock
) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock)
    first = asgi.get(app, STANDINGS, token="ada")
    assert "age" not in first.headers
    backend.revisions[42], backend.body = 918, b'{"name":"new"}'
    clock.now += 5
    for path in (STANDINGS, "/api/tournaments/042/standings"):
        again = asgi.get(app, path, token="ada")
        assert (again.status, again.body, again.headers["etag"]) == (200, first.body, first.headers["etag"])
        assert (again.headers["age"], again.headers["x-tournament-revision"]) == ("5", "917")
    assert again.headers["x-ratelimit-remaining"] == "57"
    # Another caller, tool or query gets what is true now.
    for token, headers, query in (
        ("bo", {}, ""),
        ("ada", {"user-agent": "stream/2"}, ""),
        ("ada", {}, "?a=1"),
    ):
        fresh = asgi.get(app, STANDINGS + query, token=token, headers=headers)
        assert (fresh.json, "age" in fresh.headers) == ({"name": "new"}, False)
    clock.now += 10
    assert asgi.get(app, STANDINGS, token="ada").json == {"name": "new"}


@pytest.mark.parametrize("name", ["if-none-match", "x-tournament-revision"])
def test_who_names_a_tag_or_a_revision_gets_what_is_true_now(
    name: str, backend: StubBackend, clock: Clock
) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock)
    tag = asgi.get(app, STANDINGS, token="ada").headers["etag"]
    backend.revisions[42], backend.body = 918, b'{"name":"new"}'
    value = tag if name == "if-none-match" else "1"
    assert asgi.get(app, STANDINGS, token="ada", headers={name: value}).json == {"name": "new"}
    # From then on they are given that: nobody goes back in time.
    assert asgi.get(app, STANDINGS, token="ada").json == {"name": "new"}


def test_a_writer_sees_their_change_at_once_with_every_tool(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock)
    tool = {"user-agent": "stream/2"}
    for headers in ({}, tool):
        asgi.get(app, STANDINGS, token="ada", headers=headers)
    backend.body = b'{"name":"new"}'
    assert asgi.get(app, RESULT, method="PUT", token="ada", body=b"{}").status == 200
    for headers in ({}, tool):
        assert asgi.get(app, STANDINGS, token="ada", headers=headers).json == {"name": "new"}


def test_a_hiding_and_another_role_end_what_was_given(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock)
    for change in (backend.hide, backend.make_ada_admin):
        before = asgi.get(app, STANDINGS, token="ada").body
        backend.revisions[42] += 1
        backend.body = b'{"at":%d}' % backend.revisions[42]
        assert asgi.get(app, STANDINGS, token="ada").body == before
        change()
        assert asgi.get(app, STANDINGS, token="ada").body == backend.body


def test_fifty_thousand_tools_do_not_fill_the_memory(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled, backend.is_public = True, True
    app = front_door(backend, clock, rate_per_minute=0)

    async def ask_with(numbers: range) -> None:
        for number in numbers:
            if number % 1_000 == 0:
                backend.revisions[42] += 1
                backend.body = b"x" * 400_000
            headers = {"user-agent": f"tool {number}" + "x" * 2_000}
            assert (await asgi.send(app, STANDINGS, headers=headers)).status == 200

    asyncio.run(ask_with(range(50_000)))
    assert len(app.given) <= 10_000
    assert app.given.bytes_used <= 8_000_000


def test_what_was_given_can_be_switched_off(backend: StubBackend, clock: Clock) -> None:
    backend.is_throttled = True
    app = front_door(backend, clock, standings_interval_seconds=0)
    asgi.get(app, STANDINGS, token="ada")
    backend.revisions[42], backend.body = 918, b'{"name":"new"}'
    assert asgi.get(app, STANDINGS, token="ada").json == {"name": "new"}


# Other methods, other sites, failures


def test_pages_of_other_sites_can_send_requests_and_read_the_headers_they_need(
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


def test_a_preflight_is_not_counted_and_needs_no_token(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    headers = {
        "origin": "https://club.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
    }
    for _ in range(3):
        reply = asgi.get(app, STANDINGS, method="OPTIONS", headers=headers)
        assert (reply.status, reply.body) == (204, b"")
        assert reply.headers["access-control-max-age"] == "7200"
        assert reply.headers["access-control-allow-methods"] == "*"
        assert "authorization" in reply.headers["access-control-allow-headers"].lower()
    assert asgi.get(app, STANDINGS, token="ada").status == 200


def test_options_of_an_unknown_path_is_not_found(backend: StubBackend, clock: Clock) -> None:
    reply = asgi.get(front_door(backend, clock), "/api/nothing", method="OPTIONS")
    assert reply.status == 404
    assert reply.json == {
        "message": "The route api/nothing could not be found.",
        "code": "route-not-found",
    }


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "TRACE"])
def test_other_methods_are_answered_by_the_endpoint_table(
    backend: StubBackend, clock: Clock, method: str
) -> None:
    reply = asgi.get(front_door(backend, clock), STANDINGS, token="ada", method=method, body=b"{}")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")
    assert backend.calls == [(method, 7)]


@pytest.mark.parametrize(
    "headers", [{"content-length": "1000001"}, {"content-length": "9" * 30}, {"transfer-encoding": "chunked"}]
)
def test_a_body_over_the_limit_is_refused(
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
    ("request_id", "is_echoed"),
    [("order-17.a_b", True), ("x" * 65, False), ("a b", False), ("<script>", False)],
)
def test_every_answer_has_a_request_id_and_a_valid_one_is_echoed(
    backend: StubBackend, clock: Clock, request_id: str, is_echoed: bool
) -> None:
    app = front_door(backend, clock)
    for _ in range(2):
        reply = asgi.get(app, STANDINGS, token="ada", headers={"x-request-id": request_id})
        assert (reply.headers["x-request-id"] == request_id) is is_echoed
    ids = {asgi.get(app, STANDINGS, token="ada").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


def test_a_failed_lookup_is_answered_in_json_without_details(clock: Clock) -> None:
    class Broken(StubBackend):
        def find_caller(self, authorization: bytes) -> Caller | None:
            raise RuntimeError("the secret is 42")

    reply = asgi.get(front_door(Broken(), clock), STANDINGS, token="ada")
    assert (reply.status, reply.json) == (500, {"message": "Server Error"})


def test_paths_outside_the_api_are_not_counted_and_not_found_without_pages(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=1)
    assert [asgi.get(app, path).status for path in ("/", "/apix", "/account")] == [404, 404, 404]
    assert asgi.get(app, STANDINGS).status == 401


# Writes


def test_a_write_passes_on_its_body_its_key_and_its_client_address(
    backend: StubBackend, clock: Clock
) -> None:
    headers = {
        "idempotency-key": "a-1",
        "if-match": '"917"',
        "x-forwarded-for": "198.51.100.9",
        "content-length": "70000",
    }
    body = b"x" * 70_000
    reply = asgi.get(
        front_door(backend, clock, proxies=TrustedProxies.parse("127.0.0.1")),
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


def test_a_write_is_never_answered_from_the_cache_and_the_next_read_sees_it(
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
def test_a_write_with_too_large_a_body_is_refused(
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


def test_a_write_whose_client_disconnects_is_not_executed(backend: StubBackend, clock: Clock) -> None:
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


def test_each_body_of_a_read_has_its_own_response(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    for body in (b"", b'{"a":1}', b'{"a":2}', b'{"a":1}', b""):
        headers = {"content-length": str(len(body))}
        assert asgi.get(app, STANDINGS, token="ada", headers=headers, body=body).status == 200
    assert [request.body for request in backend.requests] == [b"", b'{"a":1}', b'{"a":2}']


def test_options_lists_the_methods_of_the_path(backend: StubBackend, clock: Clock) -> None:
    reply = asgi.get(front_door(backend, clock), RESULT, method="OPTIONS")
    assert (reply.status, reply.body, reply.headers["allow"]) == (200, b"", "GET,HEAD,PUT")


def test_a_private_part_of_a_tournament_is_cached_per_user(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock)
    path = "/api/tournaments/42/journal"
    for token in ("ada", "bo", "ada", "bo"):
        asgi.get(app, path, token=token)
    assert backend.computed[path] == 2


# The rate limit of a running tournament


def test_people_running_a_tournament_have_a_separate_rate_limit_for_it(
    backend: StubBackend, clock: Clock
) -> None:
    backend.running_tournaments = {(7, 42)}
    app = front_door(backend, clock, rate_per_minute=2, own_per_minute=5)
    remaining = [asgi.get(app, STANDINGS, token="ada").headers["x-ratelimit-remaining"] for _ in range(3)]
    assert remaining == ["4", "3", "2"]
    assert asgi.get(app, RESULT, method="PUT", token="ada").headers["x-ratelimit-limit"] == "5"
    # Other requests count against the general limit.
    elsewhere = asgi.get(app, "/api/tournaments/7/standings", token="ada")
    assert (elsewhere.headers["x-ratelimit-limit"], elsewhere.headers["x-ratelimit-remaining"]) == ("2", "1")
    assert asgi.get(app, PER_USER, token="ada").headers["x-ratelimit-remaining"] == "0"
    assert asgi.get(app, PER_USER, token="ada").status == 429
    assert asgi.get(app, STANDINGS, token="ada").status == 200
    assert asgi.get(app, STANDINGS, token="ada").status == 429
    # So do those of a spectator.
    assert asgi.get(app, STANDINGS, token="bo").headers["x-ratelimit-limit"] == "2"


def test_where_nobody_has_a_limit_people_running_a_tournament_have_none_either(
    backend: StubBackend, clock: Clock
) -> None:
    backend.running_tournaments = {(7, 42)}
    app = front_door(backend, clock, rate_per_minute=0, own_per_minute=2)
    replies = [asgi.get(app, RESULT, method="PUT", token="ada") for _ in range(5)]
    assert {reply.status for reply in replies} == {200}
    assert not any("x-ratelimit-limit" in reply.headers for reply in replies)


def test_ownership_of_a_tournament_is_looked_up_once_in_five_seconds(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock)
    for _ in range(3):
        asgi.get(app, STANDINGS, token="ada")
    assert backend.quota_lookup_count == 1
    backend.running_tournaments = {(7, 42)}
    clock.now += 5.1
    assert asgi.get(app, STANDINGS, token="ada").headers["x-ratelimit-limit"] == "600"
    assert backend.quota_lookup_count == 2


def test_ownership_is_looked_up_for_a_limited_number_of_tournaments(
    backend: StubBackend, clock: Clock
) -> None:
    app = front_door(backend, clock, rate_per_minute=10)
    for number in range(100, 200):
        asgi.get(app, f"/api/tournaments/{number}/standings", token="ada")
    assert backend.quota_lookup_count == 50


def test_resolving_names_is_free_up_to_a_limit(backend: StubBackend, clock: Clock) -> None:
    app = front_door(backend, clock, rate_per_minute=2, resolving_per_minute=5)
    for number in range(5):
        reply = asgi.get(app, f"/api/players/resolve-unknown?players={number}", token="ada")
        assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (200, "2")
    statuses = [
        asgi.get(app, f"/api/players/resolve-unknown?players={number}", token="ada").status
        for number in range(10, 14)
    ]
    assert statuses == [200, 200, 429, 429]


@pytest.mark.parametrize("path", ["/api/clubs/resolve-unknown", "/api/x/resolve-unknown"])
def test_only_the_routes_that_resolve_names_are_free(backend: StubBackend, clock: Clock, path: str) -> None:
    app = front_door(backend, clock, rate_per_minute=2)
    assert [asgi.get(app, f"{path}?n={n}", token="ada").status for n in range(3)][-1] == 429
