"""A tournament run by its organizer over HTTP, with the whole edge and a real database.

    hall = Hall(store, "knockout", "Ann Bea Cid Dot", knockoutStrikeCount=2)
    hall.start()
    ann_bea, cid_dot = hall.open_round()
    hall.finish(ann_bea, "Ann", "Bea")
    assert hall.table() == [(1, "Ann", "1.00"), ...]

Players have one-word names; games are identified by their players. Each request takes five minutes.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import build
from mirror import Mirror
from silverball import app
from silverball.service.core.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.store.database.engine import Store

Json = dict[str, Any]
MINUTES_PER_REQUEST = 5


class Hall:
    """One tournament and its organizer; `send` fails on refusals."""

    def __init__(self, store: Store, kind: str, players: str, *, arenas: int = 8, **settings: Any) -> None:
        self.store = store
        self.now = build.NOW
        self._api = app.build_api(store, Settings(base_url=build.BASE_URL), now=self._clock)
        organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
        self.mirror: Mirror | None = None
        self.organizer = build.caller(organizer_id, role="organizer", ability="manage")
        created = self.send(
            "POST", "/api/tournaments", {"name": f"Story of {kind}", "type": kind, **settings}
        )
        self.tournament_id: int = created["data"]["tournamentId"]
        self.path = f"/api/tournaments/{self.tournament_id}"
        # All writes of a story have to reach the followers of the feed.
        self.mirror = Mirror(store, self.tournament_id)
        names = players.split()
        added = self.post("/players", {"players": [{"name": name} for name in names]})["data"]
        self.ids: dict[str, int] = {player["name"]: player["playerId"] for player in added}
        self.arenas: list[int] = []
        if arenas:
            self.arenas = [self._machine(n + 1) for n in range(arenas)]
            self.post("/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in self.arenas]})

    def _machine(self, number: int) -> int:
        created = self.send("POST", "/api/arenas", {"name": f"Machine {number}"})
        return int(created["data"]["arenaId"])

    def _clock(self) -> Any:
        self.now += timedelta(minutes=MINUTES_PER_REQUEST)
        return self.now

    def pass_time(self, *, hours: int) -> None:
        self.now += timedelta(hours=hours)

    # Asking

    def send(self, method: str, path: str, body: Any = None, *, by: AuthenticatedCaller | None = None) -> Any:
        """The decoded body of an answer below 300; other answers fail the story."""
        status, answer, _ = build.send(self._api, method, path, body, by=by or self.organizer)
        assert status < 300, (method, path, body, status, answer)
        if method != "GET" and self.mirror is not None:
            self.mirror.follow()
        return answer

    def refused(
        self, method: str, path: str, body: Any = None, *, by: AuthenticatedCaller | None = None
    ) -> tuple[int, str]:
        """Status and sentence of a refusal."""
        status, answer, _ = build.send(self._api, method, self.path + path, body, by=by or self.organizer)
        assert status >= 400, (method, path, body, status, answer)
        return status, answer["message"]

    def post(self, path: str, body: Any = None) -> Any:
        return self.send("POST", self.path + path, body)

    def put(self, path: str, body: Any = None) -> Any:
        return self.send("PUT", self.path + path, body)

    def patch(self, path: str, body: Any = None) -> Any:
        return self.send("PATCH", self.path + path, body)

    def delete(self, path: str) -> Any:
        return self.send("DELETE", self.path + path)

    def get(self, path: str = "") -> Any:
        return self.send("GET", self.path + path)

    # The night

    def start(self) -> None:
        self.post("/start")

    def open_round(self, **body: Any) -> list[Json]:
        """Open the next round and return its open games, in order."""
        self.post("/rounds", body)
        return self.open_games()

    def open_games(self) -> list[Json]:
        """The open games, by id."""
        games: list[Json] = self.get("/games?status=started")["data"]
        return games

    def finish(self, game: Json, *names: str) -> Json:
        """Record a finishing order, first to last."""
        order = [self.ids[name] for name in names]
        recorded: Json = self.put(f"/games/{game['gameId']}/result", {"resultPositions": order})["data"]
        return recorded

    def finish_all(self, ranking: str) -> None:
        """Record all open games; players finish in the order of this ranking."""
        order = ranking.split()
        for game in self.open_games():
            self.finish(game, *sorted(self.players_of(game), key=order.index))

    def play_rounds(self, rounds: int, ranking: str) -> None:
        """Open and play rounds in which the ranking always holds."""
        for _ in range(rounds):
            self.open_round()
            self.finish_all(ranking)

    def complete(self) -> None:
        self.post("/complete")

    def join(self, name: str, **fields: Any) -> None:
        """Add a late player."""
        self.ids[name] = self.post("/players", {"name": name, **fields})["data"]["playerId"]

    def leave(self, name: str) -> None:
        """Set a player inactive."""
        self.patch(f"/players/{self.ids[name]}", {"status": "inactive"})

    # Playing alone

    def score(self, name: str, **result: Any) -> Json:
        """Record a single player game of this player: score, strokes or rolls."""
        attempt: Json = self.post("/single-player-games", {"playerId": self.ids[name], **result})["data"]
        return attempt

    def correct(self, attempt: Json, **result: Any) -> Json:
        """Record another result for a single player game."""
        corrected: Json = self.patch(f"/single-player-games/{attempt['singlePlayerGameId']}", result)["data"]
        return corrected

    def waiting(self, name: str) -> list[Json]:
        """The player's pending single player games, in playing order."""
        path = f"/single-player-games?status=pending&player={self.ids[name]}"
        games: list[Json] = self.get(path)["data"]
        return sorted(games, key=lambda game: game["singlePlayerGameId"])

    def round_ids(self) -> list[int]:
        """Ids of the rounds, in playing order."""
        rounds = sorted(self.get("/rounds")["data"], key=lambda round_: round_["index"])
        return [round_["roundId"] for round_ in rounds]

    def undo(self) -> Json:
        """Undo the newest action."""
        newest = next(action for action in self.get("/journal")["data"] if action["canUndo"])
        answer: Json = self.post("/undo", {"action": newest["actionId"]})
        return answer

    def groups(self) -> list[str]:
        """The players of each open game; names and games in alphabetical order."""
        return sorted(" ".join(sorted(self.players_of(game))) for game in self.open_games())

    # What stands

    def name(self, player_id: int) -> str:
        return next(name for name, known_id in self.ids.items() if known_id == player_id)

    def players_of(self, game: Json) -> list[str]:
        """Names in playing order."""
        return [self.name(player_id) for player_id in game["playerIds"]]

    def game_of(self, *names: str) -> Json:
        """The open game of exactly these players."""
        wanted = {self.ids[name] for name in names}
        return next(game for game in self.open_games() if set(game["playerIds"]) == wanted)

    def standings(self) -> list[Json]:
        """The rows of the standings on the wire."""
        status, rows = build.ask(self.store, f"{self.path}/standings", by=self.organizer)
        assert status == 200, rows
        listed: list[Json] = rows
        return listed

    def table(self, *columns: str) -> list[tuple[Any, ...]]:
        """Position, name and these columns (points when none is named), by position and order of joining."""
        wanted: Sequence[str] = columns or ("points",)
        return [
            (row["position"], self.name(row["playerId"]), *(row[column] for column in wanted))
            for row in self.standings()
        ]
