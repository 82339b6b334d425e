"""silverball watch: follow a tournament live in a terminal."""

import contextlib
import json
import time
import urllib.error
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from silverball.cli import following
from silverball.cli.following import (
    CONTROL_NAMES,
    LIVE,
    LOST,
    RELOAD,
    CannotFollow,
    FollowerEvent,
    fetch_json_with_etag,
    follow,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT_URL = "http://127.0.0.1:8000"
TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)
STANDINGS_EVERY_SECONDS = 2.0
NAMES_AT_ONCE = 25
ROWS_MAX = 40
Json = Any


@click.command()
@click.argument("tournament_id", metavar="ID", type=TOURNAMENT_ID)
@click.option("--url", default=DEFAULT_URL, show_default=True, help="Address of the service.")
@click.option("--token", default="", help="API token; not needed where reading is open to all.")
@click.option("--key", default="silverball", show_default=True, help="App key of the feed.")
@click.option("--json", "as_json", is_flag=True, help="Write each event as a line of JSON; needs no token.")
def watch(tournament_id: int, url: str, token: str, key: str, as_json: bool) -> None:
    """Follow tournament ID: its games and its standings, as they change.

    Comes back by itself when the connection is lost, and misses nothing.
    """
    try:
        events = follow(url, tournament_id, key=key)
        if as_json:
            _write_lines(events)
        else:
            _show_board(events, Board(url.rstrip("/"), tournament_id, token))
    except CannotFollow as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo()


def _write_lines(events: Iterator[FollowerEvent]) -> None:
    for event in events:
        if event.name not in CONTROL_NAMES:
            line = {"event": event.name, "epoch": event.epoch, "seq": event.seq, "data": event.data}
            click.echo(json.dumps(line, ensure_ascii=False))


def _show_board(events: Iterator[FollowerEvent], board: "Board") -> None:
    from rich.live import Live

    with Live(board.render(), auto_refresh=False) as screen:
        for event in events:
            with contextlib.suppress(urllib.error.URLError):
                # After a failed read the next event reads again.
                board.update(event)
            screen.update(board.render(), refresh=True)


@dataclass
class Board:
    """The view of a tournament in the terminal."""

    base_url: str
    tournament_id: int
    token: str
    clock: Callable[[], float] = time.monotonic
    state: str = "connecting"
    tournament: Json = field(default_factory=dict)
    players: dict[int, str] = field(default_factory=dict)
    arenas: dict[int, str] = field(default_factory=dict)
    games: dict[int, Json] = field(default_factory=dict)
    standings: list[Json] = field(default_factory=list)
    standings_tag: str = ""
    # Whether the standings changed since they were read, and when that was.
    are_standings_old: bool = False
    read_at: float = 0.0

    def update(self, event: FollowerEvent) -> None:
        """Apply an event. Raises CannotFollow when the service does not let this client read."""
        if event.name in (LIVE, LOST):
            self.state = {LIVE: "live", LOST: "offline"}[event.name]
        elif event.name == RELOAD:
            self._read_everything()
        elif event.name == "TournamentUpdated":
            self.tournament = event.data
        elif event.name == "GameCreatedOrUpdated":
            self.games[event.data["gameId"]] = event.data
        elif event.name == "GamesDeleted":
            for game_id in event.data["gameIds"]:
                self.games.pop(game_id, None)
        elif event.name in ("PlayersAdded", "PlayersChanged"):
            self._load_names("players", event.data["playerIds"])
        elif event.name in ("ArenasAdded", "ArenasChanged"):
            self._load_names("arenas", event.data["arenaIds"])
        self.are_standings_old |= event.name not in CONTROL_NAMES
        if self.are_standings_old and self.clock() - self.read_at >= STANDINGS_EVERY_SECONDS:
            self._read_standings()

    def _read_everything(self) -> None:
        self.tournament = self._get("?includePlayers=1&includeArenas=1")["data"]
        self.players = {player["playerId"]: player["name"] for player in self.tournament["players"]}
        self.arenas = {arena["arenaId"]: arena["name"] for arena in self.tournament["arenas"]}
        self.games = {game["gameId"]: game for game in self._get("/games")["data"]}
        self._read_standings()

    def _read_standings(self) -> None:
        self.read_at = self.clock()
        # A conditional request that changes nothing is cheap and does not use up the rate limit.
        headers = {"If-None-Match": self.standings_tag} if self.standings_tag else None
        try:
            self.standings, self.standings_tag = self._get_with_etag("/standings", headers)
        except urllib.error.HTTPError as error:
            if error.code != 304:
                raise
        self.are_standings_old = False

    def _load_names(self, kind: str, keys: list[int]) -> None:
        known = self.players if kind == "players" else self.arenas
        for start in range(0, len(keys), NAMES_AT_ONCE):
            ids = ",".join(map(str, keys[start : start + NAMES_AT_ONCE]))
            for item in self._get(f"/{kind}/resolve-unknown?{kind}={ids}")["data"]:
                known[item["playerId" if kind == "players" else "arenaId"]] = item["name"]

    def _get(self, path: str) -> Json:
        return self._get_with_etag(path)[0]

    def _get_with_etag(self, path: str, headers: dict[str, str] | None = None) -> tuple[Json, str]:
        signed = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            url = f"{self.base_url}/api/tournaments/{self.tournament_id}{path}"
            return fetch_json_with_etag(url, {**signed, **(headers or {})})
        except urllib.error.HTTPError as error:
            if error.code == 401:
                sentence = "This site requires a token: use --token, or --json for events only."
                raise following.CannotFollow(sentence) from error
            raise

    def render(self) -> "RenderableType":
        """The view as a renderable of rich."""
        from rich.console import Group
        from rich.text import Text

        name = Text(str(self.tournament.get("name", f"Tournament {self.tournament_id}")), style="bold")
        status = Text(f"  {self.tournament.get('status', '')}  ")
        color = {"live": "green", "offline": "red"}.get(self.state, "yellow")
        head = Text.assemble(name, status, Text(f"● {self.state}", style=color))
        return Group(head, self._games_table(), self._standings_table())

    def _games_table(self) -> "RenderableType":
        from rich.table import Table

        table = Table("Arena", "Players", title="Being played", title_justify="left")
        playing = [game for game in self.games.values() if game["status"] == "started"]
        for game in sorted(playing, key=lambda each: int(each["gameId"]))[:ROWS_MAX]:
            names = [self.players.get(player_id, "?") for player_id in game["playerIds"]]
            table.add_row(_plain_text(self.arenas.get(game["arenaId"], "")), _plain_text(", ".join(names)))
        return table

    def _standings_table(self) -> "RenderableType":
        from rich.table import Table

        table = Table("", "Player", "Points", title="Standings", title_justify="left")
        for standing in self.standings[:ROWS_MAX]:
            player = self.players.get(standing["playerId"], "?")
            table.add_row(str(standing["position"]), _plain_text(player), str(standing["points"] or ""))
        return table


def _plain_text(text: str) -> "RenderableType":
    """The text without rich's markup: brackets stay brackets."""
    from rich.text import Text

    return Text(text)
