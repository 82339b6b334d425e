"""What answers cost at the largest size that their limits allow: seconds of the processor, the dearest first.

A night of 500 players and 500 machines is played through the interface, and each route that reads is asked
about it. What takes over 100 ms belongs to the computing process: the bench fails if `web/costly_routes.py`
lacks it. Then a server is asked for the dearest answers, eight at once, while a scorekeeper records results:
95 of 100 are answered within 150 ms more than before, all within a second, and the server stops within 20.
"""

import contextlib
import http.client
import itertools
import json
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import build
from servers import Servers
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
from test_app import a_token

PLAYERS, ARENAS, ROUNDS = 500, 500, 20
SECONDS_MAX = 0.1
RESULTS, ADDED_MAX, LONGEST_MAX = 30, 0.15, 1.0
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


def play(store: Store, type_: str, settings: Mapping[str, object], rounds_max: int = ROUNDS) -> int:
    """Play rounds of a night of this format; returns its id."""
    clock = SteppedClock(datetime(2026, 3, 5, 19, 30, tzinfo=UTC))
    api = app.build_api(store, Settings(), now=clock.now)
    client = InProcessClient(api, ORGANIZER)
    plan = TournamentPlan(name=f"Crowded {type_}", type=type_, settings=settings, players=PLAYERS)
    robot = Robot.create(client, plan, Random(1))
    robot.add_members(range(1, PLAYERS + 1), range(1, ARENAS + 1))
    robot.start()
    path, rounds = f"/api/tournaments/{robot.tournament_id}", 0
    while rounds < rounds_max:
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
        reading.close()
        fault = beside_a_scorekeeper(store, url, tournament_id)
        store.close()
        if missing:
            sys.exit(f"web/costly_routes.py lacks {', '.join(missing)}")
        if fault:
            sys.exit(fault)


def beside_a_scorekeeper(store: Store, url: str, tournament_id: int) -> str:
    """Record results without and with the dearest answers under way; returns what is too slow."""
    client = InProcessClient(app.build_api(store, Settings()), ORGANIZER)
    path = f"/api/tournaments/{tournament_id}"
    games = client.send("GET", f"{path}/games?status=started")["data"]
    undrawn = play(store, "matchplay", {"duration": 10}, rounds_max=0)
    players = [a_token(store, build.a_user(store), seed) for seed in range(2, 10)]
    organizer = a_token(store, 1, 1, ability="manage")
    plan = json.dumps({"players": 500, "machines": 500})
    dearest: Mapping[str, Callable[[int], tuple[str, str, str, str]]] = {
        "plans of eight players": lambda number: ("POST", "/api/plan", players[number], plan),
        "sheets and draws for visitors": lambda number: (
            *("GET", f"/t/{tournament_id}/{('print/names', 'draws')[number % 2]}?part={number}", "", ""),
        ),
        "dry runs of an organizer": lambda _: (
            "POST",
            f"/api/tournaments/{undrawn}/rounds",
            organizer,
            '{"dryRun": true}',
        ),
    }
    servers = Servers(url, SILVERBALL_QUOTAS="open", SILVERBALL_TRUSTED_PROXIES="127.0.0.0/8")
    servers.start()
    waiting = iter(games)
    try:
        idle = record(servers.port, path, organizer, waiting)
        print(f"{'nothing else':32} p95 {percentile(idle):6.3f} s, longest {max(idle):.3f} s", flush=True)
        slow = []
        for name, request in dearest.items():
            ends = threading.Event()
            asking = [
                threading.Thread(target=ask_again, args=(servers.port, number, request, ends))
                for number in range(8)
            ]
            for thread in asking:
                thread.start()
            found = record(servers.port, path, organizer, waiting)
            ends.set()
            print(f"{name:32} p95 {percentile(found):6.3f} s, longest {max(found):.3f} s", flush=True)
            if percentile(found) > percentile(idle) + ADDED_MAX or max(found) > LONGEST_MAX:
                slow.append(name)
            if name != list(dearest)[-1]:
                for thread in asking:
                    thread.join()
        print(f"stopped within {servers.stop_and_wait(60):.1f} s", flush=True)
    finally:
        servers.close()
    return f"results were too slow beside {', '.join(slow)}" if slow else ""


def record(port: int, path: str, token: str, games: Iterator[dict[str, Any]]) -> list[float]:
    """Seconds of each of some results, one after the other."""
    seconds = []
    for game in itertools.islice(games, RESULTS):
        sent = json.dumps({"resultPositions": game["playerIds"]})
        began = time.perf_counter()
        status = ask(port, "PUT", f"{path}/games/{game['gameId']}/result", token, sent)
        seconds.append(time.perf_counter() - began)
        if status != 200:
            sys.exit(f"a result was answered with {status}")
    return seconds


def ask_again(
    port: int, number: int, request: Callable[[int], tuple[str, str, str, str]], ends: threading.Event
) -> None:
    """Ask until the end; visitors come from addresses of their own."""
    while not ends.is_set():
        with contextlib.suppress(OSError, http.client.HTTPException):
            ask(port, *request(number), client=f"198.51.100.{number}")


def ask(port: int, method: str, path: str, token: str, sent: str, client: str = "198.51.100.200") -> int:
    """The status of the answer to a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/json", "x-forwarded-for": client}
    if token:
        headers["authorization"] = f"Bearer {token}"
    connection.request(method, path, sent or None, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def percentile(seconds: Sequence[float]) -> float:
    """What 95 of 100 took at most."""
    return sorted(seconds)[int(len(seconds) * 0.95)]


def path_and_query(path: str) -> tuple[str, bytes]:
    """Both parts of an address."""
    route, _, query = path.partition("?")
    return route, query.encode()


def is_known(path: str) -> bool:
    """Whether the computing process answers this address."""
    return costly_routes.cost_of("GET", *path_and_query(path)) is not None


if __name__ == "__main__":
    main()
