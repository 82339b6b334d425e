"""A mirror that is taken over: the night goes on here, to its end, and can be verified."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import build
from exchange import pull_world
from exchange.pull_world import NAME, StoppedClock
from silverball.cli.main import silverball_group
from silverball.demo import nights as demo_nights
from silverball.demo.robots import Robot, SteppedClock, TournamentPlan
from silverball.exchange import mirror
from silverball.exchange.mirror import KnownParts
from silverball.exchange.pull.source import PullSource, RequestPace
from silverball.rules.registry import FORMATS
from silverball.service.core import loaded
from silverball.service.journal.reads import verification
from silverball.service.moving import writes as moving_writes
from silverball.settings import Settings
from silverball.store.database.engine import Store


class HalfANight:
    """A night that began there, and its mirror here, on one clock."""

    def __init__(self, local: Store, source: Any, kind: str) -> None:
        form = FORMATS[kind]
        self.plan = TournamentPlan(
            name=form.demo.name,
            type=kind,
            players=form.demo.players,
            settings=form.demo.settings,
            games_each=form.demo.games_per_player,
        )
        self.local, self.owner_id = local, source.owner_id
        self.clock = SteppedClock(build.NOW)
        self.there = demo_nights.organizer_client(source.store, Settings(), self.owner_id, self.clock)
        self.robot = demo_nights.start_night(
            self.there, self.plan, demo_nights.load_book_ids(self.there), Random(7)
        )
        stopped = StoppedClock()
        reader = PullSource(NAME, source.ask, RequestPace(now=stopped.now, sleep=stopped.sleep))
        self.known = KnownParts(reader, self.robot.tournament_id)
        self.known.read_everything()
        self.copy = mirror.begin(local, NAME, self.known.raw, self.clock.now(), Random(1))

    def follow(self) -> None:
        self.known.read_everything()
        self.copy.apply(self.known.raw, self.clock.now())

    def take_over(self) -> Robot:
        """Let the night go on here, and return its robot."""
        with self.local.write(self.copy.tournament_id) as transaction:
            moving_writes.stop_mirror(transaction, self.copy.tournament_id)
        client = demo_nights.organizer_client(self.local, Settings(), self.owner_id, self.clock)
        return Robot(client, self.plan, self.copy.tournament_id, Random(8))

    def clock_end(self) -> datetime | None:
        with self.local.read() as db:
            return loaded.load_tournament(db, self.copy.tournament_id).state.clock_ends_at


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", ["matchplay", "frenzy", "best_game"])
def test_the_night_goes_on_here_to_its_end(
    kind: str, tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        night = HalfANight(store, source, kind)
        for _ in range(9):
            night.robot.step()
            night.clock.tick(20)
        night.follow()
    # The other service is gone.
    robot = night.take_over()
    before = games(robot)
    robot.play_to_end(lambda: night.clock.tick(20))
    assert len(games(robot)) > len(before)
    answer = robot.client.send("GET", f"/api/tournaments/{robot.tournament_id}")
    assert answer["data"]["status"] == "completed"
    with store.read() as db:
        assert verification.verify_tournament(db, robot.tournament_id).faults == []


def games(robot: Robot) -> list[Any]:
    path = f"/api/tournaments/{robot.tournament_id}"
    part = "single-player-games" if robot.plan.type == "best_game" else "games"
    found: list[Any] = robot.client.send("GET", f"{path}/{part}")["data"]
    return found


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_clock_of_a_frenzy_counts_from_its_first_game_and_from_each_pause(
    tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        night = HalfANight(store, source, "frenzy")
        minutes = night.known.raw["tournament"]["frenzyDuration"]
        night.follow()
        assert night.clock_end() == build.NOW + timedelta(minutes=minutes)
        path = f"/api/tournaments/{night.robot.tournament_id}/frenzy"
        night.clock.tick(600)
        night.there.send("POST", f"{path}/pause")
        night.follow()
        assert night.clock_end() is None
        night.clock.tick(900)
        night.there.send("POST", f"{path}/resume")
        night.follow()
        assert night.clock_end() == build.NOW + timedelta(minutes=minutes, seconds=900)


def test_what_cannot_be_read_once_more_is_taken_over_as_it_is(tmp_path: Path, empty_sqlite: Path) -> None:
    local = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
    tournament_id = build.a_tournament(local).tournament_id
    with local.write(tournament_id) as transaction:
        moving_writes.begin_mirror(transaction, tournament_id, "127.0.0.1:9", 4711)
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": local.url.render_as_string(hide_password=False)})
    stop = ["mirror", "stop", str(tournament_id), "--from"]
    done = run.invoke(silverball_group, [*stop, "http://127.0.0.1:9"])
    assert done.exit_code == 0
    assert done.stderr.startswith("It could not be read once more. 127.0.0.1:9 did not answer ")
    assert done.stdout == f"Tournament {tournament_id} is run here from now on.\n"
    assert "is no mirror" in run.invoke(silverball_group, [*stop, "http://127.0.0.1:9"]).stderr
    local.close()
