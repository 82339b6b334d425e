"""Sandbox tournaments of the demo for an evening: directors, timer, calls, rulings, prize money, the door."""

from silverball.cli.demo_sandboxes import Sandboxes
from silverball.cli.robots import Json

PRIZES = {"entryFee": 1000, "federationFee": 100, "shares": [6000, 3000, 1000], "published": True}


def try_evening(boxes: Sandboxes) -> None:
    """Give the operations of an evening a tournament in which they succeed."""
    night, game = boxes.drawn_night("an evening")
    at_game = {"tournamentId": night, "gameId": game["gameId"]}
    path = f"/api/tournaments/{night}"
    boxes.send("PUT", f"{path}/timer", {"minutes": 20})
    boxes.put("show_round_timer", tournamentId=night)
    boxes.put("set_round_timer", body={"minutes": 25}, tournamentId=night)
    boxes.put("extend_round", body={"minutes": 5}, tournamentId=night)
    boxes.put("give_extra_time", body={"minutes": 5}, **at_game)
    boxes.put("call_players", **at_game)
    boxes.put("list_notes_of_game", **at_game)
    boxes.put("list_cards_before_game", **at_game)
    body = {"kind": "yellow", "text": "Shook the machine.", "playerId": game["playerIds"][0]}
    boxes.put("add_note_to_game", body=body, **at_game)
    boxes.put("rule_on_game", body={"ruling": "wait"}, **at_game)
    removed, added = sorted(boxes.visitors)[:2]
    boxes.send("PUT", f"{path}/directors/{removed}")
    boxes.put("add_director_to_tournament", tournamentId=night, userId=added)
    boxes.put("remove_director_from_tournament", tournamentId=night, userId=removed)
    _try_prizes(boxes)
    _try_sign_ups(boxes)


def _try_prizes(boxes: Sandboxes) -> None:
    """Share prize money of a night that is over, and of another that is planned."""
    won, _ = boxes.drawn_night("prize money")
    boxes.finish_round(won)
    boxes.send("POST", f"/api/tournaments/{won}/complete")
    boxes.send("PUT", f"/api/tournaments/{won}/prizes", PRIZES)
    winner = boxes.client.send("GET", f"/api/tournaments/{won}/standings")[0]["playerId"]
    for operation in ("show_prizes", "download_prizes", "show_prize_table"):
        boxes.put(operation, tournamentId=won)
    for operation in ("show_results_for_federation", "download_results_for_federation"):
        boxes.put(operation, tournamentId=won)
    ended = boxes.send("POST", "/api/series", {"name": "A series for the federation", "status": "completed"})
    for operation in ("show_series_for_federation", "download_series_for_federation"):
        boxes.put(operation, seriesId=ended["seriesId"])
    boxes.put("mark_paid", body={"paid": True}, tournamentId=won, playerId=winner)
    planned = boxes.night("prizes to come", "matchplay", is_started=False)
    boxes.put("set_prizes", body=PRIZES, tournamentId=planned)


def _try_sign_ups(boxes: Sandboxes) -> None:
    """Let people wait for a place, arrive and pay."""
    terms = {"fee": 1000, "lateFee": 500}
    limit = {"rsvpConfiguration": {"status": "active", "playerLimit": 4, "hasWaitlist": True}}
    for operation, body in (
        ("show_sign_ups", None),
        ("download_sign_ups", None),
        ("change_sign_up_terms", terms),
        ("remove_absent_players", None),
        ("add_to_waiting_list", {"playerId": boxes.player_ids[4]}),
    ):
        boxes.put(operation, body=body, tournamentId=_door(boxes, operation, limit, terms))
    payment = {"here": True, "payment": {"cents": 1000, "how": "cash"}}
    door = _door(boxes, "a payment", limit, terms)
    boxes.put("update_person_at_door", body=payment, tournamentId=door, playerId=boxes.player_ids[1])
    for operation, body in (("move_on_waiting_list", {"position": 1}), ("remove_from_waiting_list", None)):
        door = _door(boxes, operation, limit, terms)
        boxes.put(operation, body=body, tournamentId=door, playerId=boxes.player_ids[5])


def _door(boxes: Sandboxes, about: str, limit: Json, terms: Json) -> int:
    """A planned tournament that is full, with one player here and one who waits."""
    door = boxes.night(f"the door: {about.replace('_', ' ')}", "matchplay", is_started=False)
    path = f"/api/tournaments/{door}"
    boxes.send("PATCH", path, limit)
    boxes.send("PATCH", f"{path}/sign-ups", terms)
    boxes.send("POST", f"{path}/sign-ups/waiting", {"playerId": boxes.player_ids[5]})
    boxes.send("PUT", f"{path}/sign-ups/players/{boxes.player_ids[0]}", {"here": True})
    return door
