"""A mirror: a tournament that another service runs is followed here, change by change."""

import json
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
from exchange import pull_world
from exchange.pull_world import NAME, StoppedClock
from servers import Servers
from silverball.cli import demo_nights
from silverball.cli.main import silverball_group
from silverball.cli.robots import SteppedClock, TournamentPlan
from silverball.exchange.mirror import applying
from silverball.exchange.mirror.known_parts import KnownParts
from silverball.exchange.pull.source import PullSource, RequestPace
from silverball.rules.registry import FORMATS
from silverball.settings import Settings
from silverball.store import announcements
from silverball.store.engine import Store
from test_app import a_token

# A night of rounds and one of a clock and a queue; all others, and both on PostgreSQL, are for `make soak`.
QUICK = ("matchplay", "frenzy")


def play_and_follow(local: Store, source: Any, kind: str, seed: int = 7) -> int:
    """Play a demo night there, apply what is announced after each step; both sides must be equal."""
    form = FORMATS[kind]
    plan = TournamentPlan(
        name=form.demo.name,
        type=kind,
        players=form.demo.players,
        settings=form.demo.settings,
        games_each=form.demo.games_per_player,
    )
    clock, dice = SteppedClock(build.NOW), Random(seed)
    client = demo_nights.organizer_client(source.store, Settings(), source.owner_id, clock)
    robot = demo_nights.start_night(client, plan, demo_nights.load_book_ids(client), dice)
    stopped = StoppedClock()
    reader = PullSource(NAME, source.ask, RequestPace(now=stopped.now, sleep=stopped.sleep))
    known = KnownParts(reader, robot.tournament_id)
    known.read_everything()
    copy = applying.begin(local, NAME, known.raw, clock.now(), Random(1))
    with source.store.read() as db:
        head = announcements.channel_head(db, robot.tournament_id)
    assert head is not None
    seq, steps = head.seq, 0
    going = True
    while going:
        going = robot.step()
        if not going:
            robot.complete()
        clock.tick(20)
        with source.store.read() as db:
            events = announcements.load_since(db, robot.tournament_id, head.epoch, seq, 10_000)
        seq += len(events)
        steps += 1
        if steps % 3 == 0 or not going:
            # Events in bursts, each twice.
            named = [(event.name, json.loads(event.data)) for event in events]
            known.read_named([*named, *named])
            copy.apply(known.raw, clock.now())
        else:
            seq -= len(events)
    compare(local, source, copy.tournament_id, robot.tournament_id)
    assert copy.apply(known.raw, clock.now()) == []
    return steps


def answers(store: Store, tournament_id: int) -> dict[str, Any]:
    """What the interface says of a tournament."""
    import mirror

    answers_there = mirror.Mirror(store, tournament_id)
    fresh = answers_there.known
    fresh["standings"] = answers_there.read("/standings")
    return fresh


def compare(local: Store, source: Any, local_id: int, remote_id: int) -> None:
    here, there = answers(local, local_id), answers(source.store, remote_id)
    if there["tournament"]["type"] == "bowling":
        # Rolls are not published, and frames count from them.
        del there["standings"]
    for part, sent in there.items():
        assert here[part] == sent, part


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", QUICK)
def test_a_night_there_is_the_same_night_here(
    kind: str, tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        assert play_and_follow(store, source, kind) >= 10


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_a_night_of_every_format_is_the_same_here(
    kind: str, tmp_path: Path, empty_sqlite: Path, store: Store
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as source:
        play_and_follow(store, source, kind)


@pytest.fixture
def served(tmp_path: Path, empty_sqlite: Path) -> Iterator[tuple[str, Store, int]]:
    """A server with a started night: its address, its database, the organizer."""
    file = tmp_path / "served.db"
    source = pull_world.new_store(empty_sqlite, file)
    owner_id = build.a_user(source, user_id=9_001, name="Olga Ramp", role="organizer")
    servers = Servers(f"sqlite:///{file}")
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
