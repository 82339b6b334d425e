"""Rounds over HTTP: dry runs, draws, redraws, completion and deletion. Source: formats, 2."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.rules.registry import FORMATS
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot


def pairs_and_arenas(games: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(game["playerIds"], game["arenaId"]) for game in games]


def record_all(desk: Desk, games: list[dict[str, object]]) -> None:
    for game in games:
        if not game["bye"]:
            desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})


def test_a_round_is_drawn_and_answers_its_games(store: Store) -> None:
    desk = a_desk(store, players=5)
    answer = desk.do_and_undo("POST", "/rounds", {})
    assert (answer["data"]["name"], answer["data"]["status"], len(answer["games"])) == (
        "Round 1",
        "started",
        3,
    )


@pytest.mark.both_databases
def test_a_dry_run_is_the_draw_that_will_be_made(store: Store) -> None:
    desk = a_desk(store, players=9, arenas=6)
    before = desk.stored_state()
    shown = desk.ok("POST", "/rounds", {"dryRun": True})
    assert desk.stored_state() == before
    assert (shown["data"]["roundId"], {game["gameId"] for game in shown["games"] if not game["bye"]}) == (
        0,
        {0},
    )
    real = desk.ok("POST", "/rounds", {})
    assert pairs_and_arenas(real["games"]) == pairs_and_arenas(shown["games"])
    assert [game["userIds"] for game in real["games"]] == [game["userIds"] for game in shown["games"]]


def test_the_same_draw_again_until_it_is_drawn_anew(store: Store) -> None:
    desk = a_desk(store, players=12, arenas=6)
    first = desk.ok("POST", "/rounds", {})
    desk.undo()
    assert pairs_and_arenas(desk.ok("POST", "/rounds", {})["games"]) == pairs_and_arenas(first["games"])
    desk.undo()
    shown = desk.ok("POST", "/rounds", {"redraw": True, "dryRun": True})
    other = desk.ok("POST", "/rounds", {"redraw": True})
    assert (
        pairs_and_arenas(shown["games"])
        == pairs_and_arenas(other["games"])
        != pairs_and_arenas(first["games"])
    )


def test_the_next_round_names_the_games_that_are_still_open(store: Store) -> None:
    desk = a_desk(store)
    games = desk.open_round()
    for body in ({}, {"dryRun": True}):
        told = desk.expect_refusal(409, "POST", "/rounds", body)["message"]
        assert all(str(game["gameId"]) in told for game in games)
    round_id = games[0]["roundId"]
    desk.expect_refusal(409, "POST", f"/rounds/{round_id}/complete")
    record_all(desk, games)
    assert desk.do_and_undo("POST", f"/rounds/{round_id}/complete")["data"]["status"] == "completed"
    assert len(desk.open_round()) == 2


def test_only_the_newest_round_is_deleted(store: Store) -> None:
    desk = a_desk(store)
    games = desk.open_round()
    record_all(desk, games)
    newest = desk.open_round()[0]["roundId"]
    desk.expect_refusal(409, "DELETE", f"/rounds/{games[0]['roundId']}")
    desk.expect_refusal(404, "DELETE", "/rounds/99999")
    assert desk.do_and_undo("DELETE", f"/rounds/{newest}")["data"]["roundId"] == newest
    desk.ok("DELETE", f"/rounds/{newest}")
    with store.read() as db:
        (left,) = snapshot.load(db, desk.night.tournament_id).rounds
    assert left.status == "started"


@pytest.mark.both_databases
def test_a_hole_gets_its_arena_and_target(store: Store) -> None:
    desk = a_desk(store, "golf", golfDuration=2)
    listed = build.ask(store, f"{desk.path}/rounds", by=desk.callers["owner"])[1]["data"]
    path = f"/rounds/{listed[-1]['roundId']}"
    arena = desk.night.arena_ids[0]
    shown = desk.do_and_undo("PATCH", path, {"arenaId": arena, "score": 5_000_000})["data"]
    assert (shown["arenaId"], shown["score"]) == (arena, 5_000_000)
    desk.ok("PATCH", path, {"arenaId": arena})
    assert desk.ok("PATCH", path, {"score": 7})["data"]["arenaId"] == arena
    desk.expect_refusal(422, "PATCH", path, {})
    desk.expect_refusal(422, "PATCH", path, {"score": -1})


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("knockout", {}),
        ("group_knockout", {}),
        ("group_matchplay", {"pairing": "swiss"}),
        ("matchplay", {"pairing": "balanced_series"}),
    ],
)
def test_too_few_players_make_no_round(store: Store, kind: str, chosen: dict[str, Any]) -> None:
    desk = a_desk(store, kind, **chosen)
    gone = [{"playerId": player_id, "status": "inactive"} for player_id in desk.night.player_ids[:3]]
    desk.do_and_undo("POST", "/rounds", {})
    desk.ok("PATCH", "/players", {"players": gone})
    desk.expect_refusal(409, "POST", "/rounds", {})


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_a_dry_run_is_answered_or_refused_as_the_round_would_be(store: Store, kind: str) -> None:
    size: dict[str, Any] = {"bracketSize": 8} if kind in ("group_bracket", "golf_bracket") else {}
    desk = a_desk(store, kind, players=8, arenas=5, **size)
    status, shown = desk.do("POST", "/rounds", {"dryRun": True})
    assert status in (201, 409)
    got, real = desk.do("POST", "/rounds", {})
    assert got == status
    if status == 201:
        assert pairs_and_arenas(real["games"]) == pairs_and_arenas(shown["games"])
        assert real["data"]["name"] == shown["data"]["name"]
    else:
        assert real == shown
