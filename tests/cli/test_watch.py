"""`silverball watch`: following a tournament across restarts of the server."""

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

import build
from feed.running_program import admin_token, announce
from servers import Servers
from silverball.cli import following, watch
from silverball.cli.following import LIVE, LOST, RELOAD, FollowerEvent
from silverball.store.engine import Store
from silverball.store.tables import tournament


@pytest.fixture
def server(database_url: str) -> Iterator[Servers]:
    own = Servers(database_url)
    own.start()
    yield own
    own.close()


class Followed:
    """A follower in a thread, which collects its events."""

    def __init__(self, server: Servers, tournament_id: int) -> None:
        self.received: list[FollowerEvent] = []
        self._server = server
        url = f"http://127.0.0.1:{server.port}"
        self._events = following.follow(url, tournament_id, sleep=lambda _seconds: time.sleep(0.05))
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        for event in self._events:
            self.received.append(event)

    def names(self) -> list[str]:
        return [event.name for event in self.received if event.name != following.IDLE]

    def wait_for(self, *names: str) -> None:
        until = time.monotonic() + 20
        while self.names()[-len(names) :] != list(names):
            assert time.monotonic() < until, self.names()
            time.sleep(0.02)


def test_a_follower_reloads_first_and_then_gets_events(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 3)
    follower = Followed(server, tournament_id)
    follower.wait_for(RELOAD, LIVE)
    announce(store, tournament_id)
    follower.wait_for("TournamentUpdated")
    assert (follower.received[-1].seq, follower.received[-1].data) == (
        4,
        {"tournamentId": tournament_id, "n": 0},
    )


def test_a_follower_reconnects_to_a_killed_server_and_misses_nothing(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    position = following._ChannelPosition(f"http://127.0.0.1:{server.port}", tournament_id, "silverball")
    position.start_at_head()
    server.kill()
    # More than the socket resends.
    announce(store, tournament_id, 700)
    server.start()
    position.base_url = f"http://127.0.0.1:{server.port}"
    events = []
    for event in following._follow_connection(position):
        events.append(event)
        if event.name == LIVE:
            break
    assert [event.seq for event in events[:-1]] == list(range(1, 701))


def test_a_follower_whose_position_was_trimmed_reloads(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    position = following._ChannelPosition(f"http://127.0.0.1:{server.port}", tournament_id, "silverball")
    position.start_at_head()
    announce(store, tournament_id, 600)
    with store.write() as transaction:
        transaction.connection.execute(tournament.update().values(seq_low=550))
    names = []
    for event in following._follow_connection(position):
        names.append(event.name)
        if event.name == LIVE:
            break
    assert names == [RELOAD, LIVE]
    assert position.seq == 600


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


def test_reading_without_a_token_prints_what_to_do(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    board = watch.Board(f"http://127.0.0.1:{server.port}", tournament_id, "")
    with pytest.raises(following.CannotFollow, match="--token"):
        board.update(FollowerEvent(RELOAD))


def test_the_board_shows_games_and_standings_and_moves(store: Store, server: Servers) -> None:
    night = build.a_tournament(store, players=2, arenas=1)
    round_id = build.a_round(store, night.tournament_id)
    game_id = build.a_game(
        store, night.tournament_id, night.player_ids, round_id=round_id, arena_id=night.arena_ids[0]
    )
    board = watch.Board(f"http://127.0.0.1:{server.port}", night.tournament_id, admin_token(store))
    board.update(FollowerEvent(RELOAD))
    board.update(FollowerEvent(LIVE))
    assert _board_text(board).splitlines()[0] == "Thursday Strikes  started  ● live"
    assert "Player 1, Player 2" in _board_text(board)
    board.update(FollowerEvent("GamesDeleted", {"gameIds": [game_id]}))
    assert "Player 1, Player 2" not in _board_text(board)
    board.update(FollowerEvent("TournamentUpdated", {"name": "[red]Friday[/red]", "status": "completed"}))
    board.update(FollowerEvent(LOST))
    # Names stay plain text, also with brackets.
    assert _board_text(board).splitlines()[0] == "[red]Friday[/red]  completed  ● offline"


def _board_text(board: Any) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(board.render())
    return console.export_text()
