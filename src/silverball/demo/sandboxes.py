"""Sandboxes of the demo: five tournaments and some things of the book, whose ids /docs fills in.

A read shows something that is there; a write has something that it may change or delete. A write that
does not fit the state of its sandbox is refused, and the refusal says why. The sandboxes are made once for a
folder of the demo. They began so long ago that they come last in every list.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from silverball import app
from silverball.demo import nights
from silverball.demo.robots import InProcessClient, Json
from silverball.exchange import nightly
from silverball.kit.http.api import Api
from silverball.kit.http.endpoints import Endpoint
from silverball.kit.http.openapi import Trial, camel_case
from silverball.service.core import loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.money import reads as money_reads
from silverball.service.money import writes as money_writes
from silverball.service.players import reads as player_reads
from silverball.service.players import writes as player_writes
from silverball.service.users import writes as users
from silverball.settings import Settings
from silverball.store.database.engine import Store

# A real tournament, and invented ones of three formats. They stay as they are.
FINISHED_ID, BEST_GAME_ID, MAX_MATCHPLAY_ID, AMAZING_RACE_ID = 244501, 7001, 7005, 7006
PLAYERS = 10
# Before all others, so that the sandboxes come last.
START = "2000-01-01T19:00:00Z"
# A machine of the demo's database, a federation number of a robot, and a day of the past.
OPDB_ID = "G5pe4-MePZv"
IFPA_ID = 900_001
DAY = "2026-03-05"
VISITORS = {"Vera Visitor": "vera@silverball.invalid", "Viktor Visitor": "viktor@silverball.invalid"}
# Stands for the address of the demo, which can have another port at the next start.
BASE_URL = "{baseUrl}"
# A player of the sample results whom nobody knows.
UNKNOWN_PLAYER = "Rosa Ember"
PRIZES = {"entryFee": 1000, "federationFee": 100, "shares": [6000, 3000, 1000], "published": True}
TERMS = {"fee": 1000, "lateFee": 500}
LIMIT = {"rsvpConfiguration": {"status": "active", "playerLimit": 6, "hasWaitlist": True}}
LABELS = {"labels": ["regular"]}
WEBHOOK = {"url": "http://127.0.0.1:9000/in", "name": "Sandbox webhook"}
SCORE = {"score": 7_654_320}
# Kind of thing in the book -> its path, the name of its id, and fields of a new one.
BOOK: dict[str, tuple[str, str, dict[str, Any]]] = {
    "arena": ("/api/arenas", "arenaId", {"labels": ["basement"]}),
    "bank": ("/api/banks", "bankId", {}),
    "location": ("/api/locations", "locationId", {"address": "1 Harbour Street"}),
    "series": ("/api/series", "seriesId", {"status": "completed"}),
    "occasion": ("/api/events", "eventId", {"startUtc": START}),
    "club": ("/api/clubs", "clubId", {"location": "Harbour Town"}),
    "token": ("/api/tokens", "tokenId", {"ability": "read"}),
}
LISTED_BY_ID = ("series", "occasion")
# Part of a tournament's path -> the tournament whose ids are filled in; the first that fits counts. Reads
# show finished tournaments, and writes change sandboxes.
READ_PLACES = {
    "/federation-results": "finished",
    "/max-matchplay": "max_matchplay",
    "/amazing-race": "amazing_race",
    "/bg": "best_game",
    "/bestgame": "best_game",
}
WRITE_PLACES = {
    "/frenzy": "frenzy",
    "/legs": "matches",
    "/forfeit": "matches",
    "/single-player-games": "scores",
    "/cards": "scores",
    "/queues": "scores",
    "/entries": "scores",
    **dict.fromkeys(
        ("/rounds", "/games", "/timer", "/suggestions", "/complete", "/reopen", "/undo", "/tiebreaks"),
        "running",
    ),
    "/playoffs": "running",
    "/forecast": "running",
    "/max-matchplay": "running",
    "/amazing-race": "running",
    **dict.fromkeys(("/sign-ups", "/prize", "/webhooks"), "planned"),
}


class Sandboxes(Struct):
    """The things that are made to be tried on, and the values with which operations are filled."""

    client: InProcessClient
    # Accounts that claim players.
    visitors: tuple[InProcessClient, InProcessClient]
    player_ids: list[int]
    arena_ids: list[int]
    # Name of a tournament, or `book` -> values of parameters of a path.
    places: dict[str, dict[str, Json]]
    # operationId -> values of its parameters that differ from those of its place, and its body.
    parameters: dict[str, dict[str, Json]]
    bodies: dict[str, Json]

    def send(self, method: str, path: str, body: Json = None) -> Json:
        """Send a request, and return the `data` of the answer."""
        answer = self.client.send(method, path, body)
        return answer.get("data", answer) if isinstance(answer, dict) else answer

    def make_tournament(
        self, place: str, kind: str, *, players: int = 4, is_started: bool = True, **more: Json
    ) -> str:
        """Make a tournament with players and arenas, and return its path."""
        fields = {"name": f"Sandbox: {place}", "type": kind, "test": True, "startUtc": START, **more}
        tournament_id: int = self.send("POST", "/api/tournaments", fields)["tournamentId"]
        path = f"/api/tournaments/{tournament_id}"
        entrants = [{"playerId": player_id} for player_id in self.player_ids[:players]]
        self.send("POST", f"{path}/players", {"players": entrants})
        lineup = [{"arenaId": arena_id} for arena_id in self.arena_ids[:4]]
        self.send("POST", f"{path}/arenas", {"arenas": lineup})
        if is_started:
            self.send("POST", f"{path}/start")
        self.places[place] = {
            "tournamentId": tournament_id,
            "playerId": self.player_ids[0],
            "arenaId": self.arena_ids[0],
            "userId": self.visitors[0].caller.user_id,
            "bankId": self.places["book"]["bankId"],
        }
        return path

    def trial(self, endpoint: Endpoint) -> dict[str, Any]:
        """`parameters` and `body` of an operation."""
        operation = endpoint.handler.__name__
        values = self.places[_place_of(endpoint)]
        names = [camel_case(name) for name in endpoint.parameters]
        filled = {name: values[name] for name in names if name in values}
        return {
            "parameters": {**filled, **self.parameters.get(operation, {})},
            "body": self.bodies.get(operation),
        }


def reserve_things(client: InProcessClient) -> None:
    """Make what lists show by id, newest first, while nothing else is stored."""
    for kind in LISTED_BY_ID:
        if _find_thing(client, kind) is None:
            _make_thing(client, kind)


def _make_thing(client: InProcessClient, kind: str) -> Json:
    path, _, fields = BOOK[kind]
    answer = client.send("POST", path, {"name": f"Sandbox {kind}", **fields})
    return answer.get("data", answer)


def _find_thing(client: InProcessClient, kind: str) -> Json | None:
    """The sandbox of this kind; None when there is none."""
    things = nights.all_pages(client, BOOK[kind][0])
    return next((each for each in things if each["name"] == f"Sandbox {kind}"), None)


def load_trials(store: Store, settings: Settings, user_id: int, file: Path) -> dict[str, Trial]:
    """Return the values by operationId, after making what they name on the first start."""
    if not file.exists():
        api = app.build_api(store, settings)
        trials = _make_trials(store, api, user_id, settings.base_url)
        file.write_text(json.dumps(trials), encoding="utf-8")
    kept: Mapping[str, Any] = json.loads(
        file.read_text(encoding="utf-8").replace(BASE_URL, settings.base_url)
    )
    return {name: Trial(parameters=trial["parameters"], body=trial["body"]) for name, trial in kept.items()}


def _make_trials(store: Store, api: Api, user_id: int, base_url: str) -> dict[str, Any]:
    """Make the sandboxes, and return parameters and body of each operation."""
    client = _client(api, user_id)
    first, second = (_client(api, visitor_id) for visitor_id in _create_visitors(store))
    player_ids = [
        client.send("POST", "/api/players", {"name": f"Sandbox player {number}"})["data"]["playerId"]
        for number in range(1, PLAYERS + 1)
    ]
    arena_ids = nights.load_book_ids(client)[1]
    boxes = Sandboxes(client, (first, second), player_ids, arena_ids, {}, {}, {})
    with store.read() as db:
        club_id = player_reads.club_of_user(db, user_id)
    _fill_book(boxes, user_id)
    if club_id is not None:
        # Who makes a club becomes its member; the sandbox club is not the organizer's own.
        with store.write() as transaction:
            player_writes.join_club(transaction, user_id, club_id)
    _fill_merges(boxes)
    _fill_players(boxes)
    _fill_ratings(boxes, user_id)
    _fill_submissions(boxes, base_url)
    _fill_planned(boxes)
    _fill_sign_ups(boxes, store)
    _fill_running(boxes)
    _fill_matches(boxes)
    _fill_scores(boxes)
    _fill_frenzy(boxes)
    _fill_reads(boxes)
    return {endpoint.handler.__name__: boxes.trial(endpoint) for endpoint in api.routes.endpoints}


def _place_of(endpoint: Endpoint) -> str:
    """The name of the tournament on which an operation is tried, or `book`."""
    if not endpoint.path.startswith("/api/tournaments/"):
        return "book"
    places = WRITE_PLACES if endpoint.is_write else WRITE_PLACES | READ_PLACES
    place = next((place for part, place in places.items() if part in endpoint.path), None)
    return place or ("planned" if endpoint.is_write else "finished")


def _client(api: Api, user_id: int) -> InProcessClient:
    return InProcessClient(api, AuthenticatedCaller(user_id=user_id, role="organizer", ability="manage"))


def _create_visitors(store: Store) -> list[int]:
    """Create the accounts that claim players."""
    now = datetime.now(UTC)
    with store.write() as transaction:
        return [
            users.create_user(transaction.connection, name=name, email=email, role="organizer", now=now)
            for name, email in VISITORS.items()
        ]


def _fill_book(boxes: Sandboxes, user_id: int) -> None:
    """Make one thing of each kind of the book, to be changed and deleted."""
    book: dict[str, Json] = {"opdbId": OPDB_ID, "ifpaId": IFPA_ID, "date": DAY, "type": "users"}
    for kind, (_, id_name, fields) in BOOK.items():
        reserved = _find_thing(boxes.client, kind) if kind in LISTED_BY_ID else None
        book[id_name] = (reserved or _make_thing(boxes.client, kind))[id_name]
        boxes.bodies[f"add_{kind}"] = {"name": f"New {kind}", **fields}
        boxes.bodies[f"change_{kind}"] = {"name": f"Changed {kind}"}
    boxes.send("PATCH", f"/api/banks/{book['bankId']}", {"arenaIds": boxes.arena_ids[:2]})
    visitor_id = boxes.visitors[0].caller.user_id
    boxes.places["book"] = {**book, "playerId": boxes.player_ids[8], "userId": visitor_id, "batchId": 1}
    boxes.bodies["change_profile"] = {"pronouns": "they"}
    boxes.bodies["import_players"] = {"text": "Name\nSandbox newcomer"}
    boxes.bodies["import_arenas"] = {"text": "Name\nSandbox machine"}
    boxes.bodies["create_series_playoffs"] = {"type": "group_bracket", "players": 2}
    boxes.bodies["confirm_federation_number"] = {"ifpaId": IFPA_ID}
    boxes.bodies["confirm_federation_numbers"] = {"numbers": [{"userId": visitor_id, "ifpaId": IFPA_ID}]}
    boxes.parameters |= {
        "resolve_arenas": {"arenas": ",".join(map(str, boxes.arena_ids[:2]))},
        "list_series_attendance": {"seriesId": book["seriesId"], "count": 1},
        "show_user": {"userId": user_id},
        "resolve_users": {"users": str(user_id)},
        "search": {"query": "sandbox", "type": "tournaments"},
        "list_pintips": {"opdbId": OPDB_ID},
    }


def _fill_merges(boxes: Sandboxes) -> None:
    """Make entries of one machine: two of them are merged, and a third can be."""
    machine = {"name": "Sandbox twin"}
    first, second, third = (
        boxes.client.send("POST", "/api/arenas", machine)["data"]["arenaId"] for _ in range(3)
    )
    boxes.send("POST", f"/api/arenas/{first}/merge", {"arenaId": second})
    action = boxes.client.send("GET", "/api/book/actions")["data"][0]
    boxes.bodies["merge_arena"] = {"arenaId": second}
    boxes.parameters |= {
        "merge_arena": {"arenaId": third},
        "undo_book_action": {"bookActionId": action["bookActionId"]},
    }


def _fill_players(boxes: Sandboxes) -> None:
    """Claim players of the book, and one of another book."""
    first, second = boxes.visitors
    stays, approved, dropped = boxes.player_ids[4:7]
    first.send("POST", f"/api/players/{approved}/claim")
    second.send("POST", f"/api/players/{dropped}/claim")
    # One player of a book is the organizer already, so they claim one of another book.
    claimed = first.send("POST", "/api/players", {"name": "Sandbox stranger"})["data"]["playerId"]
    boxes.bodies |= {
        "add_player": {"name": "New player"},
        "change_player": LABELS,
        "approve_claim": {"userId": first.caller.user_id},
        "merge_player": {"playerId": stays},
    }
    boxes.parameters |= {
        "claim_player": {"playerId": claimed},
        "approve_claim": {"playerId": approved},
        "give_up_claim": {"playerId": dropped, "user": second.caller.user_id},
        "delete_player": {"playerId": boxes.player_ids[9]},
        "resolve_players": {"players": ",".join(map(str, boxes.player_ids[:2]))},
    }


def _fill_ratings(boxes: Sandboxes, user_id: int) -> None:
    """Choose a rated player and a period, and values for the estimator."""
    rated = boxes.client.send("GET", "/api/ratings")["data"]
    user_ids = [rating["userId"] for rating in rated if rating["userId"]]
    ifpa_ids = [rating["ifpaId"] for rating in rated if rating["ifpaId"]] or [IFPA_ID]
    for name in ("show_rating", "show_rating_chart", "show_rating_summary"):
        boxes.parameters[name] = {"userId": user_ids[0] if user_ids else user_id}
        boxes.parameters[f"{name}_by_ifpa"] = {"ifpaId": ifpa_ids[0]}
    periods = boxes.client.send("GET", "/api/rating-periods")["data"]
    compared = ifpa_ids[:2]
    boxes.parameters |= {
        "list_rating_history": {"ifpaId": ifpa_ids[0]},
        "list_ratings_by_ifpa": {"ifpaIds": str(ifpa_ids[0])},
        "search_ratings": {"query": "a"},
        "compare_ratings_by_get": {"ifpaIds": ",".join(map(str, compared))},
        "show_rating_period": {"date": periods[0]["periodDate"] if periods else DAY},
        "plan_night": {"players": 15, "machines": 13},
    }
    boxes.bodies["compare_ratings"] = {"ifpaIds": compared}
    boxes.bodies["estimate_wppr"] = {"ifpaIds": [IFPA_ID, IFPA_ID + 1]}


def _fill_submissions(boxes: Sandboxes, base_url: str) -> None:
    """Submit results that this server has: it fetches them from itself."""
    submitted = boxes.send(
        "POST", "/api/rating-submissions", {"url": f"{base_url}/exports/{nightly.SANDBOX_RESULTS}"}
    )
    boxes.places["book"]["ratingSubmissionId"] = submitted["ratingSubmissionId"]
    boxes.bodies["add_rating_submission"] = {"url": f"{BASE_URL}/exports/{nightly.SAMPLE_RESULTS}"}
    boxes.bodies["settle_players_of_rating_submission"] = {
        "players": [{"name": UNKNOWN_PLAYER, "ifpaId": None}]
    }


def _fill_planned(boxes: Sandboxes) -> None:
    """A planned match play that is full: its people, terms, prizes and a webhook."""
    path = boxes.make_tournament("planned", "matchplay", players=6, is_started=False)
    planned, (first, second), waiting = boxes.places["planned"], boxes.player_ids[:2], boxes.player_ids[6]
    boxes.send("PATCH", path, LIMIT)
    boxes.send("PATCH", f"{path}/sign-ups", TERMS)
    boxes.send("PUT", f"{path}/prizes", PRIZES)
    boxes.send("POST", f"{path}/sign-ups/waiting", {"playerId": waiting})
    boxes.send("PUT", f"{path}/sign-ups/players/{first}", {"here": True})
    scorekeeper_id = boxes.visitors[1].caller.user_id
    boxes.send("PUT", f"{path}/directors/{planned['userId']}")
    boxes.send("PUT", f"{path}/scorekeepers/{scorekeeper_id}")
    for operation in ("add_scorekeeper_to_tournament", "remove_scorekeeper_from_tournament"):
        boxes.parameters[operation] = {"userId": scorekeeper_id}
    boxes.send("PUT", f"{path}/banks/{planned['bankId']}")
    webhook = boxes.send("POST", f"{path}/webhooks", WEBHOOK)
    webhook_path = f"{path}/webhooks/{webhook['webhookId']}"
    tested = boxes.send("POST", f"{webhook_path}/test")
    # Switched off, it gives its delivery up; switched on again, it can retry it.
    for is_active in (False, True):
        boxes.send("PATCH", webhook_path, {"isActive": is_active})
    planned["webhookId"] = webhook["webhookId"]
    planned["webhookDeliveryId"] = tested["webhookDeliveryId"]
    for operation in ("move_on_waiting_list", "remove_from_waiting_list"):
        boxes.parameters[operation] = {"playerId": waiting}
    boxes.bodies |= {
        "create_tournament": {"name": "New night", "type": "group_matchplay", "duration": 5},
        "change_tournament": {"name": "Renamed night"},
        "plan_finals": {"steps": [{"name": "A final", "type": "group_bracket", "players": 4}]},
        "set_pairs_apart": {"pairs": [[first, second]]},
        "mark_results_sent": {"sent": True},
        "change_sign_up_terms": TERMS,
        "set_prizes": PRIZES,
        "mark_paid": {"paid": True},
        "add_to_waiting_list": {"playerId": boxes.player_ids[7]},
        "move_on_waiting_list": {"position": 1},
        "update_person_at_door": {"here": True, "payment": {"cents": 1000, "how": "cash"}},
        "add_players_to_tournament": {"name": "Late Lena"},
        "change_players_of_tournament": {"players": [{"playerId": second, **LABELS}]},
        "change_player_of_tournament": {"seed": 3},
        "add_arenas_to_tournament": {"arenaId": boxes.arena_ids[6]},
        "change_arena_of_tournament": LABELS,
        "add_webhook": {**WEBHOOK, "name": "New webhook"},
        "change_webhook": {"name": "Changed webhook"},
    }


def _fill_sign_ups(boxes: Sandboxes, store: Store) -> None:
    """Two people sign themselves up for the planned match play, of whom one is taken and one removed."""
    tournament_id, now = boxes.places["planned"]["tournamentId"], datetime.now(UTC).replace(microsecond=0)
    sender = money_writes.Sender(source="demo", browser="demo", is_trusted=True)
    ids = []
    with store.write(tournament_id) as transaction:
        tournament = loaded.load_for_change(transaction, tournament_id).tournament
        code = money_reads.sign_up_code(transaction.connection, tournament)
        for name in ("Sandbox guest 1", "Sandbox guest 2"):
            sent = money_writes.SignUp(name=name, code=code)
            ids.append(money_writes.sign_up(transaction, tournament_id, sent, sender, now).sign_up_id)
    boxes.parameters |= {
        "take_sign_up": {"signUpId": ids[0]},
        "remove_sign_up": {"signUpId": ids[1]},
    }


def _fill_running(boxes: Sandboxes) -> None:
    """A group match play in its first round, with a reported result."""
    path = boxes.make_tournament(
        "running", "group_matchplay", players=7, duration=3, forecast=True, suggestions="restricted"
    )
    running, claimed, late = boxes.places["running"], boxes.player_ids[0], boxes.player_ids[7]
    # The organizer reports as one of the players.
    boxes.send("POST", f"/api/players/{claimed}/claim")
    boxes.client.send("POST", f"{path}/rounds", {})
    boxes.send("PUT", f"{path}/timer", {"minutes": 20})
    games = boxes.send("GET", f"{path}/games")
    game = next(each for each in games if claimed in each["playerIds"])
    other = next(each for each in games if claimed not in each["playerIds"])
    order, report = other["playerIds"], {"resultPositions": game["playerIds"]}
    reported = boxes.send("POST", f"{path}/games/{game['gameId']}/suggestions", report)["suggestions"][0]
    boxes.parameters["suggest_result"] = {"gameId": game["gameId"]}
    running |= {
        "roundId": game["roundId"],
        "gameId": other["gameId"],
        "suggestionId": reported["suggestionId"],
    }
    small, large = sorted((game, other), key=lambda each: len(each["playerIds"]))
    boxes.send("POST", f"{path}/players", {"playerId": late})
    boxes.parameters["add_player_to_game"] = {"gameId": small["gameId"]}
    boxes.parameters["remove_player_from_game"] = {
        "gameId": large["gameId"],
        "playerId": large["playerIds"][-1],
    }
    boxes.bodies |= {
        "set_round_timer": {"minutes": 25},
        "extend_round": {"minutes": 5},
        "give_extra_time": {"minutes": 5},
        "open_round": {},
        "change_round": {"arenaId": boxes.arena_ids[0]},
        "create_game": {"playerIds": boxes.player_ids[:2]},
        "change_game": {"playerIds": order[::-1]},
        "record_result": {"resultPositions": order},
        "suggest_result": report,
        "add_note_to_game": {"kind": "yellow", "text": "Shook the machine.", "playerId": order[0]},
        "rule_on_game": {"ruling": "wait"},
        "add_player_to_game": {"playerId": late},
        "create_playoffs": {"type": "bracket", "players": boxes.player_ids[:2], "name": "New playoffs"},
        "break_tie": {"order": order},
        "undo_action": {"action": boxes.send("GET", f"{path}/journal")[0]["actionId"]},
    }


def _fill_matches(boxes: Sandboxes) -> None:
    """A bracket whose matches have several games, one of which is recorded."""
    path = boxes.make_tournament("matches", "bracket", gamesPerRound=3)
    games = boxes.send("GET", f"{path}/games")
    match = next(game for game in games if len(game["playerIds"]) == 2 and game["status"] == "started")
    result = {"resultPositions": match["playerIds"]}
    boxes.send("POST", f"{path}/games/{match['gameId']}/legs", result)
    boxes.places["matches"] |= {"gameId": match["gameId"], "leg": 1, "playerId": match["playerIds"][0]}
    boxes.bodies["record_leg"] = result
    boxes.bodies["change_leg"] = {"resultPositions": match["playerIds"][::-1]}


def _fill_scores(boxes: Sandboxes) -> None:
    """A card best game with scores, and players who wait at the machines."""
    path = boxes.make_tournament(
        "scores",
        "card_best_game",
        players=6,
        cardBestGameGamesPerCard=2,
        useQueues=True,
        suggestions="disabled",
    )
    players, arenas = boxes.player_ids, boxes.arena_ids
    scores = boxes.places["scores"]
    for player_id in players[:2]:
        score = {"playerId": player_id, "arenaId": arenas[0], "score": 1_234_560}
        recorded = boxes.send("POST", f"{path}/single-player-games", score)
        scores.setdefault("singlePlayerGameId", recorded["singlePlayerGameId"])
    card_ids = [card["cardId"] for card in boxes.send("GET", f"{path}/cards")]
    boxes.send("POST", f"{path}/cards/{card_ids[1]}/void")
    scores["cardId"], boxes.parameters["unvoid_card"] = card_ids[0], {"cardId": card_ids[1]}
    scores["queueId"], moved, left = (
        boxes.send("POST", f"{path}/queues", {"playerId": player_id, "arenaId": arenas[1]})["queueId"]
        for player_id in players[2:5]
    )
    boxes.parameters["move_in_queue"] = {"queueId": moved}
    boxes.parameters["leave_queue"] = {"queueId": left}
    boxes.bodies |= {
        "add_entries": {"type": "regular", "quantity": 2},
        "add_single_player_game": {"playerId": players[0], "arenaId": arenas[2], **SCORE},
        "record_single_player_game": SCORE,
        "join_queue": {"playerId": players[5], "arenaId": arenas[3]},
    }


def _fill_frenzy(boxes: Sandboxes) -> None:
    """A frenzy with players who wait, and one who has left the queue."""
    path = boxes.make_tournament("frenzy", "frenzy", players=8, frenzyQueueSize=4)
    waiting = boxes.send("GET", f"{path}/frenzy")["queue"]
    boxes.send("DELETE", f"{path}/frenzy/queue/{waiting[0]['queueId']}")
    boxes.places["frenzy"]["queueId"] = waiting[1]["queueId"]
    boxes.bodies["join_queue_of_frenzy"] = {"playerId": waiting[0]["playerId"]}
    boxes.bodies["change_time_of_frenzy"] = {"seconds": 300}


def _fill_reads(boxes: Sandboxes) -> None:
    """Choose what reads of finished tournaments show."""
    path = f"/api/tournaments/{FINISHED_ID}"
    tournament = boxes.send("GET", f"{path}?includePlayers=true&includeArenas=true")
    players = [player["playerId"] for player in tournament["players"][:2]]
    arenas = [arena["arenaId"] for arena in tournament["arenas"][:2]]
    best_game = boxes.send("GET", f"/api/tournaments/{BEST_GAME_ID}?includeArenas=true")
    boxes.places |= {
        "finished": {"tournamentId": FINISHED_ID},
        "best_game": {"tournamentId": BEST_GAME_ID, "arenaId": best_game["arenas"][0]["arenaId"]},
        "max_matchplay": {"tournamentId": MAX_MATCHPLAY_ID},
        "amazing_race": {"tournamentId": AMAZING_RACE_ID},
    }
    boxes.parameters |= {
        "list_games": {"tournaments": str(FINISHED_ID)},
        "resolve_players_of_tournament": {"players": ",".join(map(str, players))},
        "resolve_arenas_of_tournament": {"arenas": ",".join(map(str, arenas))},
        "show_tournament": {"includePlayers": True},
    }
