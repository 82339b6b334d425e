"""Sandbox tournaments of the demo: one for each write of a tournament, in the state in which it succeeds."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from silverball.demo.robots import InProcessClient, Json

ITEMS = 8
# Reads of one tournament that a finished one answers.
READS = (
    "download_entries",
    "download_games",
    "download_players",
    "download_single_player_games",
    "estimate_tournament",
    "list_arena_stats",
    "list_arena_summaries",
    "list_entrants",
    "list_feed_events",
    "list_games_of_tournament",
    "list_lineup",
    "list_match_stats",
    "list_match_summaries",
    "list_player_arena_summaries",
    "list_round_stats",
    "list_rounds",
    "list_standings",
    "list_webhooks",
    "show_draws",
    "show_journal",
    "show_matchplay_stats",
    "show_player_stats",
    "stream_feed_events",
)


class Sandboxes(Struct):
    """The demo's organizer, who makes things to be tried on."""

    client: InProcessClient
    # Account id -> the client of another account.
    visitors: dict[int, InProcessClient]
    # operationId -> `parameters` and `body`.
    trials: dict[str, Any] = field(default_factory=dict)
    player_ids: list[int] = field(default_factory=list)
    arena_ids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number in range(1, ITEMS + 1):
            player = self.send("POST", "/api/players", {"name": f"Sandy Boxer {number}"})
            self.player_ids.append(player["playerId"])
            arena = self.send("POST", "/api/arenas", {"name": f"Sandbox machine {number}"})
            self.arena_ids.append(arena["arenaId"])

    def send(self, method: str, path: str, body: Json = None) -> Json:
        """Send a request, and return the `data` of the answer."""
        answer = self.client.send(method, path, body)
        return answer.get("data", answer)

    def put(self, operation: str, body: Json = None, **parameters: Json) -> None:
        """Keep the values of one operation."""
        self.trials[operation] = {"parameters": parameters, "body": body}

    def fill_rest(self, tournament_id: int) -> None:
        """Give the reads of one tournament that have no values yet this one."""
        for operation in READS:
            if operation not in self.trials:
                self.put(operation, tournamentId=tournament_id)

    def night(
        self,
        about: str,
        type_: str,
        *,
        players: int = 4,
        arenas: int = 4,
        is_started: bool = True,
        **more: Json,
    ) -> int:
        """Make a tournament with players and arenas, and return its id."""
        fields = {"name": f"Sandbox: {about}", "type": type_, "test": True, **more}
        tournament_id: int = self.send("POST", "/api/tournaments", fields)["tournamentId"]
        path = f"/api/tournaments/{tournament_id}"
        entrants = [{"playerId": player_id} for player_id in self.player_ids[:players]]
        self.send("POST", f"{path}/players", {"players": entrants})
        lineup = [{"arenaId": arena_id} for arena_id in self.arena_ids[:arenas]]
        self.send("POST", f"{path}/arenas", {"arenas": lineup})
        if is_started:
            self.send("POST", f"{path}/start")
        return tournament_id

    def drawn_night(self, about: str) -> tuple[int, Json]:
        """Make a match play with an open round, and return its id and the first game."""
        tournament_id = self.night(about, "matchplay")
        self.client.send("POST", f"/api/tournaments/{tournament_id}/rounds", {})
        return tournament_id, self.first(tournament_id, "games")

    def first(self, tournament_id: int, part: str) -> Json:
        """Return the first item of a part of a tournament."""
        return self.send("GET", f"/api/tournaments/{tournament_id}/{part}")[0]

    def finish_round(self, tournament_id: int) -> None:
        """Record a result of each open game."""
        path = f"/api/tournaments/{tournament_id}/games"
        for game in self.send("GET", path):
            if game["status"] == "started":
                result = {"resultPositions": game["playerIds"]}
                self.send("PUT", f"{path}/{game['gameId']}/result", result)


def try_tournaments(boxes: Sandboxes) -> None:
    """Tournaments as a whole, and their rounds."""
    boxes.put("create_tournament", body={"name": "New night", "type": "group_matchplay", "duration": 5})
    boxes.put("change_tournament", body={"name": "Renamed night"}, tournamentId=_planned(boxes, "change me"))
    boxes.put("delete_tournament", tournamentId=_planned(boxes, "delete me"))
    boxes.put("start_tournament", tournamentId=_planned(boxes, "start me"))
    boxes.put("complete_tournament", tournamentId=_played(boxes, "complete me"))
    completed = _played(boxes, "reopen me")
    boxes.send("POST", f"/api/tournaments/{completed}/complete")
    boxes.put("reopen_tournament", tournamentId=completed)
    undone = boxes.night("undo me", "matchplay")
    newest = boxes.first(undone, "journal")["actionId"]
    boxes.put("undo_action", body={"action": newest}, tournamentId=undone)
    qualifying = _played(boxes, "playoffs of me")
    body = {"type": "bracket", "players": boxes.player_ids[:2], "name": "New playoffs"}
    boxes.put("create_playoffs", body=body, tournamentId=qualifying)
    tied = _played(boxes, "tied")
    boxes.put("break_tie", body={"order": _tied_players(boxes, tied)}, tournamentId=tied)
    boxes.put("open_round", body={}, tournamentId=boxes.night("draw a round", "matchplay"))
    deleted, game = boxes.drawn_night("delete the round")
    boxes.put("delete_round", tournamentId=deleted, roundId=game["roundId"])
    completed, game = boxes.drawn_night("complete the round")
    # Rounds that complete themselves are left to the last result.
    boxes.finish_round(completed)
    boxes.put("complete_round", tournamentId=completed, roundId=game["roundId"])
    forecast = boxes.night("forecast", "matchplay", duration=3, forecast=True)
    boxes.put("forecast_tournament", tournamentId=forecast)
    golf = boxes.night("holes", "golf", golfDuration=2)
    hole = boxes.first(golf, "rounds")
    boxes.put(
        "change_round",
        body={"arenaId": boxes.arena_ids[0], "score": 5_000_000},
        tournamentId=golf,
        roundId=hole["roundId"],
    )


def _planned(boxes: Sandboxes, about: str) -> int:
    return boxes.night(about, "matchplay", is_started=False)


def _played(boxes: Sandboxes, about: str) -> int:
    """Make a match play whose first round has results."""
    tournament_id, _ = boxes.drawn_night(about)
    boxes.finish_round(tournament_id)
    return tournament_id


def _tied_players(boxes: Sandboxes, tournament_id: int) -> list[int]:
    standings = boxes.client.send("GET", f"/api/tournaments/{tournament_id}/standings")
    return [
        standing["playerId"] for standing in standings if standing["position"] == standings[0]["position"]
    ]


def try_rosters(boxes: Sandboxes, user_id: int) -> None:
    """The players, arenas, banks and scorekeepers of a tournament."""
    night = _planned(boxes, "roster")
    first, second, third = boxes.player_ids[:3]
    boxes.put("add_players_to_tournament", body={"name": "Late Lena"}, tournamentId=night)
    labels = {"labels": ["beginner"]}
    several = {"players": [{"playerId": first, **labels}]}
    boxes.put("change_players_of_tournament", body=several, tournamentId=night)
    boxes.put("change_player_of_tournament", body={"seed": 3}, tournamentId=night, playerId=second)
    boxes.put("remove_player_from_tournament", tournamentId=night, playerId=third)
    boxes.put("add_arenas_to_tournament", body={"arenaId": boxes.arena_ids[6]}, tournamentId=night)
    arenas = boxes.arena_ids
    boxes.put("change_arena_of_tournament", body=labels, tournamentId=night, arenaId=arenas[0])
    boxes.put("remove_arena_from_tournament", tournamentId=night, arenaId=arenas[3])
    banks = [
        boxes.send("POST", "/api/banks", {"name": f"Sandbox bank of {about}", "arenaIds": arenas[4:6]})
        for about in ("adding", "removing")
    ]
    path = f"/api/tournaments/{night}"
    boxes.send("PUT", f"{path}/banks/{banks[1]['bankId']}")
    boxes.put("add_bank_to_tournament", tournamentId=night, bankId=banks[0]["bankId"])
    boxes.put("remove_bank_from_tournament", tournamentId=night, bankId=banks[1]["bankId"])
    other = _planned(boxes, "scorekeepers")
    boxes.send("PUT", f"/api/tournaments/{other}/scorekeepers/{user_id}")
    boxes.put("add_scorekeeper_to_tournament", tournamentId=night, userId=user_id)
    boxes.put("remove_scorekeeper_from_tournament", tournamentId=other, userId=user_id)
    selling = boxes.night("entries", "best_game")
    body = {"type": "regular", "quantity": 2}
    boxes.put("add_entries", body=body, tournamentId=selling, playerId=first)
    leaving = boxes.night("a player leaves", "round_robin")
    boxes.put("forfeit_games_of_player", tournamentId=leaving, playerId=first)


def try_games(boxes: Sandboxes) -> None:
    """Games, their results, and results that players report."""
    for operation, body in (
        ("record_result", None),
        ("change_game", None),
        ("redraw_arena_of_game", None),
        ("clear_result", None),
    ):
        night, game = boxes.drawn_night(operation.replace("_", " "))
        given = {
            "record_result": {"resultPositions": game["playerIds"]},
            "change_game": {"playerIds": game["playerIds"][::-1]},
        }
        if operation == "clear_result":
            path = f"/api/tournaments/{night}/games/{game['gameId']}/result"
            boxes.send("PUT", path, {"resultPositions": game["playerIds"]})
        boxes.put(operation, body=given.get(operation, body), tournamentId=night, gameId=game["gameId"])
    manual = boxes.night("games by hand", "manual_matchplay", players=6)
    path = f"/api/tournaments/{manual}/games"
    boxes.put("create_game", body={"playerIds": boxes.player_ids[:2]}, tournamentId=manual)
    made = boxes.send("POST", path, {"playerIds": boxes.player_ids[2:4]})
    boxes.put("delete_game", tournamentId=manual, gameId=made["gameId"])
    groups = boxes.night("seats", "group_matchplay", players=7)
    boxes.client.send("POST", f"/api/tournaments/{groups}/rounds", {})
    games = sorted(
        boxes.send("GET", f"/api/tournaments/{groups}/games"), key=lambda each: len(each["playerIds"])
    )
    boxes.send("POST", f"/api/tournaments/{groups}/players", {"playerId": boxes.player_ids[7]})
    boxes.put(
        "add_player_to_game",
        body={"playerId": boxes.player_ids[7]},
        tournamentId=groups,
        gameId=games[0]["gameId"],
    )
    boxes.put(
        "remove_player_from_game",
        tournamentId=groups,
        gameId=games[-1]["gameId"],
        playerId=games[-1]["playerIds"][-1],
    )
    _try_suggestions(boxes)
    _try_legs(boxes)


def _try_legs(boxes: Sandboxes) -> None:
    """The single games of a match: one for each thing that is done with them."""
    for operation in ("list_legs", "record_leg", "change_leg", "delete_leg"):
        night = boxes.night(operation.replace("_", " "), "bracket", gamesPerRound=3)
        games = boxes.send("GET", f"/api/tournaments/{night}/games")
        match = next(game for game in games if len(game["playerIds"]) == 2 and game["status"] == "started")
        ids = {"tournamentId": night, "gameId": match["gameId"]}
        result = {"resultPositions": match["playerIds"]}
        if operation != "record_leg":
            boxes.send("POST", f"/api/tournaments/{night}/games/{match['gameId']}/legs", result)
        if operation in ("change_leg", "delete_leg"):
            ids["leg"] = 1
        body = {"resultPositions": match["playerIds"][::-1]} if operation == "change_leg" else None
        boxes.put(operation, body=result if operation == "record_leg" else body, **ids)


def _try_suggestions(boxes: Sandboxes) -> None:
    """The organizer reports as one of the players, whom they have claimed."""
    claimed = boxes.player_ids[0]
    boxes.send("POST", f"/api/players/{claimed}/claim")
    for operation in ("suggest_result", "approve_suggestion", "decline_suggestion"):
        night = boxes.night(operation.replace("_", " "), "matchplay", suggestions="restricted")
        boxes.client.send("POST", f"/api/tournaments/{night}/rounds", {})
        games = boxes.send("GET", f"/api/tournaments/{night}/games")
        game = next(each for each in games if claimed in each["playerIds"])
        path = f"/api/tournaments/{night}/games/{game['gameId']}/suggestions"
        result = {"resultPositions": game["playerIds"]}
        if operation == "suggest_result":
            boxes.put(operation, body=result, tournamentId=night, gameId=game["gameId"])
            continue
        reported = boxes.send("POST", path, result)["suggestions"][0]
        boxes.put(operation, tournamentId=night, suggestionId=reported["suggestionId"])


def try_clocks_and_queues(boxes: Sandboxes) -> None:
    """Frenzies, max match play, amazing races, and queues of a best game."""
    frenzy = boxes.night("frenzy", "frenzy", players=8, frenzyQueueSize=4)
    waiting = boxes.send("GET", f"/api/tournaments/{frenzy}/frenzy")["queue"]
    boxes.put("show_frenzy", tournamentId=frenzy)
    starting = boxes.night("start games of a frenzy", "frenzy", players=8)
    # After it is reopened, games start on request.
    for action in ("complete", "reopen"):
        boxes.client.send("POST", f"/api/tournaments/{starting}/{action}")
    boxes.put("start_games_of_frenzy", tournamentId=starting)
    boxes.put("pause_frenzy", tournamentId=frenzy)
    paused = boxes.night("paused frenzy", "frenzy", players=8)
    boxes.send("POST", f"/api/tournaments/{paused}/frenzy/pause")
    boxes.put("resume_frenzy", tournamentId=paused)
    boxes.put("change_time_of_frenzy", body={"seconds": 300}, tournamentId=paused)
    joined = boxes.night("join a frenzy", "frenzy", players=8, frenzyQueueSize=4)
    out = boxes.send("GET", f"/api/tournaments/{joined}/frenzy")["queue"][0]
    boxes.send("DELETE", f"/api/tournaments/{joined}/frenzy/queue/{out['queueId']}")
    boxes.put("join_queue_of_frenzy", body={"playerId": out["playerId"]}, tournamentId=joined)
    boxes.put("leave_queue_of_frenzy", tournamentId=frenzy, queueId=waiting[0]["queueId"])
    boxes.put("move_to_end_of_queue_of_frenzy", tournamentId=frenzy, queueId=waiting[1]["queueId"])
    flood = boxes.night("max match play", "max_matchplay", maxMatchplayDuration=2)
    boxes.put("show_max_matchplay", tournamentId=flood)
    boxes.put("create_max_matchplay_games", tournamentId=flood)
    race = boxes.night("amazing race", "amazingrace")
    boxes.put("show_amazing_race", tournamentId=race)
    queued = boxes.send("GET", f"/api/tournaments/{race}/amazing-race")
    first, second = _racers(queued)[:2]
    boxes.send(
        "POST", f"/api/tournaments/{race}/single-player-games", {"playerId": first, "score": 1_000_000}
    )
    boxes.put("advance_in_amazing_race", tournamentId=race, playerId=second)
    _try_queues(boxes)


def _racers(state: Json) -> list[int]:
    """Return the ids of the players in a race, those who play first."""
    return list(dict.fromkeys(each["playerId"] for each in [*state["games"], *state["queues"]]))


def _try_queues(boxes: Sandboxes) -> None:
    night = boxes.night("queues", "best_game", players=6, useQueues=True, suggestions="disabled")
    path = f"/api/tournaments/{night}/queues"
    arenas = boxes.arena_ids
    spots = [
        boxes.send("POST", path, {"playerId": boxes.player_ids[number], "arenaId": arenas[arena]})
        for number, arena in enumerate((0, 1, 1, 2, 2))
    ]
    boxes.put("show_queues", tournamentId=night)
    body = {"playerId": boxes.player_ids[5], "arenaId": arenas[3]}
    boxes.put("join_queue", body=body, tournamentId=night)
    boxes.put("start_from_queue", tournamentId=night, queueId=spots[0]["queueId"])
    boxes.put("move_in_queue", tournamentId=night, queueId=spots[1]["queueId"])
    boxes.put("leave_queue", tournamentId=night, queueId=spots[4]["queueId"])


def try_single_player(boxes: Sandboxes) -> None:
    """Single player games and cards, one for each thing that is done with them."""
    night = boxes.night("scores", "best_game")
    path = f"/api/tournaments/{night}/single-player-games"
    ids = dict(zip(("record", "void", "unvoid", "delete", "show"), _scores(boxes, path, 5), strict=True))
    boxes.send("POST", f"{path}/{ids['unvoid']}/void")
    body = {"playerId": boxes.player_ids[0], "arenaId": boxes.arena_ids[0], "score": 1_234_560}
    boxes.put("add_single_player_game", body=body, tournamentId=night)
    for verb, single_player_game_id in ids.items():
        result = {"score": 7_654_320} if verb == "record" else None
        boxes.put(
            f"{verb}_single_player_game",
            body=result,
            tournamentId=night,
            singlePlayerGameId=single_player_game_id,
        )
    for operation in ("list_single_player_games", "list_top_scores", "list_best_game_arenas"):
        boxes.put(operation, tournamentId=night)
    boxes.put("show_best_game_stats", tournamentId=night)
    boxes.put("show_best_game_arena", tournamentId=night, arenaId=boxes.arena_ids[0])
    cards = boxes.night("cards", "card_best_game", cardBestGameGamesPerCard=2)
    path = f"/api/tournaments/{cards}"
    _scores(boxes, f"{path}/single-player-games", 4)
    made = [card["cardId"] for card in boxes.send("GET", f"{path}/cards")]
    boxes.send("POST", f"{path}/cards/{made[1]}/void")
    boxes.put("list_cards", tournamentId=cards)
    for operation, card_id in zip(
        ("void_card", "unvoid_card", "delete_card", "show_card"), made, strict=True
    ):
        boxes.put(operation, tournamentId=cards, cardId=card_id)


def _scores(boxes: Sandboxes, path: str, count: int) -> Iterable[int]:
    """Record scores of several players in turn, and return the ids of the games."""
    return [
        boxes.send(
            "POST",
            path,
            {
                "playerId": boxes.player_ids[number % 4],
                "arenaId": boxes.arena_ids[number % 3],
                "score": 1_000_000 + 10 * number,
            },
        )["singlePlayerGameId"]
        for number in range(count)
    ]
