"""Two-step sign-in: a code of an app after the password. Codes are computed by the library of the apps."""

import io
import re
import zipfile
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pyotp import TOTP
from sqlalchemy import delete, insert, select, update

import build
from silverball.kit.security import passwords, tokens
from silverball.service.accounts.writes import accounts
from silverball.service.users import writes as user_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import encryption
from web import page_forms
from web.test_account import count
from web.test_audit_log import events
from web.test_own_data import send
from web.visitor import EMAIL, PASSWORD, Visitor, an_account

PAGE = "/account/two-step"
CODE = "/account/sign-in/code"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
WRONG = "This code is wrong"


def area(html: str, id_: str) -> str:
    """The content of a text area."""
    found = re.search(rf'<textarea id="{id_}"[^>]*>([^<]*)</textarea>', html)
    assert found is not None
    return unescape(found[1])


def code_at(visitor: Visitor, secret: str = SECRET, steps: int = 0) -> str:
    return TOTP(secret).at(visitor.now + timedelta(seconds=30 * steps))


def a_two_step_account(store: Store, **values: Any) -> int:
    """An account that is asked for codes of SECRET."""
    user_id = an_account(store, **values)
    with store.write() as transaction:
        db = transaction.connection
        stored = encryption.encrypt(db, SECRET)
        row = {"user_id": user_id, "secret": stored, "created_at": build.NOW, "confirmed_at": build.NOW}
        db.execute(insert(tables.two_step).values(**row))
    return user_id


def give_code(visitor: Visitor, asked: Any, code: str, **fields: str) -> Any:
    """Enter a code in the form that a right password led to."""
    form = page_forms.forms_on(asked.text)[CODE]
    return visitor.post(CODE, data=dict(form.filled(code=code, **fields)))


def is_signed_in(visitor: Visitor) -> bool:
    return visitor.get("/account").status_code == 200


def turn_on(visitor: Visitor) -> tuple[str, list[str]]:
    """Turn it on with the pages' forms, and return the secret and the recovery codes."""
    shown = send(visitor, PAGE, "begin")
    assert shown.status_code == 201
    secret = area(shown.text, "secret").replace(" ", "")
    form = page_forms.forms_on(shown.text)["confirm"]
    done = visitor.post(form.action, data=dict(form.filled(code=code_at(visitor, secret))))
    assert done.status_code == 201
    return secret, area(done.text, "codes").split("\n")


def test_somebody_turns_it_on_signs_in_with_it_and_turns_it_off(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    assert f'href="{PAGE}"' in visitor.get("/account").text
    shown = send(visitor, PAGE, "begin")
    secret = area(shown.text, "secret").replace(" ", "")
    uri = urlsplit(unescape(re.search(r'href="(otpauth:[^"]+)"', shown.text)[1]))  # type: ignore[index]
    assert parse_qs(uri.query) == {"secret": [secret], "issuer": ["Silverball silverball.test"]}
    assert "<svg" in shown.text
    assert visitor.get(PAGE).text.count("Turn it on") == 1
    form = page_forms.forms_on(shown.text)["confirm"]
    wrong = visitor.post(form.action, data=dict(form.filled(code="000000")))
    assert (wrong.status_code, area(wrong.text, "secret")) == (422, area(shown.text, "secret"))
    done = visitor.post(form.action, data=dict(form.filled(code=code_at(visitor, secret))))
    recovery_codes = area(done.text, "codes").split("\n")
    assert len(set(recovery_codes)) == 10
    assert all(re.fullmatch(r"(\d{4}-){4}\d{4}", code) for code in recovery_codes)
    assert "10 recovery codes left" in visitor.get(PAGE).text

    # The browser is known, and is asked all the same.
    visitor.post("/account/sign-out", data={"csrf": visitor.csrf()})
    visitor.wait(seconds=30)
    asked = visitor.sign_in()
    assert (asked.status_code, is_signed_in(visitor)) == (200, False)
    assert WRONG in give_code(visitor, asked, "000000").text
    assert not is_signed_in(visitor)
    assert give_code(visitor, asked, code_at(visitor, secret)).headers["location"] == "/account"
    assert is_signed_in(visitor)

    visitor.wait(seconds=30)
    off = {"csrf": visitor.csrf(), "password": PASSWORD, "code": code_at(visitor, secret)}
    for fields, alert in (
        ({"password": "wrong wrong"}, "The password is wrong."),
        ({"code": "000000"}, WRONG),
    ):
        refused = visitor.post(f"{PAGE}/off", data={**off, **fields})
        assert (refused.status_code, alert in refused.text) == (422, True)
    assert visitor.post(f"{PAGE}/off", data=off).headers["location"] == "/account?said=two-step-off"
    assert [count(store, table) for table in ("two_step", "recovery_code", "half_sign_in")] == [0, 0, 0]
    visitor.sign_in_anew()
    assert [event for event, found, _, _ in events(store) if found == user_id] == [
        "sign-in",
        "two-step-on",
        "sign-in-code-refused",
        "sign-in",
        "password-refused",
        "sign-in-code-refused",
        "two-step-off",
        "sign-in",
    ]


def test_a_code_of_a_clock_half_a_minute_off_is_accepted(store: Store, visitor: Visitor) -> None:
    a_two_step_account(store)
    accepted = []
    for steps in (-2, -1, 0, 1, 2):
        visitor.cookies.clear()
        code = code_at(visitor, steps=steps)
        give_code(visitor, visitor.sign_in(), f" {code[:3]} {code[3:]}")
        accepted.append(is_signed_in(visitor))
    assert accepted == [False, True, True, True, False]


def test_no_code_is_accepted_twice_nor_after_a_later_one(store: Store, visitor: Visitor) -> None:
    a_two_step_account(store)
    first, later = code_at(visitor), code_at(visitor, steps=1)
    for code, is_accepted in ((first, True), (first, False), (later, True), (first, False), (later, False)):
        visitor.cookies.clear()
        give_code(visitor, visitor.sign_in(), code)
        assert is_signed_in(visitor) is is_accepted


def test_the_code_that_turned_it_on_is_used_up(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    secret, _ = turn_on(visitor)
    visitor.cookies.clear()
    assert WRONG in give_code(visitor, visitor.sign_in(), code_at(visitor, secret)).text


def test_a_recovery_code_works_once(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    _, (code, other, *_) = turn_on(visitor)
    visitor.cookies.clear()
    give_code(visitor, visitor.sign_in(), code.replace("-", " "))
    assert is_signed_in(visitor)
    assert "9 recovery codes left" in visitor.get(PAGE).text
    visitor.cookies.clear()
    assert WRONG in give_code(visitor, visitor.sign_in(), code).text
    give_code(visitor, visitor.sign_in(), other)
    assert is_signed_in(visitor)
    assert ("recovery-code-used", user_id, "testclient", 1) in events(store)


def test_recovery_codes_are_stored_as_slow_hashes_with_a_salt(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    _, codes = turn_on(visitor)
    with store.read() as db:
        stored = set(db.execute(select(tables.recovery_code.c.hash)).scalars())
    (salt,) = {hashed.partition("$")[0] for hashed in stored}
    assert len(salt) == 32
    digits = [code.replace("-", "") for code in codes]
    assert stored == {f"{salt}${passwords.digest_with_salt(code, bytes.fromhex(salt))}" for code in digits}


def test_recovery_codes_of_the_version_before_still_work(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    turn_on(visitor)
    old = "12345678901234567890"
    with store.write() as transaction:
        db, table = transaction.connection, tables.recovery_code
        db.execute(delete(table))
        db.execute(insert(table).values(user_id=user_id, hash=tokens.digest(f"recovery {user_id} {old}")))
    visitor.cookies.clear()
    give_code(visitor, visitor.sign_in(), old)
    assert is_signed_in(visitor)
    visitor.cookies.clear()
    assert WRONG in give_code(visitor, visitor.sign_in(), old).text


def test_turning_it_on_or_off_ends_all_other_sign_ins(store: Store, visitor: Visitor) -> None:
    an_account(store)
    with Visitor(store) as elsewhere:
        elsewhere.sign_in()
        visitor.sign_in()
        secret, _ = turn_on(visitor)
        assert (is_signed_in(visitor), is_signed_in(elsewhere)) == (True, False)
        visitor.wait(seconds=30)
        elsewhere.now = visitor.now
        give_code(elsewhere, elsewhere.sign_in(), code_at(visitor, secret))
        visitor.wait(seconds=30)
        elsewhere.now = visitor.now
        before = visitor.cookies["silverball_session"]
        off = {"csrf": visitor.csrf(), "password": PASSWORD, "code": code_at(visitor, secret)}
        assert is_signed_in(elsewhere)
        assert visitor.post(f"{PAGE}/off", data=off).status_code == 303
        assert (is_signed_in(visitor), is_signed_in(elsewhere)) == (True, False)
        assert visitor.cookies["silverball_session"] != before


def test_wrong_codes_wait_longer_each_time_wherever_they_come_from(store: Store) -> None:
    a_two_step_account(store)
    with Visitor(store, client=("127.0.0.1", 1)) as visitor:
        for n in range(5):
            visitor.headers["x-forwarded-for"] = f"192.0.2.{n}"
            # A right password in between gives no new attempts.
            assert WRONG in give_code(visitor, visitor.sign_in(), "000000").text
        visitor.headers["x-forwarded-for"] = "192.0.2.99"
        asked = visitor.sign_in()
        refused = give_code(visitor, asked, code_at(visitor))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        visitor.wait(seconds=1)
        assert give_code(visitor, asked, "000000").status_code == 422
        assert give_code(visitor, asked, code_at(visitor)).headers["retry-after"] == "2"
        visitor.wait(seconds=2)
        assert give_code(visitor, asked, code_at(visitor)).status_code == 303


def test_a_known_browser_does_not_wait_for_wrong_codes_of_others(store: Store, visitor: Visitor) -> None:
    a_two_step_account(store)
    give_code(visitor, visitor.sign_in(), code_at(visitor))
    browser = visitor.cookies["silverball_browser"]
    visitor.cookies.clear()
    visitor.wait(minutes=1)
    for _ in range(5):
        give_code(visitor, visitor.sign_in(), "000000")
    assert give_code(visitor, visitor.sign_in(), code_at(visitor)).status_code == 429
    visitor.cookies.set("silverball_browser", browser)
    assert give_code(visitor, visitor.sign_in(), code_at(visitor)).status_code == 303


def test_the_code_is_asked_for_five_minutes(store: Store, visitor: Visitor) -> None:
    a_two_step_account(store)
    asked = visitor.sign_in()
    visitor.wait(minutes=5)
    late = give_code(visitor, asked, code_at(visitor))
    assert (late.status_code, "Sign in again" in late.text) == (422, True)
    assert visitor.get(CODE).status_code == 200
    assert give_code(visitor, visitor.sign_in(), code_at(visitor)).status_code == 303
    assert visitor.get(CODE).headers["location"] == "/account"


def test_nobody_gets_past_the_password_with_a_code_alone(store: Store, visitor: Visitor) -> None:
    a_two_step_account(store)
    csrf = visitor.csrf("/account/sign-in")
    for half in ("", "guessed", "x" * 500):
        answer = visitor.post(CODE, data={"csrf": csrf, "half": half, "code": code_at(visitor)})
        assert answer.status_code == 422
    assert not is_signed_in(visitor)


@pytest.mark.parametrize("happening", ["suspended", "password"])
def test_a_sign_in_that_waits_for_its_code_ends_with(store: Store, visitor: Visitor, happening: str) -> None:
    user_id = a_two_step_account(store)
    asked = visitor.sign_in()
    with store.write() as transaction:
        if happening == "suspended":
            accounts.suspend(transaction, user_id, now=visitor.now)
        else:
            hashed = passwords.hash_password("another horse 9")
            user_writes.set_password(transaction.connection, user_id, hashed)
    assert give_code(visitor, asked, code_at(visitor)).status_code == 422
    assert not is_signed_in(visitor)


def test_the_password_is_asked_for_before_a_secret_is_shown(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    visitor.wait(minutes=10)
    for fields in ({}, {"password": "wrong wrong"}):
        assert send(visitor, PAGE, "begin", **fields).status_code == 422
    assert count(store, "two_step") == 0
    shown = send(visitor, PAGE, "begin", password=PASSWORD)
    assert shown.status_code == 201
    visitor.wait(minutes=10)
    form = page_forms.forms_on(shown.text)["confirm"]
    secret = area(shown.text, "secret").replace(" ", "")
    late = visitor.post(form.action, data=dict(form.filled(code=code_at(visitor, secret))))
    assert late.headers["location"] == f"{PAGE}?said=again"
    visitor.sign_in_anew()


def test_a_second_app_needs_the_first_to_be_turned_off(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    turn_on(visitor)
    csrf = visitor.csrf()
    again = visitor.post(f"{PAGE}/begin", data={"csrf": csrf})
    assert (again.status_code, "is on already" in again.text) == (409, True)
    confirmed = visitor.post(f"{PAGE}/confirm", data={"csrf": csrf, "code": "000000"})
    assert confirmed.headers["location"] == PAGE
    for form in ("begin", "confirm", "off"):
        assert visitor.get(f"{PAGE}/{form}").headers["location"] == PAGE


def test_no_secret_is_stored_in_plain_exported_or_shown_again(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    secret, recovery_codes = turn_on(visitor)
    with store.read() as db:
        stored = str([db.execute(select(table)).all() for table in tables.metadata.sorted_tables])
    copy = zipfile.ZipFile(io.BytesIO(visitor.get("/account/data.zip").content))
    shown = [copy.read(name).decode() for name in copy.namelist()]
    assert any("two_step_sign_in" in text for text in shown)
    with store.read() as db:
        encrypted = db.execute(select(tables.two_step.c.secret)).scalar_one()
    shown += [visitor.get(path).text for path in ("/account", PAGE, "/account/data", "/account/profile")]
    for hidden in (secret, *recovery_codes, *(code.replace("-", "") for code in recovery_codes)):
        assert hidden not in stored
        assert not any(hidden in text for text in shown)
    assert not any(encrypted in text for text in shown)


def test_a_server_without_a_key_says_what_is_missing(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    store.key_file.may_make = False
    refused = send(visitor, PAGE, "begin")
    assert (refused.status_code, "SILVERBALL_SECRET_FILE" in refused.text) == (503, True)
    assert count(store, "two_step") == 0


def test_with_a_lost_key_a_recovery_code_lets_in_and_the_account_says_what_is_off(
    store: Store, visitor: Visitor
) -> None:
    an_account(store)
    visitor.sign_in()
    secret, (recovery, *_) = turn_on(visitor)
    assert "Off without the key" not in visitor.get("/account").text
    visitor.cookies.clear()
    assert store.key_file.path is not None
    store.key_file.path.rename(store.key_file.path.with_name("aside"))
    visitor.wait(minutes=5)
    refused = give_code(visitor, visitor.sign_in(), code_at(visitor, secret))
    assert (refused.status_code, "Enter a recovery code" in refused.text) == (503, True)
    assert not is_signed_in(visitor)
    give_code(visitor, refused, recovery)
    assert "webhooks (their messages wait)" in visitor.get("/account").text
    store.key_file.path.with_name("aside").rename(store.key_file.path)
    assert "Off without the key" not in visitor.get("/account").text


def test_a_form_that_the_sign_in_interrupted_waits_for_the_code_too(store: Store, visitor: Visitor) -> None:
    a_two_step_account(store)
    give_code(visitor, visitor.sign_in(), code_at(visitor))
    form = page_forms.forms_on(visitor.get("/account").text)["/account/tokens"]
    visitor.wait(days=15)
    sent = dict(form.filled(name="Score board"))
    asked = visitor.post(form.action, data=sent, headers={"sec-fetch-site": "same-origin"})
    sign_in = page_forms.forms_on(asked.text)["/account/sign-in"]
    asked = visitor.post(sign_in.action, data=dict(sign_in.filled(email=EMAIL, password=PASSWORD)))
    back = give_code(visitor, asked, code_at(visitor))
    assert page_forms.forms_on(back.text)["/account/tokens"].value("name") == "Score board"


def test_a_deleted_account_leaves_no_secret_behind(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    turn_on(visitor)
    send(visitor, "/account/data", "delete", password=PASSWORD, sure="yes")
    tables_left = ("two_step", "recovery_code", "half_sign_in", "known_browser")
    assert [count(store, table) for table in tables_left] == [0] * 4


def test_an_unconfirmed_secret_asks_for_nothing(store: Store, visitor: Visitor) -> None:
    user_id = a_two_step_account(store)
    with store.write() as transaction:
        row = update(tables.two_step).where(tables.two_step.c.user_id == user_id).values(confirmed_at=None)
        transaction.connection.execute(row)
    assert visitor.sign_in().status_code == 303


def demand(visitor: Visitor, of: str) -> Any:
    """Say of whom the site demands it, with the form of the administrators' page."""
    form = page_forms.forms_on(visitor.get("/account/accounts").text)["demand"]
    return visitor.post(form.action, data=dict(form.filled(of=of)))


@pytest.mark.parametrize(
    ("of", "is_player_asked"), [("nobody", False), ("administrators", False), ("everybody", True)]
)
@pytest.mark.both_databases
def test_a_site_demands_it_of_administrators_or_of_everybody(
    store: Store, of: str, is_player_asked: bool
) -> None:
    admin_id = an_account(store, role="admin")
    an_account(store, email="bo@silverball.test", role="player")
    admin, other, player = Visitor(store), Visitor(store), Visitor(store)
    admin.sign_in()
    assert "for yourself first" in demand(admin, "everybody").text
    turn_on(admin)
    assert demand(admin, of).headers["location"].endswith("said=demanded")
    assert demand(admin, "robots").status_code == 422
    assert admin.get("/account").status_code == 200
    assert (admin_id, "two-step-demanded") in [(found, event) for event, found, _, _ in events(store)]
    an_account(store, email="cleo@silverball.test", role="admin")
    for visitor, email, is_asked in (
        (other, "cleo@silverball.test", of != "nobody"),
        (player, "bo@silverball.test", is_player_asked),
    ):
        visitor.sign_in(email)
        answer = visitor.get("/account")
        assert (answer.status_code == 303) == is_asked
        if not is_asked:
            continue
        assert answer.headers["location"] == f"{PAGE}?said=demanded"
        shown = visitor.get(f"{PAGE}?said=demanded").text
        assert "This site demands two-step sign-in." in shown
        csrf = page_forms.forms_on(shown)["begin"].value("csrf")
        refused = visitor.post("/account/profile", data={"csrf": csrf, "name": "Somebody Else"})
        assert refused.status_code == 403
        assert visitor.get("/account/sign-in").status_code < 400
        turn_on(visitor)
        assert is_signed_in(visitor)
