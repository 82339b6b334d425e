"""Public pages at the front door: cached by revision, never counted, with headers of their own."""

import asyncio
import gzip
import threading
from collections import Counter
from typing import Any

import asgi
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http.endpoints import HttpResponse, Request
from silverball.service.tournaments import paths

PAGE = "/t/42"
HTML = b"<p>" + b"Meteor Shower " * 200
CSP_HEADER = (b"content-security-policy", b"default-src 'none'")
CACHE_HEADER = (b"cache-control", b"no-cache")


class StubPages:
    """A program with public pages, and other pages behind them."""

    def __init__(self) -> None:
        self.revisions = {42: 7}
        self.body = HTML
        self.status = 200
        self.computed: Counter[str] = Counter()
        self.queries: list[bytes] = []
        self.gate = threading.Event()
        self.gate.set()
        self.is_broken = False
        self.outage_seconds = 0.0

    def refresh(self, scope_id: int) -> int:
        if self.is_broken:
            raise OSError("the database is gone")
        return self.revisions.get(scope_id, 0)

    def answer_public(self, request: Request) -> HttpResponse:
        self.gate.wait(60)
        self.computed[request.path] += 1
        self.queries.append(request.query)
        return HttpResponse(self.status, self.body, "text/html; charset=utf-8", (CACHE_HEADER, CSP_HEADER))

    async def pages(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-by", b"pages")]})
        await send({"type": "http.response.body", "body": b""})

    def front_door(self, **limits: Any) -> FrontDoor:
        program = Backend(
            find_caller=lambda _authorization: None,
            version_of=lambda scope_id: 0 if self.is_broken else self.revisions.get(scope_id, 0),
            refresh=self.refresh,
            outage_seconds=lambda: self.outage_seconds,
            last_version_of=lambda scope_id: self.revisions.get(scope_id, 0),
            date_public_page=lambda body, seconds: body + b" %.1f s old" % seconds,
            answer=lambda _request: HttpResponse(401, b"{}"),
            scope_for=paths.tournament_in,
            answer_error=lambda _error: HttpResponse(503, b'{"message":"Service Unavailable"}'),
            public_paths=["/t/{tournament_id}", "/t/{tournament_id}/wall"],
            answer_public=self.answer_public,
            normalize_public_query=lambda query: query.partition(b"&")[0],
            pages=self.pages,
        )
        return FrontDoor(program, FrontDoorLimits(**limits))


def test_a_page_is_computed_once_per_revision() -> None:
    stub = StubPages()
    door = stub.front_door()
    assert asgi.get(door, PAGE).body == asgi.get(door, PAGE).body == HTML
    assert stub.computed[PAGE] == 1
    stub.revisions[42] = 8
    stub.body = b"<p>new"
    assert asgi.get(door, PAGE).body == b"<p>new"


def test_equal_requests_at_the_same_time_are_computed_once() -> None:
    stub = StubPages()
    door = stub.front_door()
    stub.gate.clear()

    async def send_twenty_requests() -> list[asgi.Reply]:
        requests = [asyncio.ensure_future(asgi.send(door, PAGE)) for _ in range(20)]
        await asyncio.sleep(0.05)
        stub.gate.set()
        return await asyncio.gather(*requests)

    assert {reply.status for reply in asyncio.run(send_twenty_requests())} == {200}
    assert stub.computed[PAGE] == 1


def test_each_query_is_a_page_of_its_own_and_tokens_make_no_difference() -> None:
    stub = StubPages()
    door = stub.front_door()
    asgi.get(door, f"{PAGE}?part=now")
    asgi.get(door, f"{PAGE}?part=now", token="ada")
    asgi.get(door, f"{PAGE}?part=standings")
    assert stub.queries == [b"part=now", b"part=standings"]


def test_unknown_parameters_share_a_page() -> None:
    stub = StubPages()
    door = stub.front_door()
    for query in ("part=now", "part=now&from=a-friend", "part=now&from=another"):
        assert asgi.get(door, f"{PAGE}?{query}").status == 200
    assert stub.queries == [b"part=now"]


def test_a_304_repeats_the_headers_that_matter() -> None:
    stub = StubPages()
    door = stub.front_door()
    etag = asgi.get(door, PAGE).headers["etag"]
    same = asgi.get(door, PAGE, headers={"if-none-match": etag})
    assert (same.status, same.body) == (304, b"")
    assert same.headers["etag"] == etag
    assert same.headers["cache-control"] == "no-cache"
    assert same.headers["vary"] == "accept-encoding"


def test_a_page_is_gzipped_for_clients_that_accept_it() -> None:
    stub = StubPages()
    door = stub.front_door()
    for _ in range(2):
        gzipped = asgi.get(door, PAGE, headers={"accept-encoding": "gzip, br"})
        assert gzipped.headers["content-encoding"] == "gzip"
        assert gzip.decompress(gzipped.body) == HTML
        assert int(gzipped.headers["content-length"]) == len(gzipped.body)
    assert asgi.get(door, PAGE).body == HTML
    assert stub.computed[PAGE] == 1


def test_head_has_the_headers_and_no_body() -> None:
    door = StubPages().front_door()
    head = asgi.get(door, PAGE, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) == len(HTML)


def test_a_page_has_no_headers_of_the_interface_and_is_not_counted() -> None:
    stub = StubPages()
    door = stub.front_door(rate_per_minute=2)
    for _ in range(5):
        reply = asgi.get(door, PAGE)
        assert reply.status == 200
    assert set(reply.headers) == {
        "content-length",
        "content-type",
        "etag",
        "vary",
        "cache-control",
        "content-security-policy",
        "x-request-id",
    }
    assert list(reply.headers).count("cache-control") == 1


def test_a_404_is_not_cached() -> None:
    stub = StubPages()
    stub.status = 404
    door = stub.front_door()
    assert asgi.get(door, "/t/43").status == 404
    stub.status = 200
    assert asgi.get(door, "/t/43").status == 200
    assert asgi.get(door, "/t/43/wall", method="HEAD").status == 200


def test_other_methods_and_paths_go_to_the_other_pages() -> None:
    stub = StubPages()
    door = stub.front_door()
    for path, method in ((PAGE, "POST"), ("/t/42/run", "GET"), ("/t/42/", "GET"), ("/", "GET")):
        assert asgi.get(door, path, method=method).headers["x-by"] == "pages"
    assert not stub.computed


def test_too_long_an_address_is_refused_before_it_is_cached() -> None:
    stub = StubPages()
    reply = asgi.get(stub.front_door(), f"{PAGE}?{'x' * 1001}")
    assert reply.status == 414
    assert not stub.computed


def test_a_broken_database_is_a_503() -> None:
    stub = StubPages()
    stub.is_broken = True
    assert asgi.get(stub.front_door(), PAGE).status == 503


def test_pages_that_have_to_be_computed_are_limited_for_one_address() -> None:
    stub = StubPages()
    door = stub.front_door(pages_per_minute=3)
    statuses = [asgi.get(door, f"/t/42/wall?n={n}", client="192.0.2.1").status for n in range(6)]
    assert statuses == [200] * 3 + [429] * 3
    refused = asgi.get(door, "/t/42/wall?n=9", client="192.0.2.1")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    # What is cached stays free, and others are not concerned.
    assert asgi.get(door, "/t/42/wall?n=1", client="192.0.2.1").status == 200
    assert asgi.get(door, "/t/42/wall?n=9", client="192.0.2.2").status == 200
