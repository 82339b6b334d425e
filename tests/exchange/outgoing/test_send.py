"""Sending to addresses that users enter: the cases of fetching, and no redirect is followed.

Source: reliability, section 5.1: the same guard at the moment of sending.
"""

import socket
import time
from typing import Any

import pytest

from exchange.outgoing.addresses import FORBIDDEN_MEANINGS, FORBIDDEN_URLS, GUARDED, OPEN, SECONDS
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
from silverball.exchange.outgoing import NotSent, Sender
from silverball.kit.security.addresses import AddressPolicy

BODY = b'{"type":"test"}'
TYPE = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return an_authority(tmp_path_factory.mktemp("certificates"))


def sender(world: World, policy: AddressPolicy = OPEN, **more: Any) -> Sender:
    return Sender(policy, seconds=SECONDS, resolve=world.resolve, connect=world.connect, **more)


def refusal(world: World, url: str, policy: AddressPolicy = OPEN, **more: Any) -> str:
    """The sentence of a refused message, during which nothing may reach the trap."""
    with pytest.raises(NotSent) as error:
        sender(world, policy, **more).send(url, BODY, TYPE)
    assert world.trap.count == 0
    return error.value.sentence


def test_the_trap_counts_connections() -> None:
    with a_world() as world:
        world.names["elsewhere.example.org"] = [["8.8.8.8"]]
        with pytest.raises(NotSent):
            sender(world).send("http://elsewhere.example.org/", BODY, TYPE)
        assert (world.trap.count, world.reached) == (1, ["8.8.8.8"])


@pytest.mark.sample(8)
@pytest.mark.parametrize("url", FORBIDDEN_URLS)
def test_nothing_is_sent_to_a_forbidden_address(url: str) -> None:
    with a_world() as world:
        refusal(world, url.format(port=world.trap.port), GUARDED)
        assert (world.reached, world.lookups) == ([], [])


@pytest.mark.sample(8)
@pytest.mark.parametrize("url", FORBIDDEN_URLS)
def test_nor_with_the_systems_resolver_and_connector(url: str) -> None:
    with a_world() as world:
        with pytest.raises(NotSent):
            Sender(GUARDED, seconds=SECONDS).send(url.format(port=world.trap.port), BODY, TYPE)
        assert world.trap.count == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    answers: dict[str, Answer] = {}
    with a_world(answers) as world:
        for url in (*FORBIDDEN_URLS, f"http://{NAME}/other", "/other"):
            there = url.format(port=world.trap.port).replace("\r\n", "%0d%0a")
            answers["/"] = redirect_to(there.encode().decode("latin-1"), status)
            world.reached.clear()
            assert sender(world, GUARDED).send(f"http://{NAME}/", BODY, TYPE) == status
            assert (world.reached, world.trap.count) == ([GOOD], 0), url


@pytest.mark.parametrize("meaning", FORBIDDEN_MEANINGS)
def test_nothing_is_sent_when_a_public_name_resolves_to_a_forbidden_address(meaning: str) -> None:
    with a_world() as world:
        world.names[NAME] = [FORBIDDEN_MEANINGS[meaning]]
        sentence = refusal(world, f"http://{NAME}/", GUARDED)
        assert "not at a public address" in sentence or "this site itself" in sentence
        assert world.reached == []


def test_a_name_with_changing_addresses_is_checked_each_time() -> None:
    with a_world({"/": answer_with()}) as world:
        world.names[NAME] = [[GOOD], ["127.0.0.1"]]
        assert sender(world).send(f"http://{NAME}/", BODY, TYPE) == 200
        assert "not at a public address" in refusal(world, f"http://{NAME}/")
        assert (world.lookups, world.reached) == ([NAME, NAME], [GOOD])


@pytest.mark.parametrize("port", [22, 25, 80, 5432, 6379, 8443])
def test_only_port_443_is_connected_to(port: int) -> None:
    with a_world() as world:
        assert "port must be 443" in refusal(world, f"https://{NAME}:{port}/", AddressPolicy())
        assert world.lookups == []


def test_a_message_arrives_over_tls_under_its_name_with_nothing_else_of_this_site(
    authority: Authority,
) -> None:
    requests: list[str] = []

    def answer(request: str, stream: socket.socket) -> None:
        requests.append(request)
        answer_with(status="202 Accepted")(request, stream)

    with a_world({"/in?a=b": answer}, authority.server_context(NAME)) as world:
        sent = sender(world, AddressPolicy(), tls=authority.client_context()).send(
            f"https://{NAME}/in?a=b#c", BODY, TYPE
        )
        assert (sent, world.reached) == (202, [GOOD])
    lines = requests[0].split("\r\n")
    assert lines[0] == "POST /in?a=b HTTP/1.1"
    assert {f"Host: {NAME}", f"Content-Length: {len(BODY)}", "Content-Type: application/json"} <= set(lines)
    assert not [line for line in lines if line.lower().startswith(("cookie", "authorization", "referer"))]


@pytest.mark.parametrize("name", ["elsewhere.example.org", ""])
def test_nothing_is_sent_to_a_host_with_an_invalid_certificate(authority: Authority, name: str) -> None:
    arrived: list[str] = []
    with a_world(
        {"/": lambda request, _: arrived.append(request)}, authority.server_context(name or NAME)
    ) as world:
        trusted = {"tls": authority.client_context()} if name else {}
        assert "no valid certificate" in refusal(world, f"https://{NAME}/", AddressPolicy(), **trusted)
    assert arrived == []


def _silent(_asked: str, stream: socket.socket) -> None:
    while stream.recv(4096):
        pass


def _dripping(_asked: str, stream: socket.socket) -> None:
    while True:
        stream.sendall(b"A")
        time.sleep(0.05)


def _hinting(_asked: str, stream: socket.socket) -> None:
    while True:
        stream.sendall(b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n")


def _listing(_asked: str, stream: socket.socket) -> None:
    stream.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        stream.sendall(b"A: b\r\n" * 500)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (_silent, "no answer within 1 seconds"),
        (_dripping, "(did not speak HTTP|no answer within 1 seconds)"),
        (_hinting, "no answer within 1 seconds"),
        (_listing, "did not speak HTTP"),
        (lambda _, stream: stream.sendall(b"220 mail ESMTP\r\n\r\n"), "did not speak HTTP"),
        (lambda _, stream: stream.close(), "did not speak HTTP"),
    ],
)
def test_a_host_that_answers_badly_costs_a_second(answer: Answer, sentence: str) -> None:
    with a_world({"/": answer}) as world, pytest.raises(NotSent, match=sentence):
        sender(world).send(f"http://{NAME}/", BODY, TYPE)


def test_only_the_status_of_an_answer_is_read() -> None:
    def endless(_asked: str, stream: socket.socket) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        while True:
            stream.sendall(b" " * 65536)

    with a_world({"/": endless}) as world:
        assert sender(world).send(f"http://{NAME}/", BODY, TYPE) == 200


def test_a_host_that_accepts_no_connection_costs_a_second() -> None:
    silent = Listener(lambda accepted: _silent("", accepted))
    with a_world() as world:
        world.good = silent
        assert "within 1 seconds" in refusal(world, f"https://{NAME}/")
    silent.close()


def test_a_proxy_gets_the_checked_address(authority: Authority) -> None:
    requests: list[bytes] = []
    with a_world({"/": answer_with()}, authority.server_context(NAME)) as world:
        assert world.good is not None
        proxy = a_proxy(requests, world.good.port)
        connect = outgoing.connector_via_proxy("127.0.0.1", proxy.port)
        through = Sender(
            AddressPolicy(), resolve=world.resolve, connect=connect, tls=authority.client_context()
        )
        assert through.send(f"https://{NAME}/", BODY, TYPE) == 200
        proxy.close()
    assert requests == [f"CONNECT {GOOD}:443 HTTP/1.1\r\nHost: {GOOD}:443\r\n\r\n".encode()]
