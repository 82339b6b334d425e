"""Players sign themselves up with the link of the door, while the organizer has opened registration."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import sign_up_requests
from web import page_forms
from web.director import FORM_TYPE, HERE, Director
from web.public_visitor import PublicVisitor
from web.scorekeeper_devices import page_of
from web.visitor import Visitor

LINK = re.compile(r'<textarea id="sign-up-link"[^>]*>https?://[^/]+(/[^<]+)</textarea>')


@pytest.fixture
def planned(director: Director) -> Director:
    """A director with a planned tournament."""
    director.create("matchplay")
    return director


def open_registration(director: Director, **given: Any) -> str:
    """Open registration; returns the path of the link."""
    director.send("rsvp", "/settings", status="active", **given)
    found = LINK.search(director.page("/settings"))
    assert found is not None
    return found[1]


def sign_up(visitor: Visitor, path: str, name: str, **fields: str) -> Any:
    """Send the form of the page, without signing in; returns the answer."""
    form = page_forms.forms_on(page_of(visitor, path))["sign-up"]
    return visitor.post(
        form.action, data=dict(form.filled(name=name, **fields)), headers={**FORM_TYPE, **HERE}
    )


def names(director: Director) -> list[str]:
    """The names of the players."""
    return [director.name(player_id) for player_id in director.tournament().active_ids]


def signed_up(director: Director) -> list[str]:
    """The names of those who signed up and were not taken yet."""
    with director.visitor.store.read() as db:
        return [request.name for request in sign_up_requests.pending(db, director.tournament_id)]


def take_all(director: Director) -> None:
    director.send("take-all", "/door")


def test_there_is_no_form_until_the_organizer_opens_it(planned: Director, tablet: Visitor) -> None:
    page = page_of(tablet, f"/t/{planned.tournament_id}/sign-up")
    assert "Sign-up is closed." in page
    assert page_forms.forms_on(page) == {}
    assert "sign-up-link" not in planned.page("/settings")


def test_the_link_of_the_door_adds_a_player_without_an_account(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned)
    answer = sign_up(tablet, path, "  Ada   Quill ")
    assert answer.status_code == 200
    assert "<bdi>Ada Quill</bdi> is on the list." in answer.text
    assert (names(planned), signed_up(planned)) == ([], ["Ada Quill"])
    take_all(planned)
    assert (names(planned), signed_up(planned)) == (["Ada Quill"], [])
    # The same phone has room for the next person, with the code kept.
    form = page_forms.forms_on(answer.text)["sign-up"]
    assert form.value("code") == path.partition("code=")[2]


def test_a_name_of_the_book_is_that_player(planned: Director, tablet: Visitor) -> None:
    planned.send("people", names="Ada Quill")
    known = planned.tournament().active_ids
    planned.create("matchplay")
    sign_up(tablet, open_registration(planned), "ada quill")
    take_all(planned)
    assert planned.tournament().active_ids == known


def test_a_number_only_proposes_who_somebody_is(planned: Director, tablet: Visitor) -> None:
    ada = build.a_player(planned.store, planned.user_id, name="Ada Quill", ifpa_id=12345)
    path = open_registration(planned)
    assert sign_up(tablet, path, "A. Q.", ifpaId="#12345").status_code == 200
    assert sign_up(tablet, path, "Bo Larkin", ifpaId="777").status_code == 200
    wrong = sign_up(tablet, path, "Cleo Marsh", ifpaId="many")
    assert wrong.status_code == 422
    assert "1 to 7 digits" in page_forms.alerts_on(wrong.text)[0]
    # Nobody has become Ada by typing that number, and nobody else sees it.
    assert names(planned) == []
    assert "12345" not in page_of(tablet, path)
    listed = build.ask(
        planned.store,
        f"/api/tournaments/{planned.tournament_id}/sign-ups",
        by=build.caller(planned.user_id, role="organizer", ability="manage"),
    )[1]["data"]["people"]
    assert [(person["proposedNumber"], person["mayBe"]) for person in listed] == [(12345, [ada]), (777, [])]
    text = page_forms.text_of(planned.page("/door"))
    assert "Says: federation number 12345. May be Ada Quill" in text
    assert "Says: federation number 777. Nobody in your book has it." in text
    first = listed[0]["signUpId"]
    planned.send(f"take-{first}-as-{ada}", "/door")
    planned.send(f"take-{listed[1]['signUpId']}", "/door")
    assert names(planned) == ["Ada Quill", "Bo Larkin"]
    with planned.store.read() as db:
        numbers = db.execute(select(tables.player.c.name, tables.player.c.ifpa_id)).all()
        assert db.execute(select(tables.sign_up_request.c.ifpa_id)).scalars().all() == [None, None]
    # What a stranger said is written into no book.
    assert [tuple(row) for row in numbers] == [("Ada Quill", 12345), ("Bo Larkin", None)]


def test_a_name_is_taken_once(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned)
    sign_up(tablet, path, "Ada Quill")
    again = sign_up(tablet, path, "Ada Quill")
    assert again.status_code == 409
    assert "Ada Quill is on the list already." in page_forms.alerts_on(again.text)[0]
    assert signed_up(planned) == ["Ada Quill"]
    take_all(planned)
    assert sign_up(tablet, path, "ADA QUILL").status_code == 409


@pytest.mark.parametrize("code", ["", "0123456789ab", "é"])
def test_without_the_code_nobody_is_added(planned: Director, tablet: Visitor, code: str) -> None:
    answer = sign_up(tablet, open_registration(planned), "Ada Quill", code=code)
    assert answer.status_code == 403
    assert (names(planned), signed_up(planned)) == ([], [])


@pytest.mark.parametrize("name", ["", "   ", "\x00", "x" * 101])
def test_what_is_no_name_is_refused_in_a_sentence(planned: Director, tablet: Visitor, name: str) -> None:
    answer = sign_up(tablet, open_registration(planned), name)
    assert answer.status_code == 422
    assert page_forms.alerts_on(answer.text) == ["Enter your name, in at most 100 letters."]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"openAt": "2100-01-01 12:00"}, "not open yet"),
        ({"closeAt": "2020-01-01 12:00"}, "closed"),
        ({"playerLimit": 2}, "full"),
    ],
)
def test_the_form_keeps_to_what_the_organizer_set(
    planned: Director, tablet: Visitor, given: dict[str, Any], sentence: str
) -> None:
    path = open_registration(planned)
    form = page_forms.forms_on(page_of(tablet, path))["sign-up"]
    planned.send("people", names="Bo Larkin\nCleo Marsh")
    planned.send("rsvp", "/settings", status="active", **given)
    assert sentence in page_of(tablet, path)
    answer = tablet.post(form.action, data=dict(form.filled(name="Ada Quill")), headers=HERE)
    assert answer.status_code == 409
    assert names(planned) == ["Bo Larkin", "Cleo Marsh"]


def test_nobody_signs_up_after_the_start(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned)
    form = page_forms.forms_on(page_of(tablet, path))["sign-up"]
    planned.start(4)
    answer = tablet.post(form.action, data=dict(form.filled(name="Ada Quill")), headers=HERE)
    assert answer.status_code == 409
    assert "has started" in answer.text
    assert len(planned.tournament().entrants) == 4


def test_the_list_is_shown_where_the_organizer_wants_it(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned, publicList="on")
    assert "Who has signed up" in sign_up(tablet, path, "Ada Quill").text
    assert "1 signed up" in page_of(tablet, path)
    planned.send("rsvp", "/settings", status="active", publicList=None)
    assert "signed up" not in page_of(tablet, path)


def test_the_live_page_leads_to_an_open_form(planned: Director, store: Store) -> None:
    passer = PublicVisitor(store)
    at = f"/t/{planned.tournament_id}"
    assert f'href="{at}/sign-up"' not in passer.page(at)
    open_registration(planned)
    assert f'href="{at}/sign-up"' in passer.page(at)
    passer.close()


def test_the_code_reveals_nothing_of_the_seed(planned: Director) -> None:
    code = open_registration(planned).partition("code=")[2]
    seed = planned.tournament().state.dice_seed
    assert len(code) == 12
    assert code not in seed


def test_an_unknown_tournament_has_no_form(tablet: Visitor) -> None:
    assert tablet.get("/t/999/sign-up").status_code == 404
    assert tablet.get("/t/none/sign-up").status_code == 404


def crowd(planned: Director, count: int, **given: Any) -> tuple[str, Visitor]:
    """The path of the link, and the phone of nobody in particular that signs so many people up."""
    phone = Visitor(planned.visitor.store, clock=lambda: planned.visitor.now)
    path = open_registration(planned, **given)
    for number in range(count):
        if number % 5 == 0:
            phone.cookies.clear()
        assert sign_up(phone, path, f"Flipper {number}").status_code == 200
    return path, phone


@pytest.mark.both_databases
def test_a_flood_at_the_door_makes_no_players_and_ends_after_thirty_a_minute(planned: Director) -> None:
    path, phone = crowd(planned, 30)
    refused = [sign_up(phone, path, f"Bot {number}").status_code for number in range(3)]
    assert refused == [429, 429, 429]
    assert (names(planned), len(signed_up(planned))) == ([], 30)
    with phone.store.read() as db:
        book = select(func.count()).select_from(tables.player)
        journal = (
            select(func.count()).select_from(tables.journal).where(tables.journal.c.change == "SignUpAdded")
        )
        assert (db.execute(book).scalar_one(), db.execute(journal).scalar_one()) == (0, 0)
    planned.visitor.wait(seconds=61)
    phone.cookies.clear()
    assert sign_up(phone, path, "Ada Quill").status_code == 200


def test_an_address_signs_two_hundred_people_up_in_a_day_and_the_list_holds_three_hundred(
    planned: Director,
) -> None:
    path, phone = crowd(planned, 1)
    with phone.store.write() as transaction:
        (row,) = transaction.connection.execute(select(tables.sign_up_request)).mappings()
        earlier = {**row, "signed_up_at": planned.visitor.now - timedelta(hours=3), "browser": "another"}
        del earlier["sign_up_id"]
        rows = [{**earlier, "name": f"Flipper {number}"} for number in range(1, 200)]
        transaction.connection.execute(insert(tables.sign_up_request), rows)
    answer = sign_up(phone, path, "Ada Quill")
    assert (answer.status_code, "today" in answer.text) == (429, True)
    # The organizer may go on, and comes to the end of the list.
    with phone.store.write() as transaction:
        elsewhere = [{**earlier, "name": f"Nudge {number}", "source": "else"} for number in range(100)]
        transaction.connection.execute(insert(tables.sign_up_request), elsewhere)
    refused = sign_up(planned.visitor, path, "Bo Larkin")
    assert (refused.status_code, "The list is full." in refused.text) == (409, True)


def test_at_most_a_hundred_wait(planned: Director) -> None:
    path, phone = crowd(planned, 1, playerLimit=1, hasWaitlist="on")
    with phone.store.write() as transaction:
        (row,) = transaction.connection.execute(select(tables.sign_up_request)).mappings()
        other = {**row, "source": "else", "browser": "else"}
        del other["sign_up_id"]
        rows = [{**other, "name": f"Flipper {number}"} for number in range(1, 100)]
        transaction.connection.execute(insert(tables.sign_up_request), rows)
    assert "You are 100th on the waiting list." in sign_up(phone, path, "Ada Quill").text
    assert sign_up(phone, path, "Bo Larkin").status_code == 409


def test_one_browser_signs_five_people_up_and_the_organizer_any_number(planned: Director) -> None:
    path, phone = crowd(planned, 5)
    answer = sign_up(phone, path, "Ada Quill")
    assert (answer.status_code, "5 people have signed up from this phone" in answer.text) == (409, True)
    for number in range(6):
        assert sign_up(planned.visitor, path, f"Regular {number}").status_code == 200
    assert len(signed_up(planned)) == 11


@pytest.mark.both_databases
def test_seeding_takes_who_has_a_place_and_the_end_of_the_check_in_removes_them(planned: Director) -> None:
    planned.send("people", names="Bo Larkin\nCleo Marsh")
    crowd(planned, 3, playerLimit=4, hasWaitlist="on")
    bo = planned.tournament().active_ids[0]
    by = build.caller(planned.tournament().details["organizer_id"], role="organizer", ability="manage")
    path = f"/api/tournaments/{planned.tournament_id}"
    store = planned.visitor.store
    assert build.do(store, "PATCH", f"{path}/players/{bo}", {"seed": 1}, by=by)[0] == 200
    assert names(planned) == ["Bo Larkin", "Cleo Marsh", "Flipper 0", "Flipper 1"]
    assert build.do(store, "PUT", f"{path}/sign-ups/players/{bo}", {"here": True}, by=by)[0] == 200
    assert build.do(store, "DELETE", f"{path}/players/{planned.tournament().active_ids[-1]}", by=by)[0] == 200
    listed = build.ask(store, f"{path}/sign-ups", by=by)[1]["data"]["people"]
    assert [(person["name"], person["playerId"]) for person in listed if person["place"] == "signed-up"] == [
        ("Flipper 2", None)
    ]
    assert build.do(store, "POST", f"{path}/sign-ups/absent", {}, by=by)[0] == 200
    assert (names(planned), signed_up(planned)) == (["Bo Larkin"], [])


def test_the_start_takes_who_has_a_place_and_the_others_wait_for_a_tap(planned: Director) -> None:
    planned.send("people", names="Bo Larkin\nCleo Marsh")
    path, phone = crowd(planned, 3, playerLimit=4, hasWaitlist="on")
    own = re.findall(r'href="(/t/[0-9]+/sign-up/[^"]+)"', sign_up(phone, path, "Dov Ames").text)[0]
    planned.send("start")
    assert names(planned) == ["Bo Larkin", "Cleo Marsh", "Flipper 0", "Flipper 1"]
    assert signed_up(planned) == ["Flipper 2", "Dov Ames"]
    assert "You are 2nd on the waiting list." in page_of(phone, own)
    (dov,) = [n for n in range(1, 9) if f"/sign-up/{n}?" in own]
    planned.send(f"take-{dov}", "/door")
    assert names(planned)[-1] == "Dov Ames"
    assert "You are in." in page_of(phone, own)
