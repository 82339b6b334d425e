"""The pulls that accounts started on a page, in a process of their own beside the program that serves.

A pull is worked on for a few minutes at a time, so that others get their turn. No transaction is open
during a request. Each tournament is stored completely, then its report; a process that is killed loses
the tournament that it was reading, and three minutes later another one goes on.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct, field

from silverball.jobs.workers import POLL_SECONDS, Workers
from silverball.kit.processes import ProcessEnded, SpawnedProcess
from silverball.kit.values import convert
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.service.moving.reads import ListedItem
from silverball.service.moving.writes import ClaimedPull
from silverball.settings import Settings
from silverball.store import processes
from silverball.store.counts.source_turns import SharedTurns, shared_turns
from silverball.store.database import deadlines
from silverball.store.database.engine import Store

if TYPE_CHECKING:
    from silverball.exchange.pull.source import Ask, PullSource
    from silverball.exchange.pull.taking import Pull, PullOptions

FETCHING_MODULE = "silverball.cli.fetching"
WORK, WORKED = b"work", b"worked"
SLICE_SECONDS = 180.0
# A longer wait that a source asks for is spent without the thread.
WAIT_SECONDS_MAX = 65.0
ANSWER_SECONDS_MAX = 10.0
RENEW_SECONDS = 20.0
REQUESTS_MAX = 20_000
TOURNAMENTS_MAX = 5_000
TOURNAMENT_BYTES_MAX = 16 * 2**20
# Faults in a row that may pass, and the pause after each.
FAILURES_MAX = 12
PAUSE = timedelta(minutes=5)
USED_UP = f"It has used up its {REQUESTS_MAX} requests. Start it again to go on."
TOO_MANY = f"There are more than {TOURNAMENTS_MAX} tournaments. Name an owner, a series or a first day."
GIVEN_UP = "It was cut off too often. Start it again, and tell whoever runs this site if that does not help."
MAY_NOT = "The account may not bring anything along any more."
# Address and token -> the name of the source, and a function that asks it. Raises SourceFault.
OpenSource: TypeAlias = "Callable[[str, str], tuple[str, Ask]]"


class PullPostponed(Exception):
    """Ends the work on a pull for now: it was stopped, or the source wants to be left alone."""

    def __init__(self, seconds: float = 0.0, reason: str | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds
        self.reason = reason


class HistoryPuller(Struct):
    """Works on the pulls of one database."""

    store: Store
    settings: Settings
    # Called with the first pull, because the HTTP client is slow to load.
    open_client: Callable[[], OpenSource]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    # Seconds -> whether the wait was cut off by the program's end.
    wait: Callable[[float], bool] | None = None
    dice: Random = field(default_factory=SystemRandom)
    closing: threading.Event = field(default_factory=threading.Event)

    def work_on_one(self) -> bool:
        """Work on the pull that has waited longest, for a while. Returns whether there was any."""
        with self.store.read() as db:
            if not moving_reads.is_pull_due(db, self._current_second()):
                return False
        with self.store.write(quiet=True) as transaction:
            pull = moving_writes.claim_next_pull(transaction.connection, self._current_second())
        if pull is None:
            return False
        PullSlice(self, pull, self.now()).work()
        return True

    def sleep(self, seconds: float) -> None:
        """Wait for the source. Raises PullPostponed when that takes long, or the program ends."""
        if seconds > WAIT_SECONDS_MAX:
            raise PullPostponed(seconds, "The source asked for a pause.")
        if (self.wait or self.closing.wait)(seconds):
            raise PullPostponed

    def _current_second(self) -> datetime:
        return self.now().replace(microsecond=0)


class PullSlice:
    """A few minutes of work on one pull."""

    def __init__(self, puller: HistoryPuller, pull: ClaimedPull, began: datetime) -> None:
        self._puller = puller
        self._pull = pull
        self._began = began
        self._renewed = began
        self._source: PullSource | None = None
        self._turns: SharedTurns | None = None
        self._turns_before = 0

    def work(self) -> None:
        """Take tournaments until there are no more, or the time is over."""
        from silverball.exchange.pull.source import SourceBusy, SourceFault

        try:
            fault = self._take_tournaments()
        except PullPostponed as error:
            self._release(error.seconds, error.reason)
        except SourceBusy as error:
            self._postpone_after_fault(str(error))
        except SourceFault as error:
            self._end(str(error))
        else:
            self._end(fault)

    def _take_tournaments(self) -> str | None:
        """The fault that ends the pull, None when everything was taken. Raises PullPostponed, SourceFault."""
        if self._pull.failures >= FAILURES_MAX:
            return GIVEN_UP
        with self._puller.store.read() as db:
            role = moving_reads.role_of(db, self._pull.user_id)
        if role not in ("organizer", "admin"):
            return MAY_NOT
        run = self._open_run(keeps_ids=role == "admin")
        if not self._pull.is_listed:
            fault = self._store_list(run)
            if fault is not None:
                return fault
        for _ in range(TOURNAMENTS_MAX):
            with self._puller.store.read() as db:
                item = moving_reads.next_item(db, self._pull.history_pull_id)
            if item is None:
                return None
            self._go_on()
            self._take(run, item)
        return None

    def _open_run(self, *, keeps_ids: bool) -> "Pull":
        from silverball.exchange.pull.source import PullSource, RequestPace
        from silverball.exchange.pull.taking import Pull

        puller, pull = self._puller, self._pull
        name, ask = puller.open_client()(pull.address, pull.token)
        seconds = self._began.timestamp()
        self._turns = shared_turns(puller.store, name, pull.token, seconds)
        self._turns_before = self._turns.requests()

        def ask_in_time(target: str) -> Any:
            self._renew()
            return ask(target)

        clock = RequestPace(now=lambda: puller.now().timestamp(), sleep=puller.sleep, turns=self._turns)
        source = PullSource(name, ask_in_time, clock, tournament_bytes_max=TOURNAMENT_BYTES_MAX)
        self._source = source
        return Pull(puller.store, source, self._options(keeps_ids), puller.now, puller.dice, pull.remote_user)

    def _options(self, keeps_ids: bool) -> "PullOptions":
        from silverball.exchange.pull.reading import Keeper, Wanted
        from silverball.exchange.pull.taking import PullOptions

        settings = self._puller.settings
        keeper = Keeper(
            self._pull.user_id,
            settings.tournaments_per_account,
            settings.players_per_account,
            keeps_ids=keeps_ids,
        )
        wanted = convert(self._pull.wanted, Wanted)
        return PullOptions(
            wanted,
            {},
            is_full=bool(self._pull.wanted.get("isFull")),
            is_dry_run=self._pull.is_dry_run,
            keeper=keeper,
        )

    def _store_list(self, run: "Pull") -> str | None:
        """Store the tournaments to take; returns a fault when there are too many. Raises SourceFault."""
        from silverball.exchange.pull import reading

        remote_user = reading.own_user_id(run.source) if self._pull.token else None
        listed = run.tournaments()
        if len(listed) > TOURNAMENTS_MAX:
            return TOO_MANY
        items = [ListedItem(item.tournament_id, item.name, item.updated_at) for item in listed]
        with self._puller.store.write(quiet=True) as transaction:
            moving_writes.store_list(transaction.connection, self._pull, items, remote_user)
        run.remote_user = remote_user
        return None

    def _take(self, run: "Pull", item: ListedItem) -> None:
        from silverball.exchange.pull.reading import ListedTournament

        report = run.report(ListedTournament(item.remote_id, item.name, item.updated_at))
        with self._puller.store.write(quiet=True) as transaction:
            moving_writes.store_report(
                transaction.connection, self._pull, item.remote_id, msgspec.to_builtins(report)
            )
        self._renew(is_due=True)

    def _go_on(self) -> None:
        """Raise PullPostponed when the program ends, or it is the turn of other pulls."""
        if self._puller.closing.is_set():
            raise PullPostponed
        if (self._puller.now() - self._began).total_seconds() > SLICE_SECONDS:
            raise PullPostponed

    def _renew(self, *, is_due: bool = False) -> None:
        """Keep the pull and store its counts. Raises PullPostponed once its owner has stopped it."""
        now = self._puller.now()
        counts = self._counts(now)
        if counts["requests"] >= REQUESTS_MAX:
            from silverball.exchange.pull.source import SourceFault

            raise SourceFault(USED_UP)
        if not is_due and (now - self._renewed).total_seconds() < RENEW_SECONDS:
            return
        self._renewed = now
        if not self._store_counts():
            raise PullPostponed

    def _store_counts(self) -> bool:
        """Store the counts and renew the lease. Returns whether to go on."""
        now, foreign = self._puller.now(), self._foreign_requests()
        counts = {**self._counts(now), "foreign_requests": foreign}
        with self._puller.store.write(quiet=True) as transaction:
            db = transaction.connection
            return moving_writes.renew_claim(db, self._pull, now.replace(microsecond=0), **counts)

    def _counts(self, now: datetime) -> dict[str, int]:
        pull = self._pull
        own = 0 if self._source is None else self._source.pace.requests
        return {
            "requests": pull.requests + own,
            "seconds": pull.seconds + round((now - self._began).total_seconds()),
        }

    def _foreign_requests(self) -> int:
        """The turns that other programs with the token have taken meanwhile."""
        if self._turns is None or self._source is None:
            return self._pull.foreign_requests
        taken = self._turns.requests() - self._turns_before - self._source.pace.requests
        return self._pull.foreign_requests + max(taken, 0)

    def _release(self, seconds: float, reason: str | None = None) -> None:
        now = self._puller.now().replace(microsecond=0)
        self._store_counts()
        with self._puller.store.write(quiet=True) as transaction:
            due_at = now + timedelta(seconds=seconds)
            moving_writes.release_pull(transaction.connection, self._pull, due_at=due_at, reason=reason)

    def _postpone_after_fault(self, sentence: str) -> None:
        if self._pull.failures + 1 >= FAILURES_MAX:
            self._end(sentence)
        else:
            self._release(PAUSE.total_seconds(), sentence)

    def _end(self, fault: str | None) -> None:
        now = self._puller.now().replace(microsecond=0)
        self._store_counts()
        with self._puller.store.write(quiet=True) as transaction:
            moving_writes.end_pull(transaction.connection, self._pull, now, fault)


class FetchingProcess(Workers):
    """The process that works on pulls, one at a time; at the end it waits for no source.

    What a source sends is read and stored there, so that a hostile one costs this process nothing.
    """

    def __init__(self, store: Store, process: SpawnedProcess, *, poll_seconds: float = POLL_SECONDS) -> None:
        super().__init__("history pulls", [self._work_on_one], poll_seconds=poll_seconds)
        self._store = store
        self._process = process
        self._closing = threading.Event()

    @property
    def process_id(self) -> int | None:
        """The id of the process; None while there is none."""
        return self._process.pid

    def close(self) -> None:
        """Stop after the request in progress, which takes seconds at most."""
        self._closing.set()
        self._process.end_input()
        super().close()
        self._process.close()

    def _work_on_one(self) -> bool:
        """Have the process work on a pull for a while, if any is due; it ends when none is."""
        with self._store.read() as db:
            is_due = moving_reads.is_pull_due(db, datetime.now(UTC).replace(microsecond=0))
        if self._closing.is_set() or not is_due:
            self._process.close()
            return False
        try:
            return self._process.ask(WORK) == WORKED
        except ProcessEnded:
            if self._closing.is_set():
                return False
            # Three minutes later the pull is taken up again.
            raise


def fetching_process(store: Store, settings: Settings) -> FetchingProcess:
    """The process that works on the pulls of this database."""
    setup = partial(processes.setup_of, store, settings)
    return FetchingProcess(store, SpawnedProcess(FETCHING_MODULE, setup))


def fetch(setup: bytes, closing: threading.Event) -> Callable[[bytes], bytes]:
    """The function that the fetching process answers with; it stops soon after `closing` is set."""
    given = processes.read_setup(setup)
    store = given.open_store(deadlines.FETCHING)
    source = cache(lambda: guarded_source(given.settings))
    puller = HistoryPuller(store, given.settings, source, closing=closing)
    return lambda _work: WORKED if puller.work_on_one() else b""


def guarded_source(settings: Settings, **options: Any) -> OpenSource:
    """A function that opens sources within the site's policy; `options` go to the client. Loads it."""
    from silverball.exchange import outgoing
    from silverball.exchange.outgoing import GuardedClient
    from silverball.exchange.pull import source

    site_policy, site_options = outgoing.guarded_network(
        moving_reads.source_policy(settings), settings.egress_proxy
    )
    given = {"seconds": ANSWER_SECONDS_MAX, **site_options, **options}
    client = GuardedClient(site_policy, **given)
    return lambda address, token: source.asker(address, token, client)
