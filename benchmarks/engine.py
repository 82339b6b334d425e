"""`make bench-engine`: how long draws, standings and results take.

Draws and standings are the rules alone, in CPU seconds. Results go over HTTP into a committed journal
(SQLite, synchronous=FULL) from eight clients at once.
"""

import http.client
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import run
from run import Row
from silverball.rules.pairing import balanced, groups, history, seating
from silverball.rules.pairing.history import History

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from rules.night import a_night, random_order  # the tests' own way to play a night in memory

CLIENTS = 8
SEEDS = 20
# Formats, section 6.3: the procedure makes a hundred greedy starts.
PEER_STARTS = 100


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    rows = []
    for part in (_draws, _standings, _results):
        for row in part():
            rows.append(row)
            print(f"{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _cpu_seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _draws() -> Iterator[Row]:
    for players, bound in ((200, 0.3), (1000, 10.0)):
        past = _played(players, 8, balanced.two_players)
        taken = _cpu_seconds(partial(balanced.two_players, range(players), past, Random(1)))
        yield Row(f"balanced pairs of {players} players", f"{taken:.2f} s", f"< {bound} s", taken < bound)
    for players, rounds in ((400, 20), (48, 12)):
        past = _played(players, rounds, balanced.groups_of_four)
        yield from _group_draws(players, rounds, past)


def _group_draws(players: int, rounds: int, past: History) -> Iterator[Row]:
    taken = _cpu_seconds(lambda: balanced.groups_of_four(range(players), past, Random(1)))
    what = f"{players} players after {rounds} rounds"
    yield Row(f"groups of four, {what}", f"{taken:.2f} s", "< 3 s", taken < 3)
    ours = statistics.median(
        _repeats(balanced.groups_of_four(range(players), past, Random(seed)).groups, past)
        for seed in range(SEEDS)
    )
    peer = statistics.median(_repeats(_unclimbed(players, past, seed), past) for seed in range(SEEDS))
    yield Row(f"repeats, {what}: ours, peer", f"{ours:g}, {peer:g}", "no more", ours <= peer)


def _unclimbed(players: int, past: History, seed: int) -> Sequence[Sequence[int]]:
    """The peer: the cheapest of a hundred greedy starts, without swapping afterwards."""
    table = seating.Table(range(players), past)
    sizes = groups.sizes(players)
    return seating.best_of_starts(table, sizes, PEER_STARTS, Random(seed)).player_groups()


def _repeats(drawn: Sequence[Sequence[int]], past: History) -> int:
    return sum(
        past.times_met(one, other)
        for group in drawn
        for at, one in enumerate(group)
        for other in group[at + 1 :]
    )


def _played(players: int, rounds: int, draw: Callable[..., groups.Draw]) -> History:
    dice, past = Random(players), history.EMPTY
    played: list[list[tuple[int, ...]]] = []
    for _ in range(rounds):
        drawn = draw(range(players), past, dice)
        played.append([*drawn.groups, *((one,) for one in drawn.byes)])
        past = history.of_rounds(played)
    return past


def _standings() -> Iterator[Row]:
    night = a_night("group_matchplay", players=500, arenas=150, tiebreaker="standard")
    night.start()
    dice = Random(500)
    for _ in range(20):
        for game in night.open_round():
            night.finish(game, *random_order(game, dice))
    taken = statistics.median(_cpu_seconds(night.standings) for _ in range(9))
    yield Row("standings, 500 players, 20 rounds", f"{taken * 1000:.0f} ms", "< 50 ms", taken < 0.05)


class Client:
    """One organizer's device: a kept-alive connection."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON. Raises RuntimeError for a refusal."""
        data = None if body is None else json.dumps(body)
        self._connection.request(method, f"/api{path}", data, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)


class Hall:
    """A tournament that is played over HTTP by eight devices."""

    def __init__(self, port: int, token: str, kind: str, players: int, **settings: Any) -> None:
        self.devices = [Client(port, token) for _ in range(CLIENTS)]
        self.first = self.devices[0]
        made = self.first.send("POST", "/tournaments", {"name": "Bench", "type": kind, **settings})
        self.path = f"/tournaments/{made['data']['tournamentId']}"
        names = [{"name": f"Flipper {n}"} for n in range(players)]
        self.first.send("POST", f"{self.path}/players", {"players": names})
        self.first.send("POST", f"{self.path}/start")
        self._dice = Random(players)
        self._pool = ThreadPoolExecutor(CLIENTS)
        self.seconds_recording = 0.0

    def play_round(self) -> list[float]:
        """Open a round and record all its results; seconds of each, measured at the device."""
        self.first.send("POST", f"{self.path}/rounds", {})
        games = self.first.send("GET", f"{self.path}/games?status=started")["data"]
        waiting = list(games)
        lock = threading.Lock()
        taken: list[float] = []

        def work(device: Client) -> None:
            while True:
                with lock:
                    if not waiting:
                        return
                    game = waiting.pop()
                    order = self._dice.sample(game["playerIds"], len(game["playerIds"]))
                began = time.perf_counter()
                device.send("PUT", f"{self.path}/games/{game['gameId']}/result", {"resultPositions": order})
                taken.append(time.perf_counter() - began)

        began = time.perf_counter()
        list(self._pool.map(work, self.devices))
        self.seconds_recording += time.perf_counter() - began
        return taken

    def results_a_second(self, games: int) -> float:
        """Play until that many games are recorded; the rate while results were being recorded."""
        recorded = 0
        while recorded < games:
            recorded += len(self.play_round())
        return recorded / self.seconds_recording


def _results() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        folder = Path(name)
        who = ("--name", "Olga Ramp", "--email", "olga@example.org", "--role", "organizer", "--json")
        made = run.silverball("user", "create", *who, folder=folder)
        user_id = str(json.loads(made)["userId"])
        token = run.silverball(
            "token", "create", "--user", user_id, "--name", "bench", "--ability", "manage", folder=folder
        )
        port = run.free_port()
        serve = [str(run.BIN / "silverball"), "serve", "--host", "127.0.0.1", "--port", str(port)]
        environment = {
            "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
            "SILVERBALL_RATE_LIMIT_PER_MINUTE": "900000000",
        }
        with run.running(serve, port, "/up", **environment):
            yield from _recorded(port, token)
            yield from _undisturbed(port, token)


def _recorded(port: int, token: str) -> Iterator[Row]:
    common = {"arenaAssignment": "disabled", "playerOrder": "random"}
    for players, games, bound in ((60, 150, 300), (60, 600, 0), (500, 2500, 0)):
        hall = Hall(port, token, "group_matchplay", players, **common)
        rate = hall.results_a_second(games)
        what = f"results a second, {players} players, {games} games"
        yield Row(what, f"{rate:.0f}", f">= {bound}" if bound else "reported", rate >= bound)
    yield _best_game(port, token)


def _best_game(port: int, token: str) -> Row:
    hall = Hall(port, token, "best_game", 60)
    machines = [hall.first.send("POST", "/arenas", {"name": f"Machine {n}"}) for n in range(5)]
    arena_ids = [one["data"]["arenaId"] for one in machines]
    hall.first.send("POST", f"{hall.path}/arenas", {"arenas": [{"arenaId": one} for one in arena_ids]})
    players = hall.first.send("GET", f"{hall.path}?includePlayers=true")["data"]["players"]
    waiting = [(one["playerId"], arena_id) for one in players for arena_id in arena_ids]
    dice = Random(300)
    began = time.perf_counter()
    for player_id, arena_id in waiting:
        said = {"playerId": player_id, "arenaId": arena_id, "score": dice.randrange(10**9)}
        hall.first.send("POST", f"{hall.path}/single-player-games", said)
    rate = len(waiting) / (time.perf_counter() - began)
    return Row("best-game scores a second, up to 300 ranked", f"{rate:.0f}", "reported", is_met=True)


def _undisturbed(port: int, token: str) -> Iterator[Row]:
    """A thousand players drawn next door: what happens to the results of another tournament."""
    common = {"arenaAssignment": "disabled", "playerOrder": "random"}
    hall = Hall(port, token, "group_matchplay", 60, **common)
    large = Hall(port, token, "matchplay", 1000, **common)
    alone = [one for _ in range(8) for one in hall.play_round()]
    with ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(large.first.send, "POST", f"{large.path}/rounds", {})
        busy: list[float] = []
        while not drawing.done() or len(busy) < len(alone):
            busy += hall.play_round()
        drawing.result()
    p99 = [statistics.quantiles(taken, n=100)[98] * 1000 for taken in (alone, busy)]
    yield Row(
        "p99 of a result, alone and beside a draw of 1,000",
        f"{p99[0]:.0f}, {p99[1]:.0f} ms",
        "reported",
        is_met=True,
    )


if __name__ == "__main__":
    raise SystemExit(main())
