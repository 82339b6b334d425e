"""Pages of administrators: federation numbers that wait, and accounts that are suspended."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import rating_days
from web import page_forms
from web.test_account import count
from web.test_own_data import send
from web.visitor import Visitor, an_account

NUMBERS, ACCOUNTS = "/account/numbers", "/account/accounts"


@pytest.fixture
def administrator(store: Store, visitor: Visitor) -> Visitor:
    an_account(store, name="Ada Min", role="admin")
    visitor.sign_in()
    return visitor


def confirmed(store: Store) -> dict[int, int]:
    with store.read() as db:
        return rating_days.all_confirmed(db).user_by_number


def test_a_number_that_waits_is_confirmed_and_withdrawn(store: Store, administrator: Visitor) -> None:
    vic = build.a_user(store, name="<b>Vic", ifpa_id=38773)
    thief = build.a_user(store, name="Thi Ef", ifpa_id=38773)
    assert f'href="{NUMBERS}"' in administrator.get("/account").text
    answer = send(administrator, NUMBERS, f"number-{vic}-38773")
    assert answer.headers["location"] == f"{NUMBERS}?said=confirmed"
    page = administrator.get(answer.headers["location"]).text
    assert ("Confirmed. The next" in page, f"confirmed for account {vic}" in page) == (True, True)
    refused = send(administrator, NUMBERS, f"number-{thief}-38773")
    assert (refused.status_code, "confirmed for user" in refused.text) == (409, True)
    assert confirmed(store) == {38773: vic}
    assert "&lt;b&gt;Vic" in administrator.get(f"{NUMBERS}?status=confirmed").text
    answer = send(administrator, f"{NUMBERS}?status=confirmed", f"number-{vic}-38773")
    assert "said=withdrawn" in answer.headers["location"]
    assert confirmed(store) == {}


def test_a_number_is_confirmed_by_hand(store: Store, administrator: Visitor) -> None:
    vic = build.a_user(store, name="Vic Tor")
    assert "No number waits." in administrator.get(NUMBERS).text
    assert send(administrator, NUMBERS, "other-form", user_id=vic, number="17").status_code == 303
    assert confirmed(store) == {17: vic}
    for user_id, number in ((999, "18"), ("x", "18"), (vic, "x"), ("", "")):
        answer = send(administrator, NUMBERS, "other-form", user_id=user_id, number=number)
        assert answer.status_code == 404
    assert confirmed(store) == {17: vic}


def test_a_long_list_has_pages(store: Store, administrator: Visitor) -> None:
    for number in range(1, 103):
        build.a_user(store, ifpa_id=number)
    first, second = (administrator.get(f"{NUMBERS}?page={page}").text for page in (1, 2))
    assert ("Waiting (102)" in first, "Page 2 of 2" in second) == (True, True)
    assert len([form for form in page_forms.forms_on(second) if form.startswith("number-")]) == 2
    for page in ("0", "99", "x", "9" * 50):
        assert administrator.get(f"{NUMBERS}?page={page}").status_code == 200


def post_form(visitor: Visitor, form: str, **fields: str) -> Any:
    """Send a form with fields that its page does not offer any more."""
    data = {"csrf": visitor.csrf(NUMBERS), **fields}
    return visitor.post(f"{NUMBERS}/{form}", data=data, headers={"sec-fetch-site": "same-origin"})


def test_all_shown_numbers_are_confirmed_but_those_with_something_in_the_way(
    store: Store, administrator: Visitor
) -> None:
    organizer = build.a_user(store, name="<i>Olga", role="organizer")
    vic = build.a_user(store, name="Vic Tör", ifpa_id=38773)
    build.a_player(store, organizer, name="<b>Vic", ifpa_id=38773, claimed_by=vic)
    build.a_federation_record(store, 38773, "Vic Tor")
    build.a_user(store, name="Mel Ody", ifpa_id=44444)
    page = administrator.get(NUMBERS).text
    assert "Confirm all shown (1)" in page
    assert "In the way: not in the federation" in page
    assert ("&lt;b&gt;Vic" in page, "&lt;i&gt;Olga" in page) == (True, True)
    answer = send(administrator, NUMBERS, "confirm-shown")
    batch = answer.headers["location"]
    assert batch.startswith(f"{NUMBERS}?said=batch&batch=")
    assert confirmed(store) == {38773: vic}
    page = administrator.get(batch).text
    assert ("These are confirmed." in page, "Batch" in page, "Mel Ody" in page) == (True, True, False)
    assert send(administrator, batch, "take-back").headers["location"] == f"{NUMBERS}?said=taken-back"
    assert confirmed(store) == {}
    assert "confirm-shown" in page_forms.forms_on(administrator.get(NUMBERS).text)
    # Somebody else claims it in the meantime.
    shown = f"{vic}:38773"
    build.a_user(store, name="Thi Ef", ifpa_id=38773)
    refused = post_form(administrator, "confirm-shown", numbers=shown)
    assert (refused.status_code, "can be confirmed together any more" in refused.text) == (409, True)
    for wrong in ("x", "1", "1:x", f"{vic}:0"):
        assert post_form(administrator, "confirm-shown", numbers=wrong).status_code == 404
    for wrong in ("", "x", "77"):
        assert post_form(administrator, "take-back", batch=wrong).status_code == 404
    assert administrator.get(f"{NUMBERS}?batch=x").status_code == 404
    assert confirmed(store) == {}


def test_an_account_is_found_suspended_and_let_in_again(
    store: Store, administrator: Visitor, tablet: Visitor
) -> None:
    spammer = an_account(store, name="Spåm Mer", email="spam@silverball.test")
    tablet.sign_in("spam@silverball.test")
    assert "No account is suspended." in administrator.get(ACCOUNTS).text
    for words in ("spam", "SPAM@silverball.test", str(spammer)):
        assert f"account-{spammer}" in page_forms.forms_on(administrator.get(f"{ACCOUNTS}?q={words}").text)
    answer = send(administrator, f"{ACCOUNTS}?q=spam", f"account-{spammer}")
    assert answer.headers["location"] == f"{ACCOUNTS}?said=suspended&q={spammer}"
    assert tablet.get("/account").status_code == 303
    assert count(store, "session") == 1
    assert "suspended since" in administrator.get(ACCOUNTS).text
    assert send(administrator, ACCOUNTS, f"account-{spammer}").status_code == 303
    tablet.sign_in_anew("spam@silverball.test")
    with store.read() as db:
        entry = tables.audit_entry.c
        rows = db.execute(tables.audit_entry.select().where(entry.event.startswith("account-"))).all()
    assert [(row.event, row.user_id) for row in rows] == [
        ("account-suspended", spammer),
        ("account-unsuspended", spammer),
    ]


def test_administrators_do_not_suspend_themselves_or_nobody(store: Store, administrator: Visitor) -> None:
    page = administrator.get(f"{ACCOUNTS}?q=Ada").text
    assert not [form for form in page_forms.forms_on(page) if form.startswith("account-")]
    csrf = {"csrf": administrator.csrf()}
    assert administrator.post(f"{ACCOUNTS}/1/suspend", data=csrf).status_code == 409
    for user_id in ("999", "x", "0", "9" * 40):
        assert administrator.post(f"{ACCOUNTS}/{user_id}/suspend", data=csrf).status_code == 404
    for words in ("%00", "9" * 30, "²", "x" * 500, "%25"):
        assert administrator.get(f"{ACCOUNTS}?q={words}").status_code == 200


def test_others_see_neither_page_and_change_nothing(store: Store, visitor: Visitor) -> None:
    an_account(store, role="organizer")
    visitor.sign_in()
    assert NUMBERS not in visitor.get("/account").text
    csrf, other = {"csrf": visitor.csrf()}, build.a_user(store, ifpa_id=17)
    for path in (NUMBERS, ACCOUNTS):
        assert visitor.get(path).status_code == 404
    sent = {**csrf, "user_id": str(other), "number": "17"}
    for form in (f"{NUMBERS}/confirm", f"{NUMBERS}/withdraw", f"{ACCOUNTS}/{other}/suspend"):
        assert visitor.post(form, data=sent).status_code == 404
    assert confirmed(store) == {}
