"""Nights on a service that behaves as live ones do, and their mirrors here, on clocks that nobody waits for.

    night = MirroredNight(local, site, "matchplay", seed=7)
    night.play_to_end()

A robot and a director with second thoughts play there, some of it while the mirror reads. The connection
of the feed is cut at random, events come in bursts and more than once, the service answers 502 now and
then, and for some time it says nothing of what such services are silent about.
"""

import json
import queue
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from random import Random
from typing import Any

import build
import mirror
from exchange.pull_world import NAME, Site, StoppedClock
from silverball.demo import nights as demo_nights
from silverball.demo.robots import RequestRefused, Robot, SteppedClock, TournamentPlan
from silverball.exchange import mirror as exchange_mirror
from silverball.exchange.mirror import COMPARE_SECONDS, Heard, KnownParts, MirrorRun
from silverball.exchange.pull.source import Answer, PullSource, RequestPace
from silverball.rules.registry import FORMATS
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements
from silverball.store.tournament.announcements import Announcement

BURST_MAX = 8
STEP_SECONDS = 20
# Shares of the steps, of the requests, and of the bursts in which it happens.
CHANGES_OF_MIND = 0.06
CUTS = 0.06
REPEATS = 0.2
STEPS_DURING_READS = 0.04
BAD_GATEWAYS = 0.02
SILENCES = 0.3
HTML = {"content-type": "text/html"}


def plan_of(kind: str) -> TournamentPlan:
    """The demo night of this format."""
    demo = FORMATS[kind].demo
    return TournamentPlan(
        name=demo.name,
        type=kind,
        players=demo.players,
        settings=demo.settings,
        games_each=demo.games_per_player,
    )


class MirroredNight:
    """A night there, and its mirror here."""

    def __init__(self, local: Store, site: Site, kind: str, seed: int) -> None:
        self.local, self.site, self.plan = local, site, plan_of(kind)
        self.dice = Random(f"{kind} {seed}")
        self.clock = SteppedClock(build.NOW)
        self.client = demo_nights.organizer_client(site.store, Settings(), site.owner_id, self.clock)
        books = demo_nights.load_book_ids(self.client)
        self.robot = demo_nights.start_night(self.client, self.plan, books, self.dice)
        self.remote_id = self.robot.tournament_id
        self.seconds = 0.0
        self.quiet_seconds = 0
        self.is_over = self.is_cut = self.is_silent = self.was_silent = self.is_reading = False
        # Whether an adjustment may have been seen later than it was made: nobody publishes when that was.
        self.is_adjusted = self.has_late_adjustment = False
        self.can_undo = False
        # Whether the service has faults, and goes on while it is read.
        self.is_busy = False
        self.heard: queue.Queue[Heard] = queue.Queue()
        self.sentences: list[str] = []
        self.run = self._new_run()
        self.there = mirror.Mirror(site.store, self.remote_id)
        self.here = mirror.Mirror(local, self.run.copy.tournament_id)

    def _new_run(self) -> MirrorRun:
        pace = StoppedClock()
        source = PullSource(NAME, self._ask, RequestPace(now=pace.now, sleep=pace.sleep), tries_max=2)
        known = KnownParts(source, self.remote_id)
        known.read_everything()
        copy = exchange_mirror.begin(self.local, NAME, known.raw, self.clock.now(), Random(1))
        run = MirrorRun(copy, known, self.heard, self._now, lambda: self.seconds, self.sentences.append)
        run.wait_seconds = 0
        run.begin()
        return run

    def _now(self) -> datetime:
        return self.clock.now()

    def play_to_end(self) -> None:
        """Play in bursts; after each there is a quiet second, in which both sides must be equal."""
        while not self.is_over:
            self.is_silent = self.dice.random() < SILENCES
            self.is_busy = True
            for _ in range(self.dice.randint(1, BURST_MAX)):
                self._play()
                if self.is_adjusted or self.dice.random() < 0.5:
                    self._follow_for_a_tenth()
            self.is_busy = False
            if self.dice.random() < 0.5 or not self.is_cut:
                self.be_quiet()
        self.be_quiet()

    def be_quiet(self) -> None:
        """Let the connection come back and a quiet second pass, then compare both sides."""
        if self.is_cut:
            self.is_cut = False
            self.heard.put(Heard("", None, self.seconds))
        # One step for what was announced, one more for what was read while it changed.
        for _ in range(2):
            self.seconds += 1
            self.run.step()
        if self.was_silent or self.run.is_lost:
            self.seconds += COMPARE_SECONDS
            self.run.step()
        self.was_silent = self.is_adjusted = False
        self.quiet_seconds += 1
        self.compare()

    def compare(self) -> None:
        """Both sides answer the same, and the feed here has announced all of it."""
        events = self.here.follow()
        there = self.there.fresh()
        for part, sent in there.items():
            assert self.here.known[part] == sent, (part, events, self.sentences)
        if FORMATS[self.plan.type].settings.has_matches:
            for game in there["games"].values():
                path = f"/games/{game['gameId']}/legs"
                assert self.here.read(path) == self.there.read(path), (path, events, self.sentences)
        assert self._standings(self.here) == self._standings(self.there)

    def _standings(self, side: mirror.Mirror) -> list[dict[str, Any]]:
        standings: list[dict[str, Any]] = side.read("/standings")
        # Rolls are not published, and strikes and spares decide ties.
        unknown = {"position", "tiebreakers"} if self.plan.type == "bowling" else set()
        if self.has_late_adjustment:
            # Who is out since when decides their places.
            unknown |= {"position"}
        if not unknown:
            return standings
        rows = [{name: row[name] for name in row if name not in unknown} for row in standings]
        return sorted(rows, key=lambda row: int(row["playerId"]))

    def _follow_for_a_tenth(self) -> None:
        self.seconds += 0.1
        self.run.step()
        self.is_adjusted &= self.is_silent or self.is_cut or self.run.is_lost

    def _ask(self, target: str) -> Answer:
        if self.is_busy and self.dice.random() < BAD_GATEWAYS:
            return Answer(502, HTML, b"<html>Bad gateway")
        if self.is_busy and self.dice.random() < STEPS_DURING_READS:
            self.is_reading = True
            self._play()
            self.is_reading = False
        return self.site.ask(target)

    def _play(self) -> None:
        """Do something there, and publish what is announced."""
        if self.is_over:
            return
        self.has_late_adjustment |= self.is_adjusted
        with self._announcing():
            if self.dice.random() >= CHANGES_OF_MIND or not self._change_mind():
                self.is_over = not self.robot.step()
                self.can_undo = True
                if self.is_over:
                    self.robot.complete()

    @contextmanager
    def _announcing(self) -> Iterator[None]:
        """Publish what is announced meanwhile."""
        seq = self._head().seq
        yield
        self.clock.tick(STEP_SECONDS)
        head = self._head()
        with self.site.store.read() as db:
            events = announcements.load_since(db, self.remote_id, head.epoch, seq, 10_000)
        self._publish(events)

    def play_rounds(self, count: int) -> None:
        """Play until so many rounds are over, with nothing in the way."""
        with self._announcing():
            while self._rounds_over() < count:
                self.robot.step()

    def _rounds_over(self) -> int:
        return sum(each["status"] == "completed" for each in self.there.read("/rounds")["data"])

    def adjust(self, player_id: int, points: int) -> None:
        """Give a player points or strikes by hand."""
        self.send("PATCH", f"/players/{player_id}", {"pointsAdjustment": points})

    def send(self, method: str, end: str, body: Any = None) -> None:
        """Change something there."""
        with self._announcing():
            self.client.send(method, f"/api/tournaments/{self.remote_id}{end}", body)

    def _change_mind(self) -> bool:
        """Undo the last step, or adjust a player's points where the format has such; False when refused."""
        path = f"/api/tournaments/{self.remote_id}"
        is_undo, done = self.can_undo and self.dice.random() < 0.5, False
        with suppress(RequestRefused):
            if is_undo:
                line = self.client.send("GET", f"{path}/journal?limit=1")["data"][0]
                self.client.send("POST", f"{path}/undo", {"action": line["actionId"]})
            else:
                players = self.client.send("GET", f"{path}?includePlayers=1")["data"]["players"]
                player_id = self.dice.choice(players)["playerId"]
                body = {"pointsAdjustment": self.dice.randint(1, 2)}
                self.client.send("PATCH", f"{path}/players/{player_id}", body)
                self.is_adjusted = True
            # The start stays, and what was undone.
            done, self.can_undo = True, False
            # What this robot was going to do may be done or gone.
            self.robot = Robot(self.client, self.plan, self.remote_id, self.dice)
        return done

    def _head(self) -> announcements.ChannelHead:
        with self.site.store.read() as db:
            head = announcements.channel_head(db, self.remote_id)
        assert head is not None
        return head

    def _publish(self, events: Sequence[Announcement]) -> None:
        """Let the mirror hear these events, unless the connection is cut, which happens at random."""
        named = [(event.name, json.loads(event.data)) for event in events]
        if self.is_silent:
            spoken = list(spoken_events(named))
            self.was_silent |= len(spoken) < len(named)
            named = spoken
        if self.dice.random() < REPEATS:
            named = [*named, *named]
        cut_at = self.dice.randint(0, len(named)) if self.dice.random() < CUTS else None
        for n, (name, data) in enumerate(named):
            self.is_cut |= n == cut_at
            if not self.is_cut:
                self.heard.put(Heard(name, data, self.seconds))


def spoken_events(events: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The events of one action that a live service sends: it is silent about the others."""
    names = {name for name, _ in events}
    for name, data in events:
        is_dealt = "RoundCreatedOrUpdated" in names and data.get("status") == "started"
        if (
            (name == "GameCreatedOrUpdated" and is_dealt)
            or (name == "GamesDeleted" and "RoundsDeleted" in names)
            or (name == "TournamentUpdated" and data["status"] == "completed")
            or name == "PlayersChanged"
        ):
            continue
        yield name, data
