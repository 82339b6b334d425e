"""Values that /docs fills in on the demo, with which every operation succeeds when it is tried out.

Reads show things that stay. Every write has an object of its own, made to be changed or deleted: a thing of
the book, or a sandbox tournament (`demo_sandboxes.py`). Made once for a folder of the demo, and kept there.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from silverball import app
from silverball.demo import sandboxes as demo_sandboxes
from silverball.demo.robots import InProcessClient, Json
from silverball.demo.sandboxes import Sandboxes
from silverball.exchange import nightly
from silverball.kit.http.api import Api
from silverball.kit.http.openapi import Trial
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.players import reads as players_reads
from silverball.service.players import writes as players_writes
from silverball.service.users import writes as users
from silverball.settings import Settings
from silverball.store.database.engine import Store

# Sandbox tournaments of the demo for an evening: directors, timer, calls, rulings, prize money, the door.


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


# A real tournament, which stays as it is.
FINISHED_ID = 244501
# A machine of the demo's database, a federation number of a robot, and a day of the past.
OPDB_ID = "G5pe4-MePZv"
IFPA_ID = 900_001
DAY = "2026-03-05"
VISITORS = {"Vera Visitor": "vera@silverball.invalid", "Viktor Visitor": "viktor@silverball.invalid"}
SUBMISSIONS = "/api/rating-submissions"
# Stands for the address of the demo, which can have another port at the next start.
BASE_URL = "{baseUrl}"
# A player of the sample results whom nobody knows.
UNKNOWN_PLAYER = "Rosa Ember"
START = "2027-03-05T19:00:00Z"


def kept_trials(store: Store, settings: Settings, user_id: int, file: Path) -> dict[str, Trial]:
    """Return the values by operationId, after making what they name on the first start."""
    if not file.exists():
        api = app.build_api(store, settings)
        visitors = {visitor_id: _client(api, visitor_id) for visitor_id in _create_visitors(store)}
        boxes = Sandboxes(_client(api, user_id), visitors)
        with store.read() as db:
            club_id = players_reads.club_of_user(db, user_id)
        file.write_text(json.dumps(make_trials(boxes, user_id, settings)), encoding="utf-8")
        if club_id is not None:
            # Who makes a club becomes its member; the sandbox clubs are not the organizer's own.
            with store.write() as transaction:
                players_writes.join_club(transaction, user_id, club_id)
    kept: Mapping[str, Any] = json.loads(
        file.read_text(encoding="utf-8").replace(BASE_URL, settings.base_url)
    )
    return {name: Trial(parameters=trial["parameters"], body=trial["body"]) for name, trial in kept.items()}


def _client(api: Api, user_id: int) -> InProcessClient:
    return InProcessClient(api, AuthenticatedCaller(user_id=user_id, role="organizer", ability="manage"))


def _create_visitors(store: Store) -> list[int]:
    """Create the accounts whose claims are approved and rejected."""
    now = datetime.now(UTC)
    with store.write() as transaction:
        return [
            users.create_user(transaction.connection, name=name, email=email, role="organizer", now=now)
            for name, email in VISITORS.items()
        ]


def make_trials(boxes: Sandboxes, user_id: int, settings: Settings) -> dict[str, Any]:
    """Make the objects, and return parameters and body of each operation."""
    _try_the_book(boxes, user_id)
    _try_players(boxes)
    _try_ratings(boxes, user_id)
    _try_submissions(boxes, settings.base_url)
    demo_sandboxes.try_tournaments(boxes)
    demo_sandboxes.try_rosters(boxes, user_id)
    demo_sandboxes.try_games(boxes)
    try_evening(boxes)
    demo_sandboxes.try_clocks_and_queues(boxes)
    demo_sandboxes.try_single_player(boxes)
    _try_webhooks(boxes)
    _read_finished(boxes)
    return boxes.trials


def _try_the_book(boxes: Sandboxes, user_id: int) -> None:
    """Things of the book besides players: one to change and one to delete of each kind."""
    start = {"startUtc": START}
    kinds: dict[str, tuple[str, str, dict[str, Any]]] = {
        "arena": ("/api/arenas", "arenaId", {"labels": ["basement"]}),
        "bank": ("/api/banks", "bankId", {"arenaIds": boxes.arena_ids[:2]}),
        "location": ("/api/locations", "locationId", {"address": "1 Harbour Street"}),
        "series": ("/api/series", "seriesId", {"removedResults": -5}),
        "occasion": ("/api/events", "eventId", start),
        "club": ("/api/clubs", "clubId", {"location": "Harbour Town"}),
    }
    for kind, (path, id_name, fields) in kinds.items():
        made = [
            boxes.send("POST", path, {"name": f"Sandbox {kind} {number}", **fields})[id_name]
            for number in (1, 2)
        ]
        boxes.put(f"add_{kind}", body={"name": f"New {kind}", **fields})
        boxes.put(f"change_{kind}", body={"name": f"Changed {kind}"}, **{id_name: made[0]})
        boxes.put(f"delete_{kind}", **{id_name: made[1]})
        boxes.put(f"show_{kind}", **{id_name: made[0]})
    boxes.put("resolve_arenas", arenas=",".join(map(str, boxes.arena_ids[:2])))
    boxes.put("show_series_stats", seriesId=boxes.trials["show_series"]["parameters"]["seriesId"])
    boxes.put(
        "list_series_attendance", count=1, seriesId=boxes.trials["show_series"]["parameters"]["seriesId"]
    )
    revoked, rotated = (
        boxes.send("POST", "/api/tokens", {"name": f"Sandbox token {number}", "ability": "read"})["tokenId"]
        for number in (1, 2)
    )
    boxes.put("add_token", body={"name": "New token", "ability": "read", "expiresDays": 30})
    boxes.put("revoke_token", tokenId=revoked)
    boxes.put("rotate_token", tokenId=rotated)
    boxes.put("change_profile", body={"pronouns": "they"})
    boxes.put("show_user", userId=user_id)
    boxes.put("resolve_users", users=str(user_id))
    boxes.put("confirm_federation_number", body={"ifpaId": IFPA_ID}, userId=min(boxes.visitors))
    for name in ("suspend_user", "unsuspend_user", "withdraw_federation_number"):
        boxes.put(name, userId=min(boxes.visitors))
    boxes.put("search", query="sandbox", type="tournaments")
    for name in ("show_opdb_entry", "show_opdb_entry_with_videos"):
        boxes.put(name, opdbId=OPDB_ID)
    boxes.put("list_pintips", opdbId=OPDB_ID)


def _try_players(boxes: Sandboxes) -> None:
    """Players of the book, and claims on them."""
    changed, deleted, approved, dropped, merged, stays = (
        boxes.send("POST", "/api/players", {"name": f"Sandbox player {number}"})["playerId"]
        for number in range(1, 7)
    )
    visitors = tuple(boxes.visitors)
    for visitor_id, player_id in zip(visitors, (approved, dropped), strict=True):
        boxes.visitors[visitor_id].send("POST", f"/api/players/{player_id}/claim")
    # One player of a book is the organizer already, so they claim one of another book.
    other = boxes.visitors[visitors[0]].send("POST", "/api/players", {"name": "Sandbox stranger"})
    claimed = other["data"]["playerId"]
    boxes.put("add_player", body={"name": "New player"})
    boxes.put("change_player", body={"labels": ["regular"]}, playerId=changed)
    boxes.put("delete_player", playerId=deleted)
    boxes.put("claim_player", playerId=claimed)
    boxes.put("approve_claim", body={"userId": visitors[0]}, playerId=approved)
    boxes.put("give_up_claim", playerId=dropped, user=visitors[1])
    boxes.put("merge_player", body={"playerId": stays}, playerId=merged)
    boxes.put("resolve_players", players=f"{boxes.player_ids[0]},{boxes.player_ids[1]}")


def _try_ratings(boxes: Sandboxes, user_id: int) -> None:
    """Ratings, their periods, submissions and the estimator."""
    rated = boxes.client.send("GET", "/api/ratings")["data"]
    user_ids = [rating["userId"] for rating in rated if rating["userId"]]
    ifpa_ids = [rating["ifpaId"] for rating in rated if rating["ifpaId"]]
    ifpa_id = ifpa_ids[0] if ifpa_ids else IFPA_ID
    for name in ("show_rating", "show_rating_chart", "show_rating_summary"):
        boxes.put(name, type="users", userId=user_ids[0] if user_ids else user_id)
        boxes.put(f"{name}_by_ifpa", ifpaId=ifpa_id)
    boxes.put("list_rating_history", ifpaId=ifpa_id)
    boxes.put("list_ratings_by_ifpa", ifpaIds=str(ifpa_id))
    boxes.put("search_ratings", query="a")
    compared = ifpa_ids[:2]
    boxes.put("compare_ratings", body={"ifpaIds": compared})
    boxes.put("compare_ratings_by_get", ifpaIds=",".join(map(str, compared)))
    periods = boxes.client.send("GET", "/api/rating-periods")["data"]
    boxes.put("show_rating_period", date=periods[0]["periodDate"] if periods else DAY)
    boxes.put("estimate_wppr", body={"ifpaIds": [IFPA_ID, IFPA_ID + 1]})


def _try_submissions(boxes: Sandboxes, base_url: str) -> None:
    """Submissions of results that this server has: it fetches them from itself."""
    settled, withdrawn = (
        boxes.send("POST", SUBMISSIONS, {"url": f"{base_url}/exports/{name}"})
        for name in nightly.SANDBOX_RESULTS
    )
    boxes.put("add_rating_submission", body={"url": f"{BASE_URL}/exports/{nightly.SAMPLE_RESULTS}"})
    boxes.put("show_rating_submission", ratingSubmissionId=settled["ratingSubmissionId"])
    boxes.put("withdraw_rating_submission", ratingSubmissionId=withdrawn["ratingSubmissionId"])
    boxes.put(
        "settle_players_of_rating_submission",
        body={"players": [{"name": UNKNOWN_PLAYER, "ifpaId": None}]},
        ratingSubmissionId=settled["ratingSubmissionId"],
    )


def _try_webhooks(boxes: Sandboxes) -> None:
    """Webhooks that are off, so that nothing is sent until they are tried."""
    night = boxes.night("webhooks", "matchplay", is_started=False)
    path = f"/api/tournaments/{night}/webhooks"
    address = {"url": "http://127.0.0.1:9000/in"}
    ids = [
        boxes.send("POST", path, {**address, "name": f"Sandbox webhook {number}", "isActive": False})[
            "webhookId"
        ]
        for number in range(3)
    ]
    boxes.put("add_webhook", body={**address, "name": "New webhook"}, tournamentId=night)
    for operation in ("show_webhook", "list_webhook_deliveries", "replace_webhook_secret"):
        boxes.put(operation, tournamentId=night, webhookId=ids[0])
    boxes.put("change_webhook", body={"name": "Changed webhook"}, tournamentId=night, webhookId=ids[0])
    boxes.put("delete_webhook", tournamentId=night, webhookId=ids[1])
    testing, active = (
        boxes.send("POST", path, {**address, "name": f"Sandbox webhook for {about}"})["webhookId"]
        for about in ("tests", "deliveries")
    )
    boxes.put("send_webhook_test", tournamentId=night, webhookId=testing)
    tested = boxes.send("POST", f"{path}/{active}/test")["webhookDeliveryId"]
    # Switched off, it gives its deliveries up; switched on again, it can retry them.
    for is_active in (False, True):
        boxes.send("PATCH", f"{path}/{active}", {"isActive": is_active})
    boxes.put("retry_webhook_delivery", tournamentId=night, webhookId=active, webhookDeliveryId=tested)


def _read_finished(boxes: Sandboxes) -> None:
    """Reads of a tournament: the finished one, unless another has what they show."""
    path = f"/api/tournaments/{FINISHED_ID}"
    tournament = boxes.client.send("GET", f"{path}?includePlayers=true&includeArenas=true")["data"]
    game = boxes.client.send("GET", f"{path}/games")["data"][0]
    players = [player["playerId"] for player in tournament["players"][:2]]
    arenas = [arena["arenaId"] for arena in tournament["arenas"][:2]]
    boxes.put("show_game", tournamentId=FINISHED_ID, gameId=game["gameId"])
    boxes.put("list_games", tournaments=str(FINISHED_ID))
    boxes.put("resolve_players_of_tournament", tournamentId=FINISHED_ID, players=",".join(map(str, players)))
    boxes.put("resolve_arenas_of_tournament", tournamentId=FINISHED_ID, arenas=",".join(map(str, arenas)))
    boxes.put("show_tournament", tournamentId=FINISHED_ID, includePlayers=True)
    boxes.put("plan_night", players=len(tournament["players"]), machines=len(tournament["arenas"]))
    boxes.fill_rest(FINISHED_ID)
