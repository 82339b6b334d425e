"""Finals on the console, and the sheet for players who give up, leave or did not come."""

from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.rules.ranking import solo
from silverball.rules.registry import FORMATS
from web.director import Director
from web.page_forms import text_of
from web.public_visitor import PublicVisitor


def qualify(director: Director, players: int = 9) -> None:
    """A played qualifying of one round, with a final of six and one of those who are left."""
    director.create("group_matchplay", duration=1)
    director.send("final-add", "/finals", name="A final", type="group_bracket", how="players", number="6")
    director.send("final-add", "/finals", name="B final", type="bracket", how="half", number="")
    director.start(players)
    director.send("round-open")
    director.finish_all()


def adjust(director: Director, *player_ids: int, tied_from: int = 100) -> None:
    """Put these players into this order, best first; those from this place on share it."""
    night = director.tournament()
    earned = {row.player_id: row for row in FORMATS[night.type].rank(night)}
    for place, player_id in enumerate(player_ids):
        row = earned[player_id]
        played = Decimal(str(row.points)) - (row.adjustment or 0)
        points = 1000 - 20 * min(place, tied_from) - played
        director.send("adjusting", f"/player?player={player_id}", pointsAdjustment=f"{points:.0f}")


def test_finals_are_planned_with_the_night_and_made_when_it_is_over(director: Director) -> None:
    qualify(director)
    page = director.page()
    assert "Make the final" in page
    assert "2 rounds, the best 2 wait for the second round" in director.page("/finals")
    adjust(director, *[entrant.player_id for entrant in director.tournament().entrants])
    qualifying = director.tournament_id
    to = director.send("make-final-0")
    director.tournament_id = int(to.split("/")[2])
    assert director.setting("bracketSize") == 6
    director.send("start")
    director.tournament_id = qualifying
    assert f"/t/{int(to.split('/')[2])}/run" in director.page("/finals")


def test_a_new_night_is_made_with_its_finals_whose_sizes_the_preview_shows(director: Director) -> None:
    at = "/run/new?type=group_matchplay"
    asked: dict[str, Any] = {
        "name": "Thursday",
        "final_how_0": "players",
        "final_number_0": "6",
        "final_type_0": "group_bracket",
        "final_how_1": "half",
        "final_type_1": "bracket",
    }
    asked = {name.replace("_", "-") if "final" in name else name: value for name, value in asked.items()}
    text = text_of(director.post(director.forms(at)["new"], **asked, preview="1", sample="17").text)
    shown = "Group bracket with 6 of them, 2 rounds, the best 2 wait for the second round"
    assert shown in text
    # Half of the eleven who are left.
    assert "B final : Bracket, single elimination with 5 of them, 3 rounds, the best 3 wait" in text
    to = director.send("new", at, **asked)
    director.tournament_id = int(to.split("/")[2])
    steps = director.tournament().state.planned_finals
    assert [(step.name, step.type, step.players, step.half) for step in steps] == [
        ("A final", "group_bracket", 6, False),
        ("B final", "bracket", None, True),
    ]


def test_a_new_night_with_a_final_that_could_not_start_is_refused(director: Director) -> None:
    at = "/run/new?type=group_matchplay"
    asked = {"name": "Thursday", "final-how-0": "players", "final-number-0": "200", "final-type-0": "bracket"}
    for more in ({}, {"preview": "1"}):
        answer = director.post(director.forms(at)["new"], **asked, **more)
        assert answer.status_code == 422
        assert "takes at most 128 players" in text_of(answer.text)
    asked = {"name": "Thursday", "final-how-0": "within", "final-number-0": "many", "final-type-0": "bracket"}
    assert director.post(director.forms(at)["new"], **asked).status_code == 422


def test_a_tie_at_the_cut_is_named_where_the_final_is_made(director: Director) -> None:
    qualify(director)
    adjust(director, *[entrant.player_id for entrant in director.tournament().entrants], tied_from=4)
    assert "Tied at the cut" in director.page()
    status, sentence = director.refused("make-final-0")
    assert (status, "Tied at the cutoff" in sentence) == (409, True)


def test_a_final_says_that_qualifying_has_changed_and_takes_it_over_by_one_tap(director: Director) -> None:
    qualify(director)
    ids = [entrant.player_id for entrant in director.tournament().entrants]
    adjust(director, *ids)
    qualifying = director.tournament_id
    final = int(director.send("make-final-0").split("/")[2])
    director.tournament_id = final
    assert "Qualifying has changed" not in director.page()
    director.send("start")
    director.tournament_id = qualifying
    adjust(director, *ids[:5], ids[6], ids[5])
    director.tournament_id = final
    assert "Qualifying has changed" in director.page()
    director.send("final-follow")
    final_ids = {entrant.player_id for entrant in director.tournament().entrants}
    assert (final_ids, director.tournament().status) == ({*ids[:5], ids[6]}, "planned")
    assert "Qualifying has changed" not in director.page()
    director.send("undo")
    assert director.tournament().status == "started"


def test_a_step_is_taken_out_again(director: Director) -> None:
    director.create("group_matchplay")
    director.send("final-add", "/finals", name="A final", type="bracket", how="players", number="4")
    assert [step.name for step in director.tournament().state.planned_finals] == ["A final"]
    status, sentence = director.refused(
        "final-add", "/finals", name="B", type="bracket", how="players", number="200"
    )
    assert (status, "takes at most 128 players" in sentence) == (422, True)
    director.send("final-out-0", "/finals")
    assert director.tournament().state.planned_finals == ()


@pytest.mark.sample(7)
@pytest.mark.parametrize("kind", list(FORMATS))
def test_each_format_has_the_sheet_for_who_gives_up_leaves_or_did_not_come(
    director: Director, kind: str
) -> None:
    director.create(kind)
    director.start(8, machines=8)
    form = FORMATS[kind]
    if form.can_open_rounds and not director.open_games() and not director.open_attempts():
        director.send("round-open")
    player = director.tournament().entrants[0].player_id
    page = f"/gone?player={player}"
    if f"gives-up-{player}" in director.forms(page):
        director.send(f"gives-up-{player}", page)
    leaver = director.tournament().entrants[1].player_id
    director.send(f"leaves-{leaver}", f"/gone?player={leaver}")
    assert not director.tournament().entrant_by_id[leaver].is_active
    absent = director.tournament().entrants[2].player_id
    director.send(f"absent-{absent}", f"/gone?player={absent}")
    entrant = director.tournament().entrant_by_id.get(absent)
    assert entrant is None or not entrant.is_active


def test_several_give_up_a_group_at_once_and_the_others_are_entered(director: Director) -> None:
    game = director.play()
    page = f"/gone?game={game.game_id}"
    first, second, third, fourth = game.player_ids
    director.send(f"several-{game.game_id}", page, forfeit=[third, fourth])
    assert set(director.game(game).gave_up_ids) == {third, fourth}
    places: dict[str, Any] = {f"place_{second}": 1, f"place_{first}": 2}
    director.send(f"result-{game.game_id}", **places)
    assert director.game(game).result_positions == (second, first, None, None)


FINALS = ("bracket", "double_bracket", "group_bracket", "golf_bracket", "amazingrace")


@pytest.mark.sample(5)
@pytest.mark.parametrize("players", [2, 3, 5, 9, 12, 16, 24, 41, 128])
@pytest.mark.parametrize("kind", FINALS)
def test_each_kind_of_final_is_made_started_and_shown_with_any_number(
    director: Director, kind: str, players: int
) -> None:
    director.create("group_matchplay", duration=1)
    entrants = [{"name": f"Player {at}", "pointsAdjustment": players - at} for at in range(players)]
    at = f"/api/tournaments/{director.tournament_id}"
    store, organizer = director.store, director.user_id
    assert build.do(store, "POST", at + "/players", {"players": entrants}, by=organizer)[0] == 201
    director.send("start")
    status, answer, _ = build.do(
        store, "POST", at + "/playoffs", {"type": kind, "players": players}, by=organizer
    )
    assert status == 201, answer
    director.tournament_id = answer["data"]["tournamentId"]
    director.send("start")
    if FORMATS[kind].can_open_rounds and not director.open_games() and not director.open_attempts():
        director.send("round-open")
    assert director.open_games() or director.open_attempts()
    best = director.tournament().entrants[0].player_id
    passer = PublicVisitor(store)
    for path in ("", "/wall", "/points", f"/players/{best}", "/embed", "/overlay", "/draws"):
        passer.page(f"/t/{director.tournament_id}{path}")
    for page in ("", "/standings", "/players", "/finals"):
        director.page(page)


def test_a_race_with_byes_is_planned_on_the_console_and_says_who_waits(director: Director) -> None:
    director.create("amazingrace", amazingRaceByes=2, amazingRaceByeRounds=1, seeding="manual")
    director.start(6)
    assert len(director.open_attempts()) == 4
    passer = PublicVisitor(director.store)
    first, second = (director.name(each) for each in solo.racers(director.tournament())[:2])
    for text in (director.page(), passer.page(f"/t/{director.tournament_id}")):
        assert f"With a bye: {first} , {second}" in text_of(text)
    status, sentence = director.refused(
        "new", "/run/new?type=amazingrace", name="Race", set_amazingRaceByes=127
    )
    assert (status, "126" in sentence) == (422, True)
    body = {"name": "Race", "type": "amazingrace", "amazingRaceByeRounds": 2}
    status, answer, _ = build.do(director.store, "POST", "/api/tournaments", body, by=director.user_id)
    assert (status, list(answer["errors"])) == (422, ["amazingRaceByeRounds"])
