"""Missed events, looked up once and encoded once for all clients that come back with the same number.

When a node or a venue's network comes back, thousands of clients ask for the same events within seconds.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from silverball.feed.messages import FrameEncoding, OutgoingEvent
from silverball.feed.stored_events import REPLAYED_BYTES_MAX, EventLog
from silverball.store.database.engine import Commit
from silverball.store.tournament.announcements import Announcement, ChannelHead

T = TypeVar("T")
# After this many clients the event loop turns to its other work.
CLIENTS_PER_TURN = 50
# A lookup serves those who come within this time after it began, unless this process commits something.
KEPT_SECONDS = 0.25
LOOKUPS_KEPT_MAX = 16
# The newest events of all things that changed serve those who come within this time, which bounds how long
# what another node hides is still sent.
COMPACTION_SECONDS = 1.0
COMPACTED_EVENTS_MAX = 10_000
EVENTS_PER_READ = 500
COMPACTED_REPLAYS_MAX = 16
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

    def __init__(self, head: ChannelHead | None, events: Sequence[OutgoingEvent]) -> None:
        self.head = head
        self.events = events
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


class Compaction:
    """The newest event of each thing that changed in a channel, as far as they fit into one replay."""

    def __init__(self, epoch: str, after: int) -> None:
        self.epoch = epoch
        # The events after this number are known, up to the other one.
        self.since = self.until = after
        self._newest: OrderedDict[tuple[object, ...], OutgoingEvent] = OrderedDict()
        self._bytes = 0
        self._replays: dict[tuple[int, int], Replay] = {}

    def add(self, announcement: Announcement) -> None:
        """Add the next event, in place of an older one of the same thing."""
        event = OutgoingEvent(announcement)
        replaced = self._newest.pop(event.conflation_key, None)
        self._bytes += len(announcement.data) - (len(replaced.announcement.data) if replaced else 0)
        self._newest[event.conflation_key] = event
        self.until = event.seq
        while self._bytes > REPLAYED_BYTES_MAX:
            _, oldest = self._newest.popitem(last=False)
            self._bytes -= len(oldest.announcement.data)
            self.since = oldest.seq

    def replay(self, after: int, until: int) -> Replay | None:
        """The newest events of what changed after a number, up to another; None where that is too much.

        What changed once more after the second number is left out: its event comes with the live ones.
        """
        if after < self.since or until > self.until:
            return None
        replay = self._replays.get((after, until))
        if replay is None:
            if len(self._replays) >= COMPACTED_REPLAYS_MAX:
                self._replays.clear()
            events = [event for event in self._newest.values() if after < event.seq <= until]
            replay = self._replays[after, until] = Replay(None, events)
        return replay


class ReplayKey(NamedTuple):
    """A client's number in a channel, and how many events it misses."""

    tournament_id: int
    after: int
    missed: int


class _Lookup(NamedTuple):
    task: "asyncio.Task[Replay]"
    began_at: float
    mark: object


class _CompactionLookup(NamedTuple):
    task: "asyncio.Task[Compaction]"
    began_at: float
    mark: object
    until: int


class ReplayLookups:
    """The lookups of missed events, shared by all who miss the same at the same time."""

    def __init__(self, log: EventLog, pacer: Pacer, now: Callable[[], float]) -> None:
        self._log = log
        self._pacer = pacer
        self._now = now
        self._lookups: dict[ReplayKey, _Lookup] = {}
        # Replaced by every commit of this process, which may have hidden something.
        self._mark = object()
        self._compactions: dict[int, _CompactionLookup] = {}
        # Replaced when this process hid something.
        self._hiding_mark = object()

    def forget(self, commit: Commit | None = None) -> None:
        """Look up anew from now on, as after each commit. May be called from any thread."""
        self._mark = object()
        if commit is None or commit.hidings:
            self._hiding_mark = object()

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
        head, events = await self._log.events_page(*key)
        return Replay(head, [OutgoingEvent(event) for event in events])

    async def find_newest(self, tournament_id: int, epoch: str, after: int, until: int) -> Replay | None:
        """The newest event of each thing that changed between two numbers; None if too large or gone.

        Raises EventsUnavailable.
        """
        lookup = self._compactions.get(tournament_id)
        if lookup is None or not self._is_compaction_fresh(lookup, epoch):
            start = max(0, until - COMPACTED_EVENTS_MAX)
            lookup = self._begin_compaction(
                tournament_id, self._compact(tournament_id, epoch, start, until), until
            )
        elif lookup.until < until:
            more = self._extend(lookup.task, tournament_id, until)
            lookup = self._begin_compaction(tournament_id, more, until, lookup.began_at)
        compaction = await self._pacer.outcome(lookup.task)
        return compaction.replay(after, until) if compaction.epoch == epoch else None

    def _is_compaction_fresh(self, lookup: _CompactionLookup, epoch: str) -> bool:
        if lookup.mark is not self._hiding_mark or self._now() - lookup.began_at >= COMPACTION_SECONDS:
            return False
        task = lookup.task
        return not task.done() or (
            not task.cancelled() and task.exception() is None and task.result().epoch == epoch
        )

    def _begin_compaction(
        self,
        tournament_id: int,
        work: "asyncio._CoroutineLike[Compaction]",
        until: int,
        began_at: float | None = None,
    ) -> _CompactionLookup:
        mark, now = self._hiding_mark, self._now()
        self._compactions = {
            known: lookup
            for known, lookup in self._compactions.items()
            if lookup.mark is mark and now - lookup.began_at < COMPACTION_SECONDS
        }
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        lookup = _CompactionLookup(task, now if began_at is None else began_at, mark, until)
        self._compactions[tournament_id] = lookup
        return lookup

    async def _compact(self, tournament_id: int, epoch: str, after: int, until: int) -> Compaction:
        return await self._read_on(Compaction(epoch, after), tournament_id, until)

    async def _extend(self, known: "asyncio.Task[Compaction]", tournament_id: int, until: int) -> Compaction:
        return await self._read_on(await asyncio.shield(known), tournament_id, until)

    async def _read_on(self, compaction: Compaction, tournament_id: int, until: int) -> Compaction:
        """Add the events up to this number; fewer where the channel has begun anew."""
        while compaction.until < until:
            count = min(EVENTS_PER_READ, until - compaction.until)
            head, events = await self._log.events_page(tournament_id, compaction.until, count)
            if head is None or head.epoch != compaction.epoch or not events:
                break
            if compaction.until < head.low:
                # Older ones are not kept any more.
                compaction = Compaction(compaction.epoch, head.low)
                continue
            if events[0].seq != compaction.until + 1:
                break
            for event in events:
                compaction.add(event)
        return compaction

    def close(self) -> None:
        """Cancel what is being looked up."""
        for lookup in self._lookups.values():
            lookup.task.cancel()
        for compaction in self._compactions.values():
            compaction.task.cancel()
