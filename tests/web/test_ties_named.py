"""Ties that decide are named on Now, standings, live page and wall, in formats that are played alone."""

from typing import Any

import pytest

import build
from silverball.rules.model.tournament import SinglePlayerGame
from web.director import Director
from web.page_forms import text_of
from web.public_visitor import PublicVisitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
TIE = "Tied for 2nd: Player 2, Player 3"
SCORES = {"useQueues": "on", "suggestions": "disabled"}


def titles(director: Director) -> list[bool]:
    """Whether the tie is named on Now, on the standings, on the live page, and on the wall."""
    at = f"/t/{director.tournament_id}"
    passer = PublicVisitor(director.store)
    html = [director.page(), director.page("/standings"), passer.page(at), passer.page(f"{at}/wall")]
    return [TIE in text_of(page) for page in html]


def two_tie_for_prizes(director: Director) -> list[int]:
    """The players by seed, of whom the second and third share a place, and prizes differ for them."""
    director.send("prize-form", "/prizes", entryFee="10", shares="50\n30\n20", published="on")
    return list(director.tournament().active_ids)


def score(director: Director, player_id: int, machine: int, value: int) -> None:
    arena_id = director.tournament().lineup[machine].arena_id
    director.send("score", playerId=player_id, arenaId=arena_id, score=value)


@pytest.mark.parametrize(
    ("type_", "settings"), [("best_game", {}), ("card_best_game", {"cardBestGameGamesPerCard": 1})]
)
def test_scores_that_come_until_the_end_name_the_tie_as_it_stands(
    director: Director, type_: str, settings: dict[str, Any]
) -> None:
    director.create(type_, **SCORES, **settings)
    director.start(5, 2)
    ids = two_tie_for_prizes(director)
    assert titles(director) == [False] * 4
    score(director, ids[0], 0, 9000)
    score(director, ids[1], 0, 8000)
    assert titles(director) == [False] * 4
    score(director, ids[2], 0, 8000)
    assert titles(director) == [True] * 4
    # Who waits or plays may still change it.
    arena_id = director.tournament().lineup[0].arena_id
    director.send("queue", playerId=ids[3], arenaId=arena_id)
    assert titles(director) == [False] * 4
    spot = director.tournament().waiting_spots[0]
    director.send(f"queue-start-{spot.queue_id}")
    assert titles(director) == [False] * 4
    attempt = director.tournament().started_attempts[0]
    director.send(f"attempt-{attempt.single_player_game_id}", score=1)
    assert titles(director) == [True] * 4


def test_the_tie_is_drawn_where_it_is_named(director: Director) -> None:
    director.create("best_game")
    director.start(3, 1)
    ids = two_tie_for_prizes(director)
    for player_id, value in zip(ids, (9000, 8000, 8000), strict=True):
        score(director, player_id, 0, value)
    director.send(f"draw-tie-{ids[1]}")
    assert titles(director) == [False] * 4
    assert sum(entrant.is_tie_drawn is True for entrant in director.tournament().entrants) == 2


def test_pingolf_names_the_tie_once_all_holes_are_played(director: Director) -> None:
    director.create("golf", golfDuration=1, tiebreaker="disabled")
    director.start(3, 1)
    ids = two_tie_for_prizes(director)
    director.send("hole", arenaId=director.tournament().lineup[0].arena_id)

    def strokes(player_id: int, number: int) -> None:
        attempt: SinglePlayerGame = next(
            each for each in director.tournament().single_player_games if each.player_id == player_id
        )
        director.send(f"attempt-{attempt.single_player_game_id}", strokes=number)

    strokes(ids[0], 2)
    strokes(ids[1], 3)
    assert titles(director) == [False] * 4
    strokes(ids[2], 3)
    assert titles(director) == [True] * 4


def test_a_tie_before_anybody_has_a_place_is_named(director: Director) -> None:
    director.create("golf_bracket", bracketSize=8, gamesPerRound=1, golfStrokeLimit=6)
    director.start(8, 4)
    director.send("round-open")
    # Of the first four, two go on; the other four have not played.
    for attempt, strokes in zip(director.open_attempts(), (1, 3, 3, 5), strict=False):
        form = f"attempt-{attempt.single_player_game_id}"
        director.send(form, f"?round={attempt.round_id}", strokes=strokes)
    assert director.standings() == []
    assert "Tied for 1st" in text_of(director.page())


@pytest.mark.parametrize(
    ("wins", "title"),
    [
        (
            [(0, 1), (1, 2), (2, 0)],
            "Tied for 1st: Player 1, Player 2, Player 3; they beat each other in a circle",
        ),
        ([(0, 1), (0, 2), (1, 0), (2, 0)], "Tied for 2nd: Player 2, Player 3; not all of them have met"),
        ([(0, 1), (1, 0)], "Tied for 1st: Player 1, Player 2; each beat the other as often"),
    ],
)
def test_why_who_beat_whom_leaves_a_tie_is_said_with_it(
    director: Director, wins: list[tuple[int, int]], title: str
) -> None:
    director.create("manual_matchplay", tiebreaker="head_to_head")
    director.start(3, 3)
    two_tie_for_prizes(director)
    ids = [entrant.player_id for entrant in director.tournament().entrants]
    path = f"/api/tournaments/{director.tournament_id}/games"
    for winner, loser in wins:
        order = [ids[winner], ids[loser]]
        build.do(director.store, "POST", path, {"playerIds": order}, by=director.user_id)
        game_id = director.tournament().open_games[0].game_id
        result = {"resultPositions": order}
        build.do(director.store, "PUT", f"{path}/{game_id}/result", result, by=director.user_id)
    assert title in text_of(director.page("/standings"))
