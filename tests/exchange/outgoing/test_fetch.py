"""Fetching from addresses that users enter: no case ends in a forbidden connection.

Every connection, whatever its destination, ends at a listener that counts it, so a breach shows as a
connection and not only as a status. Source: reliability, section 5.1.
"""

import gzip
import socket
import time
from typing import Any

import pytest

from exchange.outgoing.addresses import (
    FORBIDDEN_MEANINGS,
    FORBIDDEN_URLS,
    GUARDED,
    OPEN,
    SECONDS,
)
from exchange.outgoing.hosts import (
    GOOD,
    NAME,
    Answer,
    Authority,
    Listener,
    World,
    a_proxy,
    a_world,
    an_authority,
    answer_with,
    redirect_to,
)
from silverball.exchange import outgoing
from silverball.exchange.outgoing import Fetcher, FetchLimits, NotFetched
from silverball.kit.security.addresses import AddressPolicy


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return an_authority(tmp_path_factory.mktemp("certificates"))


def fetcher(world: World, policy: AddressPolicy = OPEN, **more: Any) -> Fetcher:
    limits = more.pop("limits", FetchLimits(seconds=SECONDS))
    return Fetcher(policy, limits=limits, resolve=world.resolve, connect=world.connect, **more)


def refusal(world: World, url: str, policy: AddressPolicy = OPEN, **more: Any) -> str:
    """The sentence of a refused fetch, during which nothing may reach the trap."""
    with pytest.raises(NotFetched) as error:
        fetcher(world, policy, **more).fetch(url)
    assert world.trap.count == 0
    return error.value.sentence


def test_the_trap_counts_connections() -> None:
    with a_world() as world:
        world.names["elsewhere.example.org"] = [["8.8.8.8"]]
        with pytest.raises(NotFetched):
            fetcher(world).fetch("http://elsewhere.example.org/")
        assert (world.trap.count, world.reached) == (1, ["8.8.8.8"])


@pytest.mark.sample(8)
@pytest.mark.parametrize("url", FORBIDDEN_URLS)
def test_a_forbidden_address_is_never_connected_to(url: str) -> None:
    with a_world() as world:
        refusal(world, url.format(port=world.trap.port), GUARDED)
        assert world.reached == []
        assert world.lookups == []


@pytest.mark.sample(8)
@pytest.mark.parametrize("url", FORBIDDEN_URLS)
def test_nor_with_the_systems_resolver_and_connector(url: str) -> None:
    with a_world() as world:
        real = Fetcher(GUARDED, limits=FetchLimits(seconds=SECONDS))
        with pytest.raises(NotFetched):
            real.fetch(url.format(port=world.trap.port))
        assert world.trap.count == 0


@pytest.mark.sample(10)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("url", FORBIDDEN_URLS)
def test_nor_after_a_redirect_of_a_good_host(url: str, status: int) -> None:
    answers: dict[str, Answer] = {}
    with a_world(answers) as world:
        # A header cannot hold a line end; the rest would be the next header.
        there = url.format(port=world.trap.port).replace("\r\n", "%0d%0a")
        answers["/"] = redirect_to(there.encode().decode("latin-1"), status)
        refusal(world, f"http://{NAME}/", GUARDED)
        assert world.reached == [GOOD]


@pytest.mark.parametrize("meaning", FORBIDDEN_MEANINGS)
def test_nor_when_a_public_name_resolves_to_it(meaning: str) -> None:
    with a_world() as world:
        world.names[NAME] = [FORBIDDEN_MEANINGS[meaning]]
        sentence = refusal(world, f"http://{NAME}/", GUARDED)
        assert "not at a public address" in sentence or "this site itself" in sentence
        assert world.reached == []


def test_a_name_with_changing_addresses_is_resolved_once() -> None:
    with a_world({"/": answer_with(b'{"a": 1}')}) as world:
        world.names[NAME] = [[GOOD], ["127.0.0.1"]]
        assert fetcher(world).fetch(f"http://{NAME}/").body == b'{"a": 1}'
        assert (world.lookups, world.reached, world.trap.count) == ([NAME], [GOOD], 0)


def test_a_name_with_changing_addresses_is_checked_again_after_a_redirect() -> None:
    with a_world({"/": redirect_to("/again")}) as world:
        world.names[NAME] = [[GOOD], ["127.0.0.1"]]
        assert "not at a public address" in refusal(world, f"http://{NAME}/")
        assert (world.lookups, world.reached) == ([NAME, NAME], [GOOD])


@pytest.mark.parametrize("port", [22, 25, 80, 5432, 6379, 8443])
def test_only_port_443_is_connected_to(port: int) -> None:
    with a_world() as world:
        assert "port must be 443" in refusal(world, f"https://{NAME}:{port}/", AddressPolicy())
        assert world.lookups == []


def test_a_redirect_cannot_leave_tls_the_port_or_the_listed_hosts(authority: Authority) -> None:
    for there, sentence in (
        (f"http://{NAME}/", "must begin with https://"),
        (f"https://{NAME}:6379/", "port must be 443"),
        ("https://elsewhere.example.org/", "does not fetch from elsewhere.example.org"),
    ):
        with a_world({"/": redirect_to(there)}, authority.server_context(NAME)) as world:
            policy = AddressPolicy(hosts=frozenset({NAME}))
            assert sentence in refusal(world, f"https://{NAME}/", policy, tls=authority.client_context())


def test_allowed_redirects_are_followed() -> None:
    answers = {
        "/": redirect_to("/a?b=c", 301),
        "/a?b=c": redirect_to(f"http://{NAME}/d", 308),
        "/d": answer_with(b"[]"),
    }
    with a_world(answers) as world:
        fetched = fetcher(world).fetch(f"http://{NAME}/")
        assert (fetched.url, fetched.body) == (f"http://{NAME}/d", b"[]")


def test_redirects_are_limited() -> None:
    with a_world({"/": redirect_to("/")}) as world:
        assert "more than 3 times" in refusal(world, f"http://{NAME}/")
        assert world.reached == [GOOD] * 4


@pytest.mark.parametrize("location", ["http://[::1", "\xff\xfe", "http://[results.example.org/"])
def test_a_malformed_redirect_is_refused(location: str) -> None:
    with a_world({"/": redirect_to(location)}) as world:
        refusal(world, f"http://{NAME}/")
        assert world.reached == [GOOD]


def _endless(head: str, some: bytes, pause: float = 0) -> Answer:
    def answer(_asked: str, stream: socket.socket) -> None:
        stream.sendall(head.encode())
        while True:
            stream.sendall(some)
            time.sleep(pause)

    return answer


def _silent(_asked: str, stream: socket.socket) -> None:
    _wait(stream)


def _wait(stream: socket.socket) -> None:
    """Wait until the client disconnects."""
    while stream.recv(4096):
        pass


def _mail(_asked: str, stream: socket.socket) -> None:
    stream.sendall(b"220 mail.example.org ESMTP\r\n\r\n")


JSON = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = f"{JSON}Transfer-Encoding: chunked\r\n\r\n"
# Behaviour of a host -> its answer and a part of the refusal.
BAD_ANSWERS: dict[str, tuple[Answer, str]] = {
    "10 MB": (answer_with(b" " * 10_000_000), "larger than 2000000 bytes"),
    "10 MB that it does not announce": (_endless(f"{JSON}\r\n", b" " * 65536), "larger than"),
    "10 MB in pieces": (_endless(CHUNKED, b"8000\r\n" + b" " * 32_768 + b"\r\n"), "larger than"),
    "a length beyond all numbers": (answer_with(content_length="9" * 18), "larger than"),
    "a bomb of gzip": (
        answer_with(gzip.compress(b" " * 10_000_000), content_encoding="gzip"),
        "without compression",
    ),
    "a bomb in a bomb": (
        answer_with(gzip.compress(gzip.compress(b" " * 10_000_000)), content_encoding="gzip, gzip"),
        "without compression",
    ),
    "a file of gzip": (answer_with(gzip.compress(b"{}"), kind="application/gzip"), "as application/json"),
    "a byte at a time": (_endless(f"{JSON}Content-Length: 99\r\n\r\n", b" ", 0.1), "within 1 seconds"),
    "headers a byte at a time": (_endless("HTTP/1.1 200 OK\r\n", b"a", 0.1), "within 1 seconds"),
    "hints without end": (_endless("", b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"), "within 1 seconds"),
    "headers without end": (_endless("HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 500), "did not speak HTTP"),
    "nothing": (_silent, "within 1 seconds"),
    "less than it announces": (answer_with(b"{", content_length="9"), "did not speak HTTP"),
    "no HTTP": (_mail, "did not speak HTTP"),
    "a page": (answer_with(b"<html>", kind="text/html"), "as application/json"),
    "no kind": (answer_with(kind=""), "as application/json"),
    "404": (answer_with(b'{"secret": 1}', status="404 Not Found"), "status 404"),
    "500": (answer_with(status="500 No"), "status 500"),
    "304": (answer_with(b"", status="304 Not Modified"), "status 304"),
    "206": (answer_with(status="206 Partial Content"), "status 206"),
    "a redirect without an address": (answer_with(b"", status="302 Found"), "cannot be read"),
}


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_a_host_that_answers_badly_costs_a_second_and_two_megabytes_at_most(case: str) -> None:
    answer, expected = BAD_ANSWERS[case]
    with a_world({"/": answer}) as world:
        sentence = refusal(world, f"http://{NAME}/")
        assert expected in sentence
        # The refusal repeats nothing of the answer.
        assert "secret" not in sentence


def test_a_host_that_accepts_no_connection_costs_a_second() -> None:
    silent = Listener(_wait)
    with a_world() as world:
        world.good = silent
        assert "within 1 seconds" in refusal(world, f"https://{NAME}/")
    silent.close()


def test_a_resolver_that_does_not_answer_costs_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: Any, **__: Any) -> list[Any]:
        time.sleep(3 * SECONDS)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", late)
    with pytest.raises(NotFetched, match="within 1 seconds"):
        Fetcher(OPEN, limits=FetchLimits(seconds=SECONDS)).fetch(f"http://{NAME}/")


@pytest.mark.parametrize("addresses", [[], [GOOD] * 33])
def test_a_name_with_no_address_or_too_many_is_not_connected_to(addresses: list[str]) -> None:
    with a_world() as world:
        world.names[NAME] = [addresses]
        assert "cannot be found" in refusal(world, f"http://{NAME}/")
        assert world.reached == []


def test_an_unknown_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_lookup(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_lookup)
    with pytest.raises(NotFetched, match="cannot be found"):
        Fetcher(OPEN).fetch(f"http://{NAME}/")


def test_the_next_address_is_tried_when_the_first_does_not_answer() -> None:
    with a_world({"/": answer_with()}) as world:
        world.names[NAME] = [["93.184.215.1", GOOD]]

        def connect(address: str, port: int, seconds: float) -> Any:
            if address != GOOD:
                return outgoing.connect("127.0.0.1", _closed_port(), seconds)
            return world.connect(address, port, seconds)

        document = Fetcher(OPEN, resolve=world.resolve, connect=connect).fetch(f"http://{NAME}/")
        assert document.body == b"{}"


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port: int = opened.getsockname()[1]
        return port


def test_a_document_arrives_over_tls_under_its_name(authority: Authority) -> None:
    requests: list[str] = []

    def answer(request: str, stream: socket.socket) -> None:
        requests.append(request)
        answer_with(b'{"version": 1}')(request, stream)

    with a_world({"/night.json": answer}, authority.server_context(NAME)) as world:
        document = fetcher(world, AddressPolicy(), tls=authority.client_context()).fetch(
            f"https://{NAME}/night.json#x"
        )
        assert (document.body, world.reached, world.trap.count) == (b'{"version": 1}', [GOOD], 0)
    lines = requests[0].split("\r\n")
    assert lines[0] == "GET /night.json HTTP/1.1"
    assert f"Host: {NAME}" in lines
    assert "Accept-Encoding: identity" in lines
    # The request reveals nothing of this site.
    assert not [line for line in lines if line.lower().startswith(("cookie", "authorization", "referer"))]


@pytest.mark.parametrize("name", ["elsewhere.example.org", "example.org"])
def test_a_certificate_of_another_name_is_refused(authority: Authority, name: str) -> None:
    with a_world({"/": answer_with()}, authority.server_context(name)) as world:
        sentence = refusal(world, f"https://{NAME}/", AddressPolicy(), tls=authority.client_context())
        assert "no valid certificate" in sentence


def test_a_certificate_of_an_unknown_authority_is_refused(authority: Authority) -> None:
    with a_world({"/": answer_with()}, authority.server_context(NAME)) as world:
        assert "no valid certificate" in refusal(world, f"https://{NAME}/", AddressPolicy())


@pytest.mark.parametrize("host", ["192.168.1.20", "[fd12::1]", "scoreboard", "scoreboard.lan"])
def test_a_venue_can_allow_its_own_network(host: str) -> None:
    requests: list[str] = []

    def answer(request: str, stream: socket.socket) -> None:
        requests.append(request.split("\r\n")[1])
        answer_with(b"[]")(request, stream)

    lan = AddressPolicy(schemes=("http",), ports=frozenset({8080}), allows_lan=True)
    with a_world({"/": answer}) as world:
        assert world.good is not None
        good, world.names = world.good.port, {"scoreboard": [["10.0.0.5"]], "scoreboard.lan": [["fd12::5"]]}
        document = Fetcher(
            lan, resolve=world.resolve, connect=lambda _, __, left: outgoing.connect("127.0.0.1", good, left)
        ).fetch(f"http://{host}:8080/")
    assert (document.body, requests) == (b"[]", [f"Host: {host}:8080"])


def test_this_machine_knows_its_own_addresses() -> None:
    assert outgoing.is_own_address("127.0.0.1")
    assert not outgoing.is_own_address("93.184.215.14")


@pytest.mark.parametrize("yes", [True, False])
def test_a_proxy_gets_the_checked_address_and_tls_goes_through_it(authority: Authority, yes: bool) -> None:
    requests: list[bytes] = []
    with a_world({"/": answer_with(b'{"by": "proxy"}')}, authority.server_context(NAME)) as world:
        assert world.good is not None
        proxy = a_proxy(requests, world.good.port if yes else None)
        connect = outgoing.connector_via_proxy("127.0.0.1", proxy.port)
        through = Fetcher(
            AddressPolicy(), resolve=world.resolve, connect=connect, tls=authority.client_context()
        )
        if yes:
            assert through.fetch(f"https://{NAME}/").body == b'{"by": "proxy"}'
        else:
            with pytest.raises(NotFetched, match="does not answer"):
                through.fetch(f"https://{NAME}/")
        proxy.close()
    assert requests == [f"CONNECT {GOOD}:443 HTTP/1.1\r\nHost: {GOOD}:443\r\n\r\n".encode()]
