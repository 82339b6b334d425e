"""Users claim players in organizers' books; the organizers decide."""

from typing import Any

import pytest
from sqlalchemy import select

import build
import hostile
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.visitor import PASSWORD_HASH, Visitor, an_account

PATH = "/account/entries"
HERE = {"sec-fetch-site": "same-origin"}
ORGANIZER = "olga@silverball.test"


@pytest.fixture
def me(store: Store, visitor: Visitor) -> int:
    """A signed-in user called Una Ball."""
    user_id = an_account(store, name="Una Ball")
    visitor.sign_in()
    return user_id


@pytest.fixture
def organizer(store: Store) -> int:
    return build.a_user(
        store, name="Olga Ramp", role="organizer", email=ORGANIZER, password_hash=PASSWORD_HASH
    )


def a_player(store: Store, organizer_id: int, name: str = "Una Ball", **values: Any) -> int:
    """A player of the book who took part in a tournament."""
    player_id = build.a_player(store, organizer_id, name=name, **values)
    night = build.a_tournament(store, organizer_id=organizer_id, players=0, name=f"Night of {name}")
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id)
    return player_id


def text(visitor: Visitor, query: str = "") -> str:
    answer = visitor.get(PATH + query)
    assert answer.status_code == 200, answer.text
    return page_forms.text_of(answer.text)


def send(visitor: Visitor, form_id: str, query: str = "") -> Any:
    form = page_forms.forms_on(visitor.get(PATH + query).text)[form_id]
    return visitor.post(form.action, data=dict(form.fields), headers=HERE)


def claims(store: Store) -> list[tuple[int, int]]:
    with store.read() as db:
        rows = select(tables.claim.c.player_id, tables.claim.c.user_id)
        return [(player_id, user_id) for player_id, user_id in db.execute(rows)]


def test_a_visitor_signs_in_first(visitor: Visitor) -> None:
    assert visitor.get(PATH).headers["location"].startswith("/account/sign-in")


def test_a_user_asks_for_an_entry_and_the_organizer_approves(
    store: Store, visitor: Visitor, organizer: int, me: int
) -> None:
    player_id = a_player(store, organizer)
    page = text(visitor)
    assert "Una Ball in the book of Olga Ramp , last in Night of Una Ball" in page
    answer = send(visitor, f"claim-{player_id}")
    assert answer.headers["location"] == f"{PATH}?said=asked"
    assert claims(store) == [(player_id, me)]
    assert "Asked for Una Ball in the book of Olga Ramp" in text(visitor)
    assert f"claim-{player_id}" not in page_forms.forms_on(visitor.get(PATH).text)
    visitor.sign_in_anew(ORGANIZER)
    form = page_forms.forms_on(visitor.get("/home/players").text)[f"claim-approve-{player_id}-{me}"]
    assert visitor.post(form.action, data=dict(form.fields), headers=HERE).status_code == 303
    visitor.sign_in_anew()
    assert "You are Una Ball in the book of Olga Ramp" in text(visitor)
    assert visitor.get(f"/users/{me}").text.count("Night of Una Ball") == 1


def test_a_claim_and_an_entry_are_given_back(store: Store, visitor: Visitor, organizer: int, me: int) -> None:
    player_id = a_player(store, organizer)
    send(visitor, f"claim-{player_id}")
    assert send(visitor, f"claim-back-{player_id}").headers["location"] == f"{PATH}?said=back"
    assert claims(store) == []
    other = a_player(store, organizer, claimed_by=me)
    send(visitor, f"claim-back-{other}")
    assert "You are" not in text(visitor)


def test_a_form_that_is_sent_twice_asks_once(store: Store, visitor: Visitor, organizer: int, me: int) -> None:
    player_id = a_player(store, organizer)
    form = page_forms.forms_on(visitor.get(PATH).text)[f"claim-{player_id}"]
    answers = [visitor.post(form.action, data=dict(form.fields), headers=HERE) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [303, 303]
    assert claims(store) == [(player_id, me)]


def test_a_claim_that_came_too_late_says_so(store: Store, visitor: Visitor, organizer: int, me: int) -> None:
    player_id = a_player(store, organizer)
    form = page_forms.forms_on(visitor.get(f"{PATH}?q=una").text)[f"claim-{player_id}"]
    with store.write() as transaction:
        transaction.connection.execute(tables.player.update().values(claimed_by=organizer))
    answer = visitor.post(form.action, data=dict(form.fields), headers=HERE)
    assert answer.status_code == 409
    assert "must end the claim first" in page_forms.alerts_on(answer.text)[0]
    assert claims(store) == []
    with store.write() as transaction:
        transaction.connection.execute(tables.entrant.delete())
        transaction.connection.execute(tables.player.delete())
    gone = visitor.post(form.action, data={**dict(form.fields), "key": "another"}, headers=HERE)
    assert gone.status_code == 404
    assert "not there any more" in page_forms.alerts_on(gone.text)[0]


def test_the_search_finds_players_without_an_account_who_have_played(
    store: Store, visitor: Visitor, organizer: int, me: int
) -> None:
    build.a_player(store, organizer, name="Una Unplayed")
    a_player(store, organizer, "Una Claimed", claimed_by=organizer)
    a_player(store, organizer, "ÚNA accented")
    assert "ÚNA accented" in text(visitor, "?q=una")
    assert "Una Unplayed" not in text(visitor, "?q=una")
    assert "Una Claimed" not in text(visitor, "?q=una")
    assert "at least 3 letters" in text(visitor, "?q=un")
    assert "Nobody without an account" in text(visitor, "?q=%00zzz")


def test_a_lost_session_asks_again(store: Store, visitor: Visitor, organizer: int, me: int) -> None:
    player_id = a_player(store, organizer)
    form = page_forms.forms_on(visitor.get(PATH).text)[f"claim-{player_id}"]
    visitor.sign_in_anew()
    back = visitor.post(form.action, data=dict(form.fields), headers=HERE)
    assert back.status_code == 419
    assert "This has not been sent yet" in page_forms.alerts_on(back.text)[0]
    again = page_forms.forms_on(back.text)[f"claim-{player_id}"]
    assert visitor.post(again.action, data=dict(again.fields), headers=HERE).status_code == 303
    assert claims(store) == [(player_id, me)]


def test_hostile_names_are_text(store: Store, visitor: Visitor, organizer: int, me: int) -> None:
    for name in hostile.PAYLOADS[:40]:
        a_player(store, organizer, f"Una {name}")
    page = visitor.get(f"{PATH}?q=una").text
    assert page_forms.foreign_in(page) == []
    assert "<script>alert" not in page


def test_only_the_own_profile_links_to_entries(
    store: Store, visitor: Visitor, organizer: int, me: int
) -> None:
    assert PATH in visitor.get(f"/users/{me}").text
    assert PATH in visitor.get("/account").text
    assert PATH not in visitor.get(f"/users/{organizer}").text
    visitor.cookies.clear()
    assert PATH not in visitor.get(f"/users/{me}").text
    for path in (f"{PATH}/do/claim", f"{PATH}/do/nothing"):
        assert visitor.get(path).status_code == 303


def test_an_unknown_action_is_not_found(visitor: Visitor, me: int) -> None:
    csrf = visitor.csrf()
    assert visitor.post(f"{PATH}/do/nothing", data={"csrf": csrf}).status_code == 404
    assert visitor.post(f"{PATH}/do/claim", data={"csrf": csrf}).status_code == 422
    assert visitor.post(f"{PATH}/do/claim", data={"csrf": csrf, "player_id": "x"}).status_code == 404
