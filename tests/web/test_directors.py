"""Directors by link: the organizer makes one, another organizer takes it, and both run the night."""

import re
from html import unescape

import build
from silverball.service.users.writes import LINKS_MAX
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.scorekeeper_devices import a_night
from web.visitor import Visitor, an_account

OTHER = "otto@silverball.test"
SETTINGS = "/settings"


def new_link(director: Director) -> str:
    made = director.post(director.forms(SETTINGS)["director-link"])
    assert (made.status_code, "shown only this once" in made.text) == (201, True)
    found = re.search(r"http://silverball\.test(/direct\?link=[A-Za-z0-9]{40})<", unescape(made.text))
    assert found is not None
    return found[1]


def take(visitor: Visitor, link: str) -> tuple[int, str]:
    """Open the link and agree; status and address."""
    page = visitor.get(link)
    csrf, key = (
        re.search(rf'action="/direct">.*?name="{name}" value="([^"]+)"', page.text, re.DOTALL)
        for name in ("csrf", "key")
    )
    assert csrf is not None
    assert key is not None
    fields = {"csrf": csrf[1], "key": key[1], "link": link.partition("=")[2]}
    answer = visitor.post("/direct", data=fields)
    return answer.status_code, answer.headers.get("location", "")


def test_a_link_makes_another_organizer_a_director_who_runs_the_night(
    store: Store, director: Director, tablet: Visitor
) -> None:
    a_night(director)
    link = new_link(director)
    # No secret is stored in the clear.
    with store.read() as db:
        assert link[-40:] not in str(db.execute(tables.director_link.select()).all())
    an_account(store, name="Otto Tilt", email=OTHER, role="organizer")
    assert tablet.get(link).status_code == 303
    tablet.sign_in(OTHER)
    assert tablet.get(f"{director.at}/players").status_code == 403
    assert take(tablet, link) == (303, director.at)
    assert "You direct" in tablet.get("/run").text
    console = page_forms.forms_on(tablet.get(f"{director.at}{SETTINGS}").text)
    assert "director-link" not in console
    assert "Otto Tilt is a director." in page_forms.text_of(director.page("/journal"))
    assert tablet.get(link).status_code == 404
    resign = next(form for name, form in console.items() if name.startswith("director-out"))
    tablet.post(resign.action, data=dict(resign.filled()))
    assert tablet.get(f"{director.at}/players").status_code == 403


def test_the_organizer_chooses_which_devices_of_a_former_director_go_on(
    store: Store, director: Director, tablet: Visitor
) -> None:
    a_night(director)
    link = new_link(director)
    an_account(store, name="Otto Tilt", email=OTHER, role="organizer")
    tablet.sign_in(OTHER)
    assert take(tablet, link) == (303, director.at)
    for name in ("Tablet at the bar", "Phone of Otto"):
        form = page_forms.forms_on(tablet.get(f"{director.at}{SETTINGS}").text)["device"]
        assert tablet.post(form.action, data=dict(form.filled(name=name))).status_code == 201
    forms = director.forms(SETTINGS)
    form = next(form for name, form in forms.items() if name.startswith("director-out"))
    # All are ticked to end.
    assert len(form.boxes["ended"]) == len([pair for pair in form.fields if pair[0] == "ended"]) == 2
    assert director.post(form, ended=form.boxes["ended"][1:]).status_code == 303
    shown = page_forms.text_of(director.page(SETTINGS))
    assert ("Tablet at the bar" in shown, "Phone of Otto" in shown) == (True, False)


def test_a_link_expires_after_seven_days_and_gives_players_accounts_nothing(
    store: Store, director: Director, tablet: Visitor
) -> None:
    a_night(director)
    link = new_link(director)
    an_account(store, name="Pia Yer", email=OTHER)
    tablet.sign_in(OTHER)
    shown = tablet.get(link).text
    assert "Directors need an organizer" in unescape(shown)
    assert 'action="/direct"' not in shown
    csrf = tablet.csrf()
    forced = tablet.post("/direct", data={"csrf": csrf, "key": "k1", "link": link.partition("=")[2]})
    assert forced.status_code == 403
    tablet.now = build.NOW
    tablet.wait(days=8)
    tablet.sign_in_anew(OTHER)
    assert tablet.get(link).status_code == 404


def test_ten_links_may_wait_and_a_twice_sent_form_makes_one(director: Director) -> None:
    a_night(director)
    form = director.forms(SETTINGS)["director-link"]
    assert [director.post(form).status_code for _ in range(2)] == [201, 303]
    for _ in range(LINKS_MAX - 1):
        new_link(director)
    assert director.refused("director-link", SETTINGS)[0] == 409
