"""A tournament as its organizer runs it, over HTTP: the whole edge, a real database, no shortcuts.

    hall = Hall(store, "knockout", "Ann Bea Cid Dot", knockoutStrikeCount=2)
    hall.start()
    ann_bea, cid_dot = hall.open_round()
    hall.finish(ann_bea, "Ann", "Bea")
    assert hall.table() == [(1, "Ann", "1.00"), ...]

Players have one-word names here; games are told by their players. Time passes by five minutes a request.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import build
from mirror import Mirror
from silverball import app
from silverball.service.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.store.engine import Store

Json = dict[str, Any]
MINUTES_PER_REQUEST = 5


class Hall:
    """One tournament; `send` refuses to be refused."""

    def __init__(self, store: Store, kind: str, players: str, *, arenas: int = 8, **settings: Any) -> None:
        self.store = store
        self.now = build.NOW
        self._api = app.build_api(store, Settings(base_url=build.BASE_URL), now=self._clock)
        organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
        self.mirror: Mirror | None = None
        self.organizer = build.caller(organizer_id, role="organizer", ability="manage")
        made = self.send("POST", "/api/tournaments", {"name": f"Story of {kind}", "type": kind, **settings})
        self.tournament_id: int = made["data"]["tournamentId"]
        self.path = f"/api/tournaments/{self.tournament_id}"
        # Everything that a story writes has to reach whoever follows the feed.
        self.mirror = Mirror(store, self.tournament_id)
        names = players.split()
        added = self.post("/players", {"players": [{"name": name} for name in names]})["data"]
        self.ids: dict[str, int] = {one["name"]: one["playerId"] for one in added}
        self.arenas: list[int] = []
        if arenas:
            self.arenas = [self._machine(n + 1) for n in range(arenas)]
            self.post("/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in self.arenas]})

    def _machine(self, number: int) -> int:
        made = self.send("POST", "/api/arenas", {"name": f"Machine {number}"})
        return int(made["data"]["arenaId"])

    def _clock(self) -> Any:
        self.now += timedelta(minutes=MINUTES_PER_REQUEST)
        return self.now

    def pass_time(self, *, hours: int) -> None:
        self.now += timedelta(hours=hours)

    # Asking

    def send(self, method: str, path: str, body: Any = None, *, by: AuthenticatedCaller | None = None) -> Any:
        """The decoded body of an answer below 300; anything else fails the story."""
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
        """Open the next round; its games that are to be played, in order."""
        self.post("/rounds", body)
        return self.open_games()

    def open_games(self) -> list[Json]:
        """The games being played, by id."""
        games: list[Json] = self.get("/games?status=started")["data"]
        return games

    def finish(self, game: Json, *names: str) -> Json:
        """Record who finished where, first to last."""
        order = [self.ids[name] for name in names]
        done: Json = self.put(f"/games/{game['gameId']}/result", {"resultPositions": order})["data"]
        return done

    def finish_all(self, ranking: str) -> None:
        """Record every open game: players finish in the order of this ranking."""
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
        """A player who comes late."""
        self.ids[name] = self.post("/players", {"name": name, **fields})["data"]["playerId"]

    def leave(self, name: str) -> None:
        """Set a player inactive."""
        self.patch(f"/players/{self.ids[name]}", {"status": "inactive"})

    # Playing alone

    def score(self, name: str, **said: Any) -> Json:
        """A new single player game of this player, or the one that waits: score, strokes, rolls."""
        made: Json = self.post("/single-player-games", {"playerId": self.ids[name], **said})["data"]
        return made

    def correct(self, attempt: Json, **said: Any) -> Json:
        """Another result for a single player game."""
        done: Json = self.patch(f"/single-player-games/{attempt['singlePlayerGameId']}", said)["data"]
        return done

    def waiting(self, name: str) -> list[Json]:
        """What this player has to play alone, in playing order."""
        path = f"/single-player-games?status=pending&player={self.ids[name]}"
        games: list[Json] = self.get(path)["data"]
        return sorted(games, key=lambda one: one["singlePlayerGameId"])

    def round_ids(self) -> list[int]:
        """Ids of the rounds, in playing order."""
        rounds = sorted(self.get("/rounds")["data"], key=lambda one: one["index"])
        return [one["roundId"] for one in rounds]

    def undo(self) -> Json:
        """Take the newest action back."""
        newest = next(one for one in self.get("/journal")["data"] if one["canUndo"])
        done: Json = self.post("/undo", {"action": newest["actionId"]})
        return done

    def groups(self) -> list[str]:
        """Who plays whom: the names of each open game by the alphabet, games likewise."""
        return sorted(" ".join(sorted(self.players_of(game))) for game in self.open_games())

    # What stands

    def name(self, player_id: int) -> str:
        return next(name for name, one in self.ids.items() if one == player_id)

    def players_of(self, game: Json) -> list[str]:
        """Names in playing order."""
        return [self.name(player_id) for player_id in game["playerIds"]]

    def game_of(self, *names: str) -> Json:
        """The open game of just these players."""
        wanted = {self.ids[name] for name in names}
        return next(game for game in self.open_games() if set(game["playerIds"]) == wanted)

    def standings(self) -> list[Json]:
        """The rows as the interface shows them."""
        status, rows = build.ask(self.store, f"{self.path}/standings", by=self.organizer)
        assert status == 200, rows
        found: list[Json] = rows
        return found

    def table(self, *columns: str) -> list[tuple[Any, ...]]:
        """Position, name and these columns (points when none is named), by position and order of joining."""
        wanted: Sequence[str] = columns or ("points",)
        return [
            (row["position"], self.name(row["playerId"]), *(row[column] for column in wanted))
            for row in self.standings()
        ]
