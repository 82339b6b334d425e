"""The examples in the README of the typed client: typed strictly, and run as they stand."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from feed.running_program import admin_token
from servers import Servers
from silverball.store.database.engine import Store
from silverball_client import Client

ROOT = Path(__file__).parents[2]
README = ROOT / "clients" / "python" / "README.md"
EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
EXAMPLES = dict(EXAMPLE.findall(README.read_text(encoding="utf-8")))
# They follow without end. tests/typed_client/test_bots.py runs the other one.
ENDLESS, KEEPER = "bot", "keeper"


@dataclass(frozen=True)
class World:
    """A running server with one running night of match play."""

    base_url: str
    token: str
    tournament_id: int

    @property
    def head(self) -> str:
        """The three names that the examples use."""
        return (
            f"BASE_URL = {self.base_url!r}\nTOKEN = {self.token!r}\nTOURNAMENT_ID = {self.tournament_id}\n\n"
        )


@pytest.fixture
def world(store: Store, database_url: str) -> Iterator[World]:
    token = admin_token(store)
    # Each example is a program of its own, and all of them read the running standings.
    server = Servers(database_url)
    server.start()
    base_url = f"http://127.0.0.1:{server.port}"
    with Client(base_url, token) as client:
        night = client.tournaments.create(name="Thursday", type="matchplay").tournament_id
        for name in ("Ann", "Bo"):
            client.tournaments.add_players(night, name=name)
        client.tournaments.start(night)
        client.rounds.open(night)
    yield World(base_url, token, night)
    server.close()


def test_all_python_of_the_readme_is_an_example() -> None:
    assert README.read_text(encoding="utf-8").count("```python") == len(EXAMPLES)


def test_the_bot_has_at_most_fifteen_lines() -> None:
    assert len([line for line in EXAMPLES[ENDLESS].splitlines() if line]) <= 15


def test_the_bot_that_loses_nothing_has_at_most_fifty_lines() -> None:
    assert len([line for line in EXAMPLES[KEEPER].splitlines() if line]) <= 50


def test_the_examples_are_strictly_typed(tmp_path: Path) -> None:
    for name, text in EXAMPLES.items():
        (tmp_path / f"example_{name}.py").write_text(World("", "", 1).head + text, encoding="utf-8")
    config = ["--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *config, *map(str, sorted(tmp_path.glob("*.py")))],
        cwd=ROOT / "clients" / "python" / "src",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_other_examples_run_as_they_stand(world: World) -> None:
    for name in EXAMPLES.keys() - {ENDLESS, KEEPER}:
        done = subprocess.run(
            [sys.executable, "-c", world.head + EXAMPLES[name]],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, ""), name


def test_the_bot_says_who_won(world: World) -> None:
    program = [sys.executable, "-u", "-c", world.head + EXAMPLES[ENDLESS]]
    with (
        Client(world.base_url, world.token) as client,
        subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as bot,
    ):
        assert bot.stdout is not None
        assert bot.stdout.readline() == "Following Thursday\n"
        (game,) = client.tournaments.games(world.tournament_id)
        # The bot has begun to follow once it has asked for the place in the feed.
        time.sleep(2)
        client.games.record_result(world.tournament_id, game.game_id, result_positions=game.player_ids)
        line = bot.stdout.readline()
        bot.terminate()
    assert re.fullmatch(rf"(Ann|Bo) won game {game.game_id}\n", line)
