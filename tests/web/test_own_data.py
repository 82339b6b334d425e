"""Profile, sessions, a copy of all own data, deletion. Source: reliability 6, Privacy; conventions (body)."""

import csv
import io
import json
import zipfile
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.service.accounts import reads
from silverball.service.accounts.reads import SESSIONS_MAX
from silverball.service.accounts.writes import sessions
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.web.account import passwords
from web import page_forms
from web.visitor import EMAIL, PASSWORD, Visitor, an_account

HOSTILE = ("=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(1)", '<img src=x onerror="alert(1)">', "a,b\r\nc")
OPT_OUTS = (
    "profileOptOut",
    "historyOptOut",
    "historyOnlyCompleted",
    "ratingsOptOut",
    "statsOptOut",
    "videoOptOut",
)


def send(visitor: Visitor, path: str, form_id: str, **fields: Any) -> Any:
    """Fill in a form on a page and send it."""
    form = page_forms.forms_on(visitor.get(path).text)[form_id]
    return visitor.post(
        form.action, data=dict(form.filled(**fields)), headers={"sec-fetch-site": "same-origin"}
    )


def account_row(store: Store, user_id: int) -> Any:
    with store.read() as db:
        return db.execute(select(tables.user).where(tables.user.c.user_id == user_id)).one()


def archive_of(visitor: Visitor) -> zipfile.ZipFile:
    answer = visitor.get("/account/data.zip")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"
    return zipfile.ZipFile(io.BytesIO(answer.content))


def test_the_account_leads_to_profile_and_data(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    page = visitor.get("/account").text
    assert 'href="/account/profile"' in page
    assert 'href="/account/data"' in page


@pytest.mark.parametrize("path", ["/account/profile", "/account/data", "/account/data.zip"])
def test_a_guest_has_to_sign_in(visitor: Visitor, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/account/sign-in")


def test_a_profile_is_saved_as_entered(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    fields = {
        "name": "Ada Q.",
        "initials": "ADA",
        "pronouns": "they",
        "location": "Malmö",
        "flag": "SE",
        "ifpaId": "17",
    }
    answer = send(visitor, "/account/profile", "profile", **fields, statsOptOut="on")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account/profile?said=saved")
    row = account_row(store, user_id)
    assert (row.name, row.initials, row.pronouns, row.location) == ("Ada Q.", "ADA", "they", "Malmö")
    assert (row.flag, row.ifpa_id, row.stats_opt_out, row.video_opt_out) == ("se", 17, True, False)
    form = page_forms.forms_on(visitor.get("/account/profile").text)["profile"]
    assert form.value("location") == "Malmö"
    assert ("statsOptOut", "on") in form.fields


def test_each_opt_out_can_be_set_and_cleared(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    columns = {"".join(f"_{c.lower()}" if c.isupper() else c for c in name) for name in OPT_OUTS}
    for value in ("on", None):
        send(visitor, "/account/profile", "profile", **dict.fromkeys(OPT_OUTS, value))
        row = account_row(store, user_id)
        assert {name: getattr(row, name) for name in columns} == dict.fromkeys(columns, value is not None)


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("name", "", "The name field"),
        ("name", "x" * 101, "The name field must not be greater than 100 characters."),
        ("initials", "ABCDE", "The initials field must not be greater than 4 characters."),
        ("flag", "Sweden", "The flag field format is invalid."),
        ("ifpaId", "twelve", "The ifpa id field must be an integer."),
        ("ifpaId", "0", "The ifpa id field must be at least 1."),
        ("ifpaId", "9" * 5000, "The ifpa id field must be an integer."),
        ("location", "a\x00b", "location"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_that_was_typed_is_lost(
    store: Store, visitor: Visitor, field: str, typed: str, sentence: str
) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    before = account_row(store, user_id)
    answer = send(visitor, "/account/profile", "profile", **{"pronouns": "they", field: typed})
    assert answer.status_code == 422
    assert any(sentence in alert for alert in page_forms.alerts_on(answer.text)), page_forms.alerts_on(
        answer.text
    )
    form = page_forms.forms_on(answer.text)["profile"]
    assert form.value("pronouns") == "they"
    assert account_row(store, user_id) == before


def test_a_profile_form_of_an_older_session_comes_back_filled(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    sent = {"csrf": "old", "name": "Typed before"}
    answer = visitor.post("/account/profile", data=sent, headers={"sec-fetch-site": "same-origin"})
    assert answer.status_code == 419
    assert page_forms.forms_on(answer.text)["profile"].value("name") == "Typed before"
    assert visitor.post("/account/profile", data=sent).status_code == 419


def test_other_sessions_end_and_this_one_goes_on(store: Store, visitor: Visitor) -> None:
    an_account(store)
    with Visitor(store) as elsewhere:
        elsewhere.sign_in()
        visitor.sign_in()
        answer = send(visitor, "/account/data", "sessions-end")
        assert answer.headers["location"] == "/account/data?said=ended"
        assert visitor.get("/account/data").status_code == 200
        assert elsewhere.get("/account").status_code == 303


def test_signing_out_elsewhere_asks_for_the_password_and_gives_this_session_a_new_secret(
    store: Store, visitor: Visitor
) -> None:
    an_account(store)
    with Visitor(store) as elsewhere, Visitor(store) as thief:
        elsewhere.sign_in()
        visitor.sign_in()
        visitor.wait(minutes=11)
        for password, sentence in (("", passwords.NEEDED), ("wrong", passwords.WRONG)):
            refused = send(visitor, "/account/data", "sessions-end", password=password)
            assert (refused.status_code, page_forms.alerts_on(refused.text)) == (422, [sentence])
        assert elsewhere.get("/account").status_code == 200
        stolen = visitor.cookies["silverball_session"]
        thief.cookies.set("silverball_session", stolen)
        assert thief.get("/account").status_code == 200
        open_before = page_forms.forms_on(visitor.get("/account/profile").text)["profile"]
        assert send(visitor, "/account/data", "sessions-end", password=PASSWORD).status_code == 303
        assert elsewhere.get("/account").status_code == 303
        assert thief.get("/account").status_code == 303
        assert visitor.cookies["silverball_session"] != stolen
        # A form that was open in another window is still good.
        assert visitor.post("/account/profile", data=dict(open_before.filled())).status_code == 303


def test_an_account_has_a_hundred_sessions_and_one_more_ends_the_oldest(store: Store) -> None:
    user_id = an_account(store)
    dice, day = Random(7), timedelta(days=1)
    with store.write() as transaction:
        db = transaction.connection
        secrets = [
            sessions.start_session(
                db, user_id, now=build.NOW + timedelta(seconds=number), lifetime=day, dice=dice
            ).secret
            for number in range(SESSIONS_MAX + 1)
        ]
        open_now = [
            reads.find_signed_in_user(db, secret, build.NOW + timedelta(minutes=2), day) is not None
            for secret in secrets
        ]
    assert open_now == [False] + [True] * SESSIONS_MAX


def test_one_session_is_ended_and_the_others_go_on(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    phone = "Mozilla/5.0 (Android 16; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0"
    with Visitor(store, client=("192.0.2.77", 1), headers={"user-agent": phone}) as elsewhere:
        elsewhere.sign_in()
        visitor.wait(minutes=1)
        visitor.sign_in()
        page = visitor.get("/account/data").text
        assert "Firefox on Android, <bdi>192.0.2.0/24</bdi>" in page
        assert "192.0.2.77" not in page
        (label,) = [value for name, value in page_forms.forms_on(page)["sessions-end"].buttons if value]
        answer = send(visitor, "/account/data", "sessions-end", label=label)
        assert answer.headers["location"] == "/account/data?said=ended-one"
        assert visitor.get("/account/data").status_code == 200
        assert elsewhere.get("/account").status_code == 303
    with store.read() as db:
        entry = tables.audit_entry.c
        rows = db.execute(select(entry.user_id, entry.detail).where(entry.event == "sign-ins-ended"))
        assert [tuple(row) for row in rows] == [(user_id, "1")]


def test_a_session_that_is_used_goes_on_and_an_idle_one_is_over(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    for _ in range(6):
        visitor.wait(days=2)
        assert visitor.get("/account/data").status_code == 200
    assert "last used 20" in page_forms.text_of(visitor.get("/account/data").text)
    visitor.wait(days=3)
    assert visitor.get("/account/data").headers["location"].startswith("/account/sign-in?said=over")


def test_the_copy_has_everything_of_the_account_and_nothing_secret(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store, location="Malmö")
    night = build.a_tournament(store, name="Thursday Strikes")
    player_id = build.a_player(store, night.organizer_id, name="Ada", claimed_by=user_id)
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id)
    build.a_game(store, night.tournament_id, [player_id, night.player_ids[0]], arena_id=night.arena_ids[0])
    build.an_arena(store, user_id, name="My machine")
    visitor.sign_in()
    token = page_forms.text_of(visitor.create_token().text)
    with archive_of(visitor) as packed:
        data = json.loads(packed.read("data.json"))
        names = packed.namelist()
        readme = packed.read("README.txt").decode()
        everything = b"".join(packed.read(name) for name in names).decode()
    assert data["account"][0]["location"] == "Malmö"
    assert data["tournaments_played"][0]["name"] == "Thursday Strikes"
    assert data["games"][0]["arena"] == "Machine 1"
    assert data["book_arenas"][0]["name"] == "My machine"
    assert data["tokens"][0]["name"] == "Score board"
    assert {f"csv/{name}.csv" for name in data} | {"data.json", "README.txt"} == set(names)
    assert "tournaments_played (1)" in readme
    row = account_row(store, user_id)
    with store.read() as db:
        secrets = [row.password_hash, *db.execute(select(tables.token.c.hash)).scalars()]
        secrets += [
            secret
            for session in db.execute(select(tables.session.c.hash, tables.session.c.csrf))
            for secret in session
        ]
    assert token
    assert not [secret for secret in secrets if secret in everything]


@pytest.mark.parametrize(
    ("play_settings", "published"),
    [({"seeding": "manual"}, [0, 1, None]), ({"seeding": "mp_rating"}, [1, 2, None])],
)
def test_seeds_of_the_copy_are_those_of_the_interface(
    store: Store, visitor: Visitor, play_settings: dict[str, Any], published: list[int | None]
) -> None:
    user_id = an_account(store)
    night = build.a_tournament(store, settings=play_settings)
    for seed in (1, 2, None):
        player_id = build.a_player(store, night.organizer_id, claimed_by=user_id)
        build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id, seed=seed)
    visitor.sign_in()
    with archive_of(visitor) as packed:
        played = json.loads(packed.read("data.json"))["tournaments_played"]
    assert [row["seed"] for row in played] == published
    assert not {"seed_rank", "settings"} & set(played[0])


def test_a_copy_holds_no_formula_and_every_row_is_as_long_as_its_header(
    store: Store, visitor: Visitor
) -> None:
    user_id = an_account(store)
    for name in HOSTILE:
        build.a_player(store, user_id, name=name)
    visitor.sign_in()
    with archive_of(visitor) as packed:
        for name in packed.namelist():
            if name.startswith("csv/"):
                rows = list(csv.reader(io.StringIO(packed.read(name).decode(), newline="")))
                assert all(len(row) == len(rows[0]) for row in rows), name
        found = list(csv.DictReader(io.StringIO(packed.read("csv/book_players.csv").decode(), newline="")))
        kept = [row["name"] for row in json.loads(packed.read("data.json"))["book_players"]]
    assert kept == list(HOSTILE)
    assert [row["name"] for row in found] == [("'" + name if name[0] in "=+-@" else name) for name in HOSTILE]


def test_an_account_is_deleted_with_its_password(store: Store, visitor: Visitor) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    answer = send(visitor, "/account/data", "delete", password=PASSWORD, sure="yes")
    assert answer.status_code == 200
    assert "Your account is deleted" in answer.text
    assert account_row(store, user_id).email is None
    assert visitor.get("/account").status_code == 303
    assert visitor.sign_in(EMAIL, PASSWORD).status_code == 422


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"password": PASSWORD}, "Tick that you are sure."),
        ({"password": "wrong", "sure": "yes"}, "The password is wrong."),
        ({"password": "", "sure": "yes"}, "The password is wrong."),
    ],
)
def test_an_account_is_not_deleted_by_accident(
    store: Store, visitor: Visitor, fields: dict[str, str], sentence: str
) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    answer = send(visitor, "/account/data", "delete", **fields)
    assert answer.status_code == 422
    assert any(sentence in alert for alert in page_forms.alerts_on(answer.text))
    assert account_row(store, user_id).email == EMAIL


def test_passwords_cannot_be_tried_out_on_an_open_browser(store: Store, visitor: Visitor) -> None:
    an_account(store)
    visitor.sign_in()
    for _ in range(5):
        assert send(visitor, "/account/data", "delete", password="wrong", sure="yes").status_code == 422
    refused = send(visitor, "/account/data", "delete", password=PASSWORD, sure="yes")
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0


def test_an_organizer_of_a_running_tournament_cannot_delete_the_account_yet(
    store: Store, visitor: Visitor
) -> None:
    user_id = an_account(store, role="organizer")
    build.a_tournament(store, organizer_id=user_id, name="Thursday Strikes")
    visitor.sign_in()
    answer = send(visitor, "/account/data", "delete", password=PASSWORD, sure="yes")
    assert answer.status_code == 409
    assert "Thursday Strikes" in page_forms.alerts_on(answer.text)[0]


@pytest.mark.parametrize("path", ["/account/sessions/end", "/account/delete"])
def test_the_address_of_a_form_can_be_opened(store: Store, visitor: Visitor, path: str) -> None:
    an_account(store)
    visitor.sign_in()
    assert visitor.get(path).headers["location"] == "/account/data"
    assert visitor.post(path, data={"csrf": "x"}).status_code == 419
