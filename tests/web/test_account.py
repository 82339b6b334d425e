"""The account page: signing in and out, and the account's API tokens. Source: specification 5.2, style."""

import re
from html import unescape

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select

import build
from silverball.service.accounts import reads as accounts_reads
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as user_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.visitor import EMAIL, PASSWORD, PASSWORD_HASH, Visitor, an_account, tokens_on

HOSTILE = "<script>alert(1)</script>\"'&amp; {{7*7}} \u202eevil"
WRONG = "The e-mail or the password is wrong."


def count(store: Store, table: str) -> int:
    with store.read() as db:
        return int(db.execute(select(func.count()).select_from(tables.metadata.tables[table])).scalar_one())


def test_a_visitor_without_a_session_is_redirected_to_the_sign_in_page(visitor: Visitor) -> None:
    for path in ("/account", "/account/"):
        answer = visitor.get(path)
        assert answer.status_code in {303, 404}
    assert visitor.get("/account").headers["location"] == "/account/sign-in"


def test_signing_in_leads_to_the_account(store: Store, visitor: Visitor) -> None:
    an_account(store)
    answer = visitor.sign_in(" ADA@silverball.test")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    page = visitor.get("/account")
    assert page.status_code == 200
    assert "Ada Quill" in page.text
    assert visitor.get("/account/sign-in").headers["location"] == "/account"


@pytest.mark.parametrize(
    ("email", "password"),
    [
        (EMAIL, "wrong password"),
        (EMAIL, ""),
        (EMAIL, PASSWORD + " "),
        ("nobody@silverball.test", PASSWORD),
        ("bo@silverball.test", PASSWORD),
        ("", ""),
        ("a\x00b", PASSWORD),
    ],
)
def test_a_wrong_sign_in_says_the_same_whether_or_not_the_account_exists(
    store: Store, visitor: Visitor, email: str, password: str
) -> None:
    an_account(store)
    build.a_user(store, email="bo@silverball.test")
    answer = visitor.sign_in(email, password)
    assert answer.status_code == 422
    assert re.findall(r'role="alert"[^>]*>([^<]*)<', answer.text) == [WRONG]
    assert count(store, "session") == 0


def test_a_wrong_password_keeps_the_typed_email_and_never_the_password(
    store: Store, visitor: Visitor
) -> None:
    an_account(store)
    answer = visitor.sign_in(EMAIL, "my secret guess")
    assert f'value="{EMAIL}"' in answer.text
    assert "my secret guess" not in answer.text


def test_after_five_failures_the_page_says_how_long_to_wait(store: Store, visitor: Visitor) -> None:
    an_account(store)
    for _ in range(5):
        assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
    visitor.wait(seconds=1)
    assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
    refused = visitor.sign_in()
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert "Wait 2 seconds" in refused.text
    visitor.wait(seconds=2)
    assert visitor.sign_in().status_code == 303


def test_failures_with_other_accounts_at_a_venue_slow_nobody_down(store: Store) -> None:
    an_account(store)
    with Visitor(store, client=("192.0.2.1", 1)) as visitor:
        for _ in range(5):
            assert visitor.sign_in("bo@silverball.test").status_code == 422
        assert visitor.sign_in("bo@silverball.test").status_code == 429
        assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
        assert visitor.sign_in().status_code == 303


def test_failures_from_elsewhere_do_not_lock_the_owner_out(store: Store) -> None:
    an_account(store)
    with Visitor(store, client=("127.0.0.1", 1)) as visitor:
        for n in range(200):
            visitor.headers["x-forwarded-for"] = f"192.0.2.{n % 40}"
            assert visitor.sign_in(EMAIL, "wrong password").status_code in (422, 429)
        visitor.headers["x-forwarded-for"] = "192.0.2.99"
        assert visitor.sign_in().status_code == 303


def test_a_browser_that_signed_in_before_waits_for_its_own_failures_only(store: Store) -> None:
    an_account(store)
    with Visitor(store, client=("192.0.2.1", 1)) as visitor:
        assert visitor.sign_in().status_code == 303
        browser = visitor.cookies["silverball_browser"]
        visitor.cookies.clear()
        for _ in range(5):
            assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
        assert visitor.sign_in().status_code == 429
        visitor.cookies.set("silverball_browser", browser)
        for _ in range(5):
            assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
        assert visitor.sign_in().status_code == 429
        visitor.wait(seconds=2)
        assert visitor.sign_in().status_code == 303


def test_a_new_password_forgets_the_browsers_that_signed_in(store: Store) -> None:
    user_id = an_account(store)
    with Visitor(store) as visitor:
        assert visitor.sign_in().status_code == 303
        secret = visitor.cookies["silverball_browser"]
        with store.read() as db:
            assert accounts_reads.is_known_browser(db, user_id, secret)
        with store.write() as transaction:
            user_writes.set_password(transaction.connection, user_id, PASSWORD_HASH)
        with store.read() as db:
            assert not accounts_reads.is_known_browser(db, user_id, secret)


def test_a_stranger_cannot_claim_to_come_from_elsewhere(store: Store) -> None:
    an_account(store)
    with Visitor(store, client=("192.0.2.1", 1)) as visitor:
        for n in range(5):
            visitor.headers["x-forwarded-for"] = f"198.51.100.{n}"
            assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
        assert visitor.sign_in().status_code == 429


def test_a_whole_ipv6_network_counts_as_one_address(store: Store) -> None:
    an_account(store)
    with Visitor(store, client=("127.0.0.1", 1)) as visitor:
        for n in range(5):
            visitor.headers["x-forwarded-for"] = f"2001:db8:0:1::{n}"
            assert visitor.sign_in(EMAIL, "wrong password").status_code == 422
        visitor.headers["x-forwarded-for"] = "2001:db8:0:1:ffff::1"
        assert visitor.sign_in().status_code == 429
        visitor.headers["x-forwarded-for"] = "2001:db8:0:2::1"
        assert visitor.sign_in().status_code == 303


def test_signing_in_rightly_never_uses_up_the_attempts(store: Store, visitor: Visitor) -> None:
    an_account(store)
    for _ in range(8):
        visitor.cookies.clear()
        assert visitor.sign_in().status_code == 303


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(store: Store) -> None:
    an_account(store)
    with Visitor(store) as plain:
        cookie = plain.sign_in().headers["set-cookie"]
    assert "silverball_session=" in cookie
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=1209600"} <= set(re.split(r"[;,] ", cookie))
    assert "Secure" not in cookie
    with Visitor(store, base_url="https://silverball.test") as safe:
        cookie = safe.sign_in().headers["set-cookie"]
        assert safe.get("/account").status_code == 200
    assert cookie.startswith("__Host-silverball_session=")
    assert "Secure" in cookie


def test_signing_in_makes_the_session_that_the_browser_brought_worthless(
    store: Store, visitor: Visitor
) -> None:
    an_account(store)
    visitor.sign_in()
    before = visitor.cookies["silverball_session"]
    csrf = visitor.csrf()
    visitor.post("/account/sign-in", data={"csrf": csrf, "email": EMAIL, "password": PASSWORD})
    after = visitor.cookies["silverball_session"]
    assert before != after
    assert count(store, "session") == 1
    visitor.cookies.set("silverball_session", before, domain="silverball.test", path="/")
    assert visitor.get("/account").headers["location"] == "/account/sign-in?said=over"


def test_a_planted_cookie_does_not_become_a_session(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.cookies.set("silverball_session", "planted", domain="silverball.test", path="/")
    visitor.sign_in()
    assert visitor.cookies["silverball_session"] != "planted"


def test_a_session_is_over_after_fourteen_days(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    csrf = visitor.csrf()
    visitor.wait(days=14)
    answer = visitor.post("/account/tokens", data={"csrf": csrf, "name": "Board", "ability": "read"})
    assert answer.headers["location"] == "/account/sign-in?said=over"
    assert "Your session is over" in visitor.get(answer.headers["location"]).text
    assert count(store, "token") == 0


def test_signing_out_ends_the_session_on_the_server_too(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    secret = visitor.cookies["silverball_session"]
    answer = visitor.post("/account/sign-out", data={"csrf": visitor.csrf()})
    assert answer.headers["location"] == "/account/sign-in?said=out"
    assert "silverball_session" not in visitor.cookies
    visitor.cookies.set("silverball_session", secret)
    assert visitor.get("/account").status_code == 303
    assert count(store, "session") == 0


@pytest.mark.parametrize("csrf", ["", "guess", "é\x00"])
@pytest.mark.parametrize("path", ["/account/tokens", "/account/tokens/1/revoke", "/account/sign-out"])
def test_a_form_without_its_secret_changes_nothing(
    store: Store, visitor: Visitor, path: str, csrf: str
) -> None:
    an_account(store)
    visitor.sign_in()
    visitor.create_token()
    answer = visitor.post(path, data={"csrf": csrf, "name": "Board", "ability": "read"})
    assert answer.status_code == 419
    assert 'href="/account"' in answer.text
    assert (count(store, "token"), count(store, "session")) == (1, 1)


def test_the_sign_in_form_has_a_secret_too(store: Store, visitor: Visitor) -> None:
    an_account(store)
    fields = {"email": EMAIL, "password": PASSWORD}
    assert visitor.post("/account/sign-in", data=fields).status_code == 419
    csrf = visitor.csrf("/account/sign-in")
    visitor.cookies.clear()
    assert visitor.post("/account/sign-in", data={**fields, "csrf": csrf}).status_code == 419


def test_the_csrf_token_of_one_session_is_refused_in_another(store: Store, visitor: Visitor) -> None:
    an_account(store)
    an_account(store, name="Bo", email="bo@silverball.test")
    visitor.sign_in("bo@silverball.test")
    csrf = visitor.csrf()
    visitor.cookies.clear()
    visitor.sign_in()
    assert visitor.post("/account/tokens", data={"csrf": csrf, "name": "x"}).status_code == 419


def test_a_new_token_is_shown_once_and_works(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store, role="organizer")
    visitor.sign_in()
    made = visitor.create_token(name="Score board", ability="manage")
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    (token,) = tokens_on(made.text)
    caller = visitor.speaks_for(token)
    assert caller is not None
    assert (caller.user_id, caller.ability) == (user_id, "manage")
    assert tokens_on(visitor.get("/account").text) == []
    assert "Score board" in visitor.get("/account").text


def test_a_token_whose_form_is_sent_twice_is_made_once(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    form = page_forms.forms_on(visitor.get("/account").text)["/account/tokens"]
    sent = dict(form.filled(name="Score board"))
    assert len(tokens_on(visitor.post(form.action, data=sent).text)) == 1
    again = visitor.post(form.action, data=sent)
    assert again.status_code == 200
    assert tokens_on(again.text) == []
    assert "This token was made when the form was sent before" in again.text
    assert count(store, "token") == 1
    other = visitor.post(form.action, data={**sent, "name": "Another"})
    assert other.status_code == 422
    assert "used for another request" in other.text
    renewed = page_forms.forms_on(other.text)["/account/tokens"]
    assert visitor.post(form.action, data=dict(renewed.fields)).status_code == 201
    assert count(store, "token") == 2


def test_the_secret_of_a_token_is_not_stored_with_the_answer(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    form = page_forms.forms_on(visitor.get("/account").text)["/account/tokens"]
    (token,) = tokens_on(visitor.post(form.action, data=dict(form.filled(name="Score board"))).text)
    with store.read() as db:
        kept = [row for table in tables.metadata.sorted_tables for row in db.execute(select(table))]
    assert token.partition("|")[2] not in repr(kept)


def test_a_form_for_a_token_survives_a_lost_session(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    form = page_forms.forms_on(visitor.get("/account").text)["/account/tokens"]
    visitor.wait(days=15)
    asked = visitor.post(
        form.action, data=dict(form.filled(name="Score board")), headers={"sec-fetch-site": "same-origin"}
    )
    assert asked.status_code == 401
    sign_in = page_forms.forms_on(asked.text)["/account/sign-in"]
    back = visitor.post(sign_in.action, data=dict(sign_in.filled(email=EMAIL, password=PASSWORD)))
    assert back.status_code == 419
    filled = page_forms.forms_on(back.text)["/account/tokens"]
    assert filled.value("name") == "Score board"
    assert visitor.post(filled.action, data=dict(filled.fields)).status_code == 201


def test_a_token_expires_after_the_days_that_were_asked_for(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    (token,) = tokens_on(visitor.create_token(expires="3").text)
    visitor.wait(days=3, seconds=-1)
    assert visitor.speaks_for(token) is not None
    visitor.wait(seconds=1)
    assert visitor.speaks_for(token) is None
    visitor.sign_in_anew()
    assert ">expired<" in visitor.get("/account").text


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"name": ""}, "name", "The name field is required."),
        ({"name": "x" * 101}, "name", "The name field must not be greater than 100 characters."),
        ({"name": "a\x00b"}, "name", "The name field must not have line breaks or control characters."),
        ({"ability": ""}, "ability", "The selected ability is invalid."),
        ({"ability": "god"}, "ability", "The selected ability is invalid."),
        ({"ability": "manage"}, "ability", "A token of a player can have: read, score."),
        ({"expires": "0"}, "expires", "The expires field must be between 1 and 3650 days."),
        ({"expires": "-1"}, "expires", "The expires field must be between 1 and 3650 days."),
        ({"expires": "soon"}, "expires", "The expires field must be between 1 and 3650 days."),
        ({"expires": "9" * 50}, "expires", "The expires field must be between 1 and 3650 days."),
    ],
)
def test_a_fault_is_shown_at_its_field_and_entries_stay(
    store: Store, visitor: Visitor, fields: dict[str, str], field: str, sentence: str
) -> None:
    an_account(store)
    visitor.sign_in()
    answer = visitor.create_token(**{"name": "Typed name", **fields})
    assert answer.status_code == 422
    assert f'role="alert" id="{field}-fault">{sentence}<' in answer.text
    assert f'aria-describedby="{field}-fault' in answer.text
    assert "name" in fields or 'value="Typed name"' in answer.text
    assert count(store, "token") == 0


def test_a_player_is_offered_only_what_a_player_may_do(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    assert re.findall(r'name="ability" value="(\w+)"', visitor.get("/account").text) == ["read", "score"]


def test_a_revoked_token_no_longer_works(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    (token,) = tokens_on(visitor.create_token().text)
    answer = visitor.revoke(token.partition("|")[0])
    assert answer.headers["location"] == "/account?said=revoked"
    assert visitor.speaks_for(token) is None
    assert "The token is revoked" in visitor.get("/account?said=revoked").text


@pytest.mark.parametrize("token_id", ["other", "0", "999", "abc", "99999999999999999999", "%00", "é"])
def test_only_own_tokens_can_be_revoked(store: Store, visitor: Visitor, token_id: str) -> None:
    an_account(store, name="Bo", email="bo@silverball.test")
    an_account(store)
    visitor.sign_in("bo@silverball.test")
    (token,) = tokens_on(visitor.create_token(name="Token of Bo").text)
    visitor.cookies.clear()
    visitor.sign_in()
    answer = visitor.revoke(token.partition("|")[0] if token_id == "other" else token_id)
    assert answer.status_code == 404
    assert 'href="/account"' in answer.text
    assert visitor.speaks_for(token) is not None
    assert "Token of Bo" not in visitor.get("/account").text


def test_hostile_names_are_shown_as_text(store: Store, visitor: Visitor) -> None:
    an_account(store, name=HOSTILE)
    visitor.sign_in()
    name = HOSTILE.replace("\u202e", "")
    pages = [
        visitor.create_token(name=name),
        visitor.get("/account"),
        visitor.create_token(name=name * 9),
    ]
    for page in pages:
        assert "<script" not in page.text
        assert "49" not in re.sub(r"[\w-]{20,}", "", page.text)
    assert name in unescape(pages[0].text)
    visitor.cookies.clear()
    failed = visitor.sign_in('"><script>alert(1)</script>')
    assert "<script" not in failed.text


def test_every_answer_keeps_the_page_to_itself(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    style = re.findall(r'href="(/static/[^"]+)"', visitor.get("/account").text)
    paths = ["/account", "/account/sign-in", "/account/none", "/static/none.css", *style]
    for path in paths:
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "form-action 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "base-uri 'none'" in policy
        assert "unsafe" not in policy
        assert headers["referrer-policy"] == "same-origin"
        assert "no-store" in headers["cache-control"] or path.startswith("/static/")


def test_static_files_are_cached_until_they_change(visitor: Visitor) -> None:
    for path in re.findall(r'"(/static/[^"]+)"', visitor.get("/account/sign-in").text):
        answer = visitor.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert visitor.get(path[:-1] + "x").headers["cache-control"] == "no-cache"
    assert visitor.get("/static/../app.py").status_code == 404
    assert visitor.get("/static/%2e%2e/app.py").status_code == 404


def test_nothing_is_loaded_from_elsewhere(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    pages = visitor.get("/account").text + visitor.create_token().text + visitor.get("/account/none").text
    loaded = re.findall(r'(?:src|href|action)="([^"]*)"', pages)
    assert loaded
    assert all(address.startswith(("/", "#")) and not address.startswith("//") for address in loaded)
    assert "style=" not in pages
    assert "<style" not in pages


@pytest.mark.parametrize(
    ("path", "status"),
    [("/account/none", 404), ("/account/tokens/x", 404), ("/static/", 404)],
)
def test_an_address_that_does_not_exist_says_so_and_shows_a_way_on(
    visitor: Visitor, path: str, status: int
) -> None:
    answer = visitor.get(path)
    assert answer.status_code == status
    assert 'href="/account"' in answer.text


def test_the_address_of_a_form_can_be_opened(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    for path in ("/account/tokens", "/account/sign-out", "/account/tokens/1/revoke"):
        assert visitor.get(path).headers["location"] == "/account"
    assert visitor.put("/account").status_code == 405


def test_a_form_larger_than_any_of_ours_is_refused(store: Store, visitor: Visitor) -> None:
    an_account(store)
    large = visitor.post("/account/sign-in", data={"email": "x" * 70_000})
    assert large.status_code == 413
    assert "larger" in large.text
    many = visitor.post("/account/sign-in", data={f"f{n}": "x" for n in range(60)})
    assert many.status_code == 413
    other = visitor.post("/account/sign-in", json={"email": EMAIL, "password": PASSWORD})
    assert other.status_code == 419


def test_a_password_under_older_parameters_is_hashed_anew_at_sign_in(store: Store, visitor: Visitor) -> None:
    older = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)
    an_account(store, password_hash=older)
    assert visitor.sign_in().status_code == 303
    with store.read() as db:
        stored = db.execute(select(tables.user.c.password_hash)).scalar_one()
    assert stored != older
    assert visitor.get("/account").status_code == 200
    visitor.cookies.clear()
    assert visitor.sign_in().status_code == 303


def test_a_hundred_tokens_are_listed_and_the_next_is_refused(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    csrf = visitor.csrf()
    for n in range(100):
        visitor.post("/account/tokens", data={"csrf": csrf, "name": f"Token {n}", "ability": "read"})
    refused = visitor.create_token()
    assert refused.status_code == 409
    assert "Revoke one" in refused.text
    with store.read() as db:
        assert len(users_reads.owned_by(db, user_id)) == 100


def test_a_crash_says_nothing_about_itself(store: Store) -> None:
    an_account(store)
    with Visitor(store, raise_server_exceptions=False) as visitor:
        visitor.sign_in()
        tables.metadata.tables["token"].drop(store.engine)
        answer = visitor.get("/account")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.text
    assert "token" not in answer.text.lower().replace("tokens", "")
    assert "content-security-policy" in answer.headers
