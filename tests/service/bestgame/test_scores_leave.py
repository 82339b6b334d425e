"""A machine leaves a best game with its scores, whose entries are free again, or without."""

from typing import Any

import pytest

from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store


def a_day(store: Store) -> Desk:
    """Two players, two machines, and two games each at most."""
    limits: dict[str, Any] = {"bestGameOverallAttempts": 2, "useQueues": True, "suggestions": "disabled"}
    return a_desk(store, "best_game", players=2, arenas=2, **limits)


def score(desk: Desk, player: int, arena: int, points: int) -> tuple[int, dict[str, str]]:
    body = {
        "playerId": desk.night.player_ids[player],
        "arenaId": desk.night.arena_ids[arena],
        "score": points,
    }
    status, answer = desk.do("POST", "/single-player-games", body)
    return status, answer


def points(desk: Desk) -> list[tuple[int, str]]:
    return [(row["playerId"], row["points"]) for row in desk.ok("GET", "/standings")]


def faults(desk: Desk) -> list[str]:
    with desk.store.read() as db:
        return list(verification.verify_tournament(db, desk.night.tournament_id).faults)


def test_its_scores_go_and_their_entries_are_free_again(store: Store) -> None:
    desk = a_day(store)
    ann, ben = desk.night.player_ids
    for arena, (first, second) in enumerate(((900, 100), (50, 60))):
        assert score(desk, 0, arena, first)[0] == score(desk, 1, arena, second)[0] == 201
    # By hand: each is first on one machine and second on the other.
    assert points(desk) == [(ann, "199.00"), (ben, "199.00")]
    assert score(desk, 0, 1, 70)[1]["code"] == "attempts-used-up"
    path = f"/arenas/{desk.night.arena_ids[0]}"
    desk.do_and_undo("PATCH", path, {"status": "inactive", "removeScores": True})
    assert faults(desk) == []
    desk.ok("PATCH", path, {"status": "inactive", "removeScores": True})
    assert points(desk) == [(ben, "100.00"), (ann, "99.00")]
    assert score(desk, 0, 1, 70)[0] == 201
    assert points(desk) == [(ann, "100.00"), (ben, "99.00")]
    assert faults(desk) == []


def test_without_them_it_leaves_and_they_count(store: Store) -> None:
    desk = a_day(store)
    score(desk, 0, 0, 900)
    before = points(desk)
    desk.ok("PATCH", f"/arenas/{desk.night.arena_ids[0]}", {"status": "inactive", "dissolveQueue": True})
    assert points(desk) == before


def test_a_game_that_is_played_there_is_given_up_and_the_queue_dissolved(store: Store) -> None:
    desk = a_day(store)
    arena_id = desk.night.arena_ids[0]
    ann, ben = desk.night.player_ids
    desk.ok("POST", "/single-player-games", {"playerId": ann, "arenaId": arena_id})
    desk.ok("POST", "/queues", {"playerId": ben, "arenaId": arena_id})
    desk.do_and_undo("PATCH", f"/arenas/{arena_id}", {"status": "inactive", "removeScores": True})
    desk.ok("PATCH", f"/arenas/{arena_id}", {"status": "inactive", "removeScores": True})
    stored = desk.stored_state()[0]
    assert (stored.single_player_games, stored.waiting_spots) == ((), ())
    assert faults(desk) == []


@pytest.mark.parametrize(
    ("kind", "body", "status", "named"),
    [
        ("best_game", {"status": "active", "removeScores": True}, 422, "removeScores"),
        ("best_game", {"removeScores": True}, 422, "removeScores"),
        ("card_best_game", {"status": "inactive", "removeScores": True}, 409, "scores-stay-with-machines"),
        ("golf", {"status": "inactive", "removeScores": True}, 409, "scores-stay-with-machines"),
    ],
)
def test_elsewhere_scores_stay_with_their_machine(
    store: Store, kind: str, body: dict[str, object], status: int, named: str
) -> None:
    desk = a_desk(store, kind, players=3, arenas=2)
    answer = desk.expect_refusal(status, "PATCH", f"/arenas/{desk.night.arena_ids[0]}", body)
    assert named in str(answer)
