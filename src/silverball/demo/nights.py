"""Tournaments played by robots before the demo is served: a finished one of each format, one with queues.

Everything is looked up by name first, so an interrupted or restarted demo continues where it stopped.
"""

import lzma
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from silverball import app
from silverball.demo.robots import Clock, InProcessClient, Json, Robot, SteppedClock, TournamentPlan
from silverball.exchange import machine_files, nightly, opdb
from silverball.jobs import nightly_exports
from silverball.kit import files
from silverball.rules.registry import FORMATS
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.machines import reads
from silverball.settings import Settings
from silverball.store.database.engine import Store

# Ids of the players and of the arenas.
BookIds = tuple[list[int], list[int]]
STEP_SECONDS = 150
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
# Machine -> its id in the machine database.
MACHINES = {
    "The Addams Family": "G4ODR-MDXEy",
    "Attack From Mars": "G4do5-MDlN7",
    "Medieval Madness": "G5pe4-MePZv",
    "Funhouse": "G5Dz7-Mq139",
    "The Machine: Bride of Pin-Bot": "GRpee-MePdR",
    "Firepower": "G5VDd-MJpqO",
    "Star Trek: The Next Generation": "GR6d8-M1rZd",
    "White Water": "GRQKz-MyNXz",
}
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


def organizer_client(store: Store, settings: Settings, user_id: int, clock: Clock) -> InProcessClient:
    """Return a client that acts as the demo's organizer."""
    caller = AuthenticatedCaller(user_id=user_id, role="organizer", ability="manage")
    return InProcessClient(app.build_api(store, settings, now=clock.now), caller)


# The file with them is made ahead; what is newer is played at the first start.
OLD_AFTER_DAYS = 7


def play_nights(
    store: Store, settings: Settings, user_id: int, dice: Random, *, only_old: bool = False
) -> None:
    """Play the finished tournaments of the last weeks and the one with queues, unless they exist.

    With `only_old`, those from more than a week ago.
    """
    today = datetime.now(UTC).replace(hour=19, minute=0, second=0, microsecond=0)
    clock = SteppedClock(today)
    client = organizer_client(store, settings, user_id, clock)
    book_ids = load_book_ids(client)
    existing = tournaments_by_name(client, user_id)
    for days, plan in enumerate(reversed(FINISHED), start=1):
        if only_old and days <= OLD_AFTER_DAYS:
            continue
        clock.moment = today - timedelta(days=days)
        robot = _robot_for(client, plan, existing.get(plan.name, []), book_ids, dice)
        if robot is not None:
            robot.play_to_end(lambda: clock.tick(STEP_SECONDS))
    if only_old:
        return
    clock.moment = datetime.now(UTC) - timedelta(hours=2)
    running = [each for each in existing.get(QUEUES.name, []) if each["status"] != "completed"]
    robot = _robot_for(client, QUEUES, running, book_ids, dice)
    if robot is not None and not robot.has_queues():
        _queue_up(robot, clock)


def load_book_ids(client: InProcessClient) -> BookIds:
    """Return the ids of the robots' players and machines in the organizer's book."""
    players: dict[str, int] = {}
    for player in all_pages(client, "/api/players"):
        players.setdefault(player["name"], player["playerId"])
    arenas: dict[str, int] = {}
    for arena in all_pages(client, "/api/arenas"):
        if arena["opdbId"] == MACHINES.get(arena["name"]):
            arenas.setdefault(arena["name"], arena["arenaId"])
    for ifpa_id, name in enumerate(NAMES, start=IFPA_ID_FIRST):
        if name not in players:
            player = {"name": name, "ifpaId": ifpa_id}
            players[name] = client.send("POST", "/api/players", player)["data"]["playerId"]
    for name, opdb_id in MACHINES.items():
        if name not in arenas:
            arena = {"name": name, "opdbId": opdb_id}
            arenas[name] = client.send("POST", "/api/arenas", arena)["data"]["arenaId"]
    return [players[name] for name in NAMES], [arenas[name] for name in MACHINES]


def tournaments_by_name(client: InProcessClient, user_id: int) -> dict[str, list[Json]]:
    """Return name -> the organizer's tournaments with that name, newest first."""
    tournaments: dict[str, list[Json]] = {}
    for tournament in all_pages(client, f"/api/tournaments?owner={user_id}"):
        tournaments.setdefault(tournament["name"], []).append(tournament)
    return tournaments


def all_pages(client: InProcessClient, path: str) -> Iterator[Json]:
    """Yield the items of all pages."""
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
    book_ids: BookIds,
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
    return start_night(client, plan, book_ids, dice)


def start_night(client: InProcessClient, plan: TournamentPlan, book_ids: BookIds, dice: Random) -> Robot:
    """Create a tournament with players and machines, start it, and return its robot."""
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


# Machines, tips and public files of the demo.


DATA = Path(__file__).parent / "data"
FILES = DATA / "machines"
# The results of an invented night that was run with other software.
ELSEWHERE = DATA / "elsewhere" / "thursday.json"
EVENING_BEFORE = ("Wednesday", "2026-03-04")


# A database with what is older than a week, made by `make demo-data` and not in git.
OLD_NIGHTS = DATA / "old_nights.db.xz"


def unpack_old_nights(database: Path) -> None:
    """Begin a demo with the old nights, where there is a file with them and no demo yet."""
    if database.exists() or not OLD_NIGHTS.exists():
        return
    part = database.with_name(f"{database.name}.part")
    files.create_or_tighten(part)
    with lzma.open(OLD_NIGHTS) as packed, part.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    part.rename(database)


def load_machines(store: Store) -> None:
    """Load the machines of the demo's tournaments and some tips, unless machines are stored already."""
    with store.read() as db:
        if reads.entry_ids(db):
            return
    machines, tips = (
        opdb.read_machines(FILES / "opdb.json"),
        machine_files.read_pintips(FILES / "pintips.json"),
    )
    with store.write() as transaction:
        opdb.import_machines(transaction, machines)
        machine_files.import_tips(transaction, tips)


def write_public_files(store: Store, folder: Path) -> None:
    """Write the bulk files, for which the server would wait until the morning, and the sample results."""
    nightly_exports.run(folder, store, datetime.now(UTC).replace(microsecond=0))
    shutil.copyfile(ELSEWHERE, folder / nightly.SAMPLE_RESULTS)
    weekday, day = EVENING_BEFORE
    text = ELSEWHERE.read_text("utf-8").replace("Thursday", weekday).replace("2026-03-05", day)
    (folder / nightly.SANDBOX_RESULTS).write_text(text, "utf-8")
