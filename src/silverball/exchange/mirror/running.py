"""A mirror that runs: each event is followed by a read of what it names, silence by a comparison."""

import queue
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct, field

from silverball.exchange.mirror.applying import MirrorCopy
from silverball.exchange.mirror.feed import Heard
from silverball.exchange.mirror.known_parts import KnownParts
from silverball.exchange.pull.source import SourceBusy, SourceFault
from silverball.kit.errors import Refusal
from silverball.service.mirrors import writes

QUIET_SECONDS = 20.0
COMPARE_SECONDS = 60.0
STANDINGS_SECONDS = 15.0
SENTENCES_MAX = 5
LAGS_MAX = 1_000
WAIT_SECONDS = 1.0
# Pauses that the other service asks for: so long, and pages say of when they are.
LONG_PAUSE_SECONDS = 15.0


class MirrorRun(Struct):
    """One mirror and the events that wait for it."""

    copy: MirrorCopy
    known: KnownParts
    heard: "queue.Queue[Heard]"
    now: Callable[[], datetime]
    # Seconds that only go up.
    clock: Callable[[], float]
    say: Callable[[str], None]
    # How long a step waits for an event.
    wait_seconds: float = WAIT_SECONDS
    lags: list[float] = field(default_factory=list)
    compared_at: float = 0.0
    heard_at: float = 0.0
    # When the standings were compared last, and whether they have been since the last change.
    ranked_at: float = 0.0
    is_ranked: bool = False
    # Differences that were found once, which may be a matter of time, and those that were said.
    doubts: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    answered_at: datetime | None = None
    is_lost: bool = False
    # The kind of fault that was said last.
    fault: type[SourceFault] | None = None

    def begin(self) -> None:
        """Take what was read just now as the state of this moment, whatever an earlier run has lost."""
        self.answered_at, self.compared_at, self.heard_at = self.now(), self.clock(), self.clock()
        self._note(None)

    def leave(self) -> None:
        """Let pages say of when they are: nobody follows the other service any more."""
        if not self.is_lost:
            self._note(self.answered_at)

    def pause(self, seconds: float, sleep: Callable[[float], None]) -> None:
        """Sleep as long as the other service asks for; when that is long, pages say so meanwhile."""
        if seconds >= LONG_PAUSE_SECONDS:
            self._lose(SourceBusy(f"The other service asks for a pause of {seconds:.0f} seconds."))
        sleep(seconds)

    def step(self) -> None:
        """Wait a little for events, and bring the copy up to date where it may be behind."""
        events = self._events()
        now = self.clock()
        if events:
            self.heard_at = now
        was_cut = any(not event.name for event in events)
        is_quiet = now - self.heard_at >= QUIET_SECONDS and self.compared_at < self.heard_at + QUIET_SECONDS
        if was_cut or is_quiet or now - self.compared_at >= COMPARE_SECONDS:
            self._update(())
        elif events:
            # What was announced while nothing could be read is not known.
            self._update(() if self.is_lost else events)
        elif not self.is_ranked and not self.is_lost and now - self.ranked_at >= STANDINGS_SECONDS:
            self._compare_standings()
        self.lags += [self.clock() - event.at for event in events if event.name and not self.is_lost]
        del self.lags[:-LAGS_MAX]

    def lag(self) -> tuple[int, int]:
        """Median and 99th percentile in milliseconds from an event there to its announcement here."""
        if not self.lags:
            return 0, 0
        ordered = sorted(self.lags)
        places = (len(ordered) // 2, min(len(ordered) - 1, len(ordered) * 99 // 100))
        median, p99 = (round(1_000 * ordered[place]) for place in places)
        return median, p99

    def _events(self) -> list[Heard]:
        """All events that wait, at least one if it comes in time."""
        events: list[Heard] = []
        try:
            events.append(self.heard.get(timeout=self.wait_seconds))
            while True:
                events.append(self.heard.get_nowait())
        except queue.Empty:
            return events

    def _update(self, events: Sequence[Heard]) -> None:
        """Read what the events name, or without events everything."""
        try:
            self._read_and_apply(events)
        except SourceFault as error:
            self._lose(error)
            return
        except Refusal as error:
            # Read while it went on: the next comparison finds it whole.
            self.say(f"It was read while it changed, and is compared again. {error.message}")
            self.compared_at = self.clock() - COMPARE_SECONDS + WAIT_SECONDS
            return
        self.answered_at = self.now()
        if self.is_lost:
            self.is_lost, self.fault = False, None
            self._note(None)
            self.say("The other service answers again.")

    def _read_and_apply(self, events: Sequence[Heard]) -> None:
        """Raises SourceFault, and Refusal for a state that is none."""
        if events:
            self.known.read_named([(event.name, event.data) for event in events])
            try:
                self._apply()
                return
            except Refusal:
                # What is read later fits to what was read before, or everything is read.
                pass
        self.known.read_everything()
        self.compared_at = self.clock()
        self._apply()

    def _apply(self) -> None:
        """Raises Refusal."""
        if self.copy.apply(self.known.raw, self.now()):
            self.is_ranked = False

    def _compare_standings(self) -> None:
        """Compare the standings in a quiet second; a difference counts when it is found a second time."""
        self.ranked_at = self.clock()
        try:
            there = self.known.read_standings()
        except SourceFault as error:
            self._lose(error)
            return
        found = self.copy.standing_differences(there)
        self.is_ranked = not found or found == self.doubts
        self.doubts = found
        if self.is_ranked and found != self.differences:
            self.differences = found
            self._say_differences()

    def _say_differences(self) -> None:
        found = self.differences
        if not found:
            self.say("The standings are the same again as there.")
        for sentence in found[:SENTENCES_MAX]:
            self.say(f"The standings differ: {sentence}")
        if len(found) > SENTENCES_MAX:
            self.say(f"The standings differ for {len(found) - SENTENCES_MAX} more players.")
        with self.copy.store.write(self.copy.tournament_id) as transaction:
            writes.note_standings(transaction, self.copy.tournament_id, len(found))

    def _lose(self, fault: SourceFault) -> None:
        self.compared_at = self.clock()
        if type(fault) is not self.fault:
            self.fault = type(fault)
            self.say(str(fault))
        if not self.is_lost:
            self.is_lost = True
            self._note(self.answered_at)

    def _note(self, lost_at: datetime | None) -> None:
        with self.copy.store.write(self.copy.tournament_id) as transaction:
            writes.note_loss(transaction, self.copy.tournament_id, lost_at)
