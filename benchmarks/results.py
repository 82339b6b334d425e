"""What a recorded result costs the server, beside a bare uvicorn answer to the same PUT.

    python benchmarks/results.py
    git worktree add --detach ../before COMMIT
    python benchmarks/results.py --before ../before

One client records one result after the other, so no two share a commit. Each measurement is a night of its
own, so the figures do not depend on how many of them there are. The CPU time of the server is read from the
operating system; what is compared is measured in turn within one run. With `--before`, another tree of this
repository records the same results on databases of its own.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import load
import run
from engine import Device
from run import Row, Server

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from conftest import PostgreSQL, postgresql_bin  # the tests' own throw-away cluster

HERE = Path(__file__).resolve().parents[1]
PAIRS = 5
# Results of one night: eight rounds of the smaller field, one of the larger one.
RESULTS = 120
# Of one turn of the bare server, after each round of the smaller field: the machine changes its speed often.
RAW_RESULTS = 500
SMALL, LARGE = 60, 500
# What the bare server is compared with, in turns.
COMPARED = ("now", "sqlite", SMALL)
RESULT_TO_RAW_MAX = 15.0
LARGE_TO_SMALL_MAX = 1.3
POSTGRESQL_TO_BEFORE_MAX = 0.55
SETTINGS = {"arenaAssignment": "disabled", "playerOrder": "random"}


@dataclass(frozen=True)
class RecordedResult:
    """A PUT that was answered."""

    path: str = ""
    body: Any = None
    headers: Sequence[tuple[str, str]] = ()
    answer: bytes = b""


class PlayedNights:
    """Tournaments of so many players that one organizer's device plays over HTTP, round by round."""

    def __init__(self, server: Server, token: str, players: int) -> None:
        self._server, self._token = server, token
        self._players = [{"name": f"Flipper {number}"} for number in range(players)]
        self._dice = Random(players)
        # The newest request and its answer, for the bare server.
        self.sent = RecordedResult()

    def result_seconds(self, after_round: Callable[[], None] | None = None) -> float:
        """CPU seconds of the server for one result of a new night, without the draws of the rounds."""
        # An idle connection is closed by the server.
        self._device = Device(self._server.port, self._token)
        path = self._start_night()
        seconds, recorded = 0.0, 0
        while recorded < RESULTS:
            self._device.send("POST", f"{path}/rounds", {})
            games = self._device.send("GET", f"{path}/games?status=started")["data"]
            # The answer of the draw is sent before its thread has tidied up.
            before = load.cpu_seconds(self._server.pid)
            for game in games:
                self._record(path, game)
            seconds += load.cpu_seconds(self._server.pid) - before
            recorded += len(games)
            if after_round is not None:
                after_round()
        return seconds / recorded

    def _start_night(self) -> str:
        """Start a tournament, and return its path."""
        new = {"name": "Bench", "type": "group_matchplay", **SETTINGS}
        created = self._device.send("POST", "/tournaments", new)
        path = f"/tournaments/{created['data']['tournamentId']}"
        self._device.send("POST", f"{path}/players", {"players": self._players})
        self._device.send("POST", f"{path}/start")
        return path

    def _record(self, path: str, game: dict[str, Any]) -> None:
        body = {"resultPositions": self._dice.sample(game["playerIds"], len(game["playerIds"]))}
        path = f"{path}/games/{game['gameId']}/result"
        answer = self._device.send_for_text("PUT", path, body)
        self.sent = RecordedResult(path, body, self._device.answered_headers, answer)


@dataclass
class Figures:
    """CPU seconds of a result, by tree, database and players, one for each pair."""

    seconds: dict[tuple[str, str, int], list[float]] = field(default_factory=dict)
    raw: list[float] = field(default_factory=list)

    def ratios(self, ours: tuple[str, str, int], theirs: tuple[str, str, int]) -> list[float]:
        """The cost of one as a multiple of the other, for each pair."""
        return [a / b for a, b in zip(self.seconds[ours], self.seconds[theirs], strict=True)]

    def milliseconds(self, key: tuple[str, str, int]) -> str:
        """The median cost of one."""
        return f"{statistics.median(self.seconds[key]) * 1000:.2f} ms"


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path, help="another tree of this repository")
    parser.add_argument("--sqlite-only", action="store_true")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    given = parser.parse_args()
    trees = {"now": HERE, **({"before": given.before.resolve()} if given.before else {})}
    figures = Figures()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="silverball-results-")))
        urls = _database_urls(stack, folder, trees, sqlite_only=given.sqlite_only)
        nights = {
            (tree, kind, players): night
            for (tree, kind), url in urls.items()
            for players, night in stack.enter_context(_played_nights(trees[tree], url)).items()
        }
        # The first results fill caches.
        for night in nights.values():
            night.result_seconds()
        sent = nights[COMPARED].sent
        raw = stack.enter_context(_bare_server(folder, sent))
        for number in range(given.pairs):
            keys = list(nights) if number % 2 else list(reversed(nights))
            turns: list[float] = []
            for key in keys:
                bare = (lambda into=turns: into.append(_raw_seconds(raw, sent))) if key == COMPARED else None
                figures.seconds.setdefault(key, []).append(nights[key].result_seconds(bare))
            figures.raw.append(statistics.mean(turns))
            print(".", end="", flush=True, file=sys.stderr)
    rows = list(_rows(figures))
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _database_urls(
    stack: ExitStack, folder: Path, trees: dict[str, Path], *, sqlite_only: bool
) -> dict[tuple[str, str], str]:
    """Tree and kind of database -> the address of an empty database."""
    urls = {(tree, "sqlite"): f"sqlite:///{folder / tree}.db" for tree in trees}
    bin_folder = None if sqlite_only else postgresql_bin()
    if bin_folder is not None:
        cluster = PostgreSQL(bin_folder)
        stack.callback(cluster.stop)
        urls |= {(tree, "postgresql"): cluster.empty_database() for tree in trees}
    return urls


@contextmanager
def _played_nights(tree: Path, url: str) -> Iterator[dict[int, PlayedNights]]:
    """A server of this tree on this database, with nights of each size."""
    environment = {
        "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'clients/python/src'}",
        "SILVERBALL_DATABASE_URL": url,
        "SILVERBALL_QUOTAS": "open",
    }
    token = _organizer_token(environment)
    port = run.free_port()
    serve = [str(run.BIN / "silverball"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with run.running_server(serve, port, "/up", **environment) as server:
        yield {players: PlayedNights(server, token, players) for players in (SMALL, LARGE)}


def _organizer_token(environment: dict[str, str]) -> str:
    account = ("--name", "Olga Ramp", "--email", "olga@example.org", "--role", "organizer", "--json")
    run.silverball_on(environment, "migrate")
    user_id = str(json.loads(run.silverball_on(environment, "user", "create", *account))["userId"])
    words = ("token", "create", "--user", user_id, "--name", "bench", "--ability", "manage")
    return run.silverball_on(environment, *words)


@contextmanager
def _bare_server(folder: Path, sent: RecordedResult) -> Iterator[Server]:
    """A uvicorn app that reads the body of the PUT and sends the same bytes as the service did."""
    headers = [(name, value) for name, value in sent.headers if name not in run.SERVERS_OWN]
    path, body = f"/api{sent.path}", sent.answer.decode()
    recorded = folder / "answers.json"
    recorded.write_text(
        json.dumps([{"path": path, "status": 200, "headers": headers, "body": body}]), encoding="utf-8"
    )
    port = run.free_port()
    command = run.uvicorn_command("raw_app:app", port)
    with run.running_server(command, port, path, SILVERBALL_BENCH_ANSWERS=str(recorded)) as server:
        yield server


def _raw_seconds(server: Server, sent: RecordedResult) -> float:
    """CPU seconds of the bare server for the same PUT, from one client."""
    device = Device(server.port, "x")
    before = load.cpu_seconds(server.pid)
    for _ in range(RAW_RESULTS):
        device.send_for_text("PUT", sent.path, sent.body)
    return (load.cpu_seconds(server.pid) - before) / RAW_RESULTS


def _rows(figures: Figures) -> Iterator[Row]:
    to_raw = [ours / raw for ours, raw in zip(figures.seconds[COMPARED], figures.raw, strict=True)]
    label = f"a result, {SMALL} players : a bare answer to the same PUT"
    yield _ratio_row(label, to_raw, RESULT_TO_RAW_MAX)
    for kind in sorted({kind for _, kind, _ in figures.seconds}):
        sizes = figures.ratios(("now", kind, LARGE), ("now", kind, SMALL))
        yield _ratio_row(f"a result, {LARGE} : {SMALL} players, {kind}", sizes, LARGE_TO_SMALL_MAX)
    for tree, kind, players in figures.seconds:
        cost = figures.milliseconds((tree, kind, players))
        yield Row(f"a result, {players} players, {kind}, {tree}", cost, "reported", is_met=True)
        if tree == "now" and ("before", kind, players) in figures.seconds:
            pairs = figures.ratios(("now", kind, players), ("before", kind, players))
            bound = POSTGRESQL_TO_BEFORE_MAX if (kind, players) == ("postgresql", SMALL) else None
            yield _ratio_row(f"now : before, {players} players, {kind}", pairs, bound)


def _ratio_row(what: str, ratios: list[float], bound: float | None) -> Row:
    """Minimum, median and maximum of these ratios, and whether the median keeps the bound."""
    median = statistics.median(ratios)
    measured = f"{min(ratios):.2f} / {median:.2f} / {max(ratios):.2f}"
    return Row(
        what, measured, "reported" if bound is None else f"<= {bound:g}", bound is None or median <= bound
    )


if __name__ == "__main__":
    raise SystemExit(main())
