"""The page where people change their password."""

from typing import Any

import pytest

from silverball.store.database.engine import Store
from web import page_forms
from web.test_audit_log import events
from web.test_own_data import send
from web.visitor import EMAIL, PASSWORD, Visitor, an_account, tokens_on

NEW = "violet anchor 42"


def change(visitor: Visitor, **fields: str) -> Any:
    given = {"password": PASSWORD, "new": NEW, "again": NEW, **fields}
    return send(visitor, "/account/password", "password-form", **given)


def test_a_changed_password_signs_in_and_the_old_one_does_not(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    assert 'href="/account/password"' in visitor.get("/account").text
    answer = change(visitor)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?said=password")
    assert "The password is changed" in visitor.get("/account?said=password").text
    visitor.cookies.clear()
    assert visitor.sign_in().status_code == 422
    assert visitor.sign_in(EMAIL, NEW).status_code == 303
    assert ("password-set", user_id, "testclient", 1) in events(store)


def test_it_ends_other_sign_ins_and_renews_its_own_and_leaves_tokens(store: Store, visitor: Visitor) -> None:
    an_account(store)
    with Visitor(store) as elsewhere:
        elsewhere.sign_in()
        visitor.sign_in()
        (token,) = tokens_on(visitor.create_token().text)
        before = visitor.cookies["silverball_session"]
        change(visitor)
        assert visitor.cookies["silverball_session"] != before
        assert visitor.get("/account").status_code == 200
        assert elsewhere.get("/account").status_code == 303
        assert visitor.speaks_for(token) is not None


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"password": "wrong wrong"}, "The password is wrong."),
        ({"password": ""}, "The password is wrong."),
        ({"new": "short", "again": "short"}, "The password field must be at least 10 characters."),
        ({"again": "violet anchor 43"}, "The two new passwords differ."),
        ({"new": "password123", "again": "password123"}, "This password is too easy to guess"),
        ({"new": "Ada Quill 1", "again": "Ada Quill 1"}, "This password is too easy to guess"),
        ({"new": EMAIL, "again": EMAIL}, "This password is too easy to guess"),
    ],
)
def test_a_refused_password_changes_nothing(
    store: Store, visitor: Visitor, fields: dict[str, str], sentence: str
) -> None:
    an_account(store)
    visitor.sign_in()
    answer = change(visitor, **fields)
    assert answer.status_code == 422
    assert sentence in page_forms.alerts_on(answer.text)[0]
    assert NEW not in answer.text
    visitor.sign_in_anew()


def test_the_present_password_cannot_be_guessed_there(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    for _ in range(5):
        assert change(visitor, password="wrong wrong").status_code == 422
    refused = change(visitor)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert ("password-refused", user_id, "testclient", 5) in events(store)


def test_a_guest_has_to_sign_in_first(visitor: Visitor) -> None:
    assert visitor.get("/account/password").status_code == 303
    assert visitor.post("/account/password", data={"new": NEW}).status_code == 303
