"""Receivers of webhooks: a real server that records messages, or a list."""

import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from sqlalchemy import select

import build
from exchange.outgoing.hosts import Listener
from service.desk import Desk
from silverball.jobs.deliver_webhooks import Send, WebhookDeliverer, WebhookUnreachable
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

URL = "https://hooks.example.org/in"
SETTINGS = Settings(base_url=build.BASE_URL)
STEPS_MAX = 2_000
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@dataclass(frozen=True)
class Received:
    """A received message."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def payload(self) -> Any:
        return msgspec.json.decode(self.body)


class Host:
    """A server that records messages and answers all with the same bytes."""

    def __init__(self, answer: bytes | Callable[[socket.socket], None] = OK, tls: Any = None) -> None:
        self.received: list[Received] = []
        self._answer = answer
        self._tls: ssl.SSLContext | None = tls
        self._listener = Listener(self._handle)
        self.port = self._listener.port
        self.close = self._listener.close

    @property
    def count(self) -> int:
        return self._listener.count

    def _handle(self, accepted: socket.socket) -> None:
        stream = accepted if self._tls is None else self._tls.wrap_socket(accepted, server_side=True)
        with stream:
            sent = b""
            while b"\r\n\r\n" not in sent:
                sent += _has_more(stream)
            head, _, body = sent.partition(b"\r\n\r\n")
            first, *lines = head.decode("ascii").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            while len(body) < int(headers["content-length"]):
                body += _has_more(stream)
            self.received.append(Received(first, headers, body))
            if isinstance(self._answer, bytes):
                stream.sendall(self._answer)
            else:
                self._answer(stream)


def _has_more(stream: socket.socket) -> bytes:
    found = stream.recv(65536)
    if not found:
        raise ConnectionError("whoever sent this has gone")
    return found


@dataclass
class Outbox:
    """Messages handed to the sender, each answered by `answer`."""

    store: Store
    now: datetime = build.NOW
    # A status, or the sentence of an unreachable address.
    answer: Callable[[str, bytes], int | str] = lambda _url, _body: 200
    sent: list[Received] = field(default_factory=list)
    seconds: float = 0.0
    clock: float = 0.0
    dice: Random = field(default_factory=lambda: Random(7))

    @property
    def rounds(self) -> WebhookDeliverer:
        return WebhookDeliverer(
            self.store, SETTINGS, lambda: self._send, lambda: self.now, self.dice, self._clock
        )

    def _clock(self) -> float:
        return self.clock

    @property
    def _send(self) -> Send:
        def send(url: str, body: bytes, headers: Mapping[str, str]) -> int:
            lower = {name.lower(): value for name, value in headers.items()}
            self.sent.append(Received(url, lower, body))
            self.clock += self.seconds
            answer = self.answer(url, body)
            if isinstance(answer, str):
                raise WebhookUnreachable(answer)
            return answer

        return send

    def run(self) -> list[Received]:
        """Plan and send until nothing is due, and return the sent messages."""
        since = len(self.sent)
        deliver_everything(self.rounds)
        return self.sent[since:]


def deliver_everything(rounds: WebhookDeliverer) -> None:
    """Plan and send until nothing is due."""
    for _ in range(STEPS_MAX):
        if not (rounds.plan_one() or rounds.send_one(slow=False) or rounds.send_one(slow=True)):
            return
    raise AssertionError("there is always something to do")


def a_webhook(desk: Desk, **fields: Any) -> dict[str, Any]:
    """Create a webhook of the desk's tournament, and return the answer with its secret."""
    made: dict[str, Any] = desk.ok("POST", "/webhooks", {"url": URL, **fields})["data"]
    return made


def deliveries(desk: Desk, webhook_id: int) -> list[dict[str, Any]]:
    """All deliveries of the webhook, oldest first."""
    found = desk.ok("GET", f"/webhooks/{webhook_id}/deliveries")["data"]
    return list(reversed(found))


def hook_row(store: Store, webhook_id: int) -> Any:
    with store.read() as db:
        return db.execute(select(tables.webhook).where(tables.webhook.c.webhook_id == webhook_id)).one()


def rename(desk: Desk, *names: str) -> None:
    """Rename the tournament once for each name, which announces something each time."""
    for name in names:
        desk.ok("PATCH", "", {"name": name})


def tournament_names_in(sent: list[Received]) -> list[str]:
    """The tournament's name in each message."""
    return [message.payload["data"]["name"] for message in sent]


def statuses(desk: Desk) -> list[str]:
    """The statuses of the first webhook's deliveries, oldest first."""
    return [delivery["status"] for delivery in deliveries(desk, 1)]


def arena_name(desk: Desk, arena_id: int) -> str:
    with desk.store.read() as db:
        own = select(tables.arena.c.name).where(tables.arena.c.arena_id == arena_id)
        return str(db.execute(own).scalar_one())


def channel_head(desk: Desk) -> announcements.ChannelHead:
    """The newest event of the tournament's channel."""
    with desk.store.read() as db:
        head = announcements.channel_head(db, desk.night.tournament_id)
    assert head is not None
    return head
