"""Roles, invitations and links to a new password, which administrators make."""

import re
from html import unescape
from typing import Any

import pytest

import build
from silverball.service.accounts.writes import links
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.test_account import count
from web.test_own_data import send
from web.visitor import EMAIL, Visitor, an_account

ACCOUNTS = "/account/accounts"
NEW_PASSWORD = "a plain wooden flipper"


@pytest.fixture
def administrator(store: Store, visitor: Visitor) -> Visitor:
    an_account(store, name="Ada Min", role="admin")
    visitor.sign_in()
    return visitor


def link_on(page: str) -> str:
    found = re.search(r"http://silverball\.test(/account/link\?link=[A-Za-z0-9]{40})<", unescape(page))
    assert found is not None
    return found[1]


def use(guest: Visitor, link: str, **fields: str) -> Any:
    """Open the link and send its form."""
    form = page_forms.forms_on(guest.get(link).text)["link"]
    given = {"new": NEW_PASSWORD, "again": NEW_PASSWORD, **fields}
    return guest.post(form.action, data=dict(form.filled(**given)))


def events(store: Store) -> list[str]:
    with store.read() as db:
        return [row.event for row in db.execute(tables.audit_entry.select()).all()]


def test_an_invitation_makes_one_account_of_its_role(
    store: Store, administrator: Visitor, tablet: Visitor
) -> None:
    made = send(administrator, ACCOUNTS, "invite", role="organizer")
    assert (made.status_code, "shown only this once" in made.text) == (201, True)
    link = link_on(made.text)
    assert "Invitation, organizer" in administrator.get(ACCOUNTS).text
    # No secret is stored in the clear.
    with store.read() as db:
        assert link[-40:] not in str(db.execute(tables.account_link.select()).all())
    assert "an organizer of tournaments" in tablet.get(link).text
    refused = use(tablet, link, name="Bo", email="bo@silverball.test", again="another one altogether")
    assert (refused.status_code, "differ" in refused.text, 'value="Bo"' in refused.text) == (422, True, True)
    taken = use(tablet, link, name="Bo", email=EMAIL)
    assert (taken.status_code, "already been taken" in taken.text) == (422, True)
    answer = use(tablet, link, name="Bo Larkin", email="bo@silverball.test")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "organizer" in tablet.get("/account").text
    tablet.cookies.clear()
    assert (tablet.get(link).status_code, count(store, "account_link")) == (410, 0)
    assert events(store).count("account-made") == 1


def test_a_link_expires_and_can_be_withdrawn(store: Store, administrator: Visitor, tablet: Visitor) -> None:
    first, second = (link_on(send(administrator, ACCOUNTS, "invite", role="player").text) for _ in range(2))
    withdraw = next(
        form for form in page_forms.forms_on(administrator.get(ACCOUNTS).text) if form.startswith("withdraw-")
    )
    assert send(administrator, ACCOUNTS, withdraw).status_code == 303
    statuses = sorted(tablet.get(link).status_code for link in (first, second))
    assert statuses == [200, 410]
    tablet.now += links.INVITATION_LIFETIME
    assert [tablet.get(link).status_code for link in (first, second)] == [410, 410]
    for odd in ("", "x", "9" * 500, "%00", "é"):
        assert tablet.get(f"/account/link?link={odd}").status_code == 410
    assert tablet.post("/account/link", data={"csrf": tablet.csrf("/account/sign-in")}).status_code == 410
    assert "invitation-withdrawn" in events(store)


def test_a_recovery_link_sets_a_new_password_once_and_ends_all_sign_ins(
    store: Store, administrator: Visitor, tablet: Visitor
) -> None:
    bo = an_account(store, name="Bo Larkin", email="bo@silverball.test")
    tablet.sign_in("bo@silverball.test")
    path = f"{ACCOUNTS}?q={bo}"
    old = link_on(send(administrator, path, f"recovery-{bo}").text)
    link = link_on(send(administrator, path, f"recovery-{bo}").text)
    # Neither side is surprised that the code of the app is still asked for.
    assert "Two-step sign-in stays on" in administrator.get(path).text
    assert "If it has two-step sign-in, that stays on" in tablet.get(link).text
    # A newer link replaces the one before.
    assert tablet.get(old).status_code == 410
    weak = use(tablet, link, new="Bo Larkin 1", again="Bo Larkin 1")
    assert weak.status_code == 422
    answer = use(tablet, link)
    assert answer.headers["location"] == "/account/sign-in?said=recovered"
    assert tablet.get("/account").status_code == 303
    tablet.cookies.clear()
    assert "The new password is set" in tablet.get(answer.headers["location"]).text
    assert tablet.sign_in("bo@silverball.test").status_code == 422
    assert tablet.sign_in("bo@silverball.test", NEW_PASSWORD).status_code == 303
    tablet.cookies.clear()
    assert tablet.get(link).status_code == 410
    assert {"recovery-link-made", "password-set"} <= set(events(store))


def test_a_role_changes_what_the_account_may_do_at_once(
    store: Store, administrator: Visitor, tablet: Visitor
) -> None:
    bo = an_account(store, name="Bo Larkin", email="bo@silverball.test")
    tablet.sign_in("bo@silverball.test")
    assert "Only organizers create tournaments" in tablet.get("/run").text
    answer = send(administrator, f"{ACCOUNTS}?q={bo}", f"role-{bo}", role="organizer")
    assert answer.headers["location"] == f"{ACCOUNTS}?said=role&q={bo}"
    assert "New tournament" in tablet.get("/run").text
    assert "Bo Larkin" in administrator.get(f"{ACCOUNTS}?role=organizer").text
    assert "Bo Larkin" not in administrator.get(f"{ACCOUNTS}?role=admin").text
    csrf = {"csrf": administrator.csrf()}
    assert administrator.post(f"{ACCOUNTS}/{bo}/role", data={**csrf, "role": "king"}).status_code == 422
    # Nobody locks the last administrator out by mistake.
    own = administrator.post(f"{ACCOUNTS}/1/role", data={**csrf, "role": "player"})
    assert (own.status_code, "own role" in own.text) == (409, True)
    assert events(store).count("role-changed") == 1


def test_the_password_is_asked_for_after_a_while(store: Store, administrator: Visitor) -> None:
    bo = an_account(store, name="Bo Larkin", email="bo@silverball.test")
    administrator.wait(minutes=11)
    for form, fields in (("invite", {}), (f"role-{bo}", {"role": "admin"}), (f"recovery-{bo}", {})):
        answer = send(administrator, f"{ACCOUNTS}?q={bo}", form, **fields)
        assert (answer.status_code, "password once more" in answer.text) == (422, True)
    assert count(store, "account_link") == 0


def test_who_cannot_sign_in_gets_no_link(store: Store, administrator: Visitor, tablet: Visitor) -> None:
    nobody = build.a_user(store, name="No Mail")
    csrf = {"csrf": administrator.csrf()}
    assert administrator.post(f"{ACCOUNTS}/{nobody}/recovery", data=csrf).status_code == 409
    bo = an_account(store, name="Bo Larkin", email="bo@silverball.test")
    link = link_on(send(administrator, f"{ACCOUNTS}?q={bo}", f"recovery-{bo}").text)
    send(administrator, f"{ACCOUNTS}?q={bo}", f"account-{bo}")
    assert tablet.get(link).status_code == 410
    assert administrator.post(f"{ACCOUNTS}/{bo}/recovery", data=csrf).status_code == 409
    for user_id in ("999", "x", "9" * 40):
        assert administrator.post(f"{ACCOUNTS}/{user_id}/recovery", data=csrf).status_code == 404
        assert (
            administrator.post(f"{ACCOUNTS}/{user_id}/role", data={**csrf, "role": "admin"}).status_code
            == 404
        )


def test_others_make_no_links_and_give_no_roles(store: Store, visitor: Visitor) -> None:
    own = an_account(store, role="organizer")
    visitor.sign_in()
    csrf = {"csrf": visitor.csrf(), "role": "admin"}
    for form in (f"{own}/role", f"{own}/recovery", "invite", "links/0123456789abcdef/withdraw"):
        assert visitor.post(f"{ACCOUNTS}/{form}", data=csrf).status_code == 404
    assert count(store, "account_link") == 0
