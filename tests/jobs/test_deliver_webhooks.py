"""Announcements arrive at webhooks: in order, with retries, and not after they were withdrawn."""

import itertools
import json
from datetime import timedelta

import pytest
from sqlalchemy import delete, update

import build
import going_back
from service.desk import Desk, a_desk
from service.webhooks.receiver import (
    URL,
    Outbox,
    a_webhook,
    channel_head,
    deliveries,
    rename,
    statuses,
    tournament_names_in,
)
from silverball.service.webhooks import policy
from silverball.service.webhooks import writes as webhooks_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import stamps
from silverball.store.tournament import announcements


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store)


@pytest.mark.both_databases
def test_a_receiver_hears_a_new_epoch_after_the_database_has_gone_back(desk: Desk) -> None:
    a_webhook(desk)
    earlier = going_back.take_copy(desk.store)
    epochs, path = [], f"/api/tournaments/{desk.night.tournament_id}"
    for name in ("lost", "kept"):
        # Past the desk, whose mirror of the feed would miss what is lost.
        status, _, _ = build.do(desk.store, "PATCH", path, {"name": name}, by=desk.callers["owner"])
        assert status == 200
        (message,) = Outbox(desk.store).run()
        (delivery,) = deliveries(desk, 1)
        assert (message.payload["data"]["name"], delivery["epoch"]) == (name, message.payload["epoch"])
        epochs.append((message.payload["epoch"], message.payload["seq"]))
        if name == "lost":
            desk.store.disconnect()
            earlier.bring_back()
            # As a restore does it, and a node that finds less than it has seen.
            with desk.store.write() as transaction:
                stamps.draw_new_generation(transaction.connection)
    (lost_epoch, lost_seq), (kept_epoch, kept_seq) = epochs
    # The number comes again, so only the epoch says that this is another event.
    assert (lost_seq, lost_epoch.partition(".")[0]) == (kept_seq, kept_epoch.partition(".")[0])
    assert lost_epoch != kept_epoch


def test_every_announcement_arrives_once_in_order_as_in_the_feed(desk: Desk) -> None:
    a_webhook(desk)
    since = len(desk.mirror.seen)
    desk.open_round()
    desk.ok("PATCH", "", {"name": "Friday Strikes"})
    desk.ok("POST", "/players", {"name": "Late Lena"})
    events = desk.mirror.seen[since:]
    sent = Outbox(desk.store).run()
    assert [
        (message.payload["type"], message.payload["seq"], message.payload["epoch"]) for message in sent
    ] == [(event.name, event.seq, build.public_epoch(desk.store, event.epoch)) for event in events]
    assert [message.payload["data"] for message in sent] == [json.loads(event.data) for event in events]
    assert {message.payload["tournamentId"] for message in sent} == {desk.night.tournament_id}
    assert len({message.message_id for message in sent}) == len(sent)
    assert Outbox(desk.store).run() == []


def test_events_from_before_the_webhook_are_not_sent(desk: Desk) -> None:
    rename(desk, "Before")
    a_webhook(desk)
    assert Outbox(desk.store).run() == []


def test_only_the_chosen_events_arrive(desk: Desk) -> None:
    a_webhook(desk, events=["RoundCreatedOrUpdated"])
    desk.open_round()
    rename(desk, "Friday Strikes")
    assert [message.payload["type"] for message in Outbox(desk.store).run()] == ["RoundCreatedOrUpdated"]


def test_each_webhook_gets_its_own_messages(desk: Desk) -> None:
    for number in range(3):
        a_webhook(desk, url=f"{URL}?{number}")
    rename(desk, "A", "B")
    sent = Outbox(desk.store).run()
    for number in range(3):
        assert tournament_names_in([message for message in sent if message.url.endswith(str(number))]) == [
            "A",
            "B",
        ]


# Tries


def test_a_failed_message_is_retried_under_its_id_until_it_has_failed(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, "A")
    post = Outbox(desk.store, answer=lambda *_: 503)
    tried = []
    for _ in range(400):
        if post.run():
            tried.append(post.now - build.NOW)
        post.now += timedelta(minutes=5)
    assert len(tried) == policy.TRIES_MAX
    assert len({message.message_id for message in post.sent}) == 1
    assert len({message.headers["webhook-timestamp"] for message in post.sent}) == policy.TRIES_MAX
    waits = [after - before for before, after in itertools.pairwise(tried)]
    for waited, expected in zip(waits, policy.RETRIES, strict=True):
        assert expected <= waited <= expected + timedelta(minutes=10)
    (delivery,) = deliveries(desk, 1)
    assert (delivery["status"], delivery["tries"], delivery["dueAt"]) == ("failed", 7, None)


def test_later_messages_go_on_while_one_is_tried_again(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, "A", "B", "C")
    post = Outbox(desk.store, answer=lambda _, body: 500 if b'"name":"B"' in body else 200)
    assert tournament_names_in(post.run()) == ["A", "B", "C"]
    assert statuses(desk) == ["delivered", "waiting", "delivered"]
    assert desk.ok("GET", "/webhooks/1")["data"]["failingSince"] is None
    post.answer = lambda *_: 200
    post.now += timedelta(seconds=5)
    assert tournament_names_in(post.run()) == ["B"]
    assert statuses(desk) == ["delivered"] * 3


def test_a_dead_address_is_tried_rarely_however_many_messages_wait(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, *(f"Night {n}" for n in range(60)))
    post = Outbox(desk.store, answer=lambda *_: "Nobody is there.")
    knocks = []
    for _ in range(60):
        knocks.append(len(post.run()))
        post.now += timedelta(minutes=1)
    # At once, a moment later, half a minute later, a minute later, then every five minutes.
    assert knocks[0] == 2
    assert sum(knocks) < 20
    post.answer = lambda *_: 200
    post.now += timedelta(minutes=5)
    came = tournament_names_in(post.run())
    assert len(came) > 50
    rest = [name for name in came if int(name.split()[1]) > 20]
    assert rest == sorted(rest, key=lambda name: int(name.split()[1]))


@pytest.mark.both_databases
def test_a_webhook_that_fails_for_five_days_is_switched_off(desk: Desk) -> None:
    a_webhook(desk)
    post = Outbox(desk.store, answer=lambda *_: "Nobody is there.")
    for day in range(6):
        rename(desk, f"Day {day}")
        post.run()
        post.now += timedelta(days=1, seconds=1)
    webhook = desk.ok("GET", "/webhooks/1")["data"]
    assert (webhook["isActive"], webhook["stoppedReason"]) == (False, "Nothing has arrived for 5 days.")
    assert webhook["waitingCount"] == 0
    rename(desk, "Later")
    assert post.run() == []
    # Switched on by hand, it starts anew.
    again = desk.ok("PATCH", "/webhooks/1", {"isActive": True})["data"]
    assert (again["stoppedReason"], again["failingSince"]) == (None, None)
    post.answer = lambda *_: 200
    rename(desk, "Much later")
    assert tournament_names_in(post.run()) == ["Much later"]


def test_a_webhook_that_answers_410_is_switched_off_at_once(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, "A", "B")
    assert len(Outbox(desk.store, answer=lambda *_: 410).run()) == 1
    webhook = desk.ok("GET", "/webhooks/1")["data"]
    assert (webhook["isActive"], "410" in webhook["stoppedReason"]) == (False, True)
    assert statuses(desk) == ["failed", "failed"]


def test_a_message_of_a_killed_server_is_claimed_again_after_a_minute(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, "A")
    post = Outbox(desk.store)
    assert post.rounds.plan_one()
    with desk.store.write(quiet=True) as transaction:
        errand = webhooks_writes.claim_next_message(
            transaction.connection, build.NOW, slow=False, base_url=""
        )
    assert errand is not None
    post.now += timedelta(seconds=60)
    assert post.run() == []
    post.now += timedelta(seconds=1)
    (sent,) = post.run()
    assert sent.message_id == errand.message_id
    # A server that comes back too late changes nothing.
    before = deliveries(desk, 1)
    with desk.store.write(quiet=True) as transaction:
        webhooks_writes.settle_delivery(
            transaction.connection, errand, webhooks_writes.SendOutcome(1, 500), post.now
        )
    assert deliveries(desk, 1) == before


def test_a_message_that_kills_every_server_is_given_up(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, "A")
    post = Outbox(desk.store)
    post.rounds.plan_one()
    for _ in range(policy.TRIES_MAX):
        with desk.store.write(quiet=True) as transaction:
            assert (
                webhooks_writes.claim_next_message(transaction.connection, post.now, slow=False, base_url="")
                is not None
            )
        post.now += timedelta(minutes=2)
    assert post.run() == []
    (delivery,) = deliveries(desk, 1)
    assert (delivery["status"], delivery["reason"]) == ("failed", webhooks_writes.KILLED)


@pytest.mark.both_databases
def test_a_webhook_deleted_or_switched_off_meanwhile_is_skipped(desk: Desk) -> None:
    for _ in range(2):
        a_webhook(desk)
    rename(desk, "A")

    def meanwhile(_url: str, _body: bytes) -> int:
        desk.do("DELETE", "/webhooks/1")
        desk.ok("PATCH", "/webhooks/2", {"isActive": False})
        return 500

    assert len(Outbox(desk.store, answer=meanwhile).run()) == 1
    assert [webhook["webhookId"] for webhook in desk.ok("GET", "/webhooks")["data"]] == [2]


# Withdrawn events


@pytest.mark.both_databases
def test_events_from_before_a_user_opted_out_are_not_delivered(desk: Desk) -> None:
    a_webhook(desk)
    a_webhook(desk, form="text")
    desk.open_round()
    post = Outbox(desk.store, answer=lambda *_: 500)
    assert len(post.run()) > 1
    player = desk.callers["player"]
    body = {"profileOptOut": True}
    status, _, _ = build.do(desk.store, "PATCH", "/api/users/profile", body, by=player)
    assert status == 200
    post.answer = lambda *_: 200
    post.now += timedelta(days=1)
    since_then = post.run()
    epoch = build.public_epoch(desk.store, channel_head(desk).epoch)
    assert since_then
    assert {message.payload["epoch"] for message in since_then} == {epoch}
    all_deliveries = deliveries(desk, 1)
    assert {delivery["status"] for delivery in all_deliveries if delivery["epoch"] != epoch} == {"withdrawn"}
    (gap,) = [delivery for delivery in all_deliveries if delivery["event"] == "gap"]
    assert (gap["status"], "started again" in gap["reason"]) == ("missed", True)
    refused = desk.expect_refusal(
        409, "POST", f"/webhooks/1/deliveries/{all_deliveries[0]['webhookDeliveryId']}/retry"
    )
    assert "no longer stored" in refused["message"]


@pytest.mark.both_databases
def test_a_message_claimed_after_that_is_not_sent(desk: Desk) -> None:
    """The new epoch is not planned yet, and a message of the old one is due."""
    a_webhook(desk)
    rename(desk, "CANARY")
    post = Outbox(desk.store)
    assert post.rounds.plan_one()
    with desk.store.write(desk.night.tournament_id) as transaction:
        announcements.restart_epochs(transaction, [desk.night.tournament_id])
    assert not post.rounds.send_one(slow=False)
    assert post.sent == []
    assert statuses(desk) == ["withdrawn"]


@pytest.mark.both_databases
def test_events_trimmed_before_their_delivery_are_recorded_as_a_gap(desk: Desk) -> None:
    a_webhook(desk)
    rename(desk, "A", "B", "C")
    low = channel_head(desk).seq - 1
    with desk.store.write(desk.night.tournament_id) as transaction:
        transaction.connection.execute(delete(tables.announcement).where(tables.announcement.c.seq <= low))
        transaction.connection.execute(update(tables.tournament).values(seq_low=low))
    assert tournament_names_in(Outbox(desk.store).run()) == ["C"]
    gap, delivery = deliveries(desk, 1)
    assert (gap["event"], gap["status"], delivery["status"]) == ("gap", "missed", "delivered")
    assert gap["reason"].startswith(f"The events {low - 1} to {low} are no longer stored.")
