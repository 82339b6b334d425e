"""Check-in, payments and the waiting list in the console, and one's own page."""

import re

import pytest

from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.public_visitor import PublicVisitor
from web.scorekeeper_devices import page_of
from web.test_sign_up import open_registration, sign_up
from web.visitor import Visitor

OWN_PAGE = re.compile(r'href="(/t/\d+/sign-up/\d+\?own=[0-9a-f]+)"')


@pytest.fixture
def planned(director: Director) -> Director:
    """A director with a planned tournament."""
    director.create("matchplay")
    return director


def own_page(answer: str) -> str:
    found = OWN_PAGE.search(answer)
    assert found is not None
    return found[1]


def test_who_waits_sees_their_place_and_then_that_they_are_in(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned, playerLimit=1, hasWaitlist="on")
    assert "<bdi>Ada</bdi> is on the list. You are in." in sign_up(tablet, path, "Ada").text
    pages = {}
    for name, place in (("Bo", "1st"), ("Cleo", "2nd"), ("Dov", "3rd")):
        answer = sign_up(tablet, path, name)
        assert (
            f"<bdi>{name}</bdi> is on the waiting list. You are {place} on the waiting list." in answer.text
        )
        pages[name] = own_page(answer.text)
    assert "You are 3rd on the waiting list." in page_of(tablet, pages["Dov"])
    assert "3 wait already" in page_of(tablet, path)
    again = sign_up(tablet, path, "Cleo")
    assert (again.status_code, "is on the list already" in again.text) == (409, True)
    planned.send("take-1", "/door")
    ada = planned.tournament().active_ids[0]
    planned.send("leave", f"/player?player={ada}")
    assert "You are in." in page_of(tablet, pages["Bo"])
    assert "You are 1st on the waiting list." in page_of(tablet, pages["Cleo"])
    planned.send("undo", "/players")
    assert "You are 1st on the waiting list." in page_of(tablet, pages["Bo"])


def test_nobody_sees_the_place_of_somebody_else(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned, playerLimit=1, hasWaitlist="on")
    first = own_page(sign_up(tablet, path, "Ada").text)
    second = own_page(sign_up(tablet, path, "Bo").text)
    mixed = first.partition("?")[0] + "?" + second.partition("?")[2]
    for wrong in (mixed, first.partition("?")[0], first + "0", first.partition("?")[0] + "?own=é"):
        assert tablet.get(wrong).status_code == 404


def test_the_door_checks_in_takes_money_and_gives_it_back(planned: Director, store: Store) -> None:
    planned.send("people", names="Ada\nBo")
    planned.send("terms", "/door", fee="10", lateFee="2.50", lateFrom="")
    ada, bo = planned.tournament().active_ids
    planned.send(f"here-{ada}", "/door")
    planned.send(f"cash-{ada}", "/door")
    planned.send(f"pay-{bo}", "/door", amount="7,50", how="", otherWay="a beer")
    page = planned.page("/door")
    for text in (
        "Paid 17.50",
        "0 unpaid",
        "1 here",
        "paid 10.00",
        "<bdi>a beer</bdi>",
        "<bdi>Olga Ramp</bdi>",
    ):
        assert text in page, text
    assert "1 here · paid 17.50 · 0 unpaid · 0 waiting" in planned.page("/players")
    planned.send(f"refund-{bo}", "/door")
    assert "1 unpaid" in planned.page("/door")
    journal = planned.page("/journal")
    assert "paid 10.00 (cash)" in journal
    assert "got 7.50 (a beer) back" in journal
    planned.send("absent", "/door")
    assert planned.tournament().active_ids == (ada,)
    planned.send("prize-form", "/prizes", fromPayments="on", shares="100")
    assert "Pot (1 players paid)" in planned.page("/prizes")
    assert planned.tournament().prizes is not None
    file = planned.visitor.get(f"/t/{planned.tournament_id}/run/door/csv")
    assert file.headers["content-type"].startswith("text/csv")
    assert "1,Ada,in,,," in file.text
    passer = PublicVisitor(store)
    assert "cash" not in passer.page(f"/t/{planned.tournament_id}")
    passer.close()


def test_a_payment_that_is_none_is_refused_beside_its_form(planned: Director) -> None:
    planned.send("people", names="Ada")
    (ada,) = planned.tournament().active_ids
    for amount in ("", "0", "-5", "ten", "1.234", "9" * 20):
        status, _sentence = planned.refused(f"pay-{ada}", "/door", amount=amount, how="cash")
        assert status == 422
    assert planned.tournament().sign_ups == ()


def test_a_director_moves_people_and_replaces_the_code(planned: Director, tablet: Visitor) -> None:
    path = open_registration(planned, playerLimit=1, hasWaitlist="on")
    ids = {}
    for name in ("Ada", "Bo", "Cleo"):
        page = own_page(sign_up(tablet, path, name).text)
        ids[name] = int(page.split("/")[4].partition("?")[0])
    planned.send(f"take-{ids['Bo']}", "/door")
    assert planned.name(planned.tournament().active_ids[-1]) == "Bo"
    planned.send(f"untaken-out-{ids['Cleo']}", "/door")
    assert ">Cleo<" not in planned.page("/door")
    planned.send("new-code", "/door")
    refused = sign_up(tablet, path, "Dov")
    assert refused.status_code == 403
    assert "This code is not the one of the door." in page_forms.alerts_on(refused.text)[0]
    # The page of a place stays.
    assert sign_up(tablet, open_registration(planned), "Dov").status_code == 200
