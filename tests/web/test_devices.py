"""Scorekeepers without accounts: a link makes a browser a device, until it is revoked."""

import re
from urllib.parse import urlencode

import pytest

import hostile
from silverball.store.database.engine import Store
from web import page_forms
from web.director import FORM_TYPE, Director
from web.page_forms import PageForm
from web.scorekeeper_devices import LINK, NAME, a_link, a_night, become, page_of, post, rows
from web.test_sheets import qr_path
from web.visitor import Visitor

# Creating a link


def test_a_link_is_shown_once_as_text_and_as_a_code(director: Director) -> None:
    a_night(director)
    answer = director.post(director.forms("/settings")["device"], name=NAME)
    found = LINK.search(answer.text)
    assert found is not None
    assert re.findall(r'<path[^>]* d="([^"]+)"', answer.text) == [qr_path(found[0])]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "same-origin"
    listed = director.page("/settings")
    assert found[1] not in listed
    assert f"{NAME} not opened yet" in page_forms.text_of(listed)


def test_the_form_of_a_link_sent_twice_creates_one_link_and_shows_its_secret_once(director: Director) -> None:
    a_night(director)
    form = director.forms("/settings")["device"]
    assert director.post(form, name=NAME).status_code == 201
    again = director.post(form, name=NAME)
    assert (again.status_code, again.headers["location"]) == (303, f"{director.at}/settings")
    assert director.page("/settings").count("not opened yet") == 1


def test_a_link_without_a_name_is_refused_with_a_sentence(director: Director) -> None:
    a_night(director)
    assert director.refused("device", "/settings", name="  ")[0] == 422
    assert director.refused("device", "/settings", name="x" * 101)[0] == 422


def test_hostile_names_of_devices_are_text_everywhere(director: Director, tablet: Visitor) -> None:
    a_night(director)
    for name in hostile.PAYLOADS[::9]:
        answer = director.post(director.forms("/settings")["device"], name=name)
        assert answer.status_code in (201, 422)
        found = LINK.search(answer.text)
        assert page_forms.foreign_in(answer.text) == []
        if found is not None:
            tablet.cookies.clear()
            tablet.get(found[1])
            assert page_forms.foreign_in(page_of(tablet, director.at)) == []
    assert page_forms.foreign_in(director.page("/settings")) == []


# Opening a link


def test_opening_a_link_hides_its_secret_in_a_cookie(director: Director, tablet: Visitor) -> None:
    a_night(director)
    link = a_link(director)
    answer = tablet.get(link)
    cookie = answer.headers["set-cookie"]
    secret = link.removeprefix("/d?link=")
    assert f"silverball_device_1={secret}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert answer.headers["cache-control"] == "no-store"
    assert secret not in page_of(tablet, director.at)
    assert f"{NAME} used 0 min ago" in page_forms.text_of(director.page("/settings"))


def test_a_device_sees_what_scorekeepers_do_and_nothing_of_the_organizer(
    director: Director, tablet: Visitor
) -> None:
    game = a_night(director)
    become(tablet, director)
    page = page_of(tablet, director.at)
    forms = page_forms.forms_on(page)
    assert f"result-{game.game_id}" in forms
    assert not {"undo", "round-open", "round-delete", "people", "complete"} & set(forms)
    assert f"Keeping scores as {NAME}" in page_forms.text_of(page)
    page_of(tablet, f"{director.at}?part=play")
    for view in ("/results", "/standings"):
        page_of(tablet, director.at + view)
    for view in ("/settings", "/players", "/arenas", "/journal", "/draw"):
        page_of(tablet, director.at + view, 403)
    for path in ("/account", "/run", "/home", "/account/data", "/run/new"):
        assert "/account/sign-in" in tablet.get(path).headers["location"]
    # The secret is not an API token.
    assert tablet.speaks_for(become(tablet, director).removeprefix("/d?link=")) is None


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "action", ["undo", "complete", "round-open", "edit", "device", "codes", "people", "delete"]
)
def test_a_device_cannot_do_what_only_the_organizer_may(
    store: Store, director: Director, tablet: Visitor, action: str
) -> None:
    game = a_night(director)
    become(tablet, director)
    form = page_forms.forms_on(page_of(tablet, director.at))[f"result-{game.game_id}"]
    before = rows(store)
    other = PageForm(
        action, "post", f"{director.at}/do/{action}", [("action", "1"), ("name", "x"), *form.fields]
    )
    assert post(tablet, other).status_code == 403
    assert rows(store) == before


def test_a_result_of_a_device_is_journalled_under_its_name_and_sent_twice_acts_once(
    director: Director, tablet: Visitor
) -> None:
    game = a_night(director)
    become(tablet, director)
    form = page_forms.forms_on(page_of(tablet, director.at))[f"result-{game.game_id}"]
    winner = game.player_ids[1]
    first, second = post(tablet, form, first=winner), post(tablet, form, first=winner)
    assert (first.status_code, second.status_code) == (303, 303)
    assert director.game(game).result_positions[0] == winner
    assert f"by device: {NAME}" in page_forms.text_of(director.page())
    assert director.page("/journal?part=journal").count(f"device: {NAME}") == 1
    director.send("undo")


def test_a_device_records_single_player_games(director: Director, tablet: Visitor) -> None:
    director.create("best_game", scorekeeping="user", suggestions="disabled")
    director.start(4)
    become(tablet, director)
    night = director.tournament()
    score = {"playerId": night.entrants[0].player_id, "arenaId": night.lineup[0].arena_id, "score": 1_234_567}
    answer = post(tablet, page_forms.forms_on(page_of(tablet, director.at))["score"], **score)
    assert answer.status_code == 303
    (game,) = director.tournament().single_player_games
    assert game.score == 1_234_567


def test_an_organizer_who_tries_the_link_stays_the_organizer(director: Director) -> None:
    a_night(director)
    director.visitor.get(a_link(director))
    assert "undo" in director.forms()
    assert "Keeping scores as" not in director.page()


def test_a_device_stops_when_its_user_says_so(director: Director, tablet: Visitor) -> None:
    a_night(director)
    link = become(tablet, director)
    answer = post(tablet, page_forms.forms_on(page_of(tablet, director.at))["stop"])
    assert answer.headers["location"] == "/t/1"
    assert "/account/sign-in" in tablet.get(director.at).headers["location"]
    assert tablet.get("/t/1/device/stop").headers["location"] == "/t/1"
    # The link still works.
    assert tablet.get(link).status_code == 303


# The end of a link


def test_a_revoked_device_loses_nothing_that_was_entered(director: Director, tablet: Visitor) -> None:
    game = a_night(director, "group_matchplay", 4)
    link = become(tablet, director)
    form = page_forms.forms_on(page_of(tablet, director.at))[f"result-{game.game_id}"]
    order = {f"place_{player_id}": place + 1 for place, player_id in enumerate(game.player_ids)}
    director.send(
        next(form_id for form_id in director.forms("/settings") if form_id.startswith("device-out-")),
        "/settings",
    )
    answer = post(tablet, form, **order)
    assert answer.status_code == 410
    assert "was revoked" in page_forms.alerts_on(answer.text)[0]
    assert director.game(game).status == "started"
    assert tablet.get(director.at).status_code == 410
    assert tablet.get(link).status_code == 410
    kept = page_forms.forms_on(answer.text)["kept"]
    # Going on without a new link leads to the same page.
    assert page_forms.forms_on(post(tablet, kept).text)["kept"].fields == kept.fields
    become(tablet, director, "Another tablet")
    back = post(tablet, kept)
    assert back.status_code == 419
    assert "has not been sent yet" in page_forms.text_of(back.text)
    filled = page_forms.forms_on(back.text)[f"result-{game.game_id}"]
    assert [filled.value(f"place-{player_id}") for player_id in game.player_ids] == ["1", "2", "3", "4"]
    assert post(tablet, filled).status_code == 303
    assert director.game(game).result_positions == game.player_ids


def test_what_another_site_sends_to_a_revoked_device_is_dropped(director: Director, tablet: Visitor) -> None:
    game = a_night(director)
    become(tablet, director)
    form = page_forms.forms_on(page_of(tablet, director.at))[f"result-{game.game_id}"]
    director.send(
        next(form_id for form_id in director.forms("/settings") if form_id.startswith("device-out-")),
        "/settings",
    )
    answer = tablet.post(form.action, content=urlencode(form.filled(first=1)), headers=FORM_TYPE)
    assert answer.status_code == 410
    assert "kept" not in page_forms.forms_on(answer.text)


def test_a_device_works_only_while_the_tournament_is_not_completed(
    director: Director, tablet: Visitor
) -> None:
    a_night(director)
    link = become(tablet, director)
    director.send("complete", "/standings")
    for path in (director.at, link, f"{director.at}/results"):
        page = page_of(tablet, path, 410)
        assert "is completed" in page_forms.alerts_on(page)[0]
        assert 'href="/t/1"' in page
    assert "device" not in director.forms("/settings")
    director.send("reopen", "/standings")
    page_of(tablet, director.at)


def test_a_link_opens_one_tournament_and_no_other(store: Store, director: Director, tablet: Visitor) -> None:
    a_night(director)
    secret = become(tablet, director).removeprefix("/d?link=")
    director.play("matchplay", 4, scorekeeping="user")
    assert director.tournament_id == 2
    assert "/account/sign-in" in tablet.get("/t/2/run").headers["location"]
    # The secret does not work in the cookie of another tournament.
    tablet.cookies.set("silverball_device_2", secret)
    page = page_of(tablet, "/t/2/run", 403)
    assert "for another tournament" in page
    game = director.open_games()[0]
    before = rows(store)
    forms = page_forms.forms_on(page_of(tablet, "/t/1/run"))
    form = next(forms[form_id] for form_id in forms if form_id.startswith("result-"))
    fields = [pair for pair in form.fields if pair[0] != "game_id"]
    moved = PageForm("x", "post", "/t/2/run/do/result", [*fields, ("game_id", str(game.game_id))])
    assert post(tablet, moved, first=game.player_ids[0]).status_code == 403
    assert rows(store) == before


def test_a_device_works_without_a_setting(director: Director, tablet: Visitor) -> None:
    game = director.play("matchplay", 4)
    become(tablet, director)
    form = page_forms.forms_on(page_of(tablet, director.at))[f"result-{game.game_id}"]
    assert post(tablet, form, first=game.player_ids[0]).status_code == 303
    assert director.game(game).status == "completed"


@pytest.mark.parametrize("secret", ["x", "x" * 40, "%00", "é", "x" * 5000])
def test_an_unknown_link_says_so(tablet: Visitor, secret: str) -> None:
    for path in (f"/d?link={secret}", "/d"):
        assert "This link leads nowhere" in page_of(tablet, path, 404)
    assert tablet.get(f"/d/{secret[:50]}").status_code == 404
