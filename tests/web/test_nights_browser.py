"""Nights of seven formats, from the first round to the podium, by tapping what the console offers.

`make test` plays one at 390 px; `make test-all` each of them at two widths. Taps are printed.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from selection import IS_ALL
from silverball.rules.model.tournament import Game, SinglePlayerGame
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from web import chromium
from web.chromium import BrowserPage
from web.phone import LOOK_MILLISECONDS, TWO_FRAMES, actions, night_of, on_the_console, started

pytestmark = [
    pytest.mark.browser,
    # The database makes no difference to a browser.
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

# Format -> players, machines and settings.
NIGHTS = {
    "group_matchplay": (14, 6, {"duration": 2}),
    "knockout": (30, 15, {"knockoutStrikeCount": 1}),
    "double_bracket": (13, 6, {}),
    "best_game": (8, 3, {}),
    "frenzy": (20, 8, {}),
    "golf": (9, 3, {"golfDuration": 3}),
    "amazingrace": (8, 7, {}),
}
# Those that nobody but the organizer ends: so many results are recorded before.
WITHOUT_END = {"best_game": 24, "frenzy": 30}
WIDTHS = {
    "group_matchplay": (390, 320),
    "knockout": (390, 820),
    "double_bracket": (320, 820),
    "best_game": (320, 390),
    "frenzy": (320, 820),
    "golf": (390, 820),
    "amazingrace": (320, 390),
}
CASES = [(kind, width) for kind, widths in WIDTHS.items() for width in widths]
IN_SUITE = ("group_matchplay", 390)
STEPS_MAX = 400


class NightByTouch:
    """A director with one thumb, who enters what is open and else taps what comes next."""

    def __init__(self, store: Store, browser_page: BrowserPage, kind: str) -> None:
        self.store, self.browser_page, self.page, self.kind = store, browser_page, browser_page.page, kind
        self.taps = self.results = 0

    def tap(self, selector: str) -> None:
        """Look, then tap: two quick taps at one spot would be one."""
        control = self.page.locator(selector).first
        control.scroll_into_view_if_needed()
        self.page.wait_for_timeout(LOOK_MILLISECONDS)
        control.tap()
        self.taps += 1

    def play(self) -> None:
        for _ in range(STEPS_MAX):
            night = night_of(self.store)
            if night.status == "completed":
                return
            if self.results == WITHOUT_END.get(self.kind):
                self.finish_on_standings()
            elif night.open_games:
                self.enter_game(night.open_games[0])
            elif self.kind == "best_game":
                self.enter_score()
            elif waiting := [each for each in night.single_player_games if each.status != "completed"]:
                self.enter_attempt(min(waiting, key=lambda each: (each.round_id, each.single_player_game_id)))
            else:
                self.go_on()
            self.browser_page.assert_fits()
        raise AssertionError(f"no end after {STEPS_MAX} steps: {self.page.inner_text('main')[:500]}")

    def go_on(self) -> None:
        """Tap the one main thing that the console offers, and wait until it is done."""
        before = actions(self.store)
        self.show(".round-next .primary")
        assert self.page.locator("main .primary:visible").count() == 1
        self.tap(".round-next .primary")
        self.browser_page.wait_for(lambda: actions(self.store) > before)

    def show(self, selector: str) -> None:
        """What would move rows waits behind a line: "All results are in: show"."""
        self.page.wait_for_selector(f"{selector}, .news:visible", state="attached")
        if not self.page.locator(selector).count():
            self.tap(".news:visible")
            self.page.wait_for_selector(selector, state="attached")

    def enter_game(self, game: Game) -> None:
        """The lower id wins."""
        self.results += 1
        order = sorted(game.player_ids)
        self.show(f"#game-{game.game_id}")
        if len(order) == 2:
            self.tap(f"#result-{game.game_id} button[value='{order[0]}']")
        else:
            self.tap(f"#game-{game.game_id} .four")
            self.page.wait_for_selector(f"#entry-{game.game_id}[open]")
            for player_id in order[:-1]:
                self.tap(f"#entry-{game.game_id} .place:has([name=place-{player_id}]) .tap")
            self.page.evaluate(TWO_FRAMES)
            self.tap(f"#entry-{game.game_id} .entry-end button")
        self.browser_page.wait_for(
            lambda: all(each.game_id != game.game_id for each in night_of(self.store).open_games)
        )

    def enter_attempt(self, attempt: SinglePlayerGame) -> None:
        """The lower id is better."""
        self.results += 1
        key, row = attempt.single_player_game_id, f"#attempt-{attempt.single_player_game_id}"
        if not self.page.locator(row).count():
            self.browser_page.go(f"/t/1/run?round={attempt.round_id}")
            self.taps += 1
        if self.kind == "golf":
            self.tap(f"{row} button[value='{1 + attempt.player_id % 5}']")
        else:
            self.page.fill(f"{row} [name=score]", str(9_000_000 - 1_000 * attempt.player_id))
            self.tap(f"{row} button:not([type=button])")
        self.browser_page.wait_for(lambda: self.is_completed(key))

    def is_completed(self, key: int) -> bool:
        games = night_of(self.store).single_player_games
        return all(each.status == "completed" for each in games if each.single_player_game_id == key)

    def enter_score(self) -> None:
        """Each player on each machine in turn, the lower id better."""
        night = night_of(self.store)
        number, self.results = self.results, self.results + 1
        player_id = night.active_ids[number % len(night.active_ids)]
        arena_id = night.lineup[number // len(night.active_ids)].arena_id
        self.page.select_option("#score [name=playerId]", str(player_id))
        self.page.select_option("#score [name=arenaId]", str(arena_id))
        self.page.fill("#score [name=score]", str(9_000_000 - 1_000 * player_id))
        self.tap("#score button")
        self.browser_page.wait_for(lambda: len(night_of(self.store).single_player_games) == self.results)

    def finish_on_standings(self) -> None:
        self.tap("nav >> text=Standings")
        self.page.wait_for_url("**/standings")
        self.tap("#complete >> text=Finish tournament")
        self.browser_page.wait_for(lambda: night_of(self.store).status == "completed")

    def look_at_end(self) -> None:
        """The podium, the file for the federation, and a journal without a fault."""
        self.browser_page.go("/t/1/run")
        winner = min(each.player_id for each in night_of(self.store).entrants)
        name = self.page.inner_text("main li:has(.p1)")
        assert self.kind in ("golf", "frenzy") or f"Player {winner}" in name or "Player 1" in name
        expect(self.page.locator("main")).to_contain_text("Share the result")
        self.tap("main >> text=Results for the federation")
        self.page.wait_for_url("**/federation")
        assert "1\tPlayer" in self.page.input_value("textarea")
        self.browser_page.assert_fits()
        with self.store.read() as db:
            assert list(verification.verify_tournament(db, 1).faults) == []
        assert self.browser_page.complaints == []


@pytest.fixture
def touched_page(browser: Browser, base_url: str, width: int) -> Iterator[BrowserPage]:
    size: Any = {"width": width, "height": 844}
    context = browser.new_context(viewport=size, has_touch=True, is_mobile=True)
    yield chromium.watched(context, base_url)
    context.close()


@pytest.mark.parametrize(("kind", "width"), CASES)
def test_a_night_is_played_to_its_podium_by_touch(
    store: Store, touched_page: BrowserPage, kind: str, width: int
) -> None:
    if not IS_ALL and (kind, width) != IN_SUITE:
        pytest.skip("`make test-all` plays this night")
    players, machines, settings = NIGHTS[kind]
    started(store, kind, players, machines, **settings)
    on_the_console(touched_page)
    night = NightByTouch(store, touched_page, kind)
    night.play()
    night.look_at_end()
    print(f"{kind} at {width} px: {night.taps} taps for {night.results} results")  # noqa: T201
