"""Missed events, looked up once and encoded once for all clients that come back with the same number.

When a node or a venue's network comes back, thousands of clients ask for the same events within seconds.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from silverball.feed.messages import FrameEncoding, OutgoingEvent
from silverball.feed.stored_events import EventLog
from silverball.store.database.engine import Commit
from silverball.store.tournament.announcements import Announcement, ChannelHead

T = TypeVar("T")
# After this many clients the event loop turns to its other work.
CLIENTS_PER_TURN = 50
# A lookup serves those who come within this time after it began, unless this process commits something.
KEPT_SECONDS = 0.25
LOOKUPS_KEPT_MAX = 16
# Frames go to a socket in pieces of this size, so that a slow client's socket does not hold them all.
PIECE_BYTES_MAX = 65_536
# A piece of a replay: tournament and number of its last event, and the frames.
Piece = tuple[tuple[int, int], bytes]


class Pacer:
    """Calls that are made at once, but so few a turn of the event loop that others have theirs."""

    def __init__(self, calls_per_turn: int = CLIENTS_PER_TURN) -> None:
        self._calls_per_turn = calls_per_turn
        self._left = calls_per_turn
        self._waiting: deque[Callable[[], None]] = deque()

    def call(self, work: Callable[[], None]) -> None:
        """Make a call, after all that wait already."""
        if self._left and not self._waiting:
            self._left -= 1
            work()
            return
        self._waiting.append(work)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._begin_turn)

    async def outcome(self, task: "asyncio.Task[T]") -> T:
        """The result of a task that many wait for; it goes on when one of them ends."""
        if not task.done():
            turn = asyncio.get_running_loop().create_future()
            task.add_done_callback(lambda _task: self.call(partial(_end_wait, turn)))
            await turn
        return task.result()

    def _begin_turn(self) -> None:
        self._left = self._calls_per_turn
        try:
            while self._waiting and self._left:
                self._left -= 1
                self._waiting.popleft()()
        finally:
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._begin_turn)


def _end_wait(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)


class Replay:
    """Events that follow on a number, and their frames for each encoding so far."""

    def __init__(self, head: ChannelHead | None, events: Sequence[Announcement]) -> None:
        self.head = head
        self.events = [OutgoingEvent(event) for event in events]
        self._pieces: dict[FrameEncoding, list[Piece]] = {}

    @property
    def seqs(self) -> list[int]:
        """The numbers of the events."""
        return [event.seq for event in self.events]

    @property
    def data_bytes(self) -> int:
        """The size of all payloads."""
        return sum(len(event.announcement.data) for event in self.events)

    def pieces(self, encoding: FrameEncoding) -> list[Piece]:
        """The frames of all events, joined to pieces that are not much larger than one event."""
        pieces = self._pieces.get(encoding)
        if pieces is None:
            pieces = self._pieces[encoding] = _join_frames(self.events, encoding)
        return pieces


def _join_frames(events: Sequence[OutgoingEvent], encoding: FrameEncoding) -> list[Piece]:
    pieces: list[Piece] = []
    frames: list[bytes] = []
    size = 0
    for event in events:
        frames.append(event.encode(encoding))
        size += len(frames[-1])
        if size >= PIECE_BYTES_MAX or event is events[-1]:
            pieces.append(((event.tournament_id, event.seq), b"".join(frames)))
            frames, size = [], 0
    return pieces


class ReplayKey(NamedTuple):
    """A client's number in a channel, and how many events it misses."""

    tournament_id: int
    after: int
    missed: int


class _Lookup(NamedTuple):
    task: "asyncio.Task[Replay]"
    began_at: float
    mark: object


class ReplayLookups:
    """The lookups of missed events, shared by all who miss the same at the same time."""

    def __init__(self, log: EventLog, pacer: Pacer, now: Callable[[], float]) -> None:
        self._log = log
        self._pacer = pacer
        self._now = now
        self._lookups: dict[ReplayKey, _Lookup] = {}
        # Replaced by every commit of this process, which may have hidden something.
        self._mark = object()

    def forget(self, _commit: Commit | None = None) -> None:
        """Look up anew from now on, as after each commit. May be called from any thread."""
        self._mark = object()

    async def find(self, key: ReplayKey) -> Replay:
        """The events that follow on a number. Raises EventsUnavailable."""
        lookup = self._lookups.get(key)
        if lookup is None or not self._is_fresh(lookup):
            lookup = self._begin(key)
        return await self._pacer.outcome(lookup.task)

    def _is_fresh(self, lookup: _Lookup) -> bool:
        return lookup.mark is self._mark and self._now() - lookup.began_at < KEPT_SECONDS

    def _begin(self, key: ReplayKey) -> _Lookup:
        self._lookups = {known: lookup for known, lookup in self._lookups.items() if self._is_fresh(lookup)}
        task = asyncio.get_running_loop().create_task(self._load(key))
        # Retrieved, or Python would report the exception as lost when all clients have gone meanwhile.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        lookup = _Lookup(task, self._now(), self._mark)
        if len(self._lookups) < LOOKUPS_KEPT_MAX:
            self._lookups[key] = lookup
        return lookup

    async def _load(self, key: ReplayKey) -> Replay:
        return Replay(*await self._log.events_page(*key))

    def close(self) -> None:
        """Cancel what is being looked up."""
        for lookup in self._lookups.values():
            lookup.task.cancel()
