"""The password asked for again before tokens are made, and tokens that get a new secret."""

from datetime import timedelta
from typing import Any

import pytest

import build
from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.test_account import count
from web.test_audit_log import events
from web.visitor import EMAIL, PASSWORD, Visitor, an_account, tokens_on

TOKENS = "/account/tokens"


def rotate(visitor: Visitor, token_id: object, **fields: str) -> Any:
    return visitor.post(f"/account/tokens/{token_id}/rotate", data={"csrf": visitor.csrf(), **fields})


def test_a_token_needs_no_password_within_ten_minutes_of_the_sign_in(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    visitor.wait(minutes=10, seconds=-1)
    assert "Your password" not in visitor.get("/account").text
    assert visitor.create_token().status_code == 201
    visitor.wait(seconds=1)
    assert "Your password" in visitor.get("/account").text
    assert visitor.create_token().status_code == 422
    assert count(store, "token") == 1


def test_the_password_on_the_form_counts_for_ten_more_minutes(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    visitor.wait(hours=1)
    assert visitor.create_token(password=PASSWORD).status_code == 201
    visitor.wait(minutes=9)
    assert visitor.create_token().status_code == 201
    visitor.wait(minutes=1)
    assert visitor.create_token().status_code == 422


def test_a_session_from_before_the_upgrade_is_asked_for_the_password(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    with store.write() as transaction:
        transaction.connection.execute(tables.session.update().values(proved_at=None, seen_at=None))
    assert visitor.create_token().status_code == 422
    assert visitor.create_token(password=PASSWORD).status_code == 201


def test_a_wrong_password_makes_no_token_and_is_slowed_down(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    visitor.wait(hours=1)
    for _ in range(5):
        answer = visitor.create_token(name="Typed name", password="wrong wrong")
        assert answer.status_code == 422
        assert page_forms.alerts_on(answer.text) == ["The password is wrong."]
        assert 'value="Typed name"' in answer.text
        assert "wrong wrong" not in answer.text
    refused = visitor.create_token(password=PASSWORD)
    assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
    assert count(store, "token") == 0
    assert ("password-refused", user_id, "testclient", 5) in events(store)


def test_no_trace_of_the_password_is_stored_with_the_form(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    visitor.wait(hours=1)
    form = page_forms.forms_on(visitor.get("/account").text)[TOKENS]
    with_password = dict(form.filled(name="Score board", password=PASSWORD))
    assert visitor.post(form.action, data=with_password).status_code == 201
    # The same form without the password is the same request: its fingerprint has none.
    again = visitor.post(form.action, data={**with_password, "password": ""})
    assert "This token was made when the form was sent before" in again.text


def test_a_form_that_is_carried_over_a_sign_in_leaves_the_password_behind(
    store: Store, visitor: Visitor
) -> None:
    an_account(store)
    visitor.sign_in()
    visitor.wait(hours=1)
    form = page_forms.forms_on(visitor.get("/account").text)[TOKENS]
    visitor.wait(days=15)
    given = dict(form.filled(name="Score board", password=PASSWORD))
    asked = visitor.post(form.action, data=given, headers={"sec-fetch-site": "same-origin"})
    sign_in = page_forms.forms_on(asked.text)["/account/sign-in"]
    back = visitor.post(sign_in.action, data=dict(sign_in.filled(email=EMAIL, password=PASSWORD)))
    filled = page_forms.forms_on(back.text)[TOKENS]
    assert filled.value("name") == "Score board"
    assert PASSWORD not in back.text
    assert visitor.post(filled.action, data=dict(filled.fields)).status_code == 201


@pytest.mark.parametrize(
    ("fields", "days"),
    [({}, 365), ({"expires": ""}, 365), ({"expires": "30"}, 30), ({"expires": "365", "never": "yes"}, None)],
)
def test_a_token_of_the_page_expires_after_a_year_or_as_chosen(
    store: Store, visitor: Visitor, fields: dict[str, str], days: int | None
) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    visitor.create_token(**fields)
    with store.read() as db:
        (made,) = users_reads.owned_by(db, user_id)
    assert made.expires_at == (None if days is None else build.NOW + timedelta(days=days))


def test_a_rotated_token_has_a_new_secret_and_all_else_as_before(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store, role="organizer")
    visitor.sign_in()
    (old,) = tokens_on(visitor.create_token(name="Score board", ability="manage", expires="30").text)
    token_id = old.partition("|")[0]
    visitor.wait(days=2)
    answer = rotate(visitor, token_id, password=PASSWORD)
    assert answer.status_code == 201
    (new,) = tokens_on(answer.text)
    assert new.partition("|")[0] == token_id
    assert visitor.speaks_for(old) is None
    caller = visitor.speaks_for(new)
    assert caller is not None
    assert (caller.user_id, caller.ability) == (user_id, "manage")
    with store.read() as db:
        (rotated,) = users_reads.owned_by(db, user_id)
    assert (rotated.name, rotated.expires_at) == ("Score board", visitor.now + timedelta(days=30))
    assert ("token-rotated", user_id, "testclient", 1) in events(store)


def test_a_rotation_asks_for_the_password_too(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    (old,) = tokens_on(visitor.create_token().text)
    token_id = old.partition("|")[0]
    visitor.wait(hours=1)
    for fields in ({}, {"password": "wrong wrong"}):
        assert rotate(visitor, token_id, **fields).status_code == 422
    assert visitor.speaks_for(old) is not None
    assert rotate(visitor, token_id, password=PASSWORD).status_code == 201


@pytest.mark.parametrize("token_id", ["other", "0", "999", "abc", "99999999999999999999"])
def test_only_own_tokens_are_rotated(store: Store, visitor: Visitor, token_id: str) -> None:
    an_account(store, name="Bo", email="bo@silverball.test")
    an_account(store)
    visitor.sign_in("bo@silverball.test")
    (token,) = tokens_on(visitor.create_token().text)
    visitor.sign_in_anew()
    answer = rotate(visitor, token.partition("|")[0] if token_id == "other" else token_id)
    assert answer.status_code == 404
    assert visitor.speaks_for(token) is not None


def test_the_address_of_the_form_can_be_opened(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    assert visitor.get("/account/tokens/1/rotate").headers["location"] == "/account"
