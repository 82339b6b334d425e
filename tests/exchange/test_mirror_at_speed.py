"""A mirror over real sockets at ten results a second, with random cuts; for `make soak`."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

import build
import mirror
from exchange.mirrored_nights import plan_of
from http_robots import HttpClient
from servers import Servers
from silverball.demo import nights as demo_nights
from silverball.demo.robots import Robot, SteppedClock
from silverball.exchange import mirror as exchange_mirror
from silverball.exchange.mirror import Heard, KnownParts, MirrorRun
from silverball.exchange.pull import source as sources
from silverball.exchange.pull.source import PullSource, RequestPace
from silverball.rules.registry import FORMATS
from silverball.settings import Settings
from silverball.store.database.engine import Store
from tcp_proxy import TcpProxy
from test_app import a_token

pytestmark = pytest.mark.soak

RESULT_SECONDS = 0.1
BURST_RESULTS = 20
BURSTS_MAX = 5
# A frenzy ends with its clock, which this test does not wait for.
LAST_RESULT = (BURSTS_MAX, BURST_RESULTS - 1)
QUIET_SECONDS = 1.0
# After a cut the feed is joined again and everything is read.
RECOVERY_SECONDS_MAX = 20.0
PER_MINUTE = 6_000


@pytest.fixture
def there(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path, empty_sqlite: Path
) -> Iterator[Store]:
    """The database of the service that runs the night: another one of the same kind."""
    if database_url.startswith("sqlite"):
        file = tmp_path / "there.db"
        file.write_bytes(empty_sqlite.read_bytes())
        url = f"sqlite:///{file}"
    else:
        url = request.getfixturevalue("postgresql").new_database()
    opened = Store(url, tmp_path / "there.db.secret")
    opened.key_file.may_make = True
    yield opened
    opened.close()


class NightAtSpeed:
    """A night on a server, its mirror in a thread, and the proxy between them."""

    def __init__(self, there: Store, here: Store, server_port: int, proxy: TcpProxy, kind: str) -> None:
        owner_id = build.a_user(there, name="Olga Ramp", role="organizer")
        organizer = demo_nights.organizer_client(there, Settings(), owner_id, SteppedClock(datetime.now(UTC)))
        night = demo_nights.start_night(
            organizer, plan_of(kind), demo_nights.load_book_ids(organizer), Random(kind)
        )
        token = a_token(there, owner_id, ability="manage")
        client = HttpClient(f"http://127.0.0.1:{server_port}", token)
        self.robot = Robot(client, plan_of(kind), night.tournament_id, Random(8))
        self.proxy, self.kind = proxy, kind
        self.is_over = threading.Event()
        heard: queue.Queue[Heard] = queue.Queue()
        url = f"http://127.0.0.1:{proxy.port}"
        name, ask = sources.asker(url, token)
        known = KnownParts(PullSource(name, ask, RequestPace(PER_MINUTE), tries_max=2), night.tournament_id)
        known.read_everything()
        copy = exchange_mirror.begin(here, name, known.raw, datetime.now(UTC), Random(1))
        self.run = MirrorRun(copy, known, heard, lambda: datetime.now(UTC), time.monotonic, print)
        self.run.begin()
        self.listener = exchange_mirror.listening_thread(url, night.tournament_id, heard, self.is_over.is_set)
        self.follower = threading.Thread(target=self._follow)
        self.follower.start()
        self.source = mirror.Mirror(there, night.tournament_id)
        self.copy = mirror.Mirror(here, copy.tournament_id)

    def _follow(self) -> None:
        while not self.is_over.is_set():
            self.run.step()

    def play_to_end(self, dice: Random) -> None:
        """Play in bursts, with a cut in every other and a quiet second after each."""
        going = True
        # The subscription stands first.
        time.sleep(QUIET_SECONDS)
        for burst in range(1, BURSTS_MAX + 1):
            cut_at = dice.randrange(2 * BURST_RESULTS)
            for n in range(BURST_RESULTS):
                if n == cut_at:
                    self.proxy.cut()
                going = going and self.robot.step() and (burst, n) != LAST_RESULT
                if not going:
                    self.robot.complete()
                    break
                time.sleep(RESULT_SECONDS)
            self._await_equality(was_cut=cut_at <= n)
            if not going:
                return

    def _await_equality(self, *, was_cut: bool) -> None:
        """Wait for a quiet second, or after a cut until the mirror has read everything again."""
        time.sleep(QUIET_SECONDS)
        deadline = time.monotonic() + (RECOVERY_SECONDS_MAX if was_cut else 0)
        while (difference := self._difference()) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert difference == "", (difference, was_cut)

    def _difference(self) -> str:
        """The name of a part that differs; empty when both sides answer the same."""
        here, there = self.copy.fresh(), self.source.fresh()
        # Rolls are not published, and strikes and spares decide ties.
        if self.kind != "bowling":
            here["standings"], there["standings"] = (
                self.copy.read("/standings"),
                self.source.read("/standings"),
            )
        return next((part for part in there if here[part] != there[part]), "")

    def close(self) -> None:
        self.is_over.set()
        self.follower.join()
        self.proxy.cut()
        self.listener.join()


@contextmanager
def a_night_at_speed(there: Store, here: Store, kind: str) -> Iterator[NightAtSpeed]:
    servers = Servers.without_limits(there.url.render_as_string(hide_password=False))
    servers.start()
    try:
        with TcpProxy(("127.0.0.1", servers.port)) as proxy:
            night = NightAtSpeed(there, here, servers.port, proxy, kind)
            try:
                yield night
            finally:
                night.close()
    finally:
        servers.close()


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_a_mirror_keeps_up_with_ten_results_a_second(
    kind: str, there: Store, store: Store, record_property: Callable[[str, object], None]
) -> None:
    with a_night_at_speed(there, store, kind) as night:
        night.play_to_end(Random(kind))
        median, p99 = night.run.lag()
    record_property("lag", f"median {median} ms, p99 {p99} ms, {len(night.run.lags)} events")
    assert night.copy.fresh()["tournament"]["status"] == "completed"
    assert median < 1_000 * QUIET_SECONDS
