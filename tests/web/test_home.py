"""The first page, the first account, and the form of a new tournament."""

import re
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from sqlalchemy import func, select

import build
from silverball.kit.errors import Conflict
from silverball.rules.model.settings import format_settings
from silverball.rules.registry import FORMATS
from silverball.service.users import reads as user_reads
from silverball.service.users import writes as user_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.web.console import settings
from silverball.web.forms import format_titles
from web import page_forms
from web.director import FORM_TYPE, Director
from web.visitor import PASSWORD_HASH, Visitor, an_account

FIRST = {
    "name": "Ada Quill",
    "email": "ada@silverball.test",
    "password": "correct horse",
    "again": "correct horse",
}


def accounts(store: Store) -> int:
    with store.read() as db:
        return int(db.execute(select(func.count()).select_from(tables.user)).scalar_one())


def first_code(store: Store) -> str:
    """The code of a new site."""
    with store.write(quiet=True) as transaction:
        return user_writes.find_or_make_first_code(transaction.connection, Random(7))


def first_account(visitor: Visitor, **fields: str) -> Any:
    """Send the form of the first account, with the right code."""
    with visitor.store.read() as db:
        is_new = user_reads.is_new_site(db)
    fields = {"code": first_code(visitor.store) if is_new else "", **fields}
    page = visitor.get("/account/first")
    csrf = page_forms.forms_on(page.text)["/account/first"].value("csrf") if page.status_code == 200 else "x"
    return visitor.post("/account/first", data={**FIRST, "csrf": csrf, **fields})


# Home


def test_home_says_what_is_here_and_what_runs(store: Store, visitor: Visitor) -> None:
    an_account(store)
    build.a_tournament(store, name="Thursday Strikes")
    build.a_tournament(store, name="Last Week", status="completed")
    page = visitor.get("/")
    assert page.status_code == 200
    text = page_forms.text_of(page.text)
    assert "Thursday Strikes" in text
    assert text.index("Tonight") < text.index("Thursday Strikes") < text.index("Last podiums")
    assert text.index("Last podiums") < text.index("Last Week") < text.index("Run a tournament")
    for link in ("/run", "/docs", "/openapi.json", "/account"):
        assert f'href="{link}"' in page.text
    assert "first account" not in text.lower()


def test_a_new_server_offers_its_first_account_and_only_then(store: Store, visitor: Visitor) -> None:
    assert "/account/first" in visitor.get("/").text
    made = first_account(visitor)
    assert (made.status_code, made.headers["location"]) == (303, "/account/site?said=first")
    assert "Everything here can wait" in visitor.get("/account/site?said=first").text
    assert visitor.get("/run").status_code == 200
    with store.read() as db:
        row = db.execute(select(tables.user).where(tables.user.c.email == FIRST["email"])).one()
    assert (row.role, row.name) == ("admin", "Ada Quill")
    assert "/account/first" not in visitor.get("/").text
    assert visitor.get("/account/first").headers["location"] == "/account/sign-in"


def test_there_is_no_second_first_account(store: Store, visitor: Visitor) -> None:
    csrf = page_forms.forms_on(visitor.get("/account/first").text)["/account/first"].value("csrf")
    an_account(store)
    answer = visitor.post("/account/first", data={**FIRST, "email": "eve@silverball.test", "csrf": csrf})
    assert answer.status_code == 409
    assert accounts(store) == 1


@pytest.mark.parametrize("make", [build.a_user, build.a_tournament])
def test_a_site_with_data_has_no_first_account(store: Store, visitor: Visitor, make: Any) -> None:
    csrf = page_forms.forms_on(visitor.get("/account/first").text)["/account/first"].value("csrf")
    code = first_code(store)
    make(store)
    known = accounts(store)
    assert "/account/first" not in visitor.get("/").text
    assert visitor.get("/account/first").headers["location"] == "/account/sign-in"
    answer = visitor.post("/account/first", data={**FIRST, "code": code, "csrf": csrf})
    assert (answer.status_code, accounts(store)) == (409, known)


def test_the_code_is_asked_for_and_works_once_however_it_is_typed(store: Store, visitor: Visitor) -> None:
    code = first_code(store)
    assert first_code(store) == code
    for wrong in ("", "x", code[:-1], "ü" * 12):
        answer = first_account(visitor, code=wrong)
        assert answer.status_code == 403
        assert accounts(store) == 0
        visitor.wait(minutes=1)
    typed = f" {code.lower().replace('-', ' ')} "
    assert first_account(visitor, code=typed).status_code == 303
    with store.read() as db:
        assert user_reads.first_code(db) is None


def test_guesses_of_the_code_are_limited(store: Store, visitor: Visitor) -> None:
    assert [first_account(visitor, code="x").status_code for _ in range(6)] == [403] * 5 + [429]
    assert first_account(visitor).status_code == 429
    visitor.wait(minutes=1)
    assert first_account(visitor).status_code == 303


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"password": "short", "again": "short"}, "at least 10 characters"),
        ({"again": "correct house"}, "The two passwords differ"),
        ({"email": "nobody"}, "valid email"),
        ({"name": " "}, "name field is required"),
    ],
)
def test_a_faulty_first_account_is_refused_and_stays_filled(
    store: Store, visitor: Visitor, fields: dict[str, str], sentence: str
) -> None:
    answer = first_account(visitor, **fields)
    assert answer.status_code == 422
    assert sentence in page_forms.alerts_on(answer.text)[0]
    form = page_forms.forms_on(answer.text)["/account/first"]
    assert form.value("email") == {**FIRST, **fields}["email"]
    assert FIRST["password"] not in answer.text
    assert accounts(store) == 0


def test_of_two_requests_at_once_one_creates_the_first_account(store: Store) -> None:
    code = first_code(store)

    def make(n: int) -> bool:
        try:
            with store.write() as transaction:
                user_writes.create_first_admin(
                    transaction.connection,
                    code=code,
                    name=f"User {n}",
                    email=f"{n}@silverball.test",
                    password_hash=PASSWORD_HASH,
                    now=build.NOW,
                )
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(make, range(8))) == [False] * 7 + [True]
    assert accounts(store) == 1


# A new tournament


def test_every_format_is_offered(director: Director) -> None:
    page = director.page("/run/new")
    assert all(f"/run/new?type={type_}" in page for type_ in FORMATS)
    assert set(format_titles()) == set(FORMATS)


@pytest.mark.sample(6)
@pytest.mark.parametrize("type_", FORMATS)
def test_the_form_of_a_format_has_every_setting_with_its_help_and_its_default(
    director: Director, type_: str
) -> None:
    page = director.page(f"/run/new?type={type_}")
    form = page_forms.forms_on(page)["new"]
    named = {name for name, _ in form.fields} | set(form.boxes)
    text = page_forms.text_of(page)
    for setting in settings.setting_fields(type_):
        assert setting.name in named
        assert setting.help.split(";")[0] in text
    keys = {setting.key for setting in settings.setting_fields(type_)}
    own = format_settings(FORMATS[type_].settings)
    assert keys >= {setting.key for setting in own if not setting.is_derived}
    director.send("new", f"/run/new?type={type_}", name="As it stands")
    director.tournament_id = int(re.findall(r"/t/(\d+)/run", director.page("/run"))[0])
    assert msgspec.to_builtins(director.tournament().settings) == msgspec.to_builtins(
        FORMATS[type_].settings()
    )


@pytest.mark.parametrize("type_", FORMATS)
def test_the_settings_show_what_they_would_draw_and_make_nothing(
    store: Store, director: Director, type_: str
) -> None:
    form = director.forms(f"/run/new?type={type_}")["new"]
    answer = director.post(form, name="Thought of", preview="1", sample="8")
    assert answer.status_code == 200
    assert "If 8 players came" in answer.text
    text = page_forms.text_of(answer.text)
    assert "Player 8" in text or "at their own pace" in text or "Nothing is drawn" in text
    assert page_forms.forms_on(answer.text)["new"].value("name") == "Thought of"
    assert director.store.tournament_revisions([1]) == {}


def test_a_faulty_setting_is_refused_by_name_and_entries_stay(director: Director) -> None:
    form = director.forms("/run/new?type=group_matchplay")["new"]
    answer = director.post(
        form, name="Thursday", set_duration="many", set_playoffsCutoffs="x A final", timezone="Mars/Olympus"
    )
    assert answer.status_code == 422
    alert = page_forms.alerts_on(answer.text)[0]
    assert "duration field must be an integer" in alert
    again = page_forms.forms_on(answer.text)["new"]
    assert again.value("set-duration") == "many"
    assert again.value("timezone") == "Mars/Olympus"
    assert again.value("name") == "Thursday"


def test_a_new_tournament_is_made_once(director: Director) -> None:
    form = director.forms("/run/new?type=matchplay")["new"]
    answers = {director.post(form, name="Thursday").headers["location"] for _ in range(3)}
    assert len(answers) == 1
    assert director.page("/run").count("Thursday") == 1


def test_guests_are_sent_to_sign_in_and_come_back(store: Store, visitor: Visitor) -> None:
    an_account(store, role="organizer")
    answer = visitor.get("/run/new?type=matchplay")
    assert answer.headers["location"] == "/account/sign-in?next=/run/new%3Ftype%3Dmatchplay"
    form = page_forms.forms_on(visitor.get(answer.headers["location"]).text)["/account/sign-in"]
    there = visitor.post(
        form.action,
        content=urlencode(form.filled(email="", password="")),
        headers=FORM_TYPE,
    )
    assert there.status_code == 422
    assert page_forms.forms_on(there.text)["/account/sign-in"].value("next") == "/run/new?type=matchplay"
