"""The console's forms: each acts once, or says why it cannot."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, update

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import HERE, Director
from web.visitor import EMAIL, PASSWORD, PASSWORD_HASH, Visitor


def actions(director: Director) -> int:
    """The number of actions in the journal."""
    journal = tables.journal.c
    rows = select(func.max(journal.action_id)).where(journal.tournament_id == director.tournament_id)
    with director.store.read() as db:
        return int(db.execute(rows).scalar_one())


# Acting once


def test_a_form_that_is_sent_twice_acts_once(director: Director) -> None:
    game = director.play("matchplay")
    form = director.forms()[f"result-{game.game_id}"]
    before = actions(director)
    answers = [director.post(form, first=game.player_ids[0]) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [303, 303, 303]
    assert {answer.headers["location"] for answer in answers} == {director.at}
    assert actions(director) == before + 1


def test_eight_taps_at_once_act_once(director: Director) -> None:
    director.create("matchplay")
    director.start()
    form = director.forms()["round-open"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: director.post(form), range(8)))
    assert {answer.status_code for answer in answers} == {303}
    assert len(director.tournament().rounds) == 1


def test_a_form_sent_again_with_other_contents_is_asked_about(director: Director) -> None:
    game = director.play("matchplay")
    form = director.forms()[f"result-{game.game_id}"]
    first, second = game.player_ids
    director.post(form, first=first)
    again = director.post(form, first=second)
    assert again.status_code == 422
    assert "used for another request" in page_forms.alerts_on(again.text)[0]
    assert director.game(game).result_positions == (first, second)


def test_a_stale_page_does_not_replace_a_newer_result(director: Director) -> None:
    game = director.play("matchplay")
    first, second = game.player_ids
    stale = director.forms()[f"result-{game.game_id}"]
    director.send(f"result-{game.game_id}", first=first)
    refused = director.post(stale, first=second)
    assert refused.status_code == 409
    (alert,) = page_forms.alerts_on(refused.text)
    assert alert.startswith(f"The game of {director.name(first)}")
    assert "somebody was quicker" in alert
    assert director.game(game).result_positions == (first, second)
    # The same result again is not refused.
    assert director.post(stale, first=first, key="another").status_code == 303


def test_the_same_game_is_corrected_where_its_result_is_shown(director: Director) -> None:
    game = director.play("matchplay")
    first, second = game.player_ids
    director.send(f"result-{game.game_id}", first=first)
    director.send(f"result-{game.game_id}", f"/game?game={game.game_id}", first=second)
    assert director.game(game).result_positions == (second, first)
    director.send(f"clear-{game.game_id}", f"/game?game={game.game_id}")
    assert director.game(game).status == "started"


def test_a_stale_settings_form_keeps_newer_changes(director: Director) -> None:
    director.create("group_matchplay")
    stale = director.forms("/settings")["edit"]
    director.send("edit", "/settings", name="Renamed", set_duration=7, motdText="Pizza\r\nat nine")
    assert director.post(stale, description="In the cellar").status_code == 303
    night = director.tournament()
    assert night.details["name"] == "Renamed"
    assert night.details["description"] == "In the cellar"
    assert night.details["motd_text"] == "Pizza\nat nine"
    assert director.setting("duration") == 7
    # Sent without a change, it changes nothing.
    before = actions(director)
    director.send("edit", "/settings")
    assert actions(director) == before


def test_undo_is_offered_however_many_undos_came_before(director: Director) -> None:
    director.create("group_matchplay")
    for number in range(30):
        director.send("edit", "/settings", name=f"Name {number}")
    for _ in range(27):
        director.send("undo")
    assert director.tournament().details["name"] == "Name 2"
    director.send("undo")
    assert director.tournament().details["name"] == "Name 1"


def test_who_finishes_with_a_round_open_is_asked_what_becomes_of_it(director: Director) -> None:
    director.play("knockout", players=4)
    assert "Round 1 is open: 2 games have no result." in director.page("/standings")
    director.send("complete", "/standings", openRound="drop")
    assert director.tournament().status == "completed"
    assert director.tournament().rounds == ()


def test_a_refused_setting_still_knows_what_was_shown(director: Director) -> None:
    director.create("group_matchplay")
    stale = director.forms("/settings")["edit"]
    refused = director.post(stale, set_duration="many", description="In the cellar")
    assert refused.status_code == 422
    director.send("edit", "/settings", name="Renamed")
    again = page_forms.forms_on(refused.text)["edit"]
    assert director.post(again, set_duration=8).status_code == 303
    assert director.tournament().details["name"] == "Renamed"
    assert director.setting("duration") == 8


def test_what_a_form_was_about_may_be_gone(director: Director) -> None:
    game = director.play("matchplay")
    stale = director.forms()[f"result-{game.game_id}"]
    director.send("round-delete")
    answer = director.post(stale, first=game.player_ids[0])
    assert answer.status_code == 404
    assert page_forms.alerts_on(answer.text)[0].startswith("What this form was about is not there any more.")
    assert "Open round 1" in page_forms.text_of(answer.text)


# Sessions that end before a form is sent


def test_a_lost_session_loses_nothing_that_was_entered(director: Director, visitor: Visitor) -> None:
    game = director.play(players=4)
    form = director.forms()[f"result-{game.game_id}"]
    places = {f"place_{player_id}": n + 1 for n, player_id in enumerate(game.player_ids[:3])}
    before = actions(director)
    visitor.wait(days=15)
    asked = director.post(form, **places)
    assert asked.status_code == 401
    assert "what you entered is kept" in asked.text
    assert actions(director) == before
    sign_in = page_forms.forms_on(asked.text)["/account/sign-in"]
    wrong = director.post(sign_in, email=EMAIL, password="wrong password")
    assert wrong.status_code == 422
    back = director.post(page_forms.forms_on(wrong.text)["/account/sign-in"], email=EMAIL, password=PASSWORD)
    assert back.status_code == 419
    assert "This has not been sent yet" in page_forms.alerts_on(back.text)[0]
    assert actions(director) == before
    filled = page_forms.forms_on(back.text)[f"result-{game.game_id}"]
    assert [filled.value(f"place-{player_id}") for player_id in game.player_ids] == ["1", "2", "3", ""]
    assert director.post(filled).status_code == 303
    assert director.game(game).result_positions == game.player_ids


def test_a_new_tournament_survives_a_lost_session(director: Director, visitor: Visitor) -> None:
    form = director.forms("/run/new?type=group_matchplay")["new"]
    visitor.wait(days=15)
    asked = director.post(form, name="Thursday", set_duration=7)
    assert asked.status_code == 401
    back = director.post(page_forms.forms_on(asked.text)["/account/sign-in"], email=EMAIL, password=PASSWORD)
    assert "This has not been sent yet" in page_forms.alerts_on(back.text)[0]
    filled = page_forms.forms_on(back.text)["new"]
    assert (filled.value("name"), filled.value("set-duration")) == ("Thursday", "7")
    assert director.post(filled).status_code == 303


def test_a_form_too_long_to_carry_says_so(director: Director, visitor: Visitor) -> None:
    director.create("matchplay")
    form = director.forms()["people"]
    names = "\n".join(f"Somebody with a long name {n:04}" for n in range(1500))
    visitor.wait(days=15)
    asked = director.post(form, names=names)
    assert asked.status_code == 401
    assert "too long to be kept here" in asked.text
    # After signing in on another page, the form has the CSRF token of an older session.
    visitor.sign_in(EMAIL, PASSWORD)
    back = director.post(form, names=names)
    assert back.status_code == 419
    assert page_forms.forms_on(back.text)["people"].value("names").split() == names.split()


def test_a_pasted_list_survives_a_lost_session(director: Director, visitor: Visitor) -> None:
    director.create("matchplay")
    form = director.forms()["people"]
    visitor.cookies.clear()
    asked = director.post(form, names="Ada Quill\nBo Larkin")
    back = director.post(page_forms.forms_on(asked.text)["/account/sign-in"], email=EMAIL, password=PASSWORD)
    filled = page_forms.forms_on(back.text)["people"]
    assert filled.value("names").split("\n") == ["Ada Quill", "Bo Larkin"]
    assert director.post(filled).status_code == 303
    assert len(director.tournament().entrants) == 2


def test_what_another_site_sends_is_not_kept(director: Director, visitor: Visitor) -> None:
    director.create("matchplay")
    form = director.forms()["people"]
    fields = dict(form.filled(names="Ada Quill"))
    visitor.cookies.clear()
    for headers in ({}, {"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
        answer = visitor.post(form.action, data=fields, headers=headers)
        assert (answer.status_code, "Ada" in answer.text) == (303, False)


def test_a_form_of_an_earlier_session_is_shown_again_without_effect(
    director: Director, visitor: Visitor
) -> None:
    director.create("matchplay")
    form = director.forms()["people"]
    visitor.sign_in_anew()
    answer = director.post(form, names="Ada Quill")
    assert answer.status_code == 419
    assert page_forms.forms_on(answer.text)["people"].value("names") == "Ada Quill"
    assert director.tournament().entrants == ()
    elsewhere = visitor.post(form.action, data=dict(form.filled(names="Ada Quill")))
    assert elsewhere.status_code == 419
    assert "Ada Quill" not in elsewhere.text


def test_signing_in_leads_to_the_page_that_was_wanted(director: Director, visitor: Visitor) -> None:
    director.create("matchplay")
    visitor.cookies.clear()
    asked = visitor.get(f"{director.at}/players?q=ada")
    assert asked.headers["location"].startswith("/account/sign-in?next=/t/")
    form = page_forms.forms_on(visitor.get(asked.headers["location"]).text)["/account/sign-in"]
    there = director.post(form, email=EMAIL, password=PASSWORD)
    assert there.headers["location"] == f"{director.at}/players?q=ada"


@pytest.mark.parametrize(
    "wanted", ["//evil.example/run", "https://evil.example", "/\\evil.example", "/x", "run"]
)
def test_signing_in_leads_nowhere_else(director: Director, visitor: Visitor, wanted: str) -> None:
    visitor.cookies.clear()
    form = page_forms.forms_on(visitor.get("/account/sign-in").text)["/account/sign-in"]
    there = director.post(form, email=EMAIL, password=PASSWORD, next=wanted)
    assert there.headers["location"] == "/account"


# Permissions


def test_a_stranger_sees_no_console_and_changes_nothing(
    store: Store, director: Director, visitor: Visitor
) -> None:
    director.create("matchplay")
    form = director.forms()["people"]
    build.a_user(
        store, name="Bo Larkin", role="organizer", email="bo@silverball.test", password_hash=PASSWORD_HASH
    )
    visitor.sign_in_anew("bo@silverball.test")
    assert visitor.get(director.at).status_code == 403
    fields = {**dict(form.filled(names="Ada Quill")), "csrf": visitor.csrf()}
    assert visitor.post(form.action, data=fields, headers=HERE).status_code == 403
    assert director.tournament().entrants == ()


def test_a_scorekeeper_records_results_calls_players_and_does_nothing_else(
    store: Store, director: Director, visitor: Visitor
) -> None:
    game = director.play("matchplay", scorekeeping="user")
    keeper_id = build.a_user(store, name="Bo Larkin", email="bo@silverball.test", password_hash=PASSWORD_HASH)
    director.send("keeper", "/settings", user_id=keeper_id)
    complete = director.forms("/standings")["complete"]
    visitor.sign_in_anew("bo@silverball.test")
    assert "You keep the scores of" in visitor.get("/run").text
    forms = director.forms()
    assert set(forms) == {"call", *(f"result-{game.game_id}" for game in director.open_games())}
    director.send(f"result-{game.game_id}", first=game.player_ids[0])
    assert director.game(game).scorekeeper_id == keeper_id
    assert visitor.get(f"{director.at}/settings").status_code == 403
    refused = director.post(complete, csrf=visitor.csrf())
    assert refused.status_code == 403
    assert director.tournament().status == "started"


def test_an_admin_may_run_the_tournaments_of_others(
    store: Store, director: Director, visitor: Visitor
) -> None:
    director.create("matchplay")
    admin_id = build.a_user(
        store, name="Bo Larkin", role="admin", email="bo@silverball.test", password_hash=PASSWORD_HASH
    )
    visitor.sign_in_anew("bo@silverball.test")
    director.start(4, 2)
    director.send("round-open")
    with store.read() as db:
        for table in (tables.player, tables.arena):
            assert db.execute(select(table.c.organizer_id).distinct()).scalars().all() == [director.user_id]
        actors = db.execute(select(tables.journal.c.actor_id).distinct()).scalars()
        assert set(actors) == {director.user_id, admin_id}


def test_only_organizers_create_tournaments(store: Store, visitor: Visitor) -> None:
    director = Director(store, visitor, role="player")
    status, sentence = director.refused("new", "/run/new?type=matchplay", name="Night")
    assert (status, sentence[:34]) == (403, "Only organizers create tournaments")


def test_the_journal_names_the_actor_of_an_action(director: Director) -> None:
    director.play("matchplay")
    page = page_forms.text_of(director.page())
    assert "by Olga Ramp" in page
    journal = tables.journal.c
    with director.store.read() as db:
        rows = db.execute(select(journal.actor_id, journal.source).distinct()).all()
    assert [tuple(row) for row in rows] == [(director.user_id, "testclient")]


# Parts and unusual addresses


def test_each_part_is_served_alone_as_on_its_page(director: Director) -> None:
    director.play()
    for path, parts in {"": ("status", "undo", "play"), "/players": ("roster", "people")}.items():
        page = director.page(path)
        for part in parts:
            alone = director.page(f"{path}?part={part}")
            assert "<html" not in alone
            assert f'data-live="{part}"' in page
            assert page_forms.text_of(alone) in page_forms.text_of(page)
        together = director.page(f"{path}?part={','.join(parts)}")
        assert re.findall('data-live="([a-z]+)"', together) == list(parts)
    assert director.visitor.get(f"{director.at}?part=roster").status_code == 404
    assert director.visitor.get(f"{director.at}/none").status_code == 404
    assert director.visitor.get("/t/99999999/run").status_code == 404


def test_the_address_of_an_action_can_be_opened(director: Director) -> None:
    director.create("matchplay")
    answer = director.visitor.get(f"{director.at}/do/start")
    assert (answer.status_code, answer.headers["location"]) == (303, director.at)
    assert director.tournament().status == "planned"


def test_a_tournament_of_an_unknown_type_is_not_a_crash(store: Store, director: Director) -> None:
    director.create("matchplay")
    row = tables.tournament.c.tournament_id == director.tournament_id
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.tournament).where(row).values(type="marble_run", revision=99)
        )
    answer = director.visitor.get(director.at)
    assert answer.status_code == 403
    assert "cannot" in answer.text or "not changed" in answer.text


def test_a_refusal_says_machine_as_the_pages_do(director: Director) -> None:
    director.create("matchplay")
    director.start(players=4, machines=2)
    director.send("round-open")
    game = director.open_games()[0]
    path = f"/game?game={game.game_id}"
    status, sentence = director.refused(f"redraw-{game.game_id}", path)
    assert (status, "No other machine is free. Wait until a game ends, or add a machine." in sentence) == (
        409,
        True,
    )
