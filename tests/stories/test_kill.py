"""Servers killed while writing: acknowledged requests are stored, and none is stored twice.

Eight clients record scores and results, each request with its own idempotency key. The server is killed
with SIGKILL and started again, and unacknowledged requests are sent again with the same key.
"""

import contextlib
import http.client
import json
import queue
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from sqlalchemy import select, update

from rules.night import a_night
from servers import Servers
from service import stored_nights
from silverball.service.tokens import writes as tokens
from silverball.service.verify import reads
from silverball.store import journal, tables
from silverball.store.engine import Store

KILLS = 25
LIFE_SECONDS = (0.02, 0.25)
CLIENTS = 8
PLAYERS = 40


@dataclass
class Job:
    """One request; its key stays the same however often it is sent."""

    key: str
    method: str
    path: str
    body: dict[str, Any]
    tries: int = 0
    answers: list[int] = field(default_factory=list)


class Clients:
    """Threads that send jobs and keep those whose answer they did not see."""

    def __init__(self, jobs: list[Job], token: str) -> None:
        self._waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in jobs:
            self._waiting.put(job)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.unexpected: list[Any] = []

    def run(self, servers: Servers, until: threading.Event) -> list[threading.Thread]:
        threads = [
            threading.Thread(target=self._send_all, args=(servers.port, until)) for _ in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        return threads

    def _send_all(self, port: int, until: threading.Event) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        with contextlib.closing(connection):
            while not until.is_set():
                try:
                    job = self._waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    self._send(connection, job)
                except (OSError, http.client.HTTPException):
                    # Nobody knows whether it happened: it is sent again with its key.
                    self._waiting.put(job)
                    return

    def _send(self, connection: http.client.HTTPConnection, job: Job) -> None:
        headers = {**self._headers, "Idempotency-Key": job.key}
        job.tries += 1
        connection.request(job.method, job.path, json.dumps(job.body), headers)
        answer = connection.getresponse()
        body = answer.read()
        job.answers.append(answer.status)
        if answer.status not in (200, 201):
            self.unexpected.append((job, answer.status, body))


def _attempts(tournament_id: int, count: int) -> list[Job]:
    """A score each, no two alike: a score that is there twice was recorded twice."""
    path = f"/api/tournaments/{tournament_id}/single-player-games"
    return [
        Job(
            f"score-{tournament_id}-{n}",
            "POST",
            path,
            {"playerId": n % PLAYERS + 1, "arenaId": 501 + n % 4, "score": 1_000 + n},
        )
        for n in range(count)
    ]


def _results(night: stored_nights.StoredNight) -> list[Job]:
    """The result of every open game."""
    path = f"/api/tournaments/{night.tournament.tournament_id}/games"
    return [
        Job(
            f"game-{game.game_id}",
            "PUT",
            f"{path}/{game.game_id}/result",
            {"resultPositions": list(game.player_ids)},
        )
        for game in night.open_games()
    ]


def _mixed(dice: Random, *lists: list[Job]) -> list[Job]:
    jobs = [job for listed in lists for job in listed]
    dice.shuffle(jobs)
    return jobs


def _token(store: Store) -> str:
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.user)
            .where(tables.user.c.user_id == stored_nights.ORGANIZER_ID)
            .values(role="organizer")
        )
        made = tokens.create_token(
            transaction.connection,
            stored_nights.ORGANIZER_ID,
            "clients",
            abilities=["manage"],
            now=datetime.now(UTC),
            dice=Random(3),
        )
    return made.text


def test_what_was_acknowledged_before_a_kill_is_there_once(store: Store, database_url: str) -> None:
    dice = Random(17)
    scores = stored_nights.a_stored_night(
        store, a_night("best_game", players=PLAYERS, arenas=4, suggestions="disabled")
    )
    scores.start()
    games = stored_nights.a_stored_night(
        store, a_night("matchplay", players=PLAYERS, arenas=4, gamesPerRound=9)
    )
    games.start()
    games.open_round()
    jobs = _mixed(dice, _attempts(scores.tournament.tournament_id, 1_500), _results(games))
    token, servers = _token(store), Servers(database_url)
    clients = Clients(jobs, token)
    try:
        for _ in range(KILLS):
            _one_life(servers, clients, dice.uniform(*LIFE_SECONDS))
        unknown = [job for job in jobs if job.tries and not job.answers]
        once_more = Clients(unknown, token)
        servers.start()
        for thread in once_more.run(servers, threading.Event()):
            thread.join()
    finally:
        servers.close()
    assert clients.unexpected + once_more.unexpected == []
    assert any(job.tries > 1 for job in jobs)
    _check_scores(store, scores.tournament.tournament_id, jobs)
    _check_results(store, games.tournament.tournament_id, jobs)


def _one_life(servers: Servers, clients: Clients, seconds: float) -> None:
    servers.start()
    until = threading.Event()
    threads = clients.run(servers, until)
    time.sleep(seconds)
    servers.kill()
    until.set()
    for thread in threads:
        thread.join()


def _check_scores(store: Store, tournament_id: int, jobs: list[Job]) -> None:
    attempt = tables.single_player_game.c
    with store.read() as db:
        there = Counter(
            db.execute(select(attempt.score).where(attempt.tournament_id == tournament_id)).scalars()
        )
        assert reads.verify_tournament(db, tournament_id).faults == []
    assert there == Counter(job.body["score"] for job in jobs if job.answers and "score" in job.body)


def _check_results(store: Store, tournament_id: int, jobs: list[Job]) -> None:
    with store.read() as db:
        entries = [change for action in journal.all_actions(db, tournament_id) for change in action.entries]
        assert reads.verify_tournament(db, tournament_id).faults == []
    there = Counter(f"game-{data['after']['game_id']}" for name, data in entries if name == "GameCompleted")
    assert there == Counter(job.key for job in jobs if job.answers and "score" not in job.body)
