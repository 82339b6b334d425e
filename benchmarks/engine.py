"""`make bench-engine`: how long draws, standings and results take.

Draws and standings are the rules alone, in CPU seconds. Results go over HTTP into a committed journal
(SQLite, synchronous=FULL) from eight clients at once.
"""

import http.client
import json
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import run
from run import Row
from silverball.rules.drawing import balanced, groups, history, swiss
from silverball.rules.drawing.history import DrawHistory
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from rules.lineup.waiting_arenas import random_waiting
from rules.night import a_night, random_order  # the tests' own way to play a night in memory

CLIENTS = 8
SEEDS = 20
# Formats, section 6.3: the procedure makes a hundred greedy starts.
PEER_STARTS = 100


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    rows = []
    for part in (_draw_rows, _standings_rows, _result_rows):
        for row in part():
            rows.append(row)
            print(f"{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _cpu_seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _draw_rows() -> Iterator[Row]:
    for players, bound in ((200, 0.3), (1000, 10.0)):
        past = _play_history(players, 8, balanced.draw_balanced_pairs)
        seconds = _cpu_seconds(partial(balanced.draw_balanced_pairs, range(players), past, Random(1)))
        yield Row(f"balanced pairs of {players} players", f"{seconds:.2f} s", f"< {bound} s", seconds < bound)
    yield from _strict_swiss_rows()
    yield from _arena_rows()
    for players, rounds in ((400, 20), (48, 12)):
        past = _play_history(players, rounds, balanced.draw_balanced_groups)
        yield from _group_draw_rows(players, rounds, past)


def _strict_swiss_rows() -> Iterator[Row]:
    """The slowest round of a strict Swiss night, and the memory of a process that draws nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        seconds, megabytes = alone.submit(_draw_strict_swiss, 2000, 16).result()
    yield Row("strict Swiss, 2,000 players, slowest of 16 rounds", f"{seconds:.2f} s", "< 5 s", seconds < 5)
    yield Row("the same, memory of the process", f"{megabytes} MB", "< 200 MB", megabytes < 200)


def _draw_strict_swiss(players: int, rounds: int) -> tuple[float, int]:
    """CPU seconds of the slowest draw of a night, and the most memory of this process in megabytes."""
    dice, slowest = Random(players), 0.0
    scores = dict.fromkeys(range(players), Decimal(0))
    played: list[list[tuple[int, ...]]] = []
    for number in range(rounds):
        past = history.history_of_rounds(played)
        began = time.process_time()
        drawn = swiss.draw_strict_swiss_pairs(scores, past, dice, rounds=number)
        slowest = max(slowest, time.process_time() - began)
        for pair in drawn.groups:
            scores[dice.choice(pair)] += 1
        played.append(list(drawn.groups))
    return slowest, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _arena_rows() -> Iterator[Row]:
    """Arenas of matches with two to four games, against waves that are assigned one by one."""
    sums, played = [0, 0], [0, 0]
    for seed in range(500):
        waiting = random_waiting(Random(seed), matches=(8, 20), arenas_each=1.5)
        for at, lineups in enumerate((waiting.assigned_together(seed), waiting.assigned_one_by_one(seed))):
            sums[at] += waiting.sum_of_costs(lineups)
            played[at] += waiting.played_cost(lineups)
    for label, (ours, others) in (("by the plays before the round", sums), ("as played", played)):
        percent = 100 * (1 - ours / others)
        case = f"arenas of 500 rounds, waves together : one by one, {label}"
        yield Row(case, f"{percent:.0f} % less", ">= 8 % less", percent >= 8)


def _group_draw_rows(players: int, rounds: int, past: DrawHistory) -> Iterator[Row]:
    seconds = _cpu_seconds(lambda: balanced.draw_balanced_groups(range(players), past, Random(1)))
    case = f"{players} players after {rounds} rounds"
    yield Row(f"groups of four, {case}", f"{seconds:.2f} s", "< 3 s", seconds < 3)
    ours = statistics.median(
        _count_repeats(balanced.draw_balanced_groups(range(players), past, Random(seed)).groups, past)
        for seed in range(SEEDS)
    )
    peer = statistics.median(
        _count_repeats(_best_greedy_groups(players, past, seed), past) for seed in range(SEEDS)
    )
    yield Row(f"repeats, {case}: ours, peer", f"{ours:g}, {peer:g}", "no more", ours <= peer)


def _best_greedy_groups(players: int, past: DrawHistory, seed: int) -> Sequence[Sequence[int]]:
    """The peer's groups: the cheapest of a hundred greedy starts, without swapping afterwards."""
    table = balanced.SeatingCosts(range(players), past)
    sizes = groups.group_sizes(players)
    return balanced.best_greedy_seating(table, sizes, PEER_STARTS, Random(seed)).player_groups()


def _count_repeats(drawn: Sequence[Sequence[int]], past: DrawHistory) -> int:
    return sum(
        past.times_met(player, opponent)
        for group in drawn
        for at, player in enumerate(group)
        for opponent in group[at + 1 :]
    )


def _play_history(players: int, rounds: int, draw: Callable[..., groups.Draw]) -> DrawHistory:
    dice, past = Random(players), history.EMPTY_HISTORY
    played: list[list[tuple[int, ...]]] = []
    for _ in range(rounds):
        drawn = draw(range(players), past, dice)
        played.append([*drawn.groups, *((bye,) for bye in drawn.byes)])
        past = history.history_of_rounds(played)
    return past


def _standings_rows() -> Iterator[Row]:
    night = a_night("group_matchplay", players=500, arenas=150, tiebreaker="standard")
    night.start()
    dice = Random(500)
    for _ in range(20):
        for game in night.open_round():
            night.record_order(game, *random_order(game, dice))
    seconds = statistics.median(_cpu_seconds(night.standings) for _ in range(9))
    yield Row("standings, 500 players, 20 rounds", f"{seconds * 1000:.0f} ms", "< 50 ms", seconds < 0.05)


class Device:
    """One organizer's device: a kept-alive connection."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.answered_headers: Sequence[tuple[str, str]] = ()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON. Raises RuntimeError for a refusal."""
        return json.loads(self.send_for_text(method, path, body))

    def send_for_text(self, method: str, path: str, body: Any = None) -> bytes:
        """The body of the answer, whose headers are kept. Raises RuntimeError for a refusal."""
        data = None if body is None else json.dumps(body)
        self._connection.request(method, f"/api{path}", data, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        self.answered_headers = answer.headers.items()
        return text


class BenchTournament:
    """A tournament that is played over HTTP by eight devices."""

    def __init__(self, port: int, token: str, kind: str, players: int, **settings: Any) -> None:
        self.devices = [Device(port, token) for _ in range(CLIENTS)]
        self.first_device = self.devices[0]
        created = self.first_device.send("POST", "/tournaments", {"name": "Bench", "type": kind, **settings})
        self.path = f"/tournaments/{created['data']['tournamentId']}"
        names = [{"name": f"Flipper {n}"} for n in range(players)]
        self.first_device.send("POST", f"{self.path}/players", {"players": names})
        self.first_device.send("POST", f"{self.path}/start")
        self._dice = Random(players)
        self._pool = ThreadPoolExecutor(CLIENTS)
        self.seconds_recording = 0.0

    def add_machines(self, count: int) -> list[int]:
        """Add machines and return their arena ids."""
        made = [self.first_device.send("POST", "/arenas", {"name": f"Machine {n}"}) for n in range(count)]
        arena_ids = [machine["data"]["arenaId"] for machine in made]
        listed = {"arenas": [{"arenaId": arena_id} for arena_id in arena_ids]}
        self.first_device.send("POST", f"{self.path}/arenas", listed)
        return arena_ids

    def play_round(self) -> list[float]:
        """Open a round and record all its results; return the seconds of each, measured at the device."""
        self.first_device.send("POST", f"{self.path}/rounds", {})
        games = self.first_device.send("GET", f"{self.path}/games?status=started")["data"]
        waiting = list(games)
        lock = threading.Lock()
        seconds: list[float] = []

        def work(device: Device) -> None:
            while True:
                with lock:
                    if not waiting:
                        return
                    game = waiting.pop()
                    order = self._dice.sample(game["playerIds"], len(game["playerIds"]))
                began = time.perf_counter()
                device.send("PUT", f"{self.path}/games/{game['gameId']}/result", {"resultPositions": order})
                seconds.append(time.perf_counter() - began)

        began = time.perf_counter()
        list(self._pool.map(work, self.devices))
        self.seconds_recording += time.perf_counter() - began
        return seconds

    def results_a_second(self, games: int) -> float:
        """Play until `games` games are recorded; return results per second of recording."""
        recorded = 0
        while recorded < games:
            recorded += len(self.play_round())
        return recorded / self.seconds_recording


def _result_rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        folder = Path(name)
        account = ("--name", "Olga Ramp", "--email", "olga@example.org", "--role", "organizer", "--json")
        run.silverball("migrate", folder=folder)
        created = run.silverball("user", "create", *account, folder=folder)
        user_id = str(json.loads(created)["userId"])
        token = run.silverball(
            "token", "create", "--user", user_id, "--name", "bench", "--ability", "manage", folder=folder
        )
        port = run.free_port()
        serve = [str(run.BIN / "silverball"), "serve", "--create", "--host", "127.0.0.1", "--port", str(port)]
        environment = {
            "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
            "SILVERBALL_QUOTAS": "open",
        }
        with run.running_server(serve, port, "/up", **environment):
            yield from _recording_rows(port, token)
            yield from _interference_rows(port, token)
            yield _verify_row(port, token, folder)


def _verify_row(port: int, token: str, folder: Path) -> Row:
    """`silverball verify` of a completed night, without the start of the command."""
    hall = BenchTournament(port, token, "group_matchplay", 60, playerOrder="random")
    hall.add_machines(40)
    for _ in range(20):
        hall.play_round()
    hall.first_device.send("POST", f"{hall.path}/complete")
    tournament_id = int(hall.path.rsplit("/", 1)[1])
    store = Store(f"sqlite:///{folder / 'bench.db'}")
    with store.read() as db:
        report = verification.verify_tournament(db, tournament_id)
        seconds = statistics.median(
            _cpu_seconds(partial(verification.verify_tournament, db, tournament_id)) for _ in range(9)
        )
    store.close()
    is_met = seconds < 0.2 and not report.faults
    return Row("verify, 60 players, 300 games", f"{seconds * 1000:.0f} ms", "< 200 ms", is_met)


def _recording_rows(port: int, token: str) -> Iterator[Row]:
    common = {"arenaAssignment": "disabled", "playerOrder": "random"}
    for players, games, bound in ((60, 150, 300), (60, 600, 0), (500, 2500, 0)):
        hall = BenchTournament(port, token, "group_matchplay", players, **common)
        rate = hall.results_a_second(games)
        label = f"results a second, {players} players, {games} games"
        yield Row(label, f"{rate:.0f}", f">= {bound}" if bound else "reported", rate >= bound)
    yield _best_game_row(port, token)


def _best_game_row(port: int, token: str) -> Row:
    hall = BenchTournament(port, token, "best_game", 60)
    arena_ids = hall.add_machines(5)
    players = hall.first_device.send("GET", f"{hall.path}?includePlayers=true")["data"]["players"]
    waiting = [(entry["playerId"], arena_id) for entry in players for arena_id in arena_ids]
    dice = Random(300)
    began = time.perf_counter()
    for player_id, arena_id in waiting:
        body = {"playerId": player_id, "arenaId": arena_id, "score": dice.randrange(10**9)}
        hall.first_device.send("POST", f"{hall.path}/single-player-games", body)
    rate = len(waiting) / (time.perf_counter() - began)
    return Row("best-game scores a second, up to 300 ranked", f"{rate:.0f}", "reported", is_met=True)


def _interference_rows(port: int, token: str) -> Iterator[Row]:
    """Latency of results while another tournament draws a thousand players."""
    common = {"arenaAssignment": "disabled", "playerOrder": "random"}
    hall = BenchTournament(port, token, "group_matchplay", 60, **common)
    large = BenchTournament(port, token, "matchplay", 1000, **common)
    alone = [seconds for _ in range(8) for seconds in hall.play_round()]
    with ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(large.first_device.send, "POST", f"{large.path}/rounds", {})
        busy: list[float] = []
        while not drawing.done() or len(busy) < len(alone):
            busy += hall.play_round()
        drawing.result()
    p99 = [statistics.quantiles(seconds, n=100)[98] * 1000 for seconds in (alone, busy)]
    yield Row(
        "p99 of a result, alone and beside a draw of 1,000",
        f"{p99[0]:.0f}, {p99[1]:.0f} ms",
        "reported",
        is_met=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
