"""silverball watch: a tournament in a terminal, as it happens."""

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
    for told in events:
        if told.name not in CONTROL_NAMES:
            line = {"event": told.name, "epoch": told.epoch, "seq": told.seq, "data": told.data}
            click.echo(json.dumps(line, ensure_ascii=False))


def _show_board(events: Iterator[FollowerEvent], board: "Board") -> None:
    from rich.live import Live

    with Live(board.render(), auto_refresh=False) as screen:
        for told in events:
            with contextlib.suppress(urllib.error.URLError):
                # What cannot be read now is read with the next event.
                board.update(told)
            screen.update(board.render(), refresh=True)


@dataclass
class Board:
    """What the terminal shows of a tournament."""

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
    # Whether something happened since they were read, and when that was.
    are_standings_old: bool = False
    read_at: float = 0.0

    def update(self, told: FollowerEvent) -> None:
        """Something was told. Raises CannotFollow when the service does not let this client read."""
        if told.name in (LIVE, LOST):
            self.state = {LIVE: "live", LOST: "offline"}[told.name]
        elif told.name == RELOAD:
            self._read_everything()
        elif told.name == "TournamentUpdated":
            self.tournament = told.data
        elif told.name == "GameCreatedOrUpdated":
            self.games[told.data["gameId"]] = told.data
        elif told.name == "GamesDeleted":
            for game_id in told.data["gameIds"]:
                self.games.pop(game_id, None)
        elif told.name in ("PlayersAdded", "PlayersChanged"):
            self._load_names("players", told.data["playerIds"])
        elif told.name in ("ArenasAdded", "ArenasChanged"):
            self._load_names("arenas", told.data["arenaIds"])
        self.are_standings_old |= told.name not in CONTROL_NAMES
        if self.are_standings_old and self.clock() - self.read_at >= STANDINGS_EVERY_SECONDS:
            self._read_standings()

    def _read_everything(self) -> None:
        self.tournament = self._get("?includePlayers=1&includeArenas=1")["data"]
        self.players = {one["playerId"]: one["name"] for one in self.tournament["players"]}
        self.arenas = {one["arenaId"]: one["name"] for one in self.tournament["arenas"]}
        self.games = {one["gameId"]: one for one in self._get("/games")["data"]}
        self._read_standings()

    def _read_standings(self) -> None:
        self.read_at = self.clock()
        # A conditional request is never told to wait, and costs nothing when nothing changed.
        asked = {"If-None-Match": self.standings_tag} if self.standings_tag else None
        try:
            self.standings, self.standings_tag = self._get_with_etag("/standings", asked)
        except urllib.error.HTTPError as error:
            if error.code != 304:
                raise
        self.are_standings_old = False

    def _load_names(self, kind: str, keys: list[int]) -> None:
        known = self.players if kind == "players" else self.arenas
        for start in range(0, len(keys), NAMES_AT_ONCE):
            asked = ",".join(map(str, keys[start : start + NAMES_AT_ONCE]))
            for one in self._get(f"/{kind}/resolve-unknown?{kind}={asked}")["data"]:
                known[one["playerId" if kind == "players" else "arenaId"]] = one["name"]

    def _get(self, path: str) -> Json:
        return self._get_with_etag(path)[0]

    def _get_with_etag(self, path: str, headers: dict[str, str] | None = None) -> tuple[Json, str]:
        signed = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            url = f"{self.base_url}/api/tournaments/{self.tournament_id}{path}"
            return fetch_json_with_etag(url, {**signed, **(headers or {})})
        except urllib.error.HTTPError as error:
            if error.code == 401:
                sentence = "Reading needs a token here: --token, or --json for the events alone."
                raise following.CannotFollow(sentence) from error
            raise

    def render(self) -> "RenderableType":
        """The board, drawn."""
        from rich.console import Group
        from rich.text import Text

        name = Text(str(self.tournament.get("name", f"Tournament {self.tournament_id}")), style="bold")
        told = Text(f"  {self.tournament.get('status', '')}  ")
        color = {"live": "green", "offline": "red"}.get(self.state, "yellow")
        head = Text.assemble(name, told, Text(f"● {self.state}", style=color))
        return Group(head, self._games_table(), self._standings_table())

    def _games_table(self) -> "RenderableType":
        from rich.table import Table

        table = Table("Arena", "Players", title="Being played", title_justify="left")
        playing = [one for one in self.games.values() if one["status"] == "started"]
        for one in sorted(playing, key=lambda game: int(game["gameId"]))[:ROWS_MAX]:
            names = [self.players.get(player_id, "?") for player_id in one["playerIds"]]
            table.add_row(_plain_text(self.arenas.get(one["arenaId"], "")), _plain_text(", ".join(names)))
        return table

    def _standings_table(self) -> "RenderableType":
        from rich.table import Table

        table = Table("", "Player", "Points", title="Standings", title_justify="left")
        for one in self.standings[:ROWS_MAX]:
            player = self.players.get(one["playerId"], "?")
            table.add_row(str(one["position"]), _plain_text(player), str(one["points"] or ""))
        return table


def _plain_text(text: str) -> "RenderableType":
    """A name as it is: brackets in it are no markup."""
    from rich.text import Text

    return Text(text)
