"""A frenzy run over HTTP: the clock and the queue. Source: formats, 14.14 and 18."""

from datetime import timedelta

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store


def a_frenzy(store: Store) -> Desk:
    return a_desk(store, "frenzy", players=7, arenas=2)


def test_the_clock_is_paused_resumed_and_moved(store: Store) -> None:
    desk = a_frenzy(store)
    desk.do_and_undo("POST", "/frenzy/pause")
    desk.do_and_undo("POST", "/frenzy/time", {"seconds": 300})
    desk.expect_refusal(409, "POST", "/frenzy/resume")
    desk.expect_refusal(422, "POST", "/frenzy/time", {"seconds": -80_000})
    desk.expect_refusal(422, "POST", "/frenzy/time", {})
    desk.ok("POST", "/frenzy/pause", now=build.NOW + timedelta(minutes=5))
    desk.expect_refusal(409, "POST", "/frenzy/pause")
    state = desk.do_and_undo("POST", "/frenzy/resume")
    assert (len(state["games"]), len(state["queue"])) == (2, 3)
    assert (
        desk.expect_refusal(400, "POST", "/max-matchplay/games")["message"]
        == "Tournament is not Max Match Play"
    )


def test_a_result_moves_the_queue_and_undo_moves_it_back(store: Store) -> None:
    desk = a_frenzy(store)
    state = build.ask(store, f"{desk.path}/frenzy", by=desk.callers["owner"])[1]
    game, first = state["games"][0], state["queue"][0]["playerId"]
    result = {"resultPositions": game["playerIds"]}
    desk.do_and_undo("PUT", f"/games/{game['gameId']}/result", result, by="keeper")
    desk.ok("PUT", f"/games/{game['gameId']}/result", result, by="keeper")
    after = build.ask(store, f"{desk.path}/frenzy", by=desk.callers["owner"])[1]
    assert any(first in game["playerIds"] for game in after["games"])
    gone = desk.do_and_undo("DELETE", f"/games/{game['gameId']}/result")["data"]
    assert (gone["gameId"], gone["status"]) == (game["gameId"], "completed")


def test_players_leave_the_queue_join_it_and_let_others_go_first(store: Store) -> None:
    desk = a_frenzy(store)
    queue = build.ask(store, f"{desk.path}/frenzy", by=desk.callers["owner"])[1]["queue"]
    first, last = queue[0], queue[-1]
    moved = desk.do_and_undo("POST", f"/frenzy/queue/{first['queueId']}/end", by="keeper")["queue"]
    assert moved[-1]["playerId"] == first["playerId"]
    desk.expect_refusal(409, "POST", f"/frenzy/queue/{last['queueId']}/end")
    left = desk.ok("DELETE", f"/frenzy/queue/{first['queueId']}", by="keeper")["queue"]
    assert first["playerId"] not in [player["playerId"] for player in left]
    back = desk.do_and_undo("POST", "/frenzy/queue", {"playerId": first["playerId"]}, by="keeper")["queue"]
    assert back[-1]["playerId"] == first["playerId"]
    desk.expect_refusal(409, "POST", "/frenzy/queue", {"playerId": last["playerId"]})
    desk.expect_refusal(404, "DELETE", "/frenzy/queue/99999")
    desk.expect_refusal(409, "POST", "/frenzy/games")
    for who, status in [("nobody", 401), ("reader", 403), ("player", 403), ("other", 403)]:
        desk.expect_refusal(status, "POST", "/frenzy/queue", {"playerId": first["playerId"]}, by=who)
        desk.expect_refusal(status, "DELETE", f"/frenzy/queue/{last['queueId']}", by=who)
        desk.expect_refusal(status, "POST", f"/frenzy/queue/{last['queueId']}/end", by=who)
        desk.expect_refusal(status, "POST", "/frenzy/games", by=who)


def test_a_reopened_frenzy_resumes_on_request(store: Store) -> None:
    desk = a_frenzy(store)
    desk.ok("POST", "/complete")
    desk.ok("POST", "/reopen")
    assert len(desk.do_and_undo("POST", "/frenzy/games")["games"]) == 2


def test_the_organizer_makes_the_games_of_a_frenzy_without_queues(store: Store) -> None:
    desk = a_desk(store, "frenzy", useQueues=False)
    ids = desk.night.player_ids
    assert desk.do_and_undo("POST", "/games", {"playerIds": ids[:2]})["data"]["playerIds"] == ids[:2]
    desk.expect_refusal(422, "POST", "/games", {"playerIds": ids[:3]})
    a_frenzy(store).expect_refusal(409, "POST", "/games", {"playerIds": ids[:2]})


def test_another_format_has_no_clock(store: Store) -> None:
    desk = a_desk(store)
    for path in ("pause", "resume", "games"):
        desk.expect_refusal(400, "POST", f"/frenzy/{path}")
