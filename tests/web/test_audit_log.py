"""What pages record in the audit log, and the page that shows it."""

from typing import get_args

from sqlalchemy import select, update

from silverball.store.database.engine import Store
from silverball.store.people.audit import SecurityEvent
from silverball.store.tables import audit_entry
from silverball.web.account import people
from web.test_own_data import send
from web.visitor import EMAIL, PASSWORD, Visitor, an_account, tokens_on


def events(store: Store) -> list[tuple[object, ...]]:
    columns = (audit_entry.c.event, audit_entry.c.user_id, audit_entry.c.source, audit_entry.c.count)
    with store.read() as db:
        return [tuple(row) for row in db.execute(select(*columns).order_by(audit_entry.c.audit_entry_id))]


def test_signing_in_and_tokens_are_recorded_without_any_secret(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in(password="wrong wrong")
    visitor.sign_in("nobody@silverball.test", "wrong wrong")
    visitor.sign_in()
    (token,) = tokens_on(visitor.create_token().text)
    visitor.revoke(token.partition("|")[0])
    assert [(event, found) for event, found, _, _ in events(store)] == [
        ("sign-in-refused", user_id),
        ("sign-in-refused", None),
        ("sign-in", user_id),
        ("token-made", user_id),
        ("token-revoked", user_id),
    ]
    assert {source for _, _, source, _ in events(store)} == {"testclient"}
    with store.read() as db:
        everything = str(db.execute(select(audit_entry)).all())
    for secret in (PASSWORD, "wrong", EMAIL, "nobody@", token.partition("|")[2]):
        assert secret not in everything


def test_attempts_that_are_not_even_checked_are_one_entry_a_minute(store: Store, visitor: Visitor) -> None:
    an_account(store)
    for _ in range(9):
        visitor.sign_in(password="wrong wrong")
    counts = {event: count for event, _, _, count in events(store)}
    assert counts == {"sign-in-refused": 5, "too-many-sign-ins": 1}


def test_an_erased_account_leaves_only_that_it_was_erased(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    visitor.get("/account/data.zip")
    send(visitor, "/account/data", "delete", password=PASSWORD, sure="yes")
    assert events(store) == [
        ("sign-in", user_id, "", 1),
        ("data-exported", user_id, "", 1),
        ("account-erased", user_id, "", 1),
    ]


def test_only_an_admin_sees_the_log(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    assert visitor.get("/account/audit").status_code == 404
    assert "/account/audit" not in visitor.get("/account").text
    an_account(store, email="admin@silverball.test", role="admin")
    visitor.sign_in_anew("admin@silverball.test")
    assert "/account/audit" in visitor.get("/account").text
    page = visitor.get("/account/audit")
    assert page.status_code == 200
    assert page.text.count("Signed in</strong>: <a href=") == 2
    for number in ("0", "x", "2", "999", "1" * 40):
        assert visitor.get(f"/account/audit?page={number}").status_code == 200


def test_every_event_has_words_and_the_log_can_be_narrowed_to_it(store: Store, visitor: Visitor) -> None:
    assert set(people.EVENT_WORDS) == set(get_args(SecurityEvent))
    an_account(store, email="admin@silverball.test", role="admin")
    visitor.sign_in_anew("admin@silverball.test")
    assert "Signed in" in visitor.get("/account/audit?event=sign-in").text
    assert "Nothing like this is in the log." in visitor.get("/account/audit?event=token-made").text
    # Another word is no filter.
    assert "Signed in" in visitor.get("/account/audit?event=<b>").text


def test_an_event_of_a_later_version_is_shown_by_its_name(store: Store, visitor: Visitor) -> None:
    an_account(store, email="admin@silverball.test", role="admin")
    visitor.sign_in_anew("admin@silverball.test")
    with store.write() as transaction:
        transaction.connection.execute(update(audit_entry).values(event="key-turned"))
    assert "<strong>key-turned</strong>" in visitor.get("/account/audit").text
