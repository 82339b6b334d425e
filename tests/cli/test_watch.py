"""`silverball watch`: following a tournament across restarts of the server."""

import io
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from rich.console import Console

import build
from feed.running_program import admin_token, announce
from servers import Servers
from silverball.cli import watch
from silverball.store.database.engine import Store
from silverball_client import Client, Connected, Disconnected, Event
from silverball_wire.events import GamesDeleted


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture
def server(database_url: str) -> Iterator[Servers]:
    own = Servers(database_url)
    own.start()
    yield own
    own.close()


def test_lines_of_json_for_other_programs(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    command = [sys.executable, "-u", "-m", "silverball.cli.main", "watch", str(tournament_id), "--json"]
    with subprocess.Popen(
        [*command, "--url", f"http://127.0.0.1:{server.port}"], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for n in range(1, 40):
            # The first event it sees depends on the moment when it connects.
            announce(store, tournament_id)
            time.sleep(0.1 if n < 39 else 2)
        running.terminate()
        lines = [json.loads(line) for line in running.stdout]
    assert {line["event"] for line in lines} == {"TournamentUpdated"}
    numbers = [line["seq"] for line in lines]
    assert numbers == list(range(numbers[0], 40))


def test_an_unknown_tournament_is_reported_in_a_sentence(server: Servers) -> None:
    command = [sys.executable, "-m", "silverball.cli.main", "watch", "404"]
    done = subprocess.run(
        [*command, "--url", f"http://127.0.0.1:{server.port}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "404" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_an_answer_a_sentence_comes_at_once(free_port: int) -> None:
    command = [sys.executable, "-m", "silverball.cli.main", "watch", "1"]
    done = subprocess.run(
        [*command, "--url", f"http://127.0.0.1:{free_port}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"http://127.0.0.1:{free_port} does not answer" in done.stderr
    assert done.stderr.count("\n") == 1


def test_reading_without_a_token_prints_what_to_do(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    command = [sys.executable, "-m", "silverball.cli.main", "watch", str(tournament_id)]
    done = subprocess.run(
        [*command, "--url", f"http://127.0.0.1:{server.port}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "--token" in done.stderr


def test_the_board_shows_games_and_standings_and_moves(store: Store, server: Servers) -> None:
    night = build.a_tournament(store, players=2, arenas=1)
    round_id = build.a_round(store, night.tournament_id)
    game_id = build.a_game(
        store, night.tournament_id, night.player_ids, round_id=round_id, arena_id=night.arena_ids[0]
    )
    with Client(f"http://127.0.0.1:{server.port}", admin_token(store)) as client:
        board = watch.Board(client, night.tournament_id)
        board.update(Connected())
        assert _board_text(board).splitlines()[0] == "Thursday Strikes  started  ● live"
        assert "Player 1, Player 2" in _board_text(board)
        deleted = GamesDeleted(tournament_id=night.tournament_id, game_ids=(game_id,))
        board.update(Event(name="GamesDeleted", data=deleted))
        assert "Player 1, Player 2" not in _board_text(board)
        assert board.tournament is not None
        friday = msgspec.structs.replace(board.tournament, name="[red]Friday[/red]", status="completed")
        board.update(Event(name="TournamentUpdated", data=friday))
        board.update(Disconnected("a test"))
    # Names stay plain text, also with brackets.
    assert _board_text(board).splitlines()[0] == "[red]Friday[/red]  completed  ● offline"


def _board_text(board: Any) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(board.render())
    return console.export_text()
