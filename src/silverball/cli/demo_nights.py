"""Tournaments played by robots: a finished one of each format, one with queues, and a live one.

Everything is looked up by name first, so an interrupted or restarted demo continues where it stopped.
"""

import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from silverball import app
from silverball.cli.robots import InProcessClient, Json, RequestRefused, Robot, SteppedClock, TournamentPlan
from silverball.rules.registry import FORMATS
from silverball.service.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.demo")
STEP_SECONDS = 150
PLAYERS_LIVE = 16
PAUSE_SECONDS = (1.4, 2.6)
JOIN_SECONDS = 20
PAGES_MAX = 100
# No real player has such a number.
IFPA_ID_FIRST = 900_001
# Lengths of the first machines' queues in the tournament with queues.
QUEUE_SIZES = (3, 2, 1)

NAMES = (
    "Ada Quill",
    "Bo Larkin",
    "Cleo Marsh",
    "Dov Tamsin",
    "Edie Frost",
    "Finn Abara",
    "Greta Holm",
    "Hugo Pell",
    "Ines Corva",
    "Jory Winter",
    "Kaya Brandt",
    "Lev Orlin",
    "Mina Sable",
    "Nils Harrow",
    "Oona Pike",
    "Pax Verdi",
)
MACHINES = (
    "Meteor Shower",
    "Midnight Express",
    "The Lighthouse",
    "Dragon Alley",
    "Carnival of Crows",
    "Deep Current",
    "Static Garden",
    "Copper Canyon",
)
FINISHED = tuple(
    TournamentPlan(
        name=f"Finished {form.demo.name}",
        type=form.type,
        players=form.demo.players,
        settings=form.demo.settings,
        games_each=form.demo.games_per_player,
    )
    for form in FORMATS.values()
)
QUEUES = TournamentPlan(
    name="Best Game with Queues",
    type="best_game",
    players=12,
    settings={"useQueues": True, "suggestions": "disabled"},
    games_each=2,
)
LIVE = TournamentPlan(
    name="Live Group Match Play",
    type="group_matchplay",
    players=PLAYERS_LIVE,
    settings={"duration": 12, "seeding": "random"},
)


def play_nights(store: Store, settings: Settings, user_id: int, dice: Random) -> None:
    """Play the finished tournaments of the last weeks and the one with queues, unless they exist."""
    caller = AuthenticatedCaller(user_id=user_id, role="organizer", ability="manage")
    today = datetime.now(UTC).replace(hour=19, minute=0, second=0, microsecond=0)
    clock = SteppedClock(today)
    client = InProcessClient(app.build_api(store, settings, now=clock.now), caller)
    book_ids = _load_book_ids(client)
    existing = _tournaments_by_name(client, user_id)
    for days, plan in enumerate(reversed(FINISHED), start=1):
        clock.moment = today - timedelta(days=days)
        robot = _robot_for(client, plan, existing.get(plan.name, []), book_ids, dice)
        if robot is not None:
            robot.play_to_end(lambda: clock.tick(STEP_SECONDS))
    clock.moment = datetime.now(UTC) - timedelta(hours=2)
    running = [each for each in existing.get(QUEUES.name, []) if each["status"] != "completed"]
    robot = _robot_for(client, QUEUES, running, book_ids, dice)
    if robot is not None and not robot.has_queues():
        _queue_up(robot, clock)


def _load_book_ids(client: InProcessClient) -> tuple[list[int], list[int]]:
    """Ids of the robots' players and machines in the organizer's book."""
    players = {player["name"]: player["playerId"] for player in _all_pages(client, "/api/players")}
    machines = {arena["name"]: arena["arenaId"] for arena in _all_pages(client, "/api/arenas")}
    for ifpa_id, name in enumerate(NAMES, start=IFPA_ID_FIRST):
        if name not in players:
            player = {"name": name, "ifpaId": ifpa_id}
            players[name] = client.send("POST", "/api/players", player)["data"]["playerId"]
    for name in MACHINES:
        if name not in machines:
            machines[name] = client.send("POST", "/api/arenas", {"name": name})["data"]["arenaId"]
    return [players[name] for name in NAMES], [machines[name] for name in MACHINES]


def _tournaments_by_name(client: InProcessClient, user_id: int) -> dict[str, list[Json]]:
    """Name -> the organizer's tournaments with that name, newest first."""
    tournaments: dict[str, list[Json]] = {}
    for tournament in _all_pages(client, f"/api/tournaments?owner={user_id}"):
        tournaments.setdefault(tournament["name"], []).append(tournament)
    return tournaments


def _all_pages(client: InProcessClient, path: str) -> Iterator[Json]:
    separator = "&" if "?" in path else "?"
    for page in range(1, PAGES_MAX):
        answer = client.send("GET", f"{path}{separator}page={page}")
        yield from answer["data"]
        if page >= answer["meta"]["last_page"]:
            return


def _robot_for(
    client: InProcessClient,
    plan: TournamentPlan,
    existing: list[Json],
    book_ids: tuple[list[int], list[int]],
    dice: Random,
) -> Robot | None:
    """A robot that continues or starts this tournament; None when one like it is finished."""
    if any(tournament["status"] == "completed" for tournament in existing):
        return None
    for tournament in existing:
        if tournament["status"] == "started":
            return Robot(client, plan, tournament["tournamentId"], dice)
        # It was interrupted before its start and may lack players, so it is replaced.
        client.send("DELETE", f"/api/tournaments/{tournament['tournamentId']}")
    return _start_night(client, plan, book_ids, dice)


def _start_night(
    client: InProcessClient, plan: TournamentPlan, book_ids: tuple[list[int], list[int]], dice: Random
) -> Robot:
    players, machines = book_ids
    robot = Robot.create(client, plan, dice)
    robot.add_members(dice.sample(players, plan.players), machines)
    robot.start()
    return robot


def _queue_up(robot: Robot, clock: SteppedClock) -> None:
    """Record some scores, then queue players for three machines and start one of them."""
    while robot.step():
        clock.tick(STEP_SECONDS)
    robot.queue_up(QUEUE_SIZES)


class LiveNight:
    """A robot in its own thread that plays one tournament after another, a result every other second."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        user_id: int,
        dice: Random,
        pauses: tuple[float, float] = PAUSE_SECONDS,
    ) -> None:
        caller = AuthenticatedCaller(user_id=user_id, role="organizer", ability="manage")
        self._client = InProcessClient(app.build_api(store, settings), caller)
        self._user_id = user_id
        self._dice = dice
        self._pause_range = pauses
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._run, name="silverball-robot")

    def start(self) -> None:
        """Start playing; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the action under way and play no more."""
        self._stop_event.set()
        if self._thread.ident is not None:
            self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        while not self._stop_event.is_set():
            try:
                self._play(self._running_or_new_night())
            except RequestRefused as refusal:
                # Another user changed the tournament, so it is loaded again.
                LOG.info("a robot was refused: %s", refusal)
            except Exception as error:  # the top of a thread: the error would get lost
                LOG.error("the live tournament failed", exc_info=error)
            self._stop_event.wait(self._pause_seconds())

    def _running_or_new_night(self) -> Robot:
        """A robot for the running tournament, or for a new one."""
        path = f"/api/tournaments?owner={self._user_id}&status=started"
        for tournament in _all_pages(self._client, path):
            if tournament["name"] == LIVE.name:
                return Robot(self._client, LIVE, tournament["tournamentId"], self._dice)
        return _start_night(self._client, LIVE, _load_book_ids(self._client), self._dice)

    def _play(self, robot: Robot) -> None:
        while not self._stop_event.wait(self._pause_seconds()):
            if not robot.step():
                robot.complete()
                return

    def _pause_seconds(self) -> float:
        return self._dice.uniform(*self._pause_range)
