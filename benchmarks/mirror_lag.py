"""`make bench`: how far a mirror is behind a night of sixteen players that a server on loopback runs.

A robot records a result every fifth of a second, in rounds of groups of four. The lag is that of
`silverball mirror`: from the event on the socket to the commit that announces it here, with the reads that
it takes. At 6,000 requests a minute, as in a club's own network; at the usual 60 the wait for a turn is most
of it.
"""

import queue
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import run
from run import Row
from silverball.demo import nights as demo_nights
from silverball.demo.robots import Robot, SteppedClock, TournamentPlan
from silverball.exchange import mirror as exchange_mirror
from silverball.exchange.mirror import Heard, KnownParts, MirrorRun
from silverball.exchange.pull import source as sources
from silverball.exchange.pull.source import PullSource, RequestPace
from silverball.settings import Settings
from silverball.store.database import migrate
from silverball.store.database.engine import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
# The tests' own servers, accounts and tokens.
import build
from http_robots import HttpClient
from servers import Servers
from test_app import a_token

LAG_MAX = 300
PLAYERS, ROUNDS, STEPS = 16, 6, 150
PER_MINUTE = 6_000
PAUSE_SECONDS = 0.2


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    return run.measure(_rows)


def _rows(folder: Path) -> Iterator[Row]:
    with closing(_new_store(folder / "there.db")) as there, closing(_new_store(folder / "here.db")) as here:
        owner_id = build.a_user(there, name="Olga Ramp", role="organizer")
        organizer = demo_nights.organizer_client(there, Settings(), owner_id, SteppedClock(build.NOW))
        plan = TournamentPlan(
            name="Followed", type="group_matchplay", players=PLAYERS, settings={"duration": ROUNDS}
        )
        night = demo_nights.start_night(organizer, plan, demo_nights.load_book_ids(organizer), Random(7))
        servers = Servers(there.url.render_as_string(hide_password=False))
        servers.start()
        try:
            client = HttpClient(
                f"http://127.0.0.1:{servers.port}", a_token(there, owner_id, ability="manage")
            )
            mirror = _follow(here, client, Robot(client, plan, night.tournament_id, Random(8)))
        finally:
            servers.close()
    median, p99 = mirror.lag()
    measured = f"median {median} ms, p99 {p99} ms, {len(mirror.lags)} events"
    yield Row(
        "a mirror behind its source, 16 players, loopback", measured, f"p99 < {LAG_MAX} ms", p99 < LAG_MAX
    )


def _new_store(file: Path) -> Store:
    store = Store(f"sqlite:///{file}")
    migrate.migrate(store)
    return store


def _follow(here: Store, client: HttpClient, robot: Robot) -> MirrorRun:
    """Follow while the robot plays."""
    name, ask = sources.asker(client.base_url, client.token)
    known = KnownParts(PullSource(name, ask, RequestPace(PER_MINUTE)), robot.tournament_id)
    known.read_everything()
    copy = exchange_mirror.begin(here, name, known.raw, datetime.now(UTC), Random(1))
    heard: queue.Queue[Heard] = queue.Queue()
    mirror = MirrorRun(copy, known, heard, lambda: datetime.now(UTC), time.monotonic, print)
    mirror.begin()
    is_over = threading.Event()
    exchange_mirror.listening_thread(client.base_url, robot.tournament_id, heard, is_over.is_set)
    playing = threading.Thread(target=_play, args=(robot,))
    playing.start()
    while playing.is_alive() or not heard.empty():
        mirror.step()
    is_over.set()
    return mirror


def _play(robot: Robot) -> None:
    # The subscription stands first.
    time.sleep(1)
    for _ in range(STEPS):
        if not robot.step():
            break
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
