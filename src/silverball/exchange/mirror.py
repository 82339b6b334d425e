"""A mirror that runs: each event is followed by a read of what it names, silence by a comparison."""

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from random import Random
from typing import Any

import httpx2
import msgspec
from msgspec import Struct, field

from silverball.exchange.bundle import book as bundle_book
from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle import id_map
from silverball.exchange.bundle import rows as bundle_rows
from silverball.exchange.pull import reading
from silverball.exchange.pull.source import PullSource, SourceBusy, SourceFault, ThingMissing
from silverball.kit.errors import Refusal
from silverball.kit.values import convert
from silverball.rules.format import PlayKind
from silverball.rules.model.changes import Change, TournamentImported
from silverball.rules.registry import FORMATS
from silverball.service.core import mirrored
from silverball.service.core.enact import ActionContext
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.service.standings.reads import standings
from silverball.store.database.engine import Db, Store
from silverball.store.database.transaction import Transaction
from silverball.store.tournament import imports
from silverball.store.tournament.imports import IdMap
from silverball_client.clients import APP_KEY
from silverball_client.errors import SilverballError
from silverball_client.etags import StoredAnswers
from silverball_client.events import Disconnected, Event
from silverball_client.exchange import Session, Wait
from silverball_client.following import Emit, FeedSteps, Follower, Listen, Open, Say
from silverball_client.sockets import FeedSocket
from silverball_wire.bundle import Bundle

# Standings as they are computed here, compared with those that the other service publishes.


# Place and points; None where the row has none.
Placing = tuple[int | None, Decimal | None]


def standing_differences(
    db: Db, tournament_id: int, there: Sequence[Mapping[str, Any]], player_ids: Mapping[int, int]
) -> list[str]:
    """A sentence for each player whose place or points differ, by id. `player_ids`: id there -> id here."""
    ours = {
        row.player_id: _placing(row.position, row.points)
        for row in standings.decoded_standings(db, tournament_id)
    }
    theirs = {
        player_ids.get(row["playerId"], row["playerId"]): _placing(row.get("position"), row.get("points"))
        for row in there
        if isinstance(row.get("playerId"), int)
    }
    different = sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))
    names = moving_reads.player_names(db, different)
    return [
        f"{names.get(key, f'Player {key}')} {_placing_text(ours.get(key))} here, "
        f"{_placing_text(theirs.get(key))} there."
        for key in different
    ]


def _placing(position: Any, points: Any) -> Placing:
    try:
        number = None if points is None else Decimal(str(points))
    except InvalidOperation:
        number = None
    return (position if isinstance(position, int) else None), number


def _placing_text(placing: Placing | None) -> str:
    if placing is None or placing[0] is None:
        return "has no place"
    position, points = placing
    return f"has place {position}" if points is None else f"has place {position} with {points:g} points"


# The state there, compared with the mirror here and written as changes through the one door.


SOURCE = "mirror"


class MirrorCopy(Struct):
    """The tournament here, and the ids that the things of the other service have in it."""

    store: Store
    source_name: str
    tournament_id: int
    ids: IdMap = field(default_factory=dict)
    _book_digest: bytes = b""

    def apply(self, raw: Any, now: datetime) -> Sequence[Change]:
        """Bring the copy to this state, and return what has changed.

        Raises BrokenBundle or another Refusal for a state that is none: its parts were read one after the
        other, while it went on.
        """
        bundle_file.parse(msgspec.json.encode(raw), self.source_name)
        with self.store.write(self.tournament_id) as transaction:
            bundle, book = self._local(transaction, raw)
            digest = msgspec.json.encode(book)
            if digest != self._book_digest:
                moving_writes.store_contents(transaction, book, now=now)
            primary = raw["tournament"].get("primaryConfigSettings")
            parts = bundle_rows.build_parts(bundle, primary=primary)
            # Slugs lead to the other service.
            parts["shortcuts"] = []
            there = TournamentImported(tournament_id=self.tournament_id, parts=parts, origin={})
            context = ActionContext(actor_id=None, source=SOURCE, now=now)
            changes = mirrored.enact_differences(transaction, there, context)
        self._book_digest = digest
        return changes

    def standing_differences(self, there: Sequence[Mapping[str, Any]]) -> list[str]:
        """A sentence for each player whose place or points differ from these rows of the other service."""
        with self.store.read() as db:
            return standing_differences(db, self.tournament_id, there, self.ids.get("playerId", {}))

    def _local(self, transaction: Transaction, raw: Any) -> tuple[Bundle, moving_writes.BundleContents]:
        """The bundle with the ids that its things have here, and what it holds beside the tournament."""
        db = transaction.connection
        raw = msgspec.json.decode(msgspec.json.encode(raw))
        organizer_id = raw["tournament"]["organizerId"]
        owner_id = id_map.known_owner(db, self.source_name, organizer_id)
        ids = id_map.choose_ids(db, raw, self.source_name, new_ids=False)
        id_map.renumber(raw, ids)
        if owner_id is not None:
            id_map.set_owner(raw, owner_id)
        new = {
            kind: {old: new for old, new in pairs.items() if self.ids.get(kind, {}).get(old) != new}
            for kind, pairs in ids.items()
        }
        imports.remember_ids(db, self.source_name, {kind: pairs for kind, pairs in new.items() if pairs})
        self.ids = ids
        bundle = convert(raw, Bundle, str_keys=True)
        book = bundle_book.build_book(bundle)
        moving_reads.refuse_renamed_users(db, book.users)
        return bundle, book


def begin(store: Store, source_name: str, raw: Any, now: datetime, dice: Random) -> MirrorCopy:
    """Import a tournament as a mirror, or go on with the mirror that it has here. Raises Refusal."""
    remote_id = int(raw["tournament"]["tournamentId"])
    with store.read() as db:
        known = imports.known_ids(db, source_name, {"tournamentId": [remote_id]})["tournamentId"]
        local_id = known.get(remote_id)
        if local_id is not None and moving_reads.find_mirror(db, local_id) is not None:
            return MirrorCopy(store, source_name, local_id)
    file = bundle_file.parse(msgspec.json.encode(raw), source_name)
    with store.write() as transaction:
        imported = bundle_file.import_bundle(transaction, file, source=source_name, now=now, dice=dice)
        moving_writes.begin_mirror(transaction, imported.tournament_id, source_name, remote_id)
    return MirrorCopy(store, source_name, imported.tournament_id)


# The events of the service that runs a tournament, put into a queue by a thread of their own.


SOCKET_SECONDS = 30.0


class Heard(Struct, frozen=True):
    """An event, and when it came; without a name the connection was lost or has come back."""

    name: str
    data: Any
    at: float


class BareFollower(Follower):
    """Follows the feed alone: what is compared and when is up to the mirror."""

    def _start_at_head(self) -> FeedSteps:
        self.is_numbered = False
        yield from ()

    def _compare(self) -> FeedSteps:
        # A subscription stands: what was said before it is unknown.
        yield Emit(Disconnected("subscribed anew"))


def listen(url: str, tournament_id: int, heard: "queue.Queue[Heard]", is_over: Callable[[], bool]) -> None:
    """Put events into the queue until it is over. Only the host of the address is asked."""
    session = Session(base_url=url, token="", wait_seconds_max=0.0, answers=StoredAnswers(0), now=time.time)
    # Spreads reconnects, and hides nothing.
    dice = Random()  # noqa: S311
    base = url.replace("http", "ws", 1)
    follower = BareFollower(session, tournament_id, f"{base}/app/{APP_KEY}", time.monotonic, dice)
    with httpx2.Client(follow_redirects=False, timeout=SOCKET_SECONDS) as http:
        socket = FeedSocket(http)
        steps = follower.steps()
        outcome: Any = None
        try:
            while not is_over():
                step = steps.send(outcome)
                outcome = None
                if isinstance(step, Emit):
                    _put(heard, step.item)
                elif isinstance(step, Open):
                    outcome = socket.open(step.url)
                elif isinstance(step, Say):
                    outcome = socket.say(step.text)
                elif isinstance(step, Listen):
                    outcome = socket.listen(step.seconds)
                elif isinstance(step, Wait):
                    time.sleep(step.seconds)
        except SilverballError:
            # Refused for good: the comparisons go on without it.
            heard.put(Heard("", None, time.monotonic()))
        finally:
            socket.close()


def listening_thread(
    url: str, tournament_id: int, heard: "queue.Queue[Heard]", is_over: Callable[[], bool]
) -> threading.Thread:
    """A started thread that listens."""
    thread = threading.Thread(target=listen, args=(url, tournament_id, heard, is_over), daemon=True)
    thread.start()
    return thread


def _put(heard: "queue.Queue[Heard]", item: Any) -> None:
    now = time.monotonic()
    if isinstance(item, Event):
        heard.put(Heard(item.name, msgspec.json.decode(item.json), now))
    elif isinstance(item, Disconnected):
        heard.put(Heard("", None, now))


# The answers of the service that runs a tournament, kept up to date with what its events name.


Json = Any
# Things of a part that are read one by one; more of them are read as a list.
ITEMS_AT_ONCE = 2
PAGE_SIZE = 100
# Event -> part of a bundle, its path, and the id of a thing in it.
ITEM_EVENTS: Mapping[str, tuple[str, str, str]] = {
    "GameCreatedOrUpdated": ("games", "games", "gameId"),
    "SinglePlayerGameCreatedOrUpdated": (
        "singlePlayerGames",
        "single-player-games",
        "singlePlayerGameId",
    ),
    "CardCreatedOrUpdated": ("cards", "cards", "cardId"),
}
DELETION_EVENTS: Mapping[str, tuple[str, str]] = {
    "RoundsDeleted": ("rounds", "roundId"),
    "GamesDeleted": ("games", "gameId"),
    "SinglePlayerGamesDeleted": ("singlePlayerGames", "singlePlayerGameId"),
    "CardsDeleted": ("cards", "cardId"),
}
HEAD_EVENTS = frozenset(
    {"TournamentUpdated", "PlayersAdded", "PlayersChanged", "ArenasAdded", "ArenasChanged"}
)


class KnownParts(Struct):
    """A tournament there, as a bundle has it."""

    source: PullSource
    tournament_id: int
    raw: dict[str, Json] = field(default_factory=dict)
    # Whether the service knows single games of matches, as far as it was asked.
    has_legs: bool = True

    @property
    def path(self) -> str:
        return f"/api/tournaments/{self.tournament_id}"

    def read_everything(self) -> None:
        """Read all parts. Raises SourceFault."""
        before = self.raw
        self.raw = reading.read_parts(self.source, self.tournament_id)
        self._read_queues()
        games = before.get("games", ())
        self._read_legs([game for game in self.raw["games"] if game not in games], before.get("legs", ()))

    def read_named(self, events: Iterable[tuple[str, Json]]) -> None:
        """Read what these events name: everything when a round is new. Raises SourceFault."""
        self.source.begin_tournament()
        names: set[str] = set()
        items: dict[str, set[int]] = {}
        for name, data in events:
            names.add(name)
            if name == "RoundCreatedOrUpdated" and self._is_new_round(data):
                self.read_everything()
                return
            if name in DELETION_EVENTS:
                self._drop(*DELETION_EVENTS[name], data)
            elif name in ITEM_EVENTS:
                items.setdefault(name, set()).add(_id_in(data, ITEM_EVENTS[name][2]))
        if names & HEAD_EVENTS:
            self._read_head()
        if "RoundCreatedOrUpdated" in names:
            self.raw["rounds"] = self.source.read_list(f"{self.path}/rounds")
        for name, ids in items.items():
            self._read_items(*ITEM_EVENTS[name], ids)
        named = items.get("GameCreatedOrUpdated", set())
        changed = [game for game in self.raw["games"] if game.get("gameId") in named]
        self._read_legs(changed, self.raw.get("legs", ()))
        if "QueueChanged" in names or self._has_clock():
            self._read_queues()

    def read_standings(self) -> list[dict[str, Json]]:
        """Read the standings, which are compared and not taken. Raises SourceFault."""
        self.source.begin_tournament()
        return self.source.read_list(f"{self.path}/standings")

    def _is_new_round(self, data: Json) -> bool:
        known = {round_.get("roundId") for round_ in self.raw.get("rounds", ())}
        return _id_in(data, "roundId") not in known

    def _has_clock(self) -> bool:
        form = FORMATS.get(str(self.raw["tournament"].get("type")))
        return form is not None and form.has_clock

    def _read_head(self) -> None:
        before = self.raw["tournament"]
        self.raw["tournament"] = reading.read_head(self.source, self.tournament_id)
        self.raw.update(reading.repeated_parts(self.raw["tournament"]))
        if before.get("status") != self.raw["tournament"].get("status"):
            self.read_everything()

    def _drop(self, part: str, key: str, data: Json) -> None:
        gone = data.get(f"{key}s") if isinstance(data, dict) else None
        if isinstance(gone, list) and part in self.raw:
            self.raw[part] = [item for item in self.raw[part] if item.get(key) not in gone]

    def _read_items(self, part: str, path: str, key: str, ids: set[int]) -> None:
        if len(ids) > ITEMS_AT_ONCE:
            self.raw[part] = self._list(part, path, key)
            return
        for item_id in ids:
            others = [item for item in self.raw.get(part, ()) if item.get(key) != item_id]
            try:
                item = self.source.read_data(f"{self.path}/{path}/{item_id}")
            except ThingMissing:
                # Gone, or all of it is closed to us: the list tells which.
                self.raw[part] = self._list(part, path, key)
                return
            if not isinstance(item, dict) or item.get(key) != item_id:
                raise SourceFault(f"{self.source.name} answered another thing than it was asked for.")
            self.raw[part] = sorted([*others, item], key=lambda each: int(each[key]))

    def _list(self, part: str, path: str, key: str) -> list[dict[str, Json]]:
        if part == "games":
            return self.source.read_list(f"{self.path}/{path}")
        return list(self.source.read_pages(f"{self.path}/{path}?voided=1&limit={PAGE_SIZE}", key))

    def _read_legs(self, changed: Collection[Json], known: Iterable[dict[str, Json]]) -> None:
        """Read the single games of the matches that changed, a request each; those of others are known."""
        self.raw.pop("legs", None)
        if not (self.has_legs and reading.has_matches(self.raw["tournament"])):
            return
        read = reading.legs_of_games(self.source, self.path, changed)
        self.has_legs = read is not None
        others = [game.get("gameId") for game in self.raw["games"] if game not in changed]
        legs = [*(leg for leg in known if leg.get("gameId") in others), *(read or ())]
        if legs:
            self.raw["legs"] = legs

    def _read_queues(self) -> None:
        """Read who waits: every format has a place of its own for it."""
        tournament = self.raw["tournament"]
        if tournament.get("status") != "started":
            self.raw.pop("queues", None)
            return
        form = FORMATS.get(str(tournament.get("type")))
        if form is None:
            return
        if form.has_clock:
            self.raw["queues"] = reading.entries_of_all_queues(
                self.source.read(f"{self.path}/frenzy").get("queue")
            )
        elif form.play is PlayKind.RACE:
            self.raw["queues"] = reading.entries_of_all_queues(
                self.source.read(f"{self.path}/amazing-race").get("queues")
            )
        elif form.attempts is not None:
            self.raw["queues"] = reading.queue_entries(self.source, f"{self.path}/queues")


def _id_in(data: Json, key: str) -> int:
    """The id in the data of an event; 0 where it has none."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, int) and found > 0 else 0


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
            moving_writes.note_standings(transaction, self.copy.tournament_id, len(found))

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
            moving_writes.note_loss(transaction, self.copy.tournament_id, lost_at)
