"""A mirror: a tournament that another service runs is followed here, change by change."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import build
import mirror
from exchange import pull_world
from exchange.mirrored_nights import MirroredNight
from selection import IS_SOAK, repetitions
from servers import Servers
from silverball.cli.main import silverball_group
from silverball.demo import nights as demo_nights
from silverball.demo.robots import SteppedClock, TournamentPlan
from silverball.rules.registry import FORMATS
from silverball.service.journal.reads import verification
from silverball.settings import Settings
from silverball.store.database.engine import Store
from test_app import a_token

# Each format once in every run; with other dice, and on PostgreSQL, in the soak.
DATABASES = ["sqlite", "postgresql"] if IS_SOAK else ["sqlite"]
SEEDS = range(repetitions(1, in_soak=10))


def answers(store: Store, tournament_id: int) -> dict[str, Any]:
    """What the interface says of a tournament."""
    answers_there = mirror.Mirror(store, tournament_id)
    fresh = answers_there.known
    fresh["standings"] = answers_there.read("/standings")
    return fresh


@pytest.mark.sample(3)
@pytest.mark.parametrize("database_url", DATABASES, indirect=True)
@pytest.mark.parametrize("kind", sorted(FORMATS))
@pytest.mark.parametrize("seed", SEEDS)
def test_a_mirror_follows_a_night_of_each_format_through_cuts_silences_and_corrections(
    seed: int, kind: str, tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as site:
        night = MirroredNight(store, site, kind, seed)
        night.play_to_end()
    assert night.here.known["tournament"]["status"] == "completed"
    with store.read() as db:
        faults = verification.verify_tournament(db, night.here.tournament_id).faults
    assert list(faults) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_who_is_out_by_strikes_given_by_hand_is_out_since_then(
    tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as site:
        night = MirroredNight(store, site, "knockout", seed=0)
        night.play_rounds(2)
        night.be_quiet()
        unbeaten = [row["playerId"] for row in night.there.read("/standings") if not row["strikeCount"]]
        night.adjust(unbeaten[0], 9)
        night.be_quiet()
        night.play_rounds(3)
        night.be_quiet()
        strikes = {row["playerId"]: row["strikeCount"] for row in night.here.read("/standings")}
    assert strikes[unbeaten[0]] >= 9


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_the_single_games_of_matches_are_followed_too(
    seed: int, tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as site:
        night = MirroredNight(store, site, "bracket", seed)
        first, second = [game for game in night.there.known["games"].values() if len(game["playerIds"]) == 2][
            :2
        ]
        legs, players = f"/games/{first['gameId']}/legs", first["playerIds"]
        # Each be_quiet compares the single games of all matches.
        for order in (players, players[::-1]):
            night.send("POST", legs, {"resultPositions": order})
            night.be_quiet()
        night.send("PATCH", f"{legs}/1", {"arenaId": None})
        night.be_quiet()
        night.send("POST", f"/games/{second['gameId']}/legs", {"resultPositions": second["playerIds"]})
        night.send("POST", legs, {"resultPositions": players})
        night.be_quiet()
        assert [leg["resultPositions"][0] for leg in night.here.read(legs)["data"]] == [
            players[0],
            players[1],
            players[0],
        ]
        night.send("DELETE", f"/games/{second['gameId']}/legs/1")
        night.be_quiet()
        night.play_to_end()
    with store.read() as db:
        assert verification.verify_tournament(db, night.here.tournament_id).faults == []


@pytest.fixture
def served(tmp_path: Path, empty_sqlite: Path) -> Iterator[tuple[str, Store, int]]:
    """A server with a started night: its address, its database, the organizer."""
    file = tmp_path / "served.db"
    source = pull_world.new_store(empty_sqlite, file)
    owner_id = build.a_user(source, user_id=9_001, name="Olga Ramp", role="organizer")
    servers = Servers.without_limits(f"sqlite:///{file}")
    servers.start()
    yield f"http://127.0.0.1:{servers.port}", source, owner_id
    servers.close()
    source.close()


def test_the_command_follows_a_server_until_the_night_is_over(
    served: tuple[str, Store, int], tmp_path: Path, empty_sqlite: Path
) -> None:
    url, there, owner_id = served
    local = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
    clock = SteppedClock(build.NOW)
    client = demo_nights.organizer_client(there, Settings(), owner_id, clock)
    plan = TournamentPlan(name="Followed", type="matchplay", players=4, settings={"duration": 3})
    robot = demo_nights.start_night(client, plan, demo_nights.load_book_ids(client), Random(3))
    command = [sys.executable, "-m", "silverball.cli.main", "mirror", url, str(robot.tournament_id)]
    settings = {
        **os.environ,
        "SILVERBALL_DATABASE_URL": local.url.render_as_string(hide_password=False),
        "SILVERBALL_REMOTE_TOKEN": a_token(there, owner_id),
    }
    with subprocess.Popen(
        [*command, "--per-minute", "6000"], env=settings, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        begun = run.stdout.readline()
        assert begun.endswith(f"is tournament {robot.tournament_id} here.\n")
        # Nobody else changes it here, whoever they are.
        path = f"/api/tournaments/{robot.tournament_id}"
        status, refused, _ = build.do(local, "PATCH", path, {"name": "Mine"}, by=owner_id)
        assert (status, refused["message"]) == (
            409,
            f"This tournament is run at {url.removeprefix('http://')}.",
        )
        for _ in range(100):
            if not robot.step():
                break
        robot.complete()
        ended = run.communicate(timeout=60)[0]
    assert ended.startswith("It is completed. Events came through in "), ended
    here, source = answers(local, robot.tournament_id), answers(there, robot.tournament_id)
    assert {part for part in source if here[part] != source[part]} == set()
    stop = ["mirror", "stop", str(robot.tournament_id), "--from", url]
    taken = CliRunner(env=settings).invoke(silverball_group, stop)
    assert taken.stderr == ""
    assert taken.stdout == f"Tournament {robot.tournament_id} is run here from now on.\n"
    again = CliRunner(env=settings).invoke(silverball_group, ["mirror", "stop", str(robot.tournament_id)])
    assert (again.exit_code, "is no mirror" in again.stderr) == (1, True)
    local.close()
