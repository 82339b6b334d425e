"""Webhooks over HTTP: permissions, allowed addresses, and published fields."""

import json
from typing import Any

import pytest
from sqlalchemy import select

import build
from kit.test_address_policy import REFUSED
from service.desk import Desk, a_desk
from service.webhooks.receiver import URL, Outbox, a_webhook, deliveries, hook_row
from silverball import settings
from silverball.kit.errors import Invalid
from silverball.service.accounts import reads as accounts
from silverball.service.accounts.writes import accounts as account_writes
from silverball.service.webhooks import message_text, policy
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import encryption
from silverball_wire.events import EVENTS
from silverball_wire.webhooks import EventName


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store)


def test_a_webhook_is_created_with_a_secret_that_is_shown_once(desk: Desk) -> None:
    made = a_webhook(desk, name="Score board", events=["GameCreatedOrUpdated"])
    secret = made.pop("secret")
    assert secret.startswith(message_text.PREFIX)
    assert made == {
        "webhookId": 1,
        "tournamentId": desk.night.tournament_id,
        "name": "Score board",
        "url": URL,
        "form": "events",
        "events": ["GameCreatedOrUpdated"],
        "isActive": True,
        "stoppedReason": None,
        "failingSince": None,
        "waitingCount": 0,
        "createdAt": "2026-03-05T19:30:00.000000Z",
        "updatedAt": "2026-03-05T19:30:00.000000Z",
    }
    assert desk.ok("GET", "/webhooks")["data"] == [made]
    assert desk.ok("GET", "/webhooks/1")["data"] == made


def test_a_repeated_request_creates_one_webhook_and_stores_no_secret(desk: Desk) -> None:
    sent = {"url": URL}
    first, again = (desk.ok("POST", "/webhooks", sent, key="k1")["data"] for _ in range(2))
    assert first["secret"].startswith(message_text.PREFIX)
    assert again == {**first, "secret": None}
    with desk.store.read() as db:
        stored = json.dumps([str(row) for row in db.execute(select(tables.idempotency))])
    assert first["secret"] not in stored


@pytest.mark.both_databases
def test_a_secret_is_replaced(desk: Desk) -> None:
    first = a_webhook(desk)["secret"]
    second = desk.ok("POST", "/webhooks/1/secret")["data"]["secret"]
    assert second != first
    stored = hook_row(desk.store, 1).secret
    assert second not in stored
    with desk.store.read() as db:
        assert encryption.decrypt(db, stored) == second


@pytest.mark.both_databases
def test_a_webhook_is_changed_field_by_field(desk: Desk) -> None:
    a_webhook(desk)
    sent = {"name": "Chat", "form": "text", "events": ["TournamentUpdated"], "url": "https://A.example.org"}
    for name, value in sent.items():
        desk.ok("PATCH", "/webhooks/1", {name: value})
    shown = desk.ok("GET", "/webhooks/1")["data"]
    assert {name: shown[name] for name in sent} == {**sent, "url": "https://a.example.org/"}


def test_a_webhook_is_deleted_with_its_deliveries(desk: Desk) -> None:
    a_webhook(desk)
    desk.ok("POST", "/webhooks/1/test")
    assert desk.ok("DELETE", "/webhooks/1")["data"]["webhookId"] == 1
    assert desk.ok("GET", "/webhooks")["data"] == []
    with desk.store.read() as db:
        assert db.execute(select(tables.webhook_delivery)).all() == []
    desk.expect_refusal(404, "GET", "/webhooks/1")


@pytest.mark.both_databases
def test_webhooks_are_deleted_with_their_tournament(store: Store) -> None:
    desk = a_desk(store, starts=False)
    a_webhook(desk)
    desk.ok("POST", "/webhooks/1/test")
    status, _, _ = build.do(store, "DELETE", desk.path, by=desk.callers["owner"])
    assert status == 200
    with store.read() as db:
        assert db.execute(select(tables.webhook)).all() == []


def test_a_tournament_has_ten_webhooks_at_most(desk: Desk) -> None:
    for _ in range(10):
        a_webhook(desk)
    refused = desk.expect_refusal(409, "POST", "/webhooks", {"url": URL})
    assert "10 webhooks" in refused["message"]
    desk.ok("DELETE", "/webhooks/3")
    a_webhook(desk)


CALLS = (
    ("GET", "/webhooks"),
    ("GET", "/webhooks/1"),
    ("GET", "/webhooks/1/deliveries"),
    ("POST", "/webhooks"),
    ("PATCH", "/webhooks/1"),
    ("DELETE", "/webhooks/1"),
    ("POST", "/webhooks/1/secret"),
    ("POST", "/webhooks/1/test"),
    ("POST", "/webhooks/1/deliveries/1/retry"),
)


@pytest.mark.parametrize("who", ["keeper", "player", "reader", "stranger", "kiosk", "other", "nobody"])
def test_only_the_organizers_managing_token_reads_or_changes_webhooks(desk: Desk, who: str) -> None:
    """The address of a chat is a secret, so even the organizer's weaker tokens cannot read it."""
    a_webhook(desk)
    for method, path in CALLS:
        body = {"url": URL} if (method, path) == ("POST", "/webhooks") else None
        status, answer = desk.do(method, path, body, by=who)
        assert status == (401 if who == "nobody" else 403), (method, path)
        assert "hooks.example.org" not in json.dumps(answer)


def test_an_admin_may_manage_webhooks(desk: Desk) -> None:
    a_webhook(desk)
    assert desk.ok("PATCH", "/webhooks/1", {"isActive": False}, by="admin")["data"]["isActive"] is False


def test_a_webhook_of_another_tournament_is_not_found(desk: Desk) -> None:
    a_webhook(desk)
    desk.ok("POST", "/webhooks/1/test")
    other = build.a_tournament(desk.store, organizer_id=desk.night.organizer_id)
    path = f"/api/tournaments/{other.tournament_id}/webhooks/1"
    for method, more in (
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/secret"),
        ("POST", "/test"),
        ("POST", "/deliveries/1/retry"),
    ):
        status, answer, _ = build.do(desk.store, method, path + more, {}, by=desk.callers["owner"])
        assert (status, "Webhook] 1" in answer["message"]) == (404, True)
    status, _ = build.ask(desk.store, f"{path}/deliveries", by=desk.callers["owner"])
    assert status == 404


@pytest.mark.parametrize(
    ("body", "field", "fault"),
    [
        ({}, "url", "required"),
        ({"url": ""}, "url", "required"),
        ({"url": 7}, "url", "a string"),
        ({"url": "http://hooks.example.org/"}, "url", "must begin with https://"),
        ({"url": "https://127.0.0.1/"}, "url", "a name, not a number"),
        ({"url": "https://hooks.example.org:8443/"}, "url", "port must be 443"),
        ({"url": URL, "name": "x" * 101}, "name", "100 characters"),
        ({"url": URL, "name": None}, "name", "a string"),
        ({"url": URL, "form": "carrier pigeon"}, "form", "invalid"),
        ({"url": URL, "events": ["Nothing"]}, "events.0", "invalid"),
        ({"url": URL, "events": "GameCreatedOrUpdated"}, "events", "an array"),
        ({"url": URL, "events": ["CardsDeleted", "CardsDeleted"]}, "events", "twice"),
        ({"url": URL, "isActive": "yes"}, "isActive", "true or false"),
        ({"url": URL, "secret": "whsec_mine"}, "secret", "prohibited"),
    ],
)
def test_faults_are_listed_by_field(desk: Desk, body: dict[str, Any], field: str, fault: str) -> None:
    refused = desk.expect_refusal(422, "POST", "/webhooks", body)
    assert list(refused["errors"]) == [field]
    assert fault in refused["errors"][field][0]
    assert desk.ok("GET", "/webhooks")["data"] == []


def test_forbidden_addresses_are_refused(desk: Desk) -> None:
    a_webhook(desk)
    for url in REFUSED:
        for method, path in (("POST", "/webhooks"), ("PATCH", "/webhooks/1")):
            status, answer = desk.do(method, path, {"url": url})
            assert (status, list(answer.get("errors", ()))) == (422, ["url"]), url
    (webhook,) = desk.ok("GET", "/webhooks")["data"]
    assert webhook["url"] == URL


LAN = Settings(base_url="https://pinball.example.org", webhook_lan=True)


@pytest.mark.parametrize(
    "url", ["http://192.168.1.20:8080/in", "https://10.0.0.5/in", "http://scoreboard/in", "http://nas.lan/"]
)
def test_a_setting_allows_webhooks_in_the_venues_network(url: str) -> None:
    assert policy.require_url(url, LAN) == url
    with pytest.raises(Invalid):
        policy.require_url(url, Settings(base_url="https://pinball.example.org"))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://169.254.169.254/", "https://pinball.example.org/"]
)
def test_addresses_of_this_machine_are_never_allowed(url: str) -> None:
    with pytest.raises(Invalid):
        policy.require_url(url, LAN)


def test_only_the_demo_allows_webhooks_on_its_own_machine() -> None:
    url, base_url = "http://127.0.0.1:9000/in", "http://127.0.0.1:8000"
    assert policy.require_url(url, Settings(base_url=base_url, allow_loopback=True)) == url
    # No variable of the environment switches it on.
    served = settings.load({"SILVERBALL_BASE_URL": base_url, "SILVERBALL_ALLOW_LOOPBACK": "true"})
    assert not served.allow_loopback
    with pytest.raises(Invalid):
        policy.require_url(url, served)


def test_every_event_can_be_chosen() -> None:
    assert set(EventName.__args__) == set(EVENTS)  # type: ignore[attr-defined]  # a Literal has it


# The account


@pytest.mark.both_databases
def test_the_copy_of_an_account_has_its_webhooks_and_no_secret(desk: Desk) -> None:
    secret = a_webhook(desk, name="Club chat")["secret"]
    with desk.store.read() as db:
        found = {
            exported.section.name: exported for exported in accounts.account_data(db, desk.night.organizer_id)
        }
    (row,) = found["webhooks"].rows
    assert "Club chat" in row
    assert URL in row
    assert secret not in str(found)


@pytest.mark.both_databases
def test_webhooks_are_deleted_with_their_account(store: Store) -> None:
    desk = a_desk(store)
    a_webhook(desk)
    webhook_id = build.row(store, tables.webhook, tournament_id=build.a_tournament(store).tournament_id)
    desk.ok("POST", "/complete")
    with store.write() as transaction:
        account_writes.erase_account(transaction, desk.night.organizer_id)
    with store.read() as db:
        assert db.execute(select(tables.webhook.c.webhook_id)).scalars().all() == [webhook_id]


# Deliveries


def test_a_test_is_sent_and_its_delivery_is_listed(desk: Desk) -> None:
    a_webhook(desk)
    made = desk.ok("POST", "/webhooks/1/test")["data"]
    assert (made["event"], made["status"], made["tries"], made["seq"]) == ("test", "waiting", 0, None)
    (sent,) = Outbox(desk.store).run()
    assert sent.payload["type"] == "test"
    (now,) = deliveries(desk, 1)
    assert now == {
        **made,
        "status": "delivered",
        "tries": 1,
        "dueAt": None,
        "triedAt": "2026-03-05T19:30:00.000000Z",
        "responseStatus": 200,
    }


def test_only_one_test_waits_at_a_time(desk: Desk) -> None:
    a_webhook(desk)
    desk.ok("POST", "/webhooks/1/test")
    desk.expect_refusal(409, "POST", "/webhooks/1/test")
    Outbox(desk.store).run()
    desk.ok("POST", "/webhooks/1/test")


def test_a_webhook_that_is_switched_off_is_sent_nothing(desk: Desk) -> None:
    a_webhook(desk, isActive=False)
    desk.open_round()
    assert Outbox(desk.store).run() == []
    assert "switched off" in desk.expect_refusal(409, "POST", "/webhooks/1/test")["message"]


def test_a_webhook_that_is_switched_on_starts_with_the_next_event(desk: Desk) -> None:
    a_webhook(desk, isActive=False)
    desk.open_round()
    desk.ok("PATCH", "/webhooks/1", {"isActive": True})
    assert Outbox(desk.store).run() == []
    desk.ok("PATCH", "", {"name": "Friday Strikes"})
    assert [message.payload["type"] for message in Outbox(desk.store).run()] == ["TournamentUpdated"]


@pytest.mark.both_databases
def test_switching_off_fails_waiting_deliveries_which_can_be_retried(desk: Desk) -> None:
    a_webhook(desk)
    desk.ok("PATCH", "", {"name": "Friday Strikes"})
    post = Outbox(desk.store, answer=lambda *_: 500)
    post.run()
    desk.ok("PATCH", "/webhooks/1", {"isActive": False})
    (delivery,) = deliveries(desk, 1)
    assert (delivery["status"], delivery["reason"]) == ("failed", "The webhook was switched off.")
    assert "switched off" in desk.expect_refusal(409, "POST", "/webhooks/1/deliveries/1/retry")["message"]
    desk.ok("PATCH", "/webhooks/1", {"isActive": True})
    again = desk.ok("POST", "/webhooks/1/deliveries/1/retry")["data"]
    assert (again["status"], again["tries"], again["messageId"]) == ("waiting", 0, delivery["messageId"])
    (sent,) = Outbox(desk.store).run()
    assert sent.message_id == delivery["messageId"]
    assert deliveries(desk, 1)[0]["status"] == "delivered"


def test_a_waiting_delivery_cannot_be_retried(desk: Desk) -> None:
    a_webhook(desk)
    desk.ok("POST", "/webhooks/1/test")
    refused = desk.expect_refusal(409, "POST", "/webhooks/1/deliveries/1/retry")
    assert refused["code"] == "delivery-already-waiting"
    desk.expect_refusal(404, "POST", "/webhooks/1/deliveries/99/retry")


@pytest.mark.both_databases
def test_deliveries_come_in_pages_and_by_status(desk: Desk) -> None:
    a_webhook(desk)
    for number in range(60):
        build.row(
            desk.store,
            tables.webhook_delivery,
            webhook_id=1,
            message_id=f"msg_{number}",
            status="failed" if number % 2 else "delivered",
        )
    page = desk.ok("GET", "/webhooks/1/deliveries?page=2")
    assert (page["meta"]["total"], len(page["data"])) == (60, 10)
    failed = desk.ok("GET", "/webhooks/1/deliveries?status=failed")
    assert {delivery["status"] for delivery in failed["data"]} == {"failed"}
    assert failed["meta"]["total"] == 30
    desk.expect_refusal(422, "GET", "/webhooks/1/deliveries?status=lost")


def test_a_mirror_has_webhooks_of_its_own_and_hears_no_change_by_hand(desk: Desk) -> None:
    night = desk.night.tournament_id
    build.row(desk.store, tables.mirror, tournament_id=night, host="results.example", remote_id=7)
    webhook_id = a_webhook(desk)["webhookId"]
    desk.ok("PATCH", f"/webhooks/{webhook_id}", {"name": "Wall"})
    status, answer, _ = build.do(desk.store, "PATCH", desk.path, {"name": "Mine"}, by=desk.night.organizer_id)
    assert (status, answer["code"]) == (409, "run-elsewhere")
    desk.ok("DELETE", f"/webhooks/{webhook_id}")
