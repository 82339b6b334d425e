"""A site is updated node by node while its tournaments are played.

A node of this version and one of a next version, whose migration adds a column and removes another, work
on one PostgreSQL that version 0.2.0 has written, through every step of an update. Clients send each result
to either node until it is acknowledged, and read it at the other one.
"""

import http.client
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from conftest import PostgreSQL
from kept import opening
from patience import PATIENCE_SECONDS
from servers import Servers
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from store.test_migrate import NEXT_VERSION
from trials.figures import Figures

ROOT = Path(__file__).parents[2]
WRITERS = 3
PLAYERS, ARENAS = 8, 4
# A long evening is played here in a minute. The version before limits organizers when others have no limit.
# Of this version, and of the one before.
SETTINGS = {
    "SILVERBALL_STANDINGS_INTERVAL_SECONDS": "0",
    "SILVERBALL_RATE_LIMIT_PER_MINUTE": "1000000",
}


class Node:
    """One version of the program, on a database that it shares."""

    def __init__(self, source: Path, url: str, backups: Path) -> None:
        self.settings = {
            **SETTINGS,
            "PYTHONPATH": str(source),
            "SILVERBALL_BACKUP_FOLDER": str(backups),
        }
        self.url = url
        self.servers = Servers.without_limits(url, **self.settings)

    def run_command(self, *words: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **self.settings, "SILVERBALL_DATABASE_URL": self.url}
        command = [sys.executable, "-m", "silverball.cli.main", *words]
        return subprocess.run(
            command, env=given, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )

    def output(self, *words: str) -> str:
        done = self.run_command(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def is_ready(self) -> bool:
        return send(self.servers.port, "GET", "/ready")[0] == 200


def send(port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
    """Status, body and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null"), answer.headers
    finally:
        connection.close()


def without_rank(answer: Any) -> Any:
    """A score without its rank, which the next score of somebody else may change."""
    return {name: value for name, value in answer["data"].items() if name not in ("points", "bestGame")}


class Club:
    """A tournament whose players send their scores to whichever node is there."""

    def __init__(self, port: int, token: str) -> None:
        self.ports = [port]
        self._authorization = {"Authorization": f"Bearer {token}"}
        self.acknowledged: list[int] = []
        self.unexpected: list[Any] = []
        self.unavailable = 0
        self._scores, self._setups = itertools.count(1_000), itertools.count()
        self._is_over = threading.Event()
        self.players = [self._make("/api/players", {"name": f"P {n}"}, "playerId") for n in range(PLAYERS)]
        self.arenas = [self._make("/api/arenas", {"name": f"A {n}"}, "arenaId") for n in range(ARENAS)]
        fields = {"name": "Long night", "type": "best_game"}
        self.tournament_id = self._make("/api/tournaments", fields, "tournamentId")
        self.path = f"/api/tournaments/{self.tournament_id}"
        self.ask(
            "POST", f"{self.path}/players", {"players": [{"playerId": number} for number in self.players]}
        )
        self.ask("POST", f"{self.path}/arenas", {"arenas": [{"arenaId": number} for number in self.arenas]})
        self.ask("POST", f"{self.path}/start")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The body of an answer, which is sent for again while the node has no time for it."""
        headers = {**self._authorization, "Idempotency-Key": f"setup-{next(self._setups)}"}
        until, status, answer = time.monotonic() + PATIENCE_SECONDS, 503, None
        while status == 503 and time.monotonic() < until:
            status, answer, _headers = send(self.ports[0], method, path, body, **headers)
        assert status in (200, 201), answer
        return answer

    def _make(self, path: str, body: Any, key: str) -> int:
        number: int = self.ask("POST", path, body)["data"][key]
        return number

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Play until the block is left."""
        threads = [threading.Thread(target=self._play, args=(number,)) for number in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def _play(self, number: int) -> None:
        while not self._is_over.is_set():
            score = next(self._scores)
            self._record(score, first_port=number)
            # A table of players is never typed in faster, and the nodes share this machine with the test.
            time.sleep(0.01)

    def _record(self, score: int, first_port: int) -> None:
        """Send a score until a node acknowledges it, and see it at the other one."""
        body = {
            "playerId": self.players[score % PLAYERS],
            "arenaId": self.arenas[score % ARENAS],
            "score": score,
        }
        path = f"{self.path}/single-player-games"
        until, attempts = time.monotonic() + PATIENCE_SECONDS, itertools.count()
        while time.monotonic() < until:
            attempt = next(attempts)
            ports = self.ports
            port, other = (
                ports[(first_port + attempt) % len(ports)],
                ports[(first_port + attempt + 1) % len(ports)],
            )
            answer = self._try(port, "POST", path, body, **{"Idempotency-Key": f"score-{score}"})
            if answer is None:
                time.sleep(0.05)
                continue
            self.acknowledged.append(score)
            data, headers = answer
            revision = {"X-Tournament-Revision": headers["X-Tournament-Revision"]}
            game_id = data["data"]["singlePlayerGameId"]
            seen = self._try(other, "GET", f"{path}/{game_id}", **revision)
            if seen is not None and without_rank(seen[0]) != without_rank(data):
                self.unexpected.append((seen[0], data))
            self._try(other, "GET", f"{self.path}/standings")
            return
        self.unexpected.append(f"{score} was never acknowledged")

    def _try(self, port: int, method: str, path: str, body: Any = None, **headers: str) -> Any:
        try:
            status, data, sent = send(port, method, path, body, **self._authorization, **headers)
        except (OSError, http.client.HTTPException):
            return None
        if status == 503:
            self.unavailable += 1
            return None
        if status not in (200, 201):
            self.unexpected.append((status, data))
            return None
        return data, sent

    def await_more(self, count: int) -> None:
        """Wait until so many more scores are acknowledged."""
        last = len(self.acknowledged)
        goal, until = last + count, time.monotonic() + PATIENCE_SECONDS
        while len(self.acknowledged) < goal:
            if len(self.acknowledged) > last:
                last, until = len(self.acknowledged), time.monotonic() + PATIENCE_SECONDS
            assert time.monotonic() < until, "no score is acknowledged any more"
            assert not self.unexpected, self.unexpected[:3]
            time.sleep(0.02)


@pytest.fixture
def nodes(postgresql: PostgreSQL, tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    """This version, on the kept database, and a next version."""
    url = opening.load_dump(postgresql, opening.unpack(tmp_path))
    source = shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    versions = source / "silverball" / "store" / "migrations" / "versions"
    (versions / "9001_next.py").write_text(NEXT_VERSION.format(newest=migrate.newest_schema()))
    both = Node(ROOT / "src", url, tmp_path / "backups"), Node(source, url, tmp_path / "backups")
    yield both
    for node in both:
        node.servers.close()
    postgresql.drop(url)


def make_site(before: Node) -> str:
    """Begin with the version before, and return an organizer's token."""
    before.output("migrate")
    account = json.loads(
        before.output(
            "user", "create", "--name", "Olga", "--email", "o@x.test", "--role", "organizer", "--json"
        )
    )
    words = ("token", "create", "--user", str(account["userId"]), "--name", "tables", "--ability", "manage")
    return next(word for word in before.output(*words).split() if "|" in word)


@pytest.mark.parametrize("scores", [10, pytest.param(500, marks=pytest.mark.soak)])
def test_a_site_is_updated_node_by_node_while_it_is_played(nodes: tuple[Node, Node], scores: int) -> None:
    before, after = nodes
    token = make_site(before)
    before.servers.start()
    club, store = Club(before.servers.port, token), Store(after.url)
    with club.playing():
        club.await_more(scores)
        after.output("migrate")
        assert before.is_ready()
        club.await_more(scores)
        after.servers.start()
        club.ports = [before.servers.port, after.servers.port]
        club.await_more(3 * scores)
        assert before.is_ready()
        assert after.is_ready()
        # A node of the version before can be restarted, or be put back, until the second step.
        club.ports = [after.servers.port]
        before.servers.stop()
        club.await_more(scores)
        before.servers.start()
        assert before.is_ready()
        club.ports = [before.servers.port, after.servers.port]
        club.await_more(2 * scores)
        club.ports = [after.servers.port]
        before.servers.stop()
        after.output("migrate", "--contract")
        club.await_more(scores)
        assert after.is_ready()
    assert club.unexpected == []
    figures = club_figures(club, store)
    assert before.run_command("serve", "--port", "0").returncode == 1
    store.close()
    figures.publish()
    figures.assert_nothing_wrong()


def club_figures(club: Club, store: Store) -> Figures:
    """What became of the acknowledged scores."""
    with store.read() as db:
        own = tables.single_player_game.c
        scores = select(own.score).where(own.tournament_id == club.tournament_id)
        stored = Counter(db.execute(scores).scalars())
        faults = verification.verify_tournament(db, club.tournament_id).faults
    acknowledged = Counter(club.acknowledged)
    assert stored.keys() <= acknowledged.keys(), "something is stored that was never acknowledged"
    return Figures(
        "T18 rolling update",
        "postgresql",
        1,
        acknowledged=len(club.acknowledged),
        lost=(acknowledged - stored).total(),
        twice=(stored - acknowledged).total(),
        torn=len(faults),
        server_errors=len(club.unexpected),
    )
