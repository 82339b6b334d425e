"""Pages for everybody at the front door: kept by revision, never counted, with headers of their own."""

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
    """A house with one page for everybody, and a page behind it."""

    def __init__(self) -> None:
        self.revisions = {42: 7}
        self.body = HTML
        self.status = 200
        self.computed: Counter[str] = Counter()
        self.queries: list[bytes] = []
        self.gate = threading.Event()
        self.gate.set()
        self.is_broken = False

    def refresh(self, scope_id: int) -> int:
        if self.is_broken:
            raise OSError("the database is gone")
        return self.revisions.get(scope_id, 0)

    def answer_public(self, request: Request) -> HttpResponse:
        self.gate.wait(5)
        self.computed[request.path] += 1
        self.queries.append(request.query)
        return HttpResponse(self.status, self.body, "text/html; charset=utf-8", (CACHE_HEADER, CSP_HEADER))

    async def pages(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-by", b"pages")]})
        await send({"type": "http.response.body", "body": b""})

    def front_door(self, **limits: Any) -> FrontDoor:
        house = Backend(
            find_caller=lambda _authorization: None,
            revision_of=lambda scope_id: 0 if self.is_broken else self.revisions.get(scope_id, 0),
            refresh=self.refresh,
            answer=lambda _request: HttpResponse(401, b"{}"),
            scope_for=paths.tournament_in,
            answer_error=lambda _error: HttpResponse(503, b'{"message":"Service Unavailable"}'),
            public_paths=["/t/{tournament_id}", "/t/{tournament_id}/wall"],
            answer_public=self.answer_public,
            normalize_public_query=lambda query: query.partition(b"&")[0],
            pages=self.pages,
        )
        return FrontDoor(house, FrontDoorLimits(**limits))


def test_it_is_computed_once_for_a_revision() -> None:
    house = StubPages()
    door = house.front_door()
    assert asgi.get(door, PAGE).body == asgi.get(door, PAGE).body == HTML
    assert house.computed[PAGE] == 1
    house.revisions[42] = 8
    house.body = b"<p>new"
    assert asgi.get(door, PAGE).body == b"<p>new"


def test_equal_questions_at_the_same_time_are_computed_once() -> None:
    house = StubPages()
    door = house.front_door()
    house.gate.clear()

    async def ask() -> list[asgi.Reply]:
        asked = [asyncio.ensure_future(asgi.send(door, PAGE)) for _ in range(20)]
        await asyncio.sleep(0.05)
        house.gate.set()
        return await asyncio.gather(*asked)

    assert {reply.status for reply in asyncio.run(ask())} == {200}
    assert house.computed[PAGE] == 1


def test_another_query_is_another_page_and_a_token_makes_no_difference() -> None:
    house = StubPages()
    door = house.front_door()
    asgi.get(door, f"{PAGE}?part=now")
    asgi.get(door, f"{PAGE}?part=now", token="ada")
    asgi.get(door, f"{PAGE}?part=standings")
    assert house.queries == [b"part=now", b"part=standings"]


def test_what_the_page_does_not_look_at_makes_no_other_answer() -> None:
    house = StubPages()
    door = house.front_door()
    for query in ("part=now", "part=now&from=a-friend", "part=now&from=another"):
        assert asgi.get(door, f"{PAGE}?{query}").status == 200
    assert house.queries == [b"part=now"]


def test_who_has_it_already_is_told_so_with_the_headers_that_matter() -> None:
    house = StubPages()
    door = house.front_door()
    etag = asgi.get(door, PAGE).headers["etag"]
    same = asgi.get(door, PAGE, headers={"if-none-match": etag})
    assert (same.status, same.body) == (304, b"")
    assert same.headers["etag"] == etag
    assert same.headers["cache-control"] == "no-cache"
    assert same.headers["vary"] == "accept-encoding"


def test_it_goes_out_compressed_to_those_who_take_it_so() -> None:
    house = StubPages()
    door = house.front_door()
    for _ in range(2):
        packed = asgi.get(door, PAGE, headers={"accept-encoding": "gzip, br"})
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == HTML
        assert int(packed.headers["content-length"]) == len(packed.body)
    assert asgi.get(door, PAGE).body == HTML
    assert house.computed[PAGE] == 1


def test_head_has_the_headers_and_no_body() -> None:
    door = StubPages().front_door()
    head = asgi.get(door, PAGE, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) == len(HTML)


def test_nothing_of_the_interface_is_on_it_and_nobody_is_counted() -> None:
    house = StubPages()
    door = house.front_door(rate_per_minute=2)
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


def test_what_is_not_there_is_not_kept() -> None:
    house = StubPages()
    house.status = 404
    door = house.front_door()
    assert asgi.get(door, "/t/43").status == 404
    house.status = 200
    assert asgi.get(door, "/t/43").status == 200
    assert asgi.get(door, "/t/43/wall", method="HEAD").status == 200


def test_other_methods_and_other_addresses_belong_to_the_other_pages() -> None:
    house = StubPages()
    door = house.front_door()
    for path, method in ((PAGE, "POST"), ("/t/42/run", "GET"), ("/t/42/", "GET"), ("/", "GET")):
        assert asgi.get(door, path, method=method).headers["x-by"] == "pages"
    assert not house.computed


def test_an_address_that_is_too_long_is_refused_before_it_is_kept() -> None:
    house = StubPages()
    reply = asgi.get(house.front_door(), f"{PAGE}?{'x' * 1001}")
    assert reply.status == 414
    assert not house.computed


def test_a_database_that_is_gone_is_told_in_words() -> None:
    house = StubPages()
    house.is_broken = True
    assert asgi.get(house.front_door(), PAGE).status == 503
