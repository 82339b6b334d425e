"""T5: many devices at once. A key acts once, a round is opened once, one of two corrections wins."""

import http.client
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import func, select

from rules.night import a_night
from selection import IS_SOAK, LARGE_IN_SOAK, repetitions
from servers import Servers
from service import stored_nights
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import Store
from trials.figures import Figures, kind_of
from trials.ledger import organizers_token

pytestmark = LARGE_IN_SOAK

AT_ONCE = 32 if IS_SOAK else 16
RACES = repetitions(12, in_soak=500)
# In one tournament; more would make it larger than nights are.
GAMES_MAX = 20


@dataclass
class Answer:
    status: int
    body: Any
    is_replay: bool


class Devices:
    """Devices that send a request at the same moment."""

    def __init__(self, port: int, token: str, pool: ThreadPoolExecutor) -> None:
        self._port = port
        self._token = token
        self._pool = pool

    def send(self, method: str, path: str, body: Any = None, key: str | None = None) -> Answer:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        with closing(connection):
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            decoded = json.loads(answer.read() or b"null")
            return Answer(answer.status, decoded, answer.headers["Idempotency-Replayed"] == "true")

    def at_once(self, method: str, path: str, bodies: Sequence[Any], key: str | None = None) -> list[Answer]:
        """Send a request with each of these bodies, all at the same moment."""
        gate = Barrier(len(bodies))

        def send(body: Any) -> Answer:
            gate.wait()
            return self.send(method, path, body, key)

        return list(self._pool.map(send, bodies))


@contextmanager
def devices(store: Store, database_url: str) -> Iterator[Devices]:
    servers = Servers.without_limits(database_url)
    token = organizers_token(store, Random(3))
    try:
        servers.start()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield Devices(servers.port, token, pool)
    finally:
        servers.close()


def publish(trial: str, store: Store, answers: list[Answer], *, twice: int) -> None:
    figures = Figures(
        trial,
        kind_of(store),
        RACES,
        acknowledged=sum(answer.status < 300 for answer in answers),
        twice=twice,
        server_errors=sum(answer.status >= 500 and answer.status != 503 for answer in answers),
    )
    figures.publish()
    figures.assert_nothing_wrong()


def test_a_key_acts_once_however_many_devices_send_it(store: Store, database_url: str) -> None:
    night = stored_nights.a_stored_night(
        store, a_night("best_game", players=8, arenas=2, suggestions="disabled")
    )
    night.start()
    path = f"/api/tournaments/{night.tournament.tournament_id}/single-player-games"
    answers: list[Answer] = []
    with devices(store, database_url) as several:
        for race in range(RACES):
            body = {"playerId": 1 + race % 8, "arenaId": 501, "score": 5_000 + race}
            got = several.at_once("POST", path, [body] * AT_ONCE, f"race-{race}")
            # Whoever comes while the first is being answered is told to try again.
            assert {answer.status for answer in got} <= {200, 201, 409, 503}
            made = [answer for answer in got if answer.status < 300]
            assert sum(not answer.is_replay for answer in made) == 1
            assert len({json.dumps(answer.body, sort_keys=True) for answer in made}) == 1
            # The same key with another body is a mistake of the client.
            other = several.send("POST", path, {**body, "score": 1}, f"race-{race}")
            assert other.status == 422
            answers += got
    attempt = tables.single_player_game.c
    with store.read() as db:
        scores = Counter(db.execute(select(attempt.score)).scalars())
    assert scores.keys() == {5_000 + race for race in range(RACES)}
    publish("T5 same key", store, answers, twice=sum(count > 1 for count in scores.values()))


@pytest.mark.parametrize("correcting", [False, True], ids=["first result", "correction"])
def test_devices_that_record_one_game_leave_one_result(
    store: Store, database_url: str, correcting: bool
) -> None:
    answers: list[Answer] = []
    nights = [open_night(store, games=min(RACES, GAMES_MAX)) for _ in range(-(-RACES // GAMES_MAX))]
    with devices(store, database_url) as several:
        for night in nights:
            tournament_id = night.tournament.tournament_id
            for game in night.open_games():
                path = f"/api/tournaments/{tournament_id}/games/{game.game_id}/result"
                orders = [list(game.player_ids), list(reversed(game.player_ids))]
                if correcting:
                    assert several.send("PUT", path, {"resultPositions": orders[0]}).status == 200
                bodies = [{"resultPositions": orders[n % 2]} for n in range(AT_ONCE)]
                got = several.at_once("PUT", path, bodies)
                assert {answer.status for answer in got} <= {200, 409, 503}
                assert any(answer.status == 200 for answer in got)
                answers += got
    with store.read() as db:
        for night in nights:
            assert verification.verify_tournament(db, night.tournament.tournament_id).faults == []
    publish(f"T5 one game, {'corrected' if correcting else 'recorded'}", store, answers, twice=0)


def open_night(store: Store, *, games: int) -> stored_nights.StoredNight:
    """A night whose round has this many open games."""
    night = tonight(store, players=2 * games)
    night.open_round()
    return night


def tonight(store: Store, *, players: int) -> stored_nights.StoredNight:
    """A match play that has just been started: one without activity for two days would be completed."""
    plan = a_night("matchplay", players=players, arenas=4, gamesPerRound=1)
    plan.now = datetime.now(UTC).replace(microsecond=0)
    # Nobody else is there yet, and hundreds of them are made on a machine that may be busy.
    night = stored_nights.a_stored_night(store.with_limits(COPIES), plan)
    night.start()
    return night


def test_a_round_is_opened_once_however_many_devices_ask_for_it(store: Store, database_url: str) -> None:
    answers: list[Answer] = []
    doubled = 0
    nights = [tonight(store, players=8) for _ in range(RACES)]
    with devices(store, database_url) as several:
        for night in nights:
            path = f"/api/tournaments/{night.tournament.tournament_id}/rounds"
            got = several.at_once("POST", path, [None] * AT_ONCE)
            assert {answer.status for answer in got} <= {200, 201, 409, 503}
            assert sum(answer.status < 300 for answer in got) == 1
            answers += got
    with store.read() as db:
        for night in nights:
            tournament_id = night.tournament.tournament_id
            rounds = tables.round_.c
            count = select(func.count()).where(rounds.tournament_id == tournament_id)
            doubled += db.execute(count).scalar_one() != 1
            assert verification.verify_tournament(db, tournament_id).faults == []
    publish("T5 one round", store, answers, twice=doubled)
