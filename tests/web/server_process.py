"""A server in its own process: results arrive over HTTP, browsers through a breakable connection."""

import json
import urllib.request
from typing import Any

from feed.running_program import admin_token
from servers import Servers
from silverball.store.database.engine import Store
from web.breakable_connection import BreakableConnection

NAMES = (
    "Ada Quill",
    "Bo Larkin",
    "Cleo Marsh",
    "Dag Ravn",
    "Edie Frost",
    "Finn Abara",
    "Greta Holm",
    "Hugo Pell",
)
MACHINES = ("Meteor Shower", "Copper Canyon", "Static Garden", "Dragon Alley")


class LiveServer:
    """A server with one tournament; results do not go through the breakable connection."""

    def __init__(self, store: Store, url: str) -> None:
        self.connection = BreakableConnection()
        self._token = admin_token(store)
        self._servers = Servers.without_limits(url)
        self.start_server()
        self.tournament_id = 0

    @property
    def page(self) -> str:
        return f"{self.connection.url}/t/{self.tournament_id}"

    def start_server(self) -> None:
        self._servers.start()
        self.connection.to = self._servers.port

    def kill_server(self) -> None:
        self._servers.kill()

    def close(self) -> None:
        self.connection.close()
        self._servers.close()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The data of an answer, which must be successful."""
        sent = urllib.request.Request(
            f"http://127.0.0.1:{self._servers.port}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(sent, timeout=20) as answer:
            return json.load(answer)["data"]

    def ask_tournament(self, method: str, path: str, body: Any = None) -> Any:
        return self.ask(method, f"/api/tournaments/{self.tournament_id}{path}", body)

    # Running a tournament

    def create(
        self,
        kind: str,
        names: tuple[str, ...] = NAMES,
        *,
        machines: tuple[str, ...] = MACHINES,
        **settings: Any,
    ) -> None:
        made = self.ask("POST", "/api/tournaments", {"name": "Friday at the Drain", "type": kind, **settings})
        self.tournament_id = made["tournamentId"]
        self.ask_tournament("POST", "/players", {"players": [{"name": name} for name in names]})
        added = [self.ask("POST", "/api/arenas", {"name": name})["arenaId"] for name in machines]
        self.ask_tournament("POST", "/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in added]})

    def start(self) -> None:
        self.ask_tournament("POST", "/start")

    def open_round(self) -> list[Any]:
        self.ask_tournament("POST", "/rounds", {})
        return self.open_games()

    def open_games(self) -> list[Any]:
        found: list[Any] = self.ask_tournament("GET", "/games?status=started")
        return found

    def finish(self, game: Any) -> list[int]:
        """Record a game that the last player wins; returns the finishing order."""
        order: list[int] = game["playerIds"][::-1]
        self.ask_tournament("PUT", f"/games/{game['gameId']}/result", {"resultPositions": order})
        return order

    def say(self, text: str) -> None:
        """Set the message of the day."""
        self.ask_tournament("PATCH", "", {"motdText": text})
