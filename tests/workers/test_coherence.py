"""On one machine nobody sees an older answer after a newer one, whichever worker gives it.

The name of a tournament is a number that only grows. Whoever begins a request knows the highest number that
anybody has seen so far, in any answer or event; an answer with a lower one is a step back.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random, SystemRandom

import pytest
from websockets.sync.client import connect

import build
from feed.running_program import admin_token
from selection import IS_SOAK, LARGE_IN_SOAK
from silverball.service.tokens import writes as tokens
from silverball.service.tokens.writes import IssuedToken
from silverball.store.engine import Store
from workers.worker_server import WorkerConnection, WorkerServer, wait_until

pytestmark = LARGE_IN_SOAK

WRITES = 2_000 if IS_SOAK else 60
READERS = 4
NUMBER = re.compile(r"^Night (\d+)$")
SOCKET = "/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
PAUSED_WRITER = Path(__file__).with_name("writer_between.py")


class Sightings:
    """What anybody has seen of one number, and the steps back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.newest = 0
        self.steps_back: list[str] = []
        self.readings = 0

    def see(self, number: int, floor: int, source: str) -> None:
        """Note a number that was asked for when `floor` had been seen."""
        with self._lock:
            self.readings += 1
            if number < floor:
                self.steps_back.append(f"{source}: {number} after {floor}")
            self.newest = max(self.newest, number)


class Night:
    """A tournament whose name is a number, and everybody who looks at it."""

    def __init__(self, store: Store, server: WorkerServer) -> None:
        self.store = store
        self.server = server
        self.token = admin_token(store)
        admin = build.a_user(store, name="Be Side", role="admin")
        self.admin = build.caller(admin, role="admin", ability="admin")
        self.tournament_id = build.a_tournament(store, players=4, arenas=2, name="Night 0").tournament_id
        self.path = f"/api/tournaments/{self.tournament_id}"
        self.sightings = Sightings()
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self._is_over = threading.Event()
        self._faults: list[BaseException] = []

    def rename_by(self, connection: WorkerConnection, number: int) -> None:
        """Write the next number through a worker."""
        status = 503
        while status == 503:
            # Too busy to take the lock in time, and nothing was changed.
            status, _ = connection.send("PATCH", self.path, {"name": f"Night {number}"}, **self.headers)
        assert status == 200
        self.sightings.see(number, 0, "writer")

    def rename_beside(self, number: int) -> None:
        """Write the next number as a command does, in a process that is no worker."""
        name = {"name": f"Night {number}"}
        status, body, _ = build.do(self.store, "PATCH", self.path, name, by=self.admin)
        assert status == 200, body
        self.sightings.see(number, 0, "command")

    def read(self, connection: WorkerConnection, kind: int) -> None:
        """Look at the tournament in one of three ways."""
        floor = self.sightings.newest
        path, source = self.path, "tournament"
        if kind == 1:
            path, source = "/api/tournaments?limit=25", "list"
        status, body = connection.get(path, **self.headers)
        assert status == 200
        data = body["data"]
        found = data if kind == 0 else next(row for row in data if row["tournamentId"] == self.tournament_id)
        self.sightings.see(number_in(found["name"]), floor, source)

    @contextmanager
    def watched(self, readers: int = READERS) -> Iterator[None]:
        """Have readers that alternate between the workers, and a follower who reads after each event."""
        threads = [threading.Thread(target=self._run, args=(self._read_on, n)) for n in range(readers)]
        threads.append(threading.Thread(target=self._run, args=(self._follow, readers)))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()
        assert self._faults == []

    def _run(self, work: Callable[[Random], None], seed: int) -> None:
        try:
            work(Random(seed))
        except BaseException as error:
            self._faults.append(error)
            raise

    def _read_on(self, dice: Random) -> None:
        connections = list(self.server.connections().values())
        while not self._is_over.is_set():
            self.read(dice.choice(connections), dice.randrange(2))

    def _follow(self, dice: Random) -> None:
        connections = list(self.server.connections().values())
        with connect(f"ws://127.0.0.1:{self.server.port}{SOCKET}", proxy=None) as client:
            channel = {"channel": f"tournaments.{self.tournament_id}", "auth": ""}
            client.send(json.dumps({"event": "pusher:subscribe", "data": channel}))
            while not self._is_over.is_set():
                try:
                    message = json.loads(client.recv(timeout=0.2))
                except TimeoutError:
                    continue
                if message["event"] == "TournamentUpdated":
                    number = number_in(json.loads(message["data"])["name"])
                    self.sightings.see(number, 0, "event")
                    self.read(dice.choice(connections), dice.randrange(2))


def number_in(name: str) -> int:
    """The number in the tournament's name."""
    found = NUMBER.match(name)
    assert found is not None, name
    return int(found[1])


@pytest.fixture
def sqlite_store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A fresh SQLite database with the schema."""
    path = tmp_path / "silverball.db"
    path.write_bytes(Path(request.getfixturevalue("empty_sqlite")).read_bytes())
    opened = Store(f"sqlite:///{path}")
    yield opened
    opened.close()


def test_clients_that_alternate_between_four_workers_never_go_back(store: Store, database_url: str) -> None:
    with WorkerServer(database_url) as server:
        night = Night(store, server)
        writers = list(server.connections().values())
        dice = Random(3)
        with night.watched():
            for number in range(1, WRITES + 1):
                if store.is_sqlite and number % 10 == 0:
                    night.rename_beside(number)
                else:
                    night.rename_by(dice.choice(writers), number)
                # Every worker knows the answer by now, so an old one would be found there.
                for connection in writers:
                    night.read(connection, number % 2)
        assert night.sightings.newest == WRITES
        assert night.sightings.steps_back == []
        assert night.sightings.readings > WRITES * 4


@pytest.mark.parametrize("fate", [signal.SIGSTOP, signal.SIGKILL])
def test_a_writer_that_stops_between_its_commit_and_its_mark_hides_nothing(
    sqlite_store: Store, fate: signal.Signals
) -> None:
    with WorkerServer(str(sqlite_store.url)) as server:
        night = Night(sqlite_store, server)
        connections = list(server.connections().values())
        night.rename_by(connections[0], 1)
        for connection in connections * 2:
            night.read(connection, 0)
        writer = subprocess.Popen(
            [
                sys.executable,
                str(PAUSED_WRITER),
                str(sqlite_store.url),
                str(night.tournament_id),
                str(fate.value),
            ],
            # A test finds its helpers by pytest's own path; a program of its own finds them by this one.
            env={**os.environ, "PYTHONPATH": str(PAUSED_WRITER.parents[1])},
        )
        try:
            wait_until(lambda: has_ended_between(writer, fate))
            # The commit can be seen although nobody was told of it.
            wait_until(
                lambda: build.ask(sqlite_store, night.path, by=night.admin)[1]["data"]["name"] == "Night 2"
            )
            for connection in connections * 2:
                night.sightings.see(
                    number_in(connection.get(night.path, **night.headers)[1]["data"]["name"]), 2, "paused"
                )
                night.read(connection, 1)
            if fate is signal.SIGSTOP:
                os.kill(writer.pid, signal.SIGCONT)
            writer.wait(60)
            for number in range(3, 8):
                night.rename_by(connections[number % 4], number)
                for connection in connections:
                    night.read(connection, number % 2)
        finally:
            writer.kill()
            writer.wait()
    assert night.sightings.steps_back == []


def has_ended_between(writer: subprocess.Popen[bytes], fate: signal.Signals) -> bool:
    """Whether the writer was stopped, or killed, by its own signal."""
    if fate is signal.SIGKILL:
        return writer.poll() == -signal.SIGKILL
    state = Path(f"/proc/{writer.pid}/stat").read_text(encoding="ascii").rpartition(") ")[2][0]
    return state == "T"


def test_a_worker_that_is_stopped_or_killed_leads_nobody_back(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url)) as server:
        night = Night(sqlite_store, server)
        dice = Random(8)
        number = 0
        for fate in (signal.SIGSTOP, signal.SIGKILL) * (20 if IS_SOAK else 2):
            by_worker = server.connections()
            victim = dice.choice(list(by_worker))
            others = [connection for worker, connection in by_worker.items() if worker != victim]
            dying = threading.Thread(target=_write_on, args=(night, by_worker[victim], number + 1))
            dying.start()
            time.sleep(dice.uniform(0.0, 0.2))
            os.kill(victim, fate)
            for _ in range(30):
                night.read(dice.choice(others), dice.randrange(2))
            if fate is signal.SIGSTOP:
                os.kill(victim, signal.SIGCONT)
            else:
                # Another one has taken its place when there are as many as before.
                server.wait_for_log("starting", len(server.started) + 1 - (len(server.process_ids) - 3))
            dying.join()
            number = night.sightings.newest + 100
            for connection in others:
                night.rename_by(connection, number)
                number += 1
                night.read(dice.choice(others), dice.randrange(2))
        assert night.sightings.steps_back == []


def _write_on(night: Night, connection: WorkerConnection, number: int) -> None:
    """Write until the worker is gone, or often enough."""
    for step in range(50):
        try:
            night.rename_by(connection, number + step)
        except OSError:
            return


def test_a_revoked_token_is_refused_by_all_workers_from_the_answer_on(sqlite_store: Store) -> None:
    with WorkerServer(str(sqlite_store.url)) as server:
        connections = list(server.connections().values())
        user = build.a_user(sqlite_store, name="Re Voked")
        for connection in connections:
            issued = a_token(sqlite_store, user)
            headers = {"Authorization": f"Bearer {issued.text}"}
            for other in connections:
                assert other.get("/api/users/profile", **headers)[0] == 200
            status, _ = connection.send("DELETE", f"/api/tokens/{issued.token_id}", None, **headers)
            assert status in {200, 204}
            for other in connections:
                assert other.get("/api/users/profile", **headers)[0] == 401


def a_token(store: Store, user_id: int) -> IssuedToken:
    """A token that may revoke itself."""
    with store.write() as transaction:
        return tokens.create_token(
            transaction.connection,
            user_id,
            "phone",
            abilities=["score"],
            now=datetime.now(UTC),
            dice=SystemRandom(),
        )
