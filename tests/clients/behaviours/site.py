"""The site that all behaviours meet: a server of its own, over nights that were played before it started."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import httpx2

import build
from silverball import app
from silverball.demo.robots import InProcessClient, Robot, SteppedClock, TournamentPlan
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.store.database.engine import Store

NIGHTS_LISTED = 60
NOON = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
PLANS = {
    "knockout": TournamentPlan(name="Thursday Strikes", type="knockout", settings={"knockoutStrikeCount": 2}),
    "live": TournamentPlan(name="Live Match Play", type="matchplay", settings={"duration": 0}),
    "best_game": TournamentPlan(name="Best Game", type="best_game", games_each=2),
    "queues": TournamentPlan(
        name="Queues", type="best_game", settings={"useQueues": True, "suggestions": "disabled"}
    ),
    "bracket": TournamentPlan(
        name="State Finals", type="bracket", players=24, settings={"seeding": "manual", "gamesPerRound": 3}
    ),
}


@dataclass(frozen=True)
class Site:
    """A running site, its token, and the tournaments that it has, by the names in PLANS."""

    url: str
    ws_url: str
    token: str
    organizer_id: int
    tournament_ids: dict[str, int]
    listed_ids: tuple[int, ...]
    http: httpx2.Client

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """The answer to a request with the token, whatever its status."""
        return self.http.get(path, **options)

    def data(self, path: str) -> Any:
        """The decoded answer to a request that succeeds, without its envelope."""
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.text)
        body = answer.json()
        return body["data"] if isinstance(body, dict) and "data" in body else body

    def path(self, name: str, rest: str = "") -> str:
        """A path of a tournament by its name in PLANS."""
        return f"/api/tournaments/{self.tournament_ids[name]}{rest}"


def an_admin(store: Store) -> tuple[int, str]:
    """The id of an admin, who owns everything here, and their token."""
    user_id = build.a_user(store, name="Ada Min", role="admin")
    now, dice = datetime.now(UTC), Random(5)
    with store.write() as transaction:
        created = users_writes.create_token(
            transaction.connection, user_id, "tools", abilities=["admin"], now=now, dice=dice
        )
    return user_id, created.text


def play_nights(store: Store, organizer_id: int) -> dict[str, int]:
    """The tournaments of PLANS: the knockout completed, the others running."""
    clock = SteppedClock(NOON)
    caller = AuthenticatedCaller(user_id=organizer_id, role="admin", ability="admin")
    client = InProcessClient(app.build_api(store, Settings(base_url=build.BASE_URL), now=clock.now), caller)
    player_ids = [
        client.send("POST", "/api/players", {"name": f"Player {number}"})["data"]["playerId"]
        for number in range(1, 25)
    ]
    arena_ids = [
        client.send("POST", "/api/arenas", {"name": f"Machine {number}"})["data"]["arenaId"]
        for number in range(1, 13)
    ]
    robots = {}
    for name, plan in PLANS.items():
        robot = robots[name] = Robot.create(client, plan, Random(7))
        seated = player_ids[: plan.players]
        robot.add_members(seated, arena_ids)
        if plan.settings.get("seeding") == "manual":
            _seed(client, robot.tournament_id, seated)
        robot.start()
    robots["knockout"].play_to_end(lambda: clock.tick(60))
    for name, steps in (("live", 11), ("best_game", 9), ("bracket", 3)):
        for _ in range(steps):
            robots[name].step()
            clock.tick(60)
    return {name: robot.tournament_id for name, robot in robots.items()}


def _seed(client: InProcessClient, tournament_id: int, player_ids: list[int]) -> None:
    for seed, player_id in enumerate(player_ids):
        client.send("PATCH", f"/api/tournaments/{tournament_id}/players/{player_id}", {"seed": seed})


def plan_nights(store: Store, organizer_id: int) -> Iterator[int]:
    """Planned nights, one a day, enough for three pages of the list."""
    clock = SteppedClock(NOON)
    caller = AuthenticatedCaller(user_id=organizer_id, role="admin", ability="admin")
    client = InProcessClient(app.build_api(store, Settings(base_url=build.BASE_URL), now=clock.now), caller)
    for number in range(NIGHTS_LISTED):
        starts_at = NOON + timedelta(days=10 + number)
        body = {"name": f"Night {number}", "type": "matchplay", "startUtc": f"{starts_at:%Y-%m-%dT%H:%M:%SZ}"}
        yield client.send("POST", "/api/tournaments", body)["data"]["tournamentId"]
