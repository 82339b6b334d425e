"""Many webhooks at once: each message is sent once, and no address delays another."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

import build
from patience import PATIENCE_SECONDS
from service.desk import Desk, a_desk
from service.webhooks.receiver import (
    SETTINGS,
    URL,
    Outbox,
    a_webhook,
    channel_head,
    deliver_everything,
    deliveries,
    hook_row,
    rename,
    statuses,
    tournament_names_in,
)
from silverball import app
from silverball.jobs import pruning
from silverball.jobs.deliver_webhooks import WebhookDeliverer, create_workers
from silverball.kit.values import replace
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store)


def test_a_slow_address_waits_with_the_slow_ones_until_it_is_quick_again(desk: Desk) -> None:
    a_webhook(desk)
    post = Outbox(desk.store, seconds=3)
    rename(desk, "A")
    post.run()
    assert hook_row(desk.store, 1).is_slow
    rename(desk, "B")
    assert post.rounds.plan_one()
    assert not post.rounds.send_one(slow=False)
    post.seconds = 0
    assert post.rounds.send_one(slow=True)
    assert not hook_row(desk.store, 1).is_slow


def test_each_message_is_sent_once_by_many_senders(desk: Desk) -> None:
    for number in range(3):
        a_webhook(desk, url=f"{URL}?{number}")
    rename(desk, *(f"Night {n}" for n in range(10)))
    post = Outbox(desk.store)
    # Another node over the same database.
    other = Store(desk.store.url.render_as_string(hide_password=False), desk.store.key_file.path)
    nodes = [post.rounds, replace(post.rounds, store=other)] * 2
    threads = [threading.Thread(target=deliver_everything, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    # A sender that finds a webhook claimed stops; the rest is left for its next try.
    post.run()
    for number in range(3):
        came = tournament_names_in([message for message in post.sent if message.url.endswith(str(number))])
        assert came == [f"Night {n}" for n in range(10)]


def test_hanging_hosts_do_not_delay_other_webhooks_and_requests(desk: Desk) -> None:
    are_written, may_end, waited = threading.Event(), threading.Event(), list[bool]()
    for number in range(6):
        a_webhook(desk, url=f"https://hangs.example.org/{number}")
    a_webhook(desk)
    post = Outbox(desk.store)
    came: list[str] = []

    def answer(url: str, body: bytes) -> int | str:
        if "hangs" in url:
            waited.append(are_written.wait(PATIENCE_SECONDS))
            may_end.wait(0.5)
            return "There was no answer."
        came.append(url)
        return 200

    post.answer = answer
    running = create_workers(replace(post.rounds, clock=time.monotonic), poll_seconds=0.01)
    running.start()
    # No write waits for a host: they hang until all writes are done.
    for number in range(10):
        rename(desk, f"Night {number}")
    are_written.set()
    wait_until(lambda: len(came) == 10)
    may_end.set()
    running.close()
    assert all(waited)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("silverball-webhooks")]


def wait_until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_the_threads_go_on_after_an_error(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    broken = threading.Event()
    came: list[str] = []

    def answer(url: str, _body: bytes) -> int:
        if "broken" in url:
            broken.set()
            raise RuntimeError("our own mistake")
        came.append(url)
        return 200

    a_webhook(desk, url="https://broken.example.org/")
    a_webhook(desk)
    running = create_workers(Outbox(desk.store, answer=answer).rounds, poll_seconds=0.01)
    running.start()
    rename(desk, "A")
    assert broken.wait(PATIENCE_SECONDS)
    wait_until(lambda: came == [URL])
    running.close()
    assert "webhooks: work failed" in caplog.text


def test_a_server_that_starts_sends_waiting_messages(desk: Desk) -> None:
    # Such an address is refused today, so the message fails without any network.
    old = {"tournament_id": desk.night.tournament_id, "url": "http://hooks.example.org/"}
    head = channel_head(desk)
    hook = build.row(desk.store, tables.webhook, epoch=head.epoch, seq=head.seq - 1, **old)
    with TestClient(app.build(desk.store, SETTINGS)):
        wait_until(lambda: any(delivery["reason"] for delivery in deliveries(desk, hook)))
    (delivery,) = deliveries(desk, hook)
    assert (delivery["status"], delivery["reason"]) == ("waiting", "The address must begin with https://.")


def test_without_messages_nothing_is_loaded(store: Store) -> None:
    def never() -> Any:
        raise AssertionError("nothing had to be sent")

    deliver_everything(WebhookDeliverer(store, SETTINGS, never))


def test_old_deliveries_are_deleted_and_waiting_ones_are_not(desk: Desk) -> None:
    a_webhook(desk)
    for status in ("delivered", "failed", "withdrawn", "missed", "waiting"):
        build.row(desk.store, tables.webhook_delivery, webhook_id=1, status=status)
    pruning.prune_deliveries(desk.store, build.NOW + timedelta(days=6))
    assert len(statuses(desk)) == 5
    pruning.prune_deliveries(desk.store, build.NOW + timedelta(days=7))
    assert statuses(desk) == ["waiting"]
