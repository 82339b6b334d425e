"""Clients of blocked networks are refused before anything else. Source: issue 13, item 9."""

import asyncio
from typing import Any

import pytest

import asgi
from silverball.kit.edge.blocked_networks import BlockedNetworks, BlockedNetworksDoor
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.http.asgi import body_message, start_message

LISTED = ["203.0.113.0/24", "2001:db8:1::/48"]


async def program(_scope: Any, _receive: Any, send: Any) -> None:
    await send(start_message(200, []))
    await send(body_message(b"here"))


def status(client: str, **headers: str) -> int:
    blocked = BlockedNetworks(lambda: LISTED)
    door = BlockedNetworksDoor(program, blocked, TrustedProxies.parse("127.0.0.1"))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return asgi.get(door, "/api/tournaments", client=client, headers=named).status


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("203.0.113.7", 403),
        ("::ffff:203.0.113.7", 403),
        ("2001:db8:1:2::3", 403),
        ("203.0.114.7", 200),
        ("2001:db8:2::1", 200),
        ("", 200),
        ("no address", 200),
    ],
)
def test_an_address_is_refused_in_a_blocked_network_only(client: str, expected: int) -> None:
    assert status(client) == expected


def test_behind_a_trusted_proxy_the_client_counts() -> None:
    assert status("127.0.0.1", x_forwarded_for="203.0.113.7") == 403
    assert status("127.0.0.1", x_forwarded_for="198.51.100.1") == 200
    # Nobody gets around it, or gets somebody else refused, by naming another address.
    assert status("203.0.113.7", x_forwarded_for="198.51.100.1") == 403
    assert status("198.51.100.1", x_forwarded_for="203.0.113.7") == 200


def test_the_refusal_says_why() -> None:
    door = BlockedNetworksDoor(program, BlockedNetworks(lambda: LISTED), TrustedProxies())
    reply = asgi.get(door, "/api/tournaments", client="203.0.113.7")
    assert reply.json["code"] == "network-blocked"
    assert reply.headers["content-length"] == str(len(reply.body))
    assert asgi.get(door, "/", method="HEAD", client="203.0.113.7").body == b""


def test_a_socket_is_refused_before_it_opens() -> None:
    door = BlockedNetworksDoor(program, BlockedNetworks(lambda: LISTED), TrustedProxies())
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read")

    scope = {"type": "websocket", "headers": [], "client": ("203.0.113.7", 1)}
    asyncio.run(door(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_change_counts_once_it_is_loaded() -> None:
    listed = list(LISTED)
    blocked = BlockedNetworks(lambda: listed)
    assert blocked.is_blocked("203.0.113.7")
    listed.remove("203.0.113.0/24")
    assert blocked.is_blocked("203.0.113.7")
    blocked.reload()
    assert not blocked.is_blocked("203.0.113.7")
