"""The hub: who follows which tournament, and what happens there on its way to them.

Everything here runs on the event loop, so nothing is locked. What is looked up (does the tournament
exist, what was missed) is awaited; meanwhile events are held back, never lost and never doubled.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from silverball.feed import messages, protocol
from silverball.feed.channel import Channel, Step, Turns
from silverball.feed.log import REPLAYED_BYTES_MAX, REPLAYED_MAX, Log, OnWatched, Unavailable
from silverball.feed.metrics import FeedMetrics
from silverball.feed.outgoing import Outgoing
from silverball.feed.protocol import Close, Resume, Subscribe, Unsubscribe
from silverball.feed.reader import Reader, Subscription
from silverball.store.announcements import Announced, Head

LOG = logging.getLogger("silverball.feed")
CHANNELS_MAX = 256
# What one connection asked for and waits for the database.
WISHES_MAX = 1_024
TICK_SECONDS = 30.0
FAILED = Close(protocol.INTERNAL, "Something went wrong here. Connect again.")
BUSY = Close(protocol.OVER_CAPACITY, "Too much is being looked up for you. Connect again.")


async def nobody(_tournament_id: int) -> None:
    """Where every event is published anyway, nobody needs to be told what is watched."""


@dataclass(frozen=True)
class Missed:
    """What somebody missed up to a number; None when nobody can tell any more."""

    head: Head
    until: int
    events: Sequence[Announced] | None


class Hub:
    """One for each process."""

    def __init__(
        self,
        log: Log,
        on_watched: OnWatched = nobody,
        *,
        now: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.metrics = FeedMetrics()
        self.now = now
        # Channels that have subscribers, or are about to.
        self.watched: set[int] = set()
        self._log = log
        # Whoever it is may be made after the hub.
        self.on_watched = on_watched
        self._wall_clock = wall_clock
        self._channels: dict[int, Channel] = {}
        self._turns = Turns()
        # A task that nobody holds may be collected before it is done.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def backlog(self) -> int:
        """How many pieces of work wait for their turn; a relay may wait until there are few."""
        return len(self._turns)

    # From the relay

    def publish(self, announced: Announced) -> None:
        """Send it to everybody who follows its tournament: each number of a channel once, in order."""
        channel = self._channels.get(announced.tournament_id)
        if channel is None:
            return
        channel.note(announced.epoch, announced.seq)
        channel.told_at = self.now()
        self._turns.deliver(channel, Outgoing(announced), self._delivered)

    def reset(self, tournament_id: int, epoch: str, seq: int) -> None:
        """The channel begins anew: who resumes is told that what he has is worth nothing now."""
        channel = self._channels.get(tournament_id)
        if channel is not None:
            channel.note(epoch, seq)
            self._turns.add(Step(lambda: self._begin_anew(channel, epoch, seq)))

    def gone(self, tournament_id: int) -> None:
        """The tournament was deleted."""
        channel = self._channels.get(tournament_id)
        if channel is not None:
            channel.is_gone = True
            self._turns.add(Step(lambda: self._end(channel)))

    def _delivered(self, events: Sequence[Outgoing], written: int) -> None:
        now = self._wall_clock()
        self.metrics.events_total += len(events)
        self.metrics.deliveries_total += len(events) * written
        for event in events:
            self.metrics.delivery_seconds.observe(now - event.announced.at.timestamp())

    def _begin_anew(self, channel: Channel, epoch: str, seq: int) -> None:
        for one in channel.everybody():
            if one.held is not None:
                one.begin_anew(epoch, seq)
            elif one.resumes:
                one.reader.say(messages.resumed(channel.name, epoch, seq, recovered=False))

    def _end(self, channel: Channel) -> None:
        for one in channel.everybody():
            self._leave(one)
            one.reader.say(protocol.no_such_tournament(channel.name))

    # From the connections

    def want(self, reader: Reader, wish: Subscribe | Unsubscribe) -> None:
        """Do what a client asks for, after everything that it asked for before."""
        if reader.wishes is not None:
            reader.wishes.append(wish)
            if len(reader.wishes) > WISHES_MAX:
                reader.send_away(BUSY)
        elif not self._at_once(reader, wish):
            reader.wishes = deque([wish])
            reader.task = self._start(self._work(reader))
            reader.task.add_done_callback(lambda done: self._worked(reader, done))

    def leave(self, reader: Reader) -> None:
        """The connection ends; its memberships vanish."""
        reader.close()
        if reader.task is not None:
            reader.task.cancel()
        for one in list(reader.subscriptions.values()):
            self._leave(one)

    def told_at(self, reader: Reader) -> float:
        """When something last happened in a channel of this reader."""
        return max((one.channel.told_at for one in reader.subscriptions.values()), default=0.0)

    def _at_once(self, reader: Reader, wish: Subscribe | Unsubscribe) -> bool:
        """Do it, if nothing has to be looked up for it."""
        own = reader.subscriptions.get(wish.tournament_id)
        if isinstance(wish, Unsubscribe):
            if own is not None:
                self._leave(own)
            return True
        if own is None and len(reader.subscriptions) >= CHANNELS_MAX:
            sentence = f"A connection can follow {CHANNELS_MAX} channels."
            name = messages.channel_name(wish.tournament_id)
            reader.say(messages.subscription_error(name, "LimitReached", sentence, 429))
            return True
        channel = self._channels.get(wish.tournament_id)
        if wish.resume is not None or channel is None or channel.is_gone or not channel.is_ready:
            return False
        self._join(reader, channel)
        reader.say(messages.subscribed(channel.name))
        return True

    def _join(self, reader: Reader, channel: Channel) -> Subscription:
        """The subscription of this reader; subscribing twice is one membership."""
        own = reader.subscriptions.get(channel.tournament_id)
        if own is None:
            own = reader.subscriptions[channel.tournament_id] = Subscription(reader, channel)
            channel.add(own)
            self.metrics.subscriptions += 1
        return own

    def _leave(self, one: Subscription) -> None:
        channel = one.channel
        one.is_open = one.is_clear = False
        channel.remove(one)
        channel.resumers -= one.resumes
        del one.reader.subscriptions[channel.tournament_id]
        one.reader.forget(channel.tournament_id)
        self.metrics.subscriptions -= 1
        self._drop_if_idle(channel)

    # What has to be looked up

    def _start(self, work: "asyncio._CoroutineLike[None]") -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _work(self, reader: Reader) -> None:
        try:
            while reader.wishes:
                wish = reader.wishes.popleft()
                if not self._at_once(reader, wish) and isinstance(wish, Subscribe):
                    await self._follow(reader, wish)
        finally:
            # In the same moment: what is asked for after the last look must begin a task of its own.
            reader.wishes = None

    def _worked(self, reader: Reader, done: "asyncio.Task[None]") -> None:
        if reader.task is done:
            reader.task = None
        if not done.cancelled() and done.exception() is not None:
            LOG.error("a subscription failed", exc_info=done.exception())
            reader.send_away(FAILED)

    async def _follow(self, reader: Reader, wish: Subscribe) -> None:
        channel = self._channels.get(wish.tournament_id)
        if channel is None or channel.is_gone:
            channel = self._channels[wish.tournament_id] = Channel(wish.tournament_id, self.now())
            channel.opening = asyncio.get_running_loop().create_task(self._open(channel))
            channel.opening.add_done_callback(lambda done: self._opened(channel, done))
        channel.pending += 1
        try:
            assert channel.opening is not None
            # Others wait for the same, so it goes on when this one hangs up.
            exists = await asyncio.shield(channel.opening)
            if not exists or channel.is_gone:
                reader.say(protocol.no_such_tournament(channel.name))
            elif wish.resume is None:
                self._join(reader, channel)
                reader.say(messages.subscribed(channel.name))
            else:
                await self._resume(reader, channel, wish.resume)
        except Unavailable:
            sentence = "The tournament cannot be looked up now. Subscribe again."
            reader.say(messages.subscription_error(channel.name, "Unavailable", sentence, 503))
        finally:
            channel.pending -= 1
            self._drop_if_idle(channel)

    async def _open(self, channel: Channel) -> bool:
        head = await self._log.head(channel.tournament_id)
        if head is None:
            return False
        self.watched.add(channel.tournament_id)
        await self.on_watched(channel.tournament_id)
        if not channel.epoch:
            channel.note(head.epoch, head.seq)
        return True

    def _opened(self, channel: Channel, done: "asyncio.Task[bool]") -> None:
        # Asked for, or Python would report it as lost when everybody has hung up meanwhile.
        done.cancelled() or done.exception()
        self._drop_if_idle(channel)

    def _drop_if_idle(self, channel: Channel) -> None:
        if not channel.is_idle or (channel.opening is not None and not channel.opening.done()):
            return
        if self._channels.get(channel.tournament_id) is channel:
            del self._channels[channel.tournament_id]
            self.watched.discard(channel.tournament_id)

    async def _resume(self, reader: Reader, channel: Channel, resume: Resume) -> None:
        own = self._join(reader, channel)
        channel.resumers += not own.resumes
        own.resumes = reader.has_resumed = True
        # First held, then looked up: what happens in between is in one of the two, or in both.
        own.hold()
        try:
            missed = await self._missed(channel, resume)
        except Unavailable:
            if own.is_open:
                self._leave(own)
            raise
        # After everything that was published so far: what is looked up already must not come again.
        caught_up = asyncio.Event()
        self._turns.add(Step(lambda: self._catch_up(own, missed, caught_up)))
        # And before anything else that this client asks for.
        await caught_up.wait()

    async def _missed(self, channel: Channel, resume: Resume) -> Missed | None:
        tournament_id = channel.tournament_id
        head = await self._log.head(tournament_id)
        if head is None:
            return None
        until = max(head.seq, channel.seq) if channel.epoch == head.epoch else head.seq
        can_be_told = resume.epoch == head.epoch and head.low <= resume.seq <= until
        if not can_be_told or resume.seq < 0 or until - resume.seq > REPLAYED_MAX:
            return Missed(head, until, None)
        if resume.seq == until:
            return Missed(head, until, ())
        events = await self._log.since(
            tournament_id, head.epoch, resume.seq, until, REPLAYED_MAX, REPLAYED_BYTES_MAX
        )
        return Missed(head, until, events)

    def _catch_up(self, own: Subscription, missed: Missed | None, caught_up: asyncio.Event) -> None:
        """Confirm the subscription, send what was missed and what was held back, and go live."""
        caught_up.set()
        reader, name = own.reader, own.channel.name
        if not own.is_open:
            return
        if missed is None:
            self._leave(own)
            reader.say(protocol.no_such_tournament(name))
            return
        epoch, seq = own.anew or (missed.head.epoch, missed.until)
        events = missed.events if own.anew is None else None
        self.metrics.resumes_recovered_total += events is not None
        self.metrics.resumes_lost_total += events is None
        reader.say(messages.resumed(name, epoch, seq, recovered=events is not None))
        live = [one for one in own.release() if one.announced.epoch == epoch and one.seq > seq]
        reader.replay([*map(Outgoing, events or ()), *live])

    # From the clock

    def sweep(self, now: float) -> None:
        """Tell who counts the numbers where a quiet channel stands, so that a lost tail is noticed."""
        quiet = [
            channel
            for channel in self._channels.values()
            if channel.resumers and now - channel.told_at >= TICK_SECONDS
        ]
        for channel in quiet:
            channel.told_at = now
        if quiet:
            self._start(self._tick(quiet))

    async def _tick(self, channels: Sequence[Channel]) -> None:
        for channel in channels:
            try:
                head = await self._log.head(channel.tournament_id)
            except Unavailable:
                continue
            if head is None:
                continue
            text = messages.tick(channel.name, head.epoch, head.seq)
            for one in channel.everybody():
                if one.resumes and one.held is None:
                    one.reader.say(text)

    def close(self) -> None:
        """Look nothing up any more."""
        for task in self._tasks:
            task.cancel()
        for channel in self._channels.values():
            if channel.opening is not None:
                channel.opening.cancel()
