"""Webhooks over real sockets: messages are signed, and a bad host costs only a moment."""

import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

import build
from exchange.outgoing.hosts import GOOD, Listener, a_proxy, an_authority
from service.desk import Desk, a_desk
from service.webhooks.receiver import (
    SETTINGS,
    Host,
    a_webhook,
    deliver_everything,
    deliveries,
    rename,
    statuses,
)
from silverball import app
from silverball.exchange import outgoing
from silverball.jobs import deliver_webhooks
from silverball.jobs.deliver_webhooks import WebhookDeliverer, WebhookUnreachable
from silverball.settings import Settings
from silverball.store.database.engine import Store

LAN = replace(SETTINGS, webhook_lan=True)
LAN_URL = "http://192.168.1.20:8080/in"


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store)


def test_messages_arrive_signed_at_a_server_of_the_venue(desk: Desk) -> None:
    host = Host()
    status, created, _ = _do_in_venue(desk, "POST", "/webhooks", {"url": LAN_URL})
    assert status == 201
    send = deliver_webhooks.guarded_send(LAN, connect=_sending_to(host))
    rename(desk, "A", "B")
    deliver_everything(WebhookDeliverer(desk.store, LAN, lambda: send))
    host.close()
    assert [request.url for request in host.received] == ["POST /in HTTP/1.1"] * 2
    for request, name in zip(host.received, "AB", strict=True):
        payload = Webhook(created["data"]["secret"]).verify(request.body, dict(request.headers))
        assert payload["data"]["name"] == name
        assert request.headers["host"] == "192.168.1.20:8080"
        assert request.headers["content-type"] == "application/json"
        assert not {"cookie", "authorization", "referer"} & set(request.headers)
    assert statuses(desk) == ["delivered", "delivered"]


def test_messages_arrive_signed_through_tls_and_a_proxy(desk: Desk, tmp_path: Path) -> None:
    authority, requests = an_authority(tmp_path), list[bytes]()
    host = Host(tls=authority.server_context("hooks.example.org"))
    proxy = a_proxy(requests, host.port)
    settings = replace(SETTINGS, egress_proxy=f"127.0.0.1:{proxy.port}")
    send = deliver_webhooks.guarded_send(settings, resolve=lambda *_: [GOOD], tls=authority.client_context())
    secret = a_webhook(desk)["secret"]
    rename(desk, "A")
    deliver_everything(WebhookDeliverer(desk.store, settings, lambda: send))
    proxy.close()
    host.close()
    (request,) = host.received
    assert Webhook(secret).verify(request.body, dict(request.headers))["data"]["name"] == "A"
    assert requests[0].startswith(f"CONNECT {GOOD}:443".encode())


def _do_in_venue(desk: Desk, method: str, path: str, body: Any) -> Any:
    """A request to a site that allows webhooks in its own network."""
    api = app.build_api(desk.store, LAN)
    return build.send(api, method, desk.path + path, body, by=desk.callers["owner"])


def _sending_to(host: Any) -> Any:
    return lambda _address, _port, seconds: outgoing.connect("127.0.0.1", host.port, seconds)


def _answer_forever(stream: socket.socket) -> None:
    while stream.recv(4096):
        pass


def _drip(stream: socket.socket) -> None:
    for _ in range(10_000):
        stream.sendall(b"H")
        time.sleep(0.05)


REDIRECT = b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n"
# Behaviour of a host -> status and reason of the delivery, and whether the webhook stays on.
BAD: dict[str, tuple[Any, int | None, str, bool]] = {
    "500": (b"HTTP/1.1 500 No\r\n\r\nCANARY", 500, "answered with status 500", True),
    "404": (b"HTTP/1.1 404 CANARY\r\n\r\n", 404, "answered with status 404", True),
    "410": (b"HTTP/1.1 410 Gone\r\n\r\n", 410, "is gone (status 410)", False),
    "301": (REDIRECT, 301, "redirects (status 301)", True),
    "308": (REDIRECT.replace(b"301", b"308"), 308, "redirects (status 308)", True),
    "nothing": (_answer_forever, None, "no answer within 0.5 seconds", True),
    "a byte at a time": (_drip, None, "no answer within 0.5 seconds", True),
    "no HTTP": (b"220 CANARY ESMTP\r\n\r\n", None, "did not speak HTTP", True),
}


@pytest.mark.parametrize("case", BAD)
def test_a_host_that_answers_badly_costs_a_moment_and_is_recorded(desk: Desk, case: str) -> None:
    answer, status, reason, is_active = BAD[case]
    trap = Listener(lambda accepted: accepted.close())
    host = Host(answer.replace(b"%d", b"%d" % trap.port) if isinstance(answer, bytes) else answer)
    _do_in_venue(desk, "POST", "/webhooks", {"url": LAN_URL})
    rename(desk, "A")
    send = deliver_webhooks.guarded_send(LAN, connect=_sending_to(host), seconds=0.5)
    rounds = WebhookDeliverer(desk.store, LAN, lambda: send, lambda: build.NOW)
    assert rounds.plan_one()
    assert rounds.send_one(slow=False)
    host.close()
    trap.close()
    (delivery,) = deliveries(desk, 1)
    assert (host.count, trap.count, delivery["responseStatus"]) == (1, 0, status)
    assert reason in delivery["reason"]
    assert "CANARY" not in str(delivery)
    webhook = desk.ok("GET", "/webhooks/1")["data"]
    assert webhook["isActive"] is is_active
    assert webhook["failingSince"] == "2026-03-05T19:30:00.000000Z"
    assert delivery["status"] == ("waiting" if is_active else "failed")


def test_an_endless_answer_is_cut_off(desk: Desk) -> None:
    def endless(stream: socket.socket) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            stream.sendall(b" " * 65536)

    host = Host(endless)
    _do_in_venue(desk, "POST", "/webhooks", {"url": LAN_URL})
    rename(desk, "A")
    send = deliver_webhooks.guarded_send(LAN, connect=_sending_to(host))
    deliver_everything(WebhookDeliverer(desk.store, LAN, lambda: send))
    host.close()
    assert statuses(desk) == ["delivered"]


def test_the_programs_sender_keeps_to_the_policy() -> None:
    listener = Listener(lambda accepted: accepted.close())
    for settings in (Settings(base_url="https://pinball.example.org"), LAN):
        send = deliver_webhooks.guarded_send(settings)
        for url in (
            f"http://127.0.0.1:{listener.port}/",
            f"https://localhost:{listener.port}/",
            f"http://[::1]:{listener.port}/",
        ):
            with pytest.raises(WebhookUnreachable):
                send(url, b"{}", {})
    assert listener.count == 0
    listener.close()


def test_a_venues_webhooks_outside_its_network_use_port_443_only() -> None:
    host = Host()
    send = deliver_webhooks.guarded_send(LAN, connect=_sending_to(host), resolve=lambda *_: [GOOD])
    for port in (25, 80, 8080, 6379):
        with pytest.raises(WebhookUnreachable, match="Outside the private network the port must be 443"):
            send(f"http://hooks.example.org:{port}/", b"{}", {})
    assert host.count == 0
    assert send("http://hooks.example.org:443/", b"{}", {}) == 204
    host.close()
