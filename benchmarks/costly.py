"""What answers cost at the largest size that their limits allow: seconds of the processor, the dearest first.

A night of 500 players and 500 machines is played through the interface, and each route that reads is asked
about it, and some about nothing but numbers. What takes over 100 ms belongs to the computing process: the
bench fails if `web/costly_routes.py` lacks it, and prints the figures of docs/performance.md.
"""

import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import build
from silverball import app
from silverball.cli.computing import Computer
from silverball.demo.robots import InProcessClient, Robot, SteppedClock, TournamentPlan
from silverball.kit.edge.computing_line import Question
from silverball.kit.http.endpoints import Request, collect_endpoints
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.tournaments.paths import PAST
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store.database import migrate
from silverball.store.database.deadlines import COMPUTING
from silverball.store.database.engine import Store
from silverball.store.processes import ProcessSetup
from silverball.web import costly_routes, qr_codes
from silverball.web.app import declared_pages
from silverball.web.live import views

PLAYERS, ARENAS, ROUNDS = 500, 500, 20
SECONDS_MAX = 0.1
NIGHTS = (("group_matchplay", {"duration": 25}),)
PARTS = ("Players", "Arenas", "Location", "Series")
COOKIE = b""
ORGANIZER = AuthenticatedCaller(user_id=1, role="organizer", ability="manage")
# Measured a few times, as the first time loads what it needs.
TRIES = 3


def fill_book(store: Store) -> None:
    """An organizer with players and machines, all with the ids from 1 on."""
    build.a_user(store, name="Olga Ramp", role="organizer")
    for number in range(1, PLAYERS + 1):
        build.a_player(store, 1, name=f"Player {number}")
    for number in range(1, ARENAS + 1):
        build.an_arena(store, 1, name=f"Machine {number}")


def play(store: Store, type_: str, settings: Mapping[str, object]) -> int:
    """Play rounds of a night of this format; returns its id."""
    clock = SteppedClock(datetime(2026, 3, 5, 19, 30, tzinfo=UTC))
    api = app.build_api(store, Settings(), now=clock.now)
    client = InProcessClient(api, ORGANIZER)
    plan = TournamentPlan(name=f"Crowded {type_}", type=type_, settings=settings, players=PLAYERS)
    robot = Robot.create(client, plan, Random(1))
    robot.add_members(range(1, PLAYERS + 1), range(1, ARENAS + 1))
    robot.start()
    path, rounds = f"/api/tournaments/{robot.tournament_id}", 0
    while rounds < ROUNDS:
        clock.tick(20)
        open_games = [
            game for game in client.send("GET", f"{path}/games?status=started")["data"] if not game["bye"]
        ]
        if not open_games:
            client.send("POST", f"{path}/rounds", {})
            rounds += 1
        for game in open_games:
            clock.tick(1)
            robot.record_game(game)
    return robot.tournament_id


def interface_paths(tournament_id: int) -> Iterator[str]:
    """Each GET of the interface about this tournament, and those of its journal with `?at=`."""
    for route in collect_endpoints(*ROUTE_MODULES):
        is_of_tournament = route.path.startswith("/api/tournaments/{tournament_id}")
        if route.method == "GET" and is_of_tournament and not route.is_async:
            path = re.sub(r"\{(?!tournament_id)\w+\}", "1", route.path)
            path = path.replace("{tournament_id}", str(tournament_id))
            yield path
            if PAST.fullmatch(path):
                yield f"{path}?at=2200"
    yield f"/api/tournaments/{tournament_id}?" + "&".join(f"include{part}=1" for part in PARTS)
    yield f"/api/ratings/compare?tournament={tournament_id}"
    yield f"/api/tournaments/{tournament_id}/estimate?refresh=1"


def page_paths(tournament_id: int) -> Iterator[str]:
    """Each page about this tournament, and the planner's."""
    for path in views.PATHS:
        yield path.replace("{tournament_id}", str(tournament_id))
    yield f"/t/{tournament_id}?at=2200"
    for page in declared_pages():
        if page.method == "GET" and "{tournament_id}" in page.path and page.path.startswith("/t/"):
            yield re.sub(r"\{(?!tournament_id)\w+\}", "1", page.path).replace(
                "{tournament_id}", str(tournament_id)
            )


def asked(computer: Computer, path: str) -> tuple[int, float]:
    """Status and seconds of a request for a path, the least of a few tries."""
    route, query = path_and_query(path)
    if route.startswith("/api/"):
        question = Question(request=Request(method="GET", path=route, query=query, caller=ORGANIZER))
    else:
        page = {"type": "http", "http_version": "1.1", "scheme": "http", "method": "GET", "root_path": ""}
        headers = [(b"host", b"silverball.test"), (b"cookie", COOKIE)]
        client = {"client": ("203.0.113.7", 5000), "server": ("127.0.0.1", 8000)}
        names = {"path": route, "raw_path": route.encode(), "query_string": query}
        question = Question(page={**page, **client, **names, "headers": headers})
    measured = []
    for _ in range(TRIES):
        qr_codes.qr_code.cache_clear()
        # What the server answers itself finds the tournament in memory.
        answered = computer.answer(question) if is_known(path) else computer.compute(question)
        measured.append(answered.seconds)
    return answered.response.status, min(measured)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/silverball.db"
        store = Store(url)
        migrate.migrate(store)
        fill_book(store)
        setup = ProcessSetup(url, None, Settings(public_read=True))
        reading = Store(url, is_read_only=True, limits=COMPUTING)
        computer = Computer(reading, setup)
        measured: list[tuple[float, int, str]] = []
        for type_, settings in NIGHTS:
            began = time.perf_counter()
            tournament_id = play(store, type_, settings)
            print(f"{type_} played in {time.perf_counter() - began:.0f} s", flush=True)
            for path in (*interface_paths(tournament_id), *page_paths(tournament_id)):
                status, seconds = asked(computer, path)
                measured.append((seconds, status, path))
        for seconds, status, path in sorted(measured, reverse=True):
            if is_known(path) or seconds > SECONDS_MAX / 2:
                print(f"{seconds:7.3f} {status} {'costly' if is_known(path) else '      '} {path}")
        missing = [path for seconds, _, path in measured if seconds > SECONDS_MAX and not is_known(path)]
        if missing:
            sys.exit(f"web/costly_routes.py lacks {', '.join(missing)}")


def path_and_query(path: str) -> tuple[str, bytes]:
    """Both parts of an address."""
    route, _, query = path.partition("?")
    return route, query.encode()


def is_known(path: str) -> bool:
    """Whether the computing process answers this address."""
    return costly_routes.cost_of("GET", *path_and_query(path)) is not None


if __name__ == "__main__":
    main()
