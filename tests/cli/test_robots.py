"""Robots play every format to its end through the public interface: a smoke test of all writing routes."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest

import build
from silverball import app
from silverball.demo import nights as demo_nights
from silverball.demo.robots import InProcessClient, RequestRefused, Robot, SteppedClock, TournamentPlan
from silverball.rules.registry import FORMATS
from silverball.service.journal.reads import verification
from silverball.settings import Settings
from silverball.store.database.engine import Store

SEEDS = (1, 2, 3)
PLANS = {plan.type: plan for plan in demo_nights.FINISHED}


@pytest.fixture
def store(hurried_store: Store) -> Store:
    return hurried_store


def a_client(store: Store, clock: SteppedClock) -> InProcessClient:
    """A client of a new organizer."""
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    api = app.build_api(store, Settings(base_url=build.BASE_URL), now=clock.now)
    return InProcessClient(api, build.caller(organizer_id, role="organizer", ability="manage"))


def a_field(client: InProcessClient, players: int, arenas: int = 6) -> tuple[list[int], list[int]]:
    made = [client.send("POST", "/api/players", {"name": f"Player {n + 1}"}) for n in range(players)]
    machines = [client.send("POST", "/api/arenas", {"name": f"Machine {n + 1}"}) for n in range(arenas)]
    return [answer["data"]["playerId"] for answer in made], [answer["data"]["arenaId"] for answer in machines]


def played_out(client: InProcessClient, clock: SteppedClock, plan: TournamentPlan, dice: Random) -> Robot:
    robot = Robot.create(client, plan, dice)
    robot.add_members(*a_field(client, plan.players))
    robot.start()
    robot.play_to_end(lambda: clock.tick(150))
    return robot


def is_ranked(positions: list[int]) -> bool:
    """Whether these are places like 1, 2, 2, 4: each is one more than the number of better ones."""
    return positions == [1 + sum(other < own for other in positions) for own in positions]


def test_the_demo_has_one_plan_for_every_format() -> None:
    assert set(PLANS) == set(FORMATS)
    assert len(demo_nights.FINISHED) == len(FORMATS)


@pytest.mark.sample(10)
@pytest.mark.parametrize("kind", sorted(FORMATS))
@pytest.mark.parametrize("seed", SEEDS)
def test_a_tournament_is_played_to_its_end(store: Store, kind: str, seed: int) -> None:
    clock = SteppedClock(build.NOW)
    client = a_client(store, clock)
    plan = PLANS[kind]
    robot = played_out(client, clock, plan, Random(f"{kind} {seed}"))
    path = f"/api/tournaments/{robot.tournament_id}"
    assert client.send("GET", path)["data"]["status"] == "completed"
    rows = client.send("GET", f"{path}/standings")
    assert len(rows) == plan.players
    positions = [row["position"] for row in rows]
    assert positions[0] == 1
    assert is_ranked(positions)
    assert len({row["playerId"] for row in rows}) == len(rows)
    with store.read() as db:
        assert list(verification.verify_tournament(db, robot.tournament_id).faults) == []


@pytest.mark.parametrize("kind", sorted(kind for kind, form in FORMATS.items() if form.attempts is not None))
def test_everything_that_players_play_alone_is_played_on_an_arena(store: Store, kind: str) -> None:
    clock = SteppedClock(build.NOW)
    client = a_client(store, clock)
    path = f"/api/tournaments/{played_out(client, clock, PLANS[kind], Random(kind)).tournament_id}"
    played = client.send("GET", f"{path}/single-player-games?limit=500")["data"]
    assert played
    assert all(game["arenaId"] for game in played)


def test_the_same_dice_play_the_same_tournament(store: Store) -> None:
    clock = SteppedClock(build.NOW)
    client = a_client(store, clock)
    field = a_field(client, 4)

    def scores() -> list[Any]:
        plan = TournamentPlan(name="Twice", type="best_game", games_each=2)
        robot = Robot.create(client, plan, Random(7))
        robot.add_members(*field)
        robot.start()
        robot.play_to_end()
        games = client.send("GET", f"/api/tournaments/{robot.tournament_id}/single-player-games")["data"]
        return [(game["playerId"], game["arenaId"], game["score"]) for game in games]

    assert scores() == scores()


def test_a_robot_continues_where_another_stopped(store: Store) -> None:
    clock = SteppedClock(build.NOW)
    client = a_client(store, clock)
    first = Robot.create(client, PLANS["group_matchplay"], Random(1))
    first.add_members(*a_field(client, 12))
    first.start()
    for _ in range(7):
        assert first.step()
    second = Robot(client, first.plan, first.tournament_id, Random(2))
    second.play_to_end()
    rows = client.send("GET", f"/api/tournaments/{first.tournament_id}/rounds")["data"]
    assert len(rows) == PLANS["group_matchplay"].settings["duration"]


def test_a_robot_reports_the_refusal(store: Store) -> None:
    clock = SteppedClock(build.NOW + timedelta(days=1))
    client = a_client(store, clock)
    robot = Robot.create(client, PLANS["knockout"], Random(1))
    with pytest.raises(RequestRefused, match="too few") as caught:
        robot.start()
    assert caught.value.status == 409
