"""Now says what comes next: one line, and at most one thing to do, in each state of a night."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from silverball.rules.registry import FORMATS
from silverball.web import next_step, tournament_night
from web import page_forms
from web.director import Director
from web.test_every_format import NIGHTS

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
SLOT = re.compile(r'<div class="round-next">(.*?)</div>', re.DOTALL)
PRIMARY = re.compile(r'<(?:button|a) class="(?:button )?primary"[^>]*>(.*?)</', re.DOTALL)


def next_of(director: Director) -> tuple[str, str]:
    """The line of Now and its main button, the only one of the page; empty where there is none."""
    page = director.page()
    (slot,) = SLOT.findall(page)
    mains = [page_forms.text_of(button) for button in PRIMARY.findall(page)]
    assert len(mains) <= 1, mains
    main = mains[0] if mains else ""
    line = page_forms.text_of(re.findall(r"<p[^>]*>(.*?)</p>", slot, re.DOTALL)[0])
    return line, main


def test_a_night_of_rounds_from_the_first_player_to_its_end(director: Director) -> None:
    director.create("group_matchplay", duration=2)
    assert next_of(director) == ("2 more players, then it can start", "")
    director.fill(9, 4)
    assert next_of(director) == ("9 players, 4 machines", "Start with 9 players")
    director.send("start")
    assert next_of(director) == ("Round 1 of 2 can be drawn", "Open round 1")
    director.send("round-open")
    assert next_of(director) == ("3 more results, then round 2 can be drawn", "")
    director.finish(director.open_games()[0])
    assert next_of(director) == ("2 more results, then round 2 can be drawn", "")
    director.finish_all()
    assert next_of(director) == ("Round 2 of 2 can be drawn", "Open round 2")
    director.send("round-open")
    assert next_of(director) == ("3 more results, then all is played", "")
    director.finish_all()
    rank_apart(director)
    assert next_of(director) == ("All games done", "Finish tournament")
    director.send("complete-now")
    assert director.tournament().status == "completed"


def rank_apart(director: Director, *, tied_from: int = 100) -> None:
    """Give the players points of their own, best first by id; those from this place on share theirs."""
    for place, entrant in enumerate(director.tournament().entrants):
        night = director.tournament()
        row = next(row for row in FORMATS[night.type].rank(night) if row.player_id == entrant.player_id)
        played = Decimal(str(row.points)) - (row.adjustment or 0)
        points = 1000 - 20 * min(place, tied_from) - played
        director.send("adjusting", f"/player?player={entrant.player_id}", pointsAdjustment=f"{points:.0f}")


def test_a_tie_for_the_first_place_is_played_before_the_night_is_finished(director: Director) -> None:
    director.play(duration=1)
    director.finish_all()
    line, button = next_of(director)
    assert (line.startswith("Tied for 1st: Player 1"), button) == (True, "Play it")
    director.send("play-tie")
    assert next_of(director) == ("1 more result of the tiebreak", "")
    director.finish(director.open_games()[0])
    assert next_of(director) == ("All games done", "Finish tournament")


def test_ties_at_the_cut_come_before_the_final_and_the_final_before_the_end(director: Director) -> None:
    director.create("group_matchplay", duration=1)
    director.send("final-add", "/finals", name="A final", type="bracket", how="players", number="4")
    director.start()
    director.send("round-open")
    assert next_of(director) == ("2 more results, then the final can be made", "")
    director.finish_all()
    rank_apart(director, tied_from=3)
    line, button = next_of(director)
    assert (line.startswith("Tied at the cut: Player 4, Player 5"), button) == (True, "Play it")
    rank_apart(director)
    assert next_of(director) == ("All games done: 4 players for the A final", "Make the final")
    qualifying, to = director.tournament_id, director.send("make-final-0")
    director.tournament_id = qualifying
    assert next_of(director) == ("All games done", "Finish tournament")
    assert to != f"/t/{qualifying}/run"


def test_without_an_end_the_next_round_comes_first_and_never_a_tie(director: Director) -> None:
    director.play("matchplay")
    assert next_of(director) == ("4 more results", "")
    director.finish_all()
    assert next_of(director) == ("Round 2 can be drawn", "Open round 2")
    assert "Tied for 1st" in director.page()


def test_strikes_promise_a_round_only_while_one_is_certain(director: Director) -> None:
    director.play("knockout", players=4, knockoutStrikeCount=1)
    assert next_of(director) == ("2 more results, then round 2 can be drawn", "")
    director.finish_all()
    director.send("round-open")
    assert next_of(director) == ("1 more result", "")
    director.finish_all()
    assert next_of(director) == ("All games done", "Finish tournament")


# Format -> its settings, and the line and the button after the start.
OTHERS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "round_robin": ({}, ("28 more results, then all is played", "")),
    "bracket": ({}, ("4 more results", "")),
    "ladder": ({}, ("1 more result", "")),
    "max_matchplay": ({}, ("Whoever is free can play", "Create the matches that can be played")),
    "manual_matchplay": ({}, ("Round 1 can be drawn", "Open round 1")),
    "frenzy": ({"frenzyQueueSize": 2}, ("3 more results", "")),
    "golf": ({"golfDuration": 2}, ("16 more results, then all is played", "")),
    "bowling": ({"golfDuration": 2}, ("16 more results, then all is played", "")),
    "amazingrace": ({}, ("8 more results, then the lowest is out", "")),
    "best_game": ({}, ("0 scores so far. Finish on Standings when nobody plays", "")),
    "card_best_game": ({}, ("0 scores so far. Finish on Standings when nobody plays", "")),
}


@pytest.mark.parametrize("type_", OTHERS)
def test_formats_without_rounds_of_their_own_have_their_line(director: Director, type_: str) -> None:
    settings, expected = OTHERS[type_]
    director.create(type_, **settings)
    director.start()
    assert next_of(director) == expected


@pytest.mark.sample(6)
@pytest.mark.parametrize("type_", NIGHTS)
def test_finish_is_the_main_thing_only_once_all_is_played(director: Director, type_: str) -> None:
    play, count, settings = NIGHTS[type_]
    director.create(type_, **settings)
    director.fill(8, 6)
    assert next_of(director)[1] == "Start with 8 players"
    director.send("start")
    assert next_of(director)[1] != "Finish tournament"
    assert finish_is_quiet(director)
    play(director, count)
    assert not (next_of(director)[1] == "Finish tournament" and finish_is_quiet(director))
    director.send("complete", "/standings")
    assert PRIMARY.findall(director.page()) == ["Share the result"]


def finish_is_quiet(director: Director) -> bool:
    return '<button class="quiet">Finish tournament' in director.page("/standings")


def test_an_open_night_is_finished_once_its_planned_end_has_passed(director: Director) -> None:
    director.create("best_game")
    director.start(4, 2)
    players = [entrant.player_id for entrant in director.tournament().entrants]
    machine = director.tournament().lineup[0].arena_id
    for place, player_id in enumerate(players):
        director.send("score", playerId=player_id, arenaId=machine, score=f"{place + 1}00.000")
    assert next_of(director) == ("4 scores so far. Finish on Standings when nobody plays", "")
    assert finish_is_quiet(director)
    director.send("where", "/settings", startLocal="2020-01-01T19:00", endLocal="2020-01-01T23:00")
    assert next_of(director) == ("The planned end has passed, and nobody plays", "Finish tournament")
    assert not finish_is_quiet(director)


def test_scorekeepers_read_the_line_and_have_no_button(director: Director) -> None:
    director.play(duration=2)
    director.finish_all()
    with director.store.read() as db:
        night = tournament_night.public_night(db, director.tournament(), datetime.now(UTC))
    step = next_step.next_step(night)
    assert (step.line, step.button, step.action) == ("Round 2 of 2 can be drawn", "", "")


def test_without_machines_the_start_says_so_once(director: Director) -> None:
    director.create("group_matchplay")
    director.fill(8, 0)
    assert next_of(director) == ("8 players and no machine: games would not say where", "")
    assert "Start without machines" in director.page()
    director.send("start")
    assert director.tournament().status == "started"


@pytest.mark.parametrize(
    ("type_", "players", "machines", "warning"),
    [
        ("group_matchplay", 9, 2, "A round has 3 games, and there are 2 machines"),
        ("group_matchplay", 8, 2, "No machine to spare"),
        ("group_matchplay", 8, 3, ""),
        ("matchplay", 9, 4, "No machine to spare"),
        ("matchplay", 9, 5, ""),
        ("best_game", 9, 1, ""),
        ("group_matchplay", 1, 0, ""),
    ],
)
def test_the_check_compares_the_games_of_a_round_with_the_machines(
    director: Director, type_: str, players: int, machines: int, warning: str
) -> None:
    director.create(type_)
    director.fill(players, machines)
    text = page_forms.text_of(director.page())
    assert warning in text
    assert ("Before you start" in text) == bool(warning)


def test_the_check_says_that_a_night_ends_after_the_room_closes(director: Director) -> None:
    director.create("group_matchplay", duration=8)
    director.fill(8, 6)
    director.send("where", "/settings", startLocal="2030-01-01T19:00", endLocal="2030-01-02T06:00")
    assert "after the planned end" not in director.page()
    director.send("where", "/settings", startLocal="2030-01-01T19:00", endLocal="2030-01-01T19:30")
    assert "after the planned end at 19:30" in page_forms.text_of(director.page())
