"""The network is cut in the middle of entry, or slow: nothing is lost, and nothing is recorded twice."""

import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser
from sqlalchemy import func, select

from silverball.rules.model.tournament import Game
from silverball.store import tables
from silverball.store.database.engine import Store
from tcp_proxy import TcpProxy
from web.phone import a_night, actions, night_of
from web.touch_screens import PATIENCE, TouchScreen
from web.visitor import EMAIL

# One that is under way, and three without a network.
GAMES_PER_CUT = 4
# 400 kbit/s, and 400 ms a request: 200 ms each way.
SLOW_BYTES_PER_SECOND = 400_000 / 8
SLOW_SECONDS_EACH_WAY = 0.2
KEPT = """async () => {
  const cache = await caches.open("silverball-pages");
  const pages = ["/t/1/run", "/t/1/run/standings"].map(path => cache.match(path));
  return (await Promise.all(pages)).every(Boolean);
}"""

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]


@pytest.fixture
def proxy(base_url: str) -> Iterator[TcpProxy]:
    """The network between the tablet and the server."""
    with TcpProxy(("127.0.0.1", urlsplit(base_url).port or 0)) as started:
        yield started


class NightPhone(TouchScreen):
    """A phone with two-player games to enter, each won by its first player."""

    def __init__(self, browser: Browser, base_url: str, games: list[Game]) -> None:
        super().__init__(browser, base_url, EMAIL)
        self._games = iter(games)
        self.page.wait_for_selector("#feed[data-state=live]", state="attached", timeout=PATIENCE)

    def wait_until_kept(self) -> None:
        """Wait until the service worker has the pages that are looked at without a network."""
        until(lambda: bool(self.page.evaluate(KEPT)))

    def win(self) -> Game:
        """Tap the winner of the next game."""
        game = next(self._games)
        self.tap(f"#result-{game.game_id} button[name=first][value='{game.player_ids[0]}']")
        return game

    def win_and_see(self) -> None:
        """Tap the winner of the next game, and wait for the answer."""
        game = self.win()
        self.page.wait_for_selector(f"#result-{game.game_id}", state="detached", timeout=PATIENCE)
        self.has_sent_everything()

    def waiting(self, count: int) -> None:
        """Assert that the bar counts this many entries that wait."""
        self.page.wait_for_selector(
            f"#outbox:not([hidden]) summary >> text={count} not sent yet", timeout=PATIENCE
        )

    def enter_without_network(self) -> None:
        """Enter three results without a network, with a reload and a change of the tab between them."""
        self.win()
        self.page.reload()
        self.page.wait_for_selector("#feed >> text=as of", state="attached", timeout=PATIENCE)
        self.win()
        self.tap(".bar >> text=Standings")
        self.page.wait_for_url("**/run/standings")
        self.page.wait_for_selector("#outbox:not([hidden])")
        self.tap(".bar >> text=Now")
        self.page.wait_for_url("**/run")
        self.win()

    def has_sent_everything(self) -> None:
        self.page.wait_for_selector("#outbox", state="hidden", timeout=PATIENCE)


def until(holds: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.05)


def open_games(store: Store) -> list[Game]:
    return [game for game in night_of(store).games if game.status == "started"]


def completions(store: Store) -> int:
    """The number of results in the journal."""
    completed = tables.journal.c.change == "GameCompleted"
    with store.read() as db:
        return db.execute(select(func.count()).where(completed)).scalar_one()


def assert_recorded_once(store: Store, games: list[Game], actions_before: int) -> None:
    """Assert that each game has the result that was tapped, and the journal one action for each."""
    until(lambda: not open_games(store))
    recorded = {game.game_id: game.result_positions[0] for game in night_of(store).games}
    assert recorded == {game.game_id: game.player_ids[0] for game in games}
    assert completions(store) == len(games)
    assert actions(store) == actions_before + len(games)


@pytest.mark.parametrize("cuts", [(5, 30), pytest.param((600,), marks=pytest.mark.soak)], ids=str)
def test_results_entered_while_the_network_is_cut_are_recorded_once(
    store: Store, browser: Browser, base_url: str, proxy: TcpProxy, cuts: tuple[int, ...]
) -> None:
    games_per_phone = GAMES_PER_CUT * len(cuts) + 1
    a_night(store, players=4 * games_per_phone, arenas=2 * games_per_phone)
    games, before = open_games(store), actions(store)
    assert len(games) == 2 * games_per_phone
    phone = NightPhone(browser, base_url, games[:games_per_phone])
    tablet = NightPhone(browser, f"http://127.0.0.1:{proxy.port}", games[games_per_phone:])
    for device in (phone, tablet):
        device.wait_until_kept()
    for seconds in cuts:
        enter_through_a_cut(store, phone, tablet, proxy, seconds)
    for device in (phone, tablet):
        device.win_and_see()
    assert_recorded_once(store, games, before)
    # Nothing is left that a later page would send.
    for device in (phone, tablet):
        device.go("/standings")
        device.has_sent_everything()
        device.close()
    assert_recorded_once(store, games, before)


def enter_through_a_cut(
    store: Store, phone: NightPhone, tablet: NightPhone, proxy: TcpProxy, seconds: int
) -> None:
    """Cut both networks in the middle of a result, enter three more on each device, and mend them."""
    games_before = len(open_games(store))
    # The tablet's result arrives, and its answer is lost; the phone's is cut off wherever it is.
    proxy.delay(1.0)
    tablet.win()
    until(lambda: len(open_games(store)) == games_before - 1)
    proxy.stop()
    proxy.delay(0)
    phone.win()
    # CDP's Network.emulateNetworkConditions, for the page and for its service worker. Some requests reach
    # the server all the same, and their answers are lost.
    phone.context.set_offline(True)
    mended_at = time.monotonic() + seconds
    for device in (phone, tablet):
        device.enter_without_network()
    tablet.waiting(GAMES_PER_CUT)
    phone.page.wait_for_timeout(max(0.0, mended_at - time.monotonic()) * 1000)
    phone.context.set_offline(False)
    proxy.start()
    for device in (phone, tablet):
        device.has_sent_everything()
    # An entry of this moment is in no list yet.
    until(lambda: len(open_games(store)) == games_before - 2 * GAMES_PER_CUT)


def test_a_round_is_entered_on_a_slow_line(
    store: Store, browser: Browser, base_url: str, proxy: TcpProxy
) -> None:
    a_night(store, players=8)
    games, before = open_games(store), actions(store)
    proxy.delay(SLOW_SECONDS_EACH_WAY)
    proxy.limit(SLOW_BYTES_PER_SECOND)
    phone = NightPhone(browser, f"http://127.0.0.1:{proxy.port}", games)
    for _ in games:
        phone.win()
    phone.has_sent_everything()
    assert_recorded_once(store, games, before)
    assert phone.complaints == []
    phone.close()
