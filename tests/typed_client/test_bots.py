"""The bot of both clients' documents has each game once, whoever is away meanwhile: server, cable or bot."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from feed.client_programs import NODE, needs_node
from feed.running_program import admin_token
from patience import PATIENCE_SECONDS
from selection import SEED
from servers import Servers
from silverball.store.database.engine import Store
from silverball_client import Client
from typed_client.packed_typescript import install_package
from web.breakable_connection import BreakableConnection

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"<!-- example: keeper -->\n```\w+\n(.*?)```", re.DOTALL)
# A server that is away for a moment, a cable that is trodden on; `make soak` takes longer ones.
SHORT_SECONDS, AWAY_SECONDS, FROZEN_SECONDS = 1.0, 70.0, 60.0
SOAK_TRIALS = 10
PLAYERS = ("Ann", "Bo")


def example(document: str) -> str:
    (text,) = EXAMPLE.findall((ROOT / document).read_text(encoding="utf-8"))
    return str(text)


@dataclass
class Night:
    """A night of match play, its server, the cable to it, and a bot in a folder."""

    servers: Servers
    cable: BreakableConnection
    token: str
    tournament_id: int
    command: Sequence[str]
    folder: Path
    played: list[int] = field(default_factory=list)
    bot: subprocess.Popen[bytes] | None = None

    def start_bot(self) -> None:
        self.bot = subprocess.Popen(
            self.command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill_bot(self) -> None:
        assert self.bot is not None
        self.bot.kill()
        self.bot.wait()

    def play_round(self) -> None:
        """Play one more game; the players' own line to the server is a good one."""
        with Client(f"http://127.0.0.1:{self.servers.port}", self.token) as client:
            client.rounds.open(self.tournament_id)
            for game in client.tournaments.games(self.tournament_id):
                if game.status == "started":
                    client.games.record_result(
                        self.tournament_id, game.game_id, result_positions=game.player_ids
                    )
                    self.played.append(game.game_id)

    def written(self) -> list[int]:
        """The games in the bot's file, in its order."""
        file = self.folder / "games.jsonl"
        whole = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(line)["gameId"] for line in whole]

    def wait_until_written(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while sorted(self.written()) != self.played:
            assert time.monotonic() < until, (self.written(), self.played)
            time.sleep(0.05)


def be_away(night: Night, *, is_long: bool) -> None:
    night.servers.kill()
    time.sleep(AWAY_SECONDS if is_long else SHORT_SECONDS)
    night.servers.start()
    night.cable.to = night.servers.port


def freeze(night: Night, *, is_long: bool) -> None:
    night.cable.freeze()
    time.sleep(FROZEN_SECONDS if is_long else SHORT_SECONDS)
    night.play_round()
    night.cable.mend()


def kill_bot(night: Night, *, is_long: bool) -> None:
    night.kill_bot()
    night.play_round()
    time.sleep(SHORT_SECONDS if is_long else 0)
    night.start_bot()


def python_command(head: str, folder: Path) -> Sequence[str]:
    (folder / "bot.py").write_text(head + example("clients/python/README.md"), encoding="utf-8")
    return [sys.executable, "bot.py"]


def node_command(head: str, folder: Path) -> Sequence[str]:
    install_package(folder)
    (folder / "bot.mjs").write_text(head + example("clients/typescript/README.md"), encoding="utf-8")
    return [str(NODE), "bot.mjs"]


@pytest.fixture(params=[python_command, pytest.param(node_command, marks=needs_node)], ids=["python", "node"])
def night(request: pytest.FixtureRequest, store: Store, database_url: str, tmp_path: Path) -> Iterator[Night]:
    make_command: Callable[[str, Path], Sequence[str]] = request.param
    token, servers, cable = admin_token(store), Servers(database_url), BreakableConnection()
    servers.start()
    cable.to = servers.port
    with Client(f"http://127.0.0.1:{servers.port}", token) as client:
        tournament_id = client.tournaments.create(name="Thursday", type="matchplay").tournament_id
        for name in PLAYERS:
            client.tournaments.add_players(tournament_id, name=name)
        client.tournaments.start(tournament_id)
    names = {"BASE_URL": cable.url, "TOKEN": token, "TOURNAMENT_ID": tournament_id}
    mark = "" if make_command is python_command else "const "
    head = "".join(f"{mark}{name} = {json.dumps(value)};\n" for name, value in names.items())
    running = Night(servers, cable, token, tournament_id, make_command(head, tmp_path), tmp_path)
    yield running
    if running.bot is not None:
        running.kill_bot()
    cable.close()
    servers.close()


def test_each_bot_has_at_most_fifty_lines() -> None:
    for document in ("clients/python/README.md", "clients/typescript/README.md"):
        assert len([line for line in example(document).splitlines() if line]) <= 50, document


def test_the_bot_has_each_game_once_whoever_is_away(night: Night) -> None:
    follow_through(night, 1, is_long=False)


@pytest.mark.soak
def test_the_bot_has_each_game_once_after_ten_long_absences_of_each_kind(night: Night) -> None:
    follow_through(night, SOAK_TRIALS, is_long=True)


def follow_through(night: Night, trials: int, *, is_long: bool) -> None:
    """Play, while server, cable and bot fail at random moments; the bot must have each game once."""
    dice = Random(f"{SEED} bots")
    night.start_bot()
    night.play_round()
    night.wait_until_written()
    for _ in range(trials):
        for fail in dice.sample([be_away, freeze, kill_bot], 3):
            time.sleep(dice.uniform(0, 0.2))
            night.play_round()
            fail(night, is_long=is_long)
        night.play_round()
        night.wait_until_written()
    assert len(set(night.written())) == len(night.written())
