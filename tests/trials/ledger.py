"""An independent ledger of acknowledged writes, and the clients that fill it.

A client notes a write as acknowledged after its 2xx has arrived, and sends what was not acknowledged
again with the same idempotency key. At the end each write must be stored once, and nothing else.
"""

import contextlib
import http.client
import itertools
import json
import queue
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, Self

from sqlalchemy import select, text, update

from patience import PATIENCE_SECONDS
from rules.night import a_night
from service import stored_nights
from silverball.service.journal.reads import verification
from silverball.service.users import writes as users_writes
from silverball.store import tables
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import Store
from silverball.store.tournament import journal
from trials.figures import Figures

CLIENTS = 8
PLAYERS = 40
ARENAS = 4
RETRY_SECONDS = 0.05
# Between a lost connection and the next try.
RECONNECT_SECONDS = 0.01
NO_FAULT = frozenset({200, 201, 503})


@dataclass
class Write:
    """One request; its key stays the same however often it is sent."""

    key: str
    method: str
    path: str
    body: dict[str, Any]
    tries: int = 0
    is_acknowledged: bool = False
    # By the clock of the system.
    acknowledged_at: float = 0.0


@dataclass
class Ledger:
    """All writes of a trial, in the order in which they were sent first."""

    writes: list[Write] = field(default_factory=list)
    # When each 2xx arrived.
    acknowledged_at: list[float] = field(default_factory=list)
    busy: int = 0
    unexpected: list[tuple[Write, int, bytes]] = field(default_factory=list)
    slowest_seconds: float = 0.0

    def recoveries(self, faults: Sequence[float]) -> list[float]:
        """Seconds from each fault to the next acknowledged write, unless another fault came before it."""
        seconds = []
        for fault, following in itertools.pairwise([*sorted(faults), float("inf")]):
            recovery = self.recovery_after(fault)
            if recovery is not None and fault + recovery < following:
                seconds.append(recovery)
        return seconds

    def recovery_after(self, moment: float) -> float | None:
        """Seconds from this moment to the next acknowledged write; None when there was none."""
        number = bisect_right(self.acknowledged_at, moment)
        return self.acknowledged_at[number] - moment if number < len(self.acknowledged_at) else None

    def await_recovery(self, moment: float) -> float:
        """Wait for the next acknowledged write, and return the seconds from this moment to it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            seconds = self.recovery_after(moment)
            if seconds is not None:
                return seconds
            time.sleep(0.005)
        raise AssertionError(f"nothing was acknowledged any more; unexpected: {self.unexpected[:1]}")

    def await_count(self, count: int) -> None:
        """Wait until so many writes are acknowledged."""
        last, deadline = -1, 0.0
        while len(self.acknowledged_at) < count:
            if len(self.acknowledged_at) > last:
                last, deadline = len(self.acknowledged_at), time.monotonic() + PATIENCE_SECONDS
            assert time.monotonic() < deadline, "nothing was acknowledged any more"
            time.sleep(0.02)

    def acknowledged_keys(self) -> set[str]:
        """The keys of the writes that are acknowledged by now."""
        return {write.key for write in list(self.writes) if write.is_acknowledged}

    @property
    def unknown(self) -> list[Write]:
        """The writes of which nobody knows whether they happened."""
        return [write for write in self.writes if not write.is_acknowledged]


class Work:
    """The writes that are to be sent: results of games, and scores without end."""

    def __init__(self, store: Store, *, rounds: int = 9, dice: Random | None = None) -> None:
        self.store = store
        self.dice = dice or Random(17)
        scores = a_night("best_game", players=PLAYERS, arenas=ARENAS, suggestions="disabled")
        games = a_night("matchplay", players=PLAYERS, arenas=ARENAS, gamesPerRound=rounds)
        # Nobody else is there yet, and the machine may be busy.
        unhurried = store.with_limits(COPIES)
        self.scores = stored_nights.a_stored_night(unhurried, scores)
        self.games = stored_nights.a_stored_night(unhurried, games)
        self.scores.start()
        self.games.start()
        self.games.open_round()
        self.token = organizers_token(store, self.dice)

    @property
    def tournament_ids(self) -> tuple[int, int]:
        return self.scores.tournament.tournament_id, self.games.tournament.tournament_id

    def writes(self) -> Iterator[Write]:
        """Scores, no two of which are alike, and the result of each open game in between."""
        results = self._results()
        self.dice.shuffle(results)
        for number in itertools.count():
            yield self._score(number)
            if results and self.dice.random() < 0.2:
                yield results.pop()

    def _score(self, number: int) -> Write:
        tournament_id = self.scores.tournament.tournament_id
        body = {"playerId": number % PLAYERS + 1, "arenaId": 501 + number % ARENAS, "score": 1_000 + number}
        path = f"/api/tournaments/{tournament_id}/single-player-games"
        return Write(f"score-{tournament_id}-{1_000 + number}", "POST", path, body)

    def _results(self) -> list[Write]:
        path = f"/api/tournaments/{self.games.tournament.tournament_id}/games"
        return [
            Write(
                f"game-{game.game_id}",
                "PUT",
                f"{path}/{game.game_id}/result",
                {"resultPositions": list(game.player_ids)},
            )
            for game in self.games.open_games()
        ]

    def stored(self, store: Store) -> Counter[str]:
        """The keys of the writes that are stored, as often as they are."""
        attempt = tables.single_player_game.c
        scores_id, games_id = self.tournament_ids
        with store.read() as db:
            scores = db.execute(select(attempt.score).where(attempt.tournament_id == scores_id)).scalars()
            keys = Counter(f"score-{scores_id}-{score}" for score in scores)
            for action in journal.all_actions(db, games_id):
                keys.update(
                    f"game-{data['after']['game_id']}"
                    for name, data in action.entries
                    if name == "GameCompleted"
                )
        return keys

    def torn(self, store: Store) -> list[str]:
        """What is wrong with the stored tournaments, and with an SQLite file."""
        faults: list[str] = []
        with store.read() as db:
            for tournament_id in self.tournament_ids:
                faults += map(str, verification.verify_tournament(db, tournament_id).faults)
            if store.is_sqlite:
                checked = db.execute(text("PRAGMA integrity_check")).scalars()
                faults += [line for line in checked if line != "ok"]
        return faults

    def gaps(self, store: Store) -> int:
        """The places where the stored announcements do not go on with the next number."""
        gaps = 0
        with store.read() as db:
            for tournament_id in self.tournament_ids:
                column = tables.announcement.c
                query = select(column.seq).where(column.tournament_id == tournament_id)
                seqs = list(db.execute(query.order_by(column.seq)).scalars())
                gaps += sum(later != earlier + 1 for earlier, later in itertools.pairwise(seqs))
        return gaps


class Clients:
    """Threads that send the work's writes to servers that come and go."""

    def __init__(
        self,
        work: Work,
        ledger: Ledger,
        ports: Callable[[int], int],
        *,
        count: int = CLIENTS,
        pause_seconds: float = 0.0,
    ) -> None:
        self.ledger = ledger
        self._writes = work.writes()
        self._ports = ports
        # After each write, where the machine is needed for something else too.
        self._pause_seconds = pause_seconds
        self._headers = {"Authorization": f"Bearer {work.token}", "Content-Type": "application/json"}
        self._again: queue.SimpleQueue[Write] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._until = threading.Event()
        self._threads = [threading.Thread(target=self._send_all, args=(n,)) for n in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._until.set()
        for thread in self._threads:
            thread.join()

    def resend(self, port: int) -> None:
        """Send what was not acknowledged once more, with the same keys, after all threads ended."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        with contextlib.closing(connection):
            for write in self.ledger.unknown:
                deadline = time.monotonic() + PATIENCE_SECONDS
                while not write.is_acknowledged and time.monotonic() < deadline:
                    self._send(connection, write)

    def _next(self) -> Write:
        with contextlib.suppress(queue.Empty):
            return self._again.get_nowait()
        with self._lock:
            write = next(self._writes)
            self.ledger.writes.append(write)
        return write

    def _send_all(self, number: int) -> None:
        while not self._until.is_set():
            connection = http.client.HTTPConnection(
                "127.0.0.1", self._ports(number), timeout=PATIENCE_SECONDS
            )
            write: Write | None = None
            with contextlib.closing(connection):
                try:
                    while not self._until.is_set():
                        write = self._next()
                        self._send(connection, write)
                        if not write.is_acknowledged:
                            self._again.put(write)
                            self._until.wait(RETRY_SECONDS)
                        write = None
                        self._until.wait(self._pause_seconds)
                except (OSError, http.client.HTTPException):
                    # Nobody knows whether it happened: it is sent again with its key.
                    if write is not None:
                        self._again.put(write)
                    self._until.wait(RECONNECT_SECONDS)

    def _send(self, connection: http.client.HTTPConnection, write: Write) -> None:
        write.tries += 1
        began = time.monotonic()
        headers = {**self._headers, "Idempotency-Key": write.key}
        connection.request(write.method, write.path, json.dumps(write.body), headers)
        answer = connection.getresponse()
        body = answer.read()
        with self._lock:
            arrived = time.monotonic()
            self.ledger.slowest_seconds = max(self.ledger.slowest_seconds, arrived - began)
            if answer.status in (200, 201):
                write.is_acknowledged, write.acknowledged_at = True, time.time()
                self.ledger.acknowledged_at.append(arrived)
            elif answer.status == 503 and answer.headers["Retry-After"]:
                self.ledger.busy += 1
            elif answer.status != 409:
                # 409: the same key is still being answered.
                self.ledger.unexpected.append((write, answer.status, body))


def organizers_token(store: Store, dice: Random) -> str:
    """A token with which the organizer of the stored nights may write."""
    user = tables.user
    with store.write() as transaction:
        transaction.connection.execute(
            update(user).where(user.c.user_id == stored_nights.ORGANIZER_ID).values(role="organizer")
        )
        made = users_writes.create_token(
            transaction.connection,
            stored_nights.ORGANIZER_ID,
            "clients",
            abilities=["manage"],
            now=datetime.now(UTC),
            dice=dice,
        )
    return made.text


def compare(
    trial: str,
    where: str,
    repetitions: int,
    work: Work,
    ledger: Ledger,
    store: Store,
    *,
    expected: Set[str] | None = None,
) -> Figures:
    """Compare the ledger with what is stored.

    Everything acknowledged must be there, or the keys that are expected of an earlier moment.
    """
    there = work.stored(store)
    acknowledged = ledger.acknowledged_keys() if expected is None else expected
    known = {write.key for write in ledger.writes}
    assert there.keys() <= known, "something is stored that nobody sent"
    return Figures(
        trial=trial,
        where=where,
        repetitions=repetitions,
        acknowledged=len(acknowledged),
        lost=len(acknowledged - there.keys()),
        twice=sum(count > 1 for count in there.values()),
        torn=len(work.torn(store)),
        gaps=work.gaps(store),
        server_errors=len(ledger.unexpected),
    )
