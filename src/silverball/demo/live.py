"""The demo's live play: tournament 1, which never ends, and a second one that begins every twenty minutes.

Robots play both through the interface, as its organizer. Whatever a visitor does to a tournament, the robots
load it again and go on; no error ends their threads.
"""

import itertools
import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

from silverball.demo import nights as demo_nights
from silverball.demo.robots import (
    InProcessClient,
    Json,
    RequestRefused,
    Robot,
    SteppedClock,
    TournamentPlan,
    WallClock,
)
from silverball.kit.values import replace
from silverball.rules.registry import FORMATS
from silverball.service.tournaments import writes as tournaments_writes
from silverball.service.tournaments.reads import tournaments
from silverball.settings import Settings
from silverball.store.database.engine import Store

LOG = logging.getLogger("silverball.demo")
TOURNAMENT_ID = 1
PATH = f"/api/tournaments/{TOURNAMENT_ID}"
PLAYERS = 16
PAUSE_SECONDS = (2.0, 4.0)
# An evening takes its time, so that most of the twenty minutes have one.
EVENING_PACE = 3
# After refusals in a row the pause doubles, up to this many times.
PAUSE_FACTOR_MAX = 16
JOIN_SECONDS = 20
# Tournament 1 starts again from its first round after this many, so that its answers stay small.
ROUNDS_MAX = 60
# Actions before a fresh demo is served, two rounds and some results, and the time they take.
STEPS_AT_START = 21
SECONDS_AT_START = 3600
EVENING_SECONDS = 20 * 60
# Minutes of an evening that ends by the clock.
SHORT_CLOCK = {"frenzyDuration": 12}
# Completed evenings that stay.
EVENINGS_KEPT = 3
# Before their results are rated, a week after the day.
REMOVABLE = timedelta(days=6)
LIVE = TournamentPlan(
    name="Live Match Play", type="matchplay", players=PLAYERS, settings={"duration": 0, "seeding": "random"}
)
# Each evening plays the next format.
EVENINGS = tuple(
    replace(
        finished,
        name=f"Evening {form.demo.name}",
        settings={
            **finished.settings,
            **(SHORT_CLOCK if form.has_clock else {}),
            **({"forecast": True} if "forecast" in form.settings.__struct_fields__ else {}),
        },
    )
    for finished, form in zip(demo_nights.FINISHED, FORMATS.values(), strict=True)
)
PLANS = {plan.name: plan for plan in EVENINGS}


class LiveRobot(Robot):
    """A robot whose tournament never ends, and who leaves results alone that a visitor recorded."""

    def fill_and_start(self, book_ids: demo_nights.BookIds) -> None:
        """Add the players and machines that are missing, and start."""
        tournament = self._send("GET", "?includePlayers=true&includeArenas=true")["data"]
        players = {player["playerId"] for player in tournament["players"]}
        arenas = {arena["arenaId"] for arena in tournament["arenas"]}
        self.add_members(
            [player_id for player_id in book_ids[0][:PLAYERS] if player_id not in players],
            [arena_id for arena_id in book_ids[1] if arena_id not in arenas],
        )
        self.start()

    def step(self) -> bool:
        """Do one action; the last result of a round is followed by the next round at once."""
        is_done = super().step()
        if is_done and not self._pending_actions:
            self._pending_actions = self._actions_waiting()
            return bool(self._pending_actions) or self._advance()
        return is_done

    def record_game(self, game: Json) -> None:
        if self._send("GET", f"/games/{game['gameId']}")["data"]["status"] != "completed":
            super().record_game(game)

    def _advance(self) -> bool:
        if len(self._rounds()) >= ROUNDS_MAX or not super()._advance():
            # The newest round goes first; only that one can be deleted.
            for round_ in self._rounds():
                self._send("DELETE", f"/rounds/{round_['roundId']}")
            return super()._advance()
        return True

    def _rounds(self) -> list[Json]:
        rounds = self._send("GET", "/rounds")["data"]
        return sorted(rounds, key=lambda round_: -int(round_["index"]))


def reserve_tournament(store: Store, settings: Settings, user_id: int, dice: Random) -> None:
    """Create tournament 1, still without players, in a database that has no tournament yet."""
    client = demo_nights.organizer_client(store, settings, user_id, _an_hour_ago())
    if not client.send("GET", "/api/tournaments?limit=1")["data"]:
        LiveRobot.create(client, LIVE, dice)


def play_first_rounds(store: Store, settings: Settings, user_id: int, dice: Random) -> None:
    """Start tournament 1 an hour ago and play some rounds, unless it was started before."""
    clock = _an_hour_ago()
    client = demo_nights.organizer_client(store, settings, user_id, clock)
    try:
        if client.send("GET", PATH)["data"]["status"] != "planned":
            return
    except RequestRefused:
        # Somebody deleted it.
        return
    robot = LiveRobot(client, LIVE, TOURNAMENT_ID, dice)
    robot.fill_and_start(demo_nights.load_book_ids(client))
    for _ in range(STEPS_AT_START):
        robot.step()
        clock.tick(SECONDS_AT_START // STEPS_AT_START)


class LivePlay:
    """Two robots in threads of their own: one in tournament 1, one in an evening after the other."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        user_id: int,
        dice: Random,
        *,
        pauses: tuple[float, float] = PAUSE_SECONDS,
        evening_seconds: float = EVENING_SECONDS,
    ) -> None:
        client = demo_nights.organizer_client(store, settings, user_id, WallClock())
        self._dice = dice
        self._pause_range = pauses
        self._stop_event = threading.Event()
        live = EndlessNight(client, dice)
        evenings = Evenings(store, client, user_id, dice, evening_seconds)
        self._threads = [
            threading.Thread(target=self._run, args=(live.step, 1), name="silverball-live"),
            threading.Thread(target=self._run, args=(evenings.step, EVENING_PACE), name="silverball-evening"),
        ]

    def start(self) -> None:
        """Start playing; returns at once."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish the actions under way and play no more."""
        self._stop_event.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(JOIN_SECONDS)

    def _run(self, step: Callable[[], None], pace: int) -> None:
        factor = 1
        while not self._stop_event.wait(pace * factor * self._dice.uniform(*self._pause_range)):
            try:
                step()
                factor = 1
            except RequestRefused as refusal:
                # A visitor changed the tournament; the next step loads it again.
                LOG.info("a robot was refused: %s", refusal)
                factor = min(2 * factor, PAUSE_FACTOR_MAX)
            except Exception as error:  # the top of a thread: the error would get lost
                LOG.error("a live tournament failed", exc_info=error)
                factor = PAUSE_FACTOR_MAX


class EndlessNight:
    """Tournament 1. It is reopened when somebody completes it."""

    def __init__(self, client: InProcessClient, dice: Random) -> None:
        self._client = client
        self._dice = dice
        # None after a refusal: then the tournament is loaded again.
        self._robot: LiveRobot | None = None

    def step(self) -> None:
        """Do the next action. Raises RequestRefused."""
        robot, self._robot = self._robot or self._open_night(), None
        if not robot.step():
            raise RuntimeError("Tournament 1 has no next round.")
        self._robot = robot

    def _open_night(self) -> LiveRobot:
        robot = LiveRobot(self._client, LIVE, TOURNAMENT_ID, self._dice)
        status = self._client.send("GET", PATH)["data"]["status"]
        if status == "planned":
            robot.fill_and_start(demo_nights.load_book_ids(self._client))
        elif status == "completed":
            self._client.send("POST", f"{PATH}/reopen")
        return robot


class Evenings:
    """One evening after the other, each in the next format; the newest few stay."""

    def __init__(
        self, store: Store, client: InProcessClient, user_id: int, dice: Random, interval: float
    ) -> None:
        self._store = store
        self._client = client
        self._user_id = user_id
        self._dice = dice
        self._interval = interval
        self._begins_at = time.monotonic()
        self._robot: Robot | None = None

    def step(self) -> None:
        """Do the next action, if it is time. Raises RequestRefused."""
        robot, self._robot = self._robot or self._running_or_new_evening(), None
        if robot is None:
            return
        if robot.step():
            self._robot = robot
        else:
            robot.complete()
            self._remove_old_evenings()

    def _running_or_new_evening(self) -> Robot | None:
        """Return a robot for the running evening, or for a new one when it is time; else None."""
        evenings = self._evenings()
        for evening in evenings:
            if evening["status"] == "planned":
                # Its start was interrupted, so it may lack players.
                self._client.send("DELETE", f"/api/tournaments/{evening['tournamentId']}")
            if evening["status"] == "started":
                return Robot(self._client, PLANS[evening["name"]], evening["tournamentId"], self._dice)
        if time.monotonic() < self._begins_at:
            return None
        self._begins_at = time.monotonic() + self._interval
        newest = evenings[0]["name"] if evenings else EVENINGS[-1].name
        cycle = itertools.pairwise([*EVENINGS, EVENINGS[0]])
        following = next(plan for plan_before, plan in cycle if plan_before.name == newest)
        return demo_nights.start_night(
            self._client, following, demo_nights.load_book_ids(self._client), self._dice
        )

    def _remove_old_evenings(self) -> None:
        completed = [evening for evening in self._evenings() if evening["status"] == "completed"]
        oldest_unrated = datetime.now(UTC) - REMOVABLE
        for evening in completed[EVENINGS_KEPT:]:
            tournament_id = evening["tournamentId"]
            with self._store.read() as db:
                is_linked = bool(tournaments.linking_tournaments(db, tournament_id))
            if is_linked or datetime.fromisoformat(evening["completedAt"]) < oldest_unrated:
                continue
            # No request deletes a tournament that has started.
            with self._store.write(tournament_id) as transaction:
                tournaments_writes.remove_tournament(transaction, tournament_id)

    def _evenings(self) -> list[Json]:
        """Return the evenings of the demo's organizer, newest first."""
        tournaments = demo_nights.all_pages(self._client, f"/api/tournaments?owner={self._user_id}&limit=100")
        evenings = [tournament for tournament in tournaments if tournament["name"] in PLANS]
        return sorted(evenings, key=lambda evening: -int(evening["tournamentId"]))


def _an_hour_ago() -> SteppedClock:
    return SteppedClock(datetime.now(UTC) - timedelta(seconds=SECONDS_AT_START))
