"""Webhooks in the console: created, tested, sent again; the secret is shown once."""

import re
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select
from standardwebhooks import Webhook

import build
from service.webhooks.receiver import URL, Outbox
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.visitor import EMAIL, PASSWORD_HASH, Visitor

SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]+")
PAGE = "/webhooks"


@pytest.fixture
def night(director: Director) -> Director:
    director.create("matchplay")
    director.send("webhook", PAGE, url=URL, name="Club chat")
    return director


def the_only(store: Store) -> Any:
    with store.read() as db:
        return db.execute(select(tables.webhook)).one()


def text(director: Director) -> str:
    return page_forms.text_of(director.page(PAGE))


def test_a_webhook_is_made_for_a_chat_unless_something_else_is_chosen(night: Director) -> None:
    made = the_only(night.store)
    assert (made.url, made.name, made.form, made.events) == (URL, "Club chat", "text", [])
    assert f"Club chat on in sentences {URL}" in text(night)


def test_a_webhook_for_a_program_with_some_events_and_no_name(director: Director) -> None:
    director.create("matchplay")
    director.send("webhook", PAGE, url=URL, kind="events", events=["GameCreatedOrUpdated"])
    made = the_only(director.store)
    assert (made.name, made.form, made.events) == ("Webhook", "events", ["GameCreatedOrUpdated"])


def test_the_same_form_sent_twice_makes_one(director: Director) -> None:
    director.create("matchplay")
    form = director.forms(PAGE)["webhook"]
    for _ in range(2):
        assert director.post(form, url=URL).status_code == 303
    assert the_only(director.store).url == URL


def test_a_forbidden_address_is_refused_in_the_form_which_stays_filled(director: Director) -> None:
    director.create("matchplay")
    answer = director.post(director.forms(PAGE)["webhook"], url="https://127.0.0.1/", name="Mine")
    assert answer.status_code == 422
    assert "a name, not a number" in page_forms.alerts_on(answer.text)[0]
    filled = page_forms.forms_on(answer.text)["webhook"]
    assert (filled.value("url"), filled.value("name")) == ("https://127.0.0.1/", "Mine")


def test_a_test_is_sent_and_seen_and_sent_again(night: Director) -> None:
    night.send("webhook-test-1", PAGE)
    assert "test waiting" in text(night)
    post = Outbox(night.store, night.visitor.now, answer=lambda *_: 410)
    (sent,) = post.run()
    assert sent.payload["text"] == "Night of matchplay \u00b7 This is a test: messages arrive here."
    page = text(night)
    assert "Switched off: The address answered that it is gone (status 410)." in page
    assert "test failed" in page
    night.send("webhook-switch-1", PAGE)
    night.send("webhook-retry-1", PAGE)
    post.answer = lambda *_: 200
    (again,) = post.run()
    assert again.message_id == sent.message_id
    assert "test delivered" in text(night)


def test_what_fails_says_since_when_and_why(night: Director) -> None:
    night.send("webhook-test-1", PAGE)
    Outbox(night.store, night.visitor.now, answer=lambda *_: 503).run()
    page = text(night)
    assert "Club chat failing in sentences, 1 waiting" in page
    assert "Nothing has arrived since 2026-03-05" in page
    assert "The address answered with status 503." in page


def test_a_webhook_is_changed_switched_off_and_deleted(night: Director) -> None:
    night.send("webhook-edit-1", PAGE, name="Board", url="https://b.example.org/", kind="events")
    night.send("webhook-switch-1", PAGE)
    made = the_only(night.store)
    assert (made.name, made.url, made.form, made.is_active) == (
        "Board",
        "https://b.example.org/",
        "events",
        False,
    )
    assert "webhook-test-1" not in night.forms(PAGE)
    night.send("webhook-out-1", PAGE)
    assert "Board" not in text(night)


def test_the_secret_is_shown_once_and_is_the_one_that_signs(night: Director) -> None:
    assert "webhook-secret-1" not in night.forms(PAGE)
    night.send("webhook-edit-1", PAGE, kind="events")
    answer = night.post(night.forms(PAGE)["webhook-secret-1"])
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    (secret,) = SECRET.findall(unescape(answer.text))
    night.send("webhook-test-1", PAGE)
    (sent,) = Outbox(night.store, night.visitor.now).run()
    at = sent.headers["webhook-timestamp"]
    signed = Webhook(secret).sign(sent.message_id, night.visitor.now, sent.body.decode())
    assert (sent.headers["webhook-signature"], at) == (signed, str(int(night.visitor.now.timestamp())))
    assert not SECRET.search(unescape(night.page(PAGE)))
    # Opened again, the address leads back without the secret.
    again = night.visitor.get(answer.url.path)
    assert (again.status_code, again.headers["location"]) == (303, f"{night.at}{PAGE}")


def test_a_name_that_is_no_name_is_shown_as_it_is(director: Director) -> None:
    director.create("matchplay")
    director.send("webhook", PAGE, url=f"{URL}?a=<b>".replace("<b>", "'b'"), name="<script>alert(1)</script>")
    html = director.page(PAGE)
    assert "<script>alert" not in html
    assert "<script>alert(1)</script>" in unescape(html)


def test_the_eleventh_is_not_offered(night: Director) -> None:
    for number in range(9):
        night.send("webhook", PAGE, url=f"{URL}?{number}")
    assert "webhook" not in night.forms(PAGE)


def test_only_the_organizer_sees_and_changes_webhooks(night: Director, visitor: Visitor) -> None:
    form = f"{night.at}/webhooks/1/secret"
    before = the_only(night.store)
    stranger = "otto@silverball.test"
    build.a_user(night.store, name="Otto", role="organizer", email=stranger, password_hash=PASSWORD_HASH)
    visitor.sign_in_anew(stranger)
    assert visitor.get(night.at + PAGE).status_code == 403
    answer = visitor.post(form, data={"csrf": visitor.csrf()})
    assert (answer.status_code, SECRET.findall(answer.text)) == (403, [])
    # Without the CSRF token, not even the organizer's browser may do it.
    visitor.sign_in_anew(EMAIL)
    assert visitor.post(form, data={}).status_code in (400, 403, 419)
    assert the_only(night.store) == before


def test_a_webhook_that_is_not_there_has_no_secret(night: Director, visitor: Visitor) -> None:
    answer = visitor.post(f"{night.at}/webhooks/99/secret", data={"csrf": visitor.csrf()})
    assert answer.status_code == 404
