"""Late, away, gone, and machines out of order, through the console."""

from collections.abc import Sequence
from typing import Any

import pytest

import build
from web.director import Director
from web.public_visitor import PublicVisitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def test_a_late_player_joins_a_group_of_three_or_the_next_round(director: Director) -> None:
    director.create("group_knockout", latePoints="1", knockoutStrikeCount="9")
    director.start(7)
    director.send("round-open")
    three = next(game for game in director.open_games() if len(game.player_ids) == 3)
    shown = director.page("/players")
    assert "from the next round; begins with 1 strike" in shown
    director.send("late", "/players", names="Late Lou", gameId=three.game_id)
    late = director.tournament().entrants[-1]
    assert director.game(three).player_ids == (*three.player_ids, late.player_id)
    assert late.points_adjustment == 0
    director.send("undo")
    assert len(director.tournament().entrants) == 7
    director.send("late", "/players", names="Later Lee")
    assert director.tournament().entrants[-1].points_adjustment == 1
    assert "Later Lee added" in director.page("/players")
    assert director.refused("late", "/players", names="")[0] == 422


def test_a_player_is_away_for_a_round_and_their_own_page_says_so(director: Director) -> None:
    game = director.play("group_matchplay", players=8)
    gone = game.player_ids[0]
    director.send("away", f"/player?player={gone}", awayRounds=1, openGame="fewer")
    own = f"/t/{director.tournament_id}/players/{gone}"
    assert "You are away for this round" in director.visitor.get(own).text
    assert "away for this round" in director.page("/players")
    assert "away for this round" in director.page("/journal")
    director.send("undo")
    director.send("away", f"/player?player={gone}", awayRounds=2)
    assert "away for the next 2 rounds" in director.page("/players")
    assert gone in director.game(game).player_ids
    director.send("return", f"/player?player={gone}")
    assert gone in director.tournament().active_ids


def test_who_goes_from_a_running_game_has_the_last_place_in_the_form(director: Director) -> None:
    game = director.play("group_matchplay", players=8)
    gone, *others = game.player_ids
    director.send("leave", f"/player?player={gone}", openGame="last")
    form = director.forms()[f"result-{game.game_id}"]
    assert form.value(f"place-{gone}") == "4"
    places: dict[str, Any] = {f"place_{others[0]}": 1, f"place_{others[1]}": 2}
    director.send(f"result-{game.game_id}", **places)
    assert director.game(game).result_positions == (*others, gone)


def test_each_game_on_a_broken_machine_gets_a_ruling_that_stays_as_a_note(director: Director) -> None:
    game = director.play("group_matchplay", players=8)
    director.send(f"broken-{game.arena_id}", "/arenas")
    assert director.game(game).arena_id == game.arena_id
    ruling = f"ruling-{game.game_id}"
    director.send(ruling, "/arenas", ruling="wait")
    assert "waits" in director.page()
    player = director.visitor.get(f"/t/{director.tournament_id}/players/{game.player_ids[0]}").text
    assert "its clock stands still" in player
    director.send(ruling, "/arenas", ruling="startOver")
    moved = director.game(game)
    assert moved.arena_id != game.arena_id
    notes = director.page(f"/game?game={game.game_id}")
    assert "is out of order: the game waits, and its clock stands still." in notes
    assert f"the game starts over on Machine {moved.arena_id}." in notes
    assert "the game starts over" in director.page("/journal")
    # Back again, and settled by the order of now in place of moving.
    director.send("undo")
    first, *rest = game.player_ids
    places: dict[str, Any] = {f"place_{player_id}": n for n, player_id in enumerate([*rest, first], start=1)}
    director.send(f"settle-{game.game_id}", "/arenas", **places)
    assert director.game(game).result_positions == (*rest, first)
    assert "Games on machines out of order" not in director.page("/arenas")


def test_a_note_on_a_game_is_written_and_seen_on_its_page_only(director: Director) -> None:
    game = director.play("group_matchplay", players=8)
    page = f"/game?game={game.game_id}"
    director.send("note", page, kind="yellow", text="Shook the machine.", playerId=game.player_ids[0])
    assert "Shook the machine." in director.page(page)
    assert "Shook" not in director.page("/journal")
    assert "Shook" not in PublicVisitor(director.store).page(f"/t/{director.tournament_id}")
    assert director.refused("note", page, text=" ")[0] == 422


def test_a_card_is_shown_next_week_and_who_is_disqualified_leaves_by_choice(director: Director) -> None:
    game = director.play("group_matchplay", players=8)
    carded, page = game.player_ids[0], f"/game?game={game.game_id}"
    director.send("note", page, kind="yellow", text="Shook the machine.", playerId=carded)
    assert "Cards in the last year" not in director.page(page)
    director.play("group_matchplay", players=8)
    again = next(each for each in director.tournament().open_games if carded in each.player_ids)
    page = f"/game?game={again.game_id}"
    assert "Cards in the last year" in director.page(page)
    assert "Shook the machine." in director.page(page)
    leaving = {"kind": "disqualified", "text": "Threw a chair.", "playerId": carded, "leaves": "tournament"}
    director.send("note", page, **leaving)
    assert not director.tournament().entrant_by_id[carded].is_active


def test_who_plays_elsewhere_keeps_their_place_in_a_queue_and_the_pages_say_so(director: Director) -> None:
    director.create("best_game", useQueues="on", suggestions="disabled")
    director.start(4, 3)
    busy, free = director.tournament().active_ids[0], director.tournament().active_ids[2]
    machines = [arena.arena_id for arena in director.tournament().lineup]
    another_tournament_runs(director, director.tournament().active_ids[:2], machines[0])
    for player_id in (busy, free):
        director.send("queue", playerId=player_id, arenaId=machines[1])
    director.send("queue", playerId=director.tournament().active_ids[3], arenaId=machines[0])
    starts = {name for name in director.forms() if name.startswith("queue-start-")}
    assert starts == {f"queue-start-{spot_of(director, free)}"}
    page = director.page()
    assert "playing in Women" in page
    assert "in use in Women" in page
    assert "playing in Women" in PublicVisitor(director.store).page(f"/t/{director.tournament_id}")
    own = director.visitor.get(f"/t/{director.tournament_id}/players/{busy}").text
    assert "you keep your place" in own
    director.send(starts.pop())
    assert director.tournament().waiting_spots[0].player_id == busy


def another_tournament_runs(director: Director, player_ids: Sequence[int], arena_id: int) -> None:
    """A match play of the same occasion, with one game."""
    own_id = director.tournament_id
    created = build.do(
        director.store,
        "POST",
        "/api/tournaments",
        {"name": "Women's", "type": "matchplay"},
        by=director.user_id,
    )[1]["data"]
    at = f"/api/tournaments/{created['tournamentId']}"
    entries = [{"tournamentId": each} for each in (own_id, created["tournamentId"])]
    for path, body in (
        (f"{at}/players", {"players": [{"playerId": each} for each in player_ids]}),
        (f"{at}/arenas", {"arenas": [{"arenaId": arena_id}]}),
        ("/api/events", {"name": "Room", "startUtc": "2026-03-07T18:00:00Z", "tournaments": entries}),
        (f"{at}/start", None),
        (f"{at}/rounds", {}),
    ):
        status, answer, _ = build.do(director.store, "POST", path, body, by=director.user_id)
        assert status < 300, answer


def spot_of(director: Director, player_id: int) -> int:
    return next(spot.queue_id for spot in director.tournament().waiting_spots if spot.player_id == player_id)


def test_the_queue_of_a_broken_machine_waits_or_is_dissolved_with_a_sentence(director: Director) -> None:
    director.create("best_game", useQueues="on", suggestions="disabled")
    director.start(4, 2)
    arena_id = director.tournament().lineup[0].arena_id
    player_id = director.tournament().active_ids[1]
    director.send("queue", playerId=player_id, arenaId=arena_id)
    director.send(f"broken-{arena_id}", "/arenas")
    own = f"/t/{director.tournament_id}/players/{player_id}"
    assert "The machine is out of order: the queue waits." in director.visitor.get(own).text
    director.send(f"dissolve-{arena_id}", "/arenas")
    assert director.tournament().waiting_spots == ()
    assert "was dissolved: the machine is out of order." in director.visitor.get(own).text
    assert "queue dissolved" in director.page("/arenas")
    director.send("undo")
    assert len(director.tournament().waiting_spots) == 1
    assert "was dissolved" not in director.visitor.get(own).text
    director.send(f"dissolve-{arena_id}", "/arenas")
    director.send(f"fixed-{arena_id}", "/arenas")
    assert "was dissolved" not in director.visitor.get(own).text


def test_a_machine_leaves_a_best_game_with_its_scores_until_it_is_undone(director: Director) -> None:
    director.create("best_game", suggestions="disabled")
    director.start(3, 2)
    broken, other = (arena.arena_id for arena in director.tournament().lineup)
    for player_id in director.tournament().active_ids:
        director.send("score", playerId=player_id, arenaId=broken, score=100 + player_id)
        director.send("score", playerId=player_id, arenaId=other, score=900 - player_id)
    director.send(f"broken-{broken}", "/arenas")
    before = director.tournament()
    assert "Take out all scores of" in director.page("/arenas")
    director.send(f"scores-out-{broken}", "/arenas")
    assert {attempt.arena_id for attempt in director.tournament().single_player_games} == {other}
    director.send("undo")
    assert director.tournament() == before
