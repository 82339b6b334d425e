"""silverball watch: follow a tournament live in a terminal, through the typed client."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct, field

if TYPE_CHECKING:
    from rich.console import RenderableType

    from silverball_client import Client, Event, Missed
    from silverball_client.events import State
    from silverball_wire.games import Game
    from silverball_wire.standings import Standing
    from silverball_wire.tournaments import Tournament

    FeedItem = Event | Missed | State

DEFAULT_URL = "http://127.0.0.1:8000"
TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)
STANDINGS_EVERY_SECONDS = 2.0
NAMES_AT_ONCE = 25
ROWS_MAX = 40


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
    from silverball_client import Client, SilverballError, Unauthenticated

    try:
        with Client(url, token, app_key=key) as client:
            items = client.follow_states(tournament_id, compact=not as_json)
            if as_json:
                _write_lines(items)
            else:
                _show_board(items, Board(client, tournament_id))
    except Unauthenticated as error:
        sentence = "This site requires a token: use --token, or --json for events only."
        raise click.ClickException(sentence) from error
    except SilverballError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo()


def _write_lines(items: "Iterator[FeedItem]") -> None:
    from silverball_client import Event

    for item in items:
        if isinstance(item, Event):
            line = {
                "event": item.name,
                "epoch": item.epoch,
                "seq": item.seq,
                "data": msgspec.Raw(item.json.encode()),
            }
            click.echo(msgspec.json.encode(line).decode())


def _show_board(items: "Iterator[FeedItem]", board: "Board") -> None:
    from rich.live import Live

    from silverball_client import NoAnswer, ServerFault

    with Live(board.render(), auto_refresh=False) as screen:
        for item in items:
            with contextlib.suppress(NoAnswer, ServerFault):
                # After a failed read the next event reads again.
                board.update(item)
            screen.update(board.render(), refresh=True)


class Board(Struct):
    """The view of a tournament in the terminal."""

    client: "Client"
    tournament_id: int
    clock: Callable[[], float] = time.monotonic
    state: str = "connecting"
    tournament: "Tournament | None" = None
    players: dict[int, str] = field(default_factory=dict)
    arenas: dict[int, str] = field(default_factory=dict)
    games: "dict[int, Game]" = field(default_factory=dict)
    standings: "tuple[Standing, ...]" = ()
    # Whether the standings changed since they were read, and when that was.
    are_standings_old: bool = False
    read_at: float = 0.0

    def update(self, item: "FeedItem") -> None:
        """Apply an event. Raises SilverballError when the service does not let this client read."""
        from silverball_client import Connected, Disconnected, Event, Missed

        match item:
            case Connected():
                self.state = "live"
                if self.tournament is None:
                    self._read_everything()
            case Disconnected():
                self.state = "offline"
            case Missed():
                self._read_everything()
            case Event():
                self._apply(item)
                self.are_standings_old = True
            case _:
                pass
        if self.are_standings_old and self.clock() - self.read_at >= STANDINGS_EVERY_SECONDS:
            self._read_standings()

    def _apply(self, event: "Event") -> None:
        from silverball_wire import events
        from silverball_wire.games import Game
        from silverball_wire.tournaments import Tournament

        match event.data:
            case Tournament():
                self.tournament = event.data
            case Game():
                self.games[event.data.game_id] = event.data
            case events.GamesDeleted():
                for game_id in event.data.game_ids:
                    self.games.pop(game_id, None)
            case events.PlayersAdded() | events.PlayersChanged():
                self._load_players(event.data.player_ids)
            case events.ArenasAdded() | events.ArenasChanged():
                self._load_arenas(event.data.arena_ids)
            case _:
                pass

    def _read_everything(self) -> None:
        resource = self.client.tournaments
        read = resource.get(self.tournament_id, include_players=True, include_arenas=True)
        self.players = {player.player_id: player.name for player in read.players or ()}
        self.arenas = {arena.arena_id: arena.name for arena in read.arenas or ()}
        self.games = {game.game_id: game for game in resource.games(self.tournament_id)}
        self._read_standings()
        # Set last: until then the next connection reads again.
        self.tournament = read

    def _read_standings(self) -> None:
        self.read_at = self.clock()
        # The client sends the ETag, so that unchanged standings do not use up the rate limit.
        self.standings = self.client.tournaments.standings(self.tournament_id)
        self.are_standings_old = False

    def _load_players(self, ids: tuple[int, ...]) -> None:
        for part in _parts_of(ids):
            for player in self.client.tournaments.resolve_players(self.tournament_id, players=part):
                self.players[player.player_id] = player.name

    def _load_arenas(self, ids: tuple[int, ...]) -> None:
        for part in _parts_of(ids):
            for arena in self.client.tournaments.resolve_arenas(self.tournament_id, arenas=part):
                self.arenas[arena.arena_id] = arena.name

    def render(self) -> "RenderableType":
        """The view as a renderable of rich."""
        from rich.console import Group
        from rich.text import Text

        read = self.tournament
        name = Text(read.name if read else f"Tournament {self.tournament_id}", style="bold")
        status = Text(f"  {read.status if read else ''}  ")
        color = {"live": "green", "offline": "red"}.get(self.state, "yellow")
        head = Text.assemble(name, status, Text(f"● {self.state}", style=color))
        return Group(head, self._games_table(), self._standings_table())

    def _games_table(self) -> "RenderableType":
        from rich.table import Table

        table = Table("Arena", "Players", title="Being played", title_justify="left")
        playing = [game for game in self.games.values() if game.status == "started"]
        for game in sorted(playing, key=lambda each: each.game_id)[:ROWS_MAX]:
            names = [self.players.get(player_id, "?") for player_id in game.player_ids]
            arena = self.arenas.get(game.arena_id or 0, "")
            table.add_row(_plain_text(arena), _plain_text(", ".join(names)))
        return table

    def _standings_table(self) -> "RenderableType":
        from rich.table import Table

        table = Table("", "Player", "Points", title="Standings", title_justify="left")
        for standing in self.standings[:ROWS_MAX]:
            player = self.players.get(standing.player_id, "?")
            table.add_row(str(standing.position), _plain_text(player), str(standing.points or ""))
        return table


def _parts_of(ids: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    """The ids in portions that the service resolves at once."""
    return (ids[start : start + NAMES_AT_ONCE] for start in range(0, len(ids), NAMES_AT_ONCE))


def _plain_text(text: str) -> "RenderableType":
    """The text without rich's markup: brackets stay brackets."""
    from rich.text import Text

    return Text(text)
