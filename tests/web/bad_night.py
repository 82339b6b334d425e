"""A night on which everything goes wrong, run by two directors with their thumbs.

Each method is something that a director does on the pages. After it the tournament is verified, so that the
first action that leaves a difference is the one that is named.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import cycle
from random import Random

from playwright.sync_api import Browser
from sqlalchemy import update

import build
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.service.journal.reads import verification
from silverball.service.players import reads as players
from silverball.store import tables
from silverball.store.database.engine import Store
from web.phone import night_of
from web.server_process import LiveServer
from web.touch_screens import TouchScreen
from web.visitor import EMAIL, an_account

OTHER = "otto@silverball.test"
WAIT_MILLISECONDS, WAITS_MAX = 50, 400
# More than there are games, so that a game can move when its machine breaks.
MACHINES = 40


class BadNight:
    """One tournament, its server in a process of its own, and the phones of two directors."""

    def __init__(
        self,
        store: Store,
        server: LiveServer,
        browser: Browser,
        *,
        type_: str,
        people: int,
        **settings: object,
    ) -> None:
        self.store, self.server, self.dice = store, server, Random(people)
        # The tournament on Olga's console.
        self.tournament_id = 1
        self.actions = 0
        # Whether a correction put somebody back in.
        self.came_back = False
        organizer_id = self.organizer_id = an_account(store, name="Olga Ramp", role="organizer")
        an_account(store, name="Otto Tilt", email=OTHER, role="organizer")
        arenas = [build.an_arena(store, organizer_id, name=f"Machine {n + 1}") for n in range(MACHINES)]
        at = "/api/tournaments/1"
        for path, body in (
            ("/api/tournaments", {"name": "A bad night", "type": type_, **settings}),
            (f"{at}/players", {"players": [{"name": f"Player {n + 1}"} for n in range(people)]}),
            (f"{at}/arenas", {"arenas": [{"arenaId": arena_id} for arena_id in arenas]}),
        ):
            status, answer, _ = build.do(store, "POST", path, body, by=organizer_id)
            assert status < 300, answer
        self.olga = TouchScreen(browser, server.connection.url, EMAIL)
        self._invite_otto(browser)
        # Both enter results, in turn.
        self._screens = cycle([self.olga, self.otto])

    def _invite_otto(self, browser: Browser) -> None:
        self.olga.go("/settings#directors")
        self.olga.tap("#director-link button")
        link = self.olga.page.locator("textarea#link").input_value()
        # Otto signs in at the console, which is not theirs yet.
        self.otto = TouchScreen(browser, self.server.connection.url, OTHER)
        self.otto.page.goto(self.server.connection.url + "/direct" + link.rpartition("/direct")[2])
        with self.acting("the other director joins"):
            self.otto.tap("text=Run it with them")
            self.wait_until(lambda: self.otto.page.url.endswith(self.otto.at))
        self.olga.go()

    def close(self) -> None:
        complaints = [text for screen in (self.olga, self.otto) for text in screen.complaints]
        self.olga.close()
        self.otto.close()
        # The browser logs what a console that is not Otto's yet answers, and that the server was gone.
        expected = ("403", "ERR_", "WebSocket connection")
        unexpected = [text for text in complaints if not any(part in text for part in expected)]
        assert unexpected == [], unexpected

    # What is so

    @property
    def tournament(self) -> Tournament:
        return night_of(self.store, self.tournament_id)

    def game(self, game_id: int) -> Game:
        return next(game for game in self.tournament.games if game.game_id == game_id)

    def open_games(self) -> list[Game]:
        return [game for game in self.tournament.games if game.status == "started" and not game.is_bye]

    def entrant(self, player_id: int) -> Entrant:
        return self.tournament.entrant_by_id[player_id]

    def name(self, player_id: int) -> str:
        with self.store.read() as db:
            return players.find_player(db, player_id, None).name

    def id_of(self, name: str) -> int:
        return next(
            entrant.player_id for entrant in self.tournament.entrants if self.name(entrant.player_id) == name
        )

    def number_players(self, numbers: Mapping[int, int | None]) -> None:
        """Write the numbers that the federation has given into the book."""
        with self.store.write() as transaction:
            for player_id, number in numbers.items():
                own = tables.player.c.player_id == player_id
                transaction.connection.execute(update(tables.player).where(own).values(ifpa_id=number))

    # Doing

    @contextmanager
    def acting(self, what: str) -> Iterator[None]:
        """Do something, and verify the tournament afterwards."""
        yield
        self.actions += 1
        self._check(what)

    def _check(self, what: str) -> None:
        self._verify(self.tournament_id, what)

    def _verify(self, tournament_id: int, what: str) -> None:
        with self.store.read() as db:
            faults = list(verification.verify_tournament(db, tournament_id).faults)
        assert faults == [], (what, faults)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        for _ in range(WAITS_MAX):
            if holds():
                return
            self.olga.page.wait_for_timeout(WAIT_MILLISECONDS)
        shown = [screen.page.inner_text("body")[:600] for screen in (self.olga, self.otto)]
        raise AssertionError(f"it never came about: {shown}")

    def start(self) -> None:
        with self.acting("start"):
            self.olga.go()
            self.olga.tap("button:has-text('Start with')")
            self.wait_until(lambda: self.tournament.status == "started")

    def open_round(self) -> None:
        number = len(self.tournament.rounds) + 1
        with self.acting(f"round {number} opens"):
            self.olga.go()
            self.olga.tap(f"text=Open round {number}")
            self.wait_until(lambda: len(self.tournament.rounds) == number)

    def order_of(self, game: Game) -> list[int]:
        """A random finishing order; who left the game stays behind the others."""
        gone = [player_id for player_id in game.result_positions if player_id is not None]
        others = [player_id for player_id in game.player_ids if player_id not in gone]
        return self.dice.sample(others, len(others)) + gone

    def enter(self, game: Game, order: Sequence[int] | None = None) -> None:
        """Enter a result on the phone of whoever's turn it is."""
        screen = next(self._screens)
        order = order or self.order_of(game)
        gone = {player_id for player_id in game.result_positions if player_id is not None}
        form = screen.page.locator(f"#result-{game.game_id}")
        with self.acting(f"result of game {game.game_id}"):
            if len(game.player_ids) == 2:
                screen.tap(form.locator(f"button[name=first][value='{order[0]}']"))
            else:
                screen.tap(f"#game-{game.game_id} .four")
                self._tap_order(
                    screen, f"#result-{game.game_id}", [each for each in order if each not in gone]
                )
                screen.tap(form.locator(".entry-end button"))
            self.wait_until(lambda: self.game(game.game_id).status == "completed")
        recorded = self.game(game.game_id)
        assert list(recorded.finishing_order or recorded.result_positions) == list(order)

    def _tap_order(self, screen: TouchScreen, form: str, order: Sequence[int]) -> None:
        for player_id in order[:-1]:
            screen.tap(f"{form} .place:has([name=place-{player_id}]) .tap")

    def enter_all(self, games: Sequence[Game] | None = None) -> None:
        """Enter the results of these games, or of all that are open, on both phones."""
        for screen in (self.olga, self.otto):
            screen.go()
        for game in games if games is not None else self.open_games():
            self.enter(self.game(game.game_id))

    def late(self, name: str, game: Game | None = None) -> int:
        """Somebody comes late, into an open group of three or for the next round."""
        before = len(self.tournament.entrants)
        with self.acting(f"{name} comes late"):
            self.otto.go("/players")
            # Without rounds there is no group to join, and the form for everybody serves.
            form = "late" if self.otto.page.locator("#late").count() else "people"
            self.otto.fill(f"#{form}-names", name)
            if game is not None:
                self.otto.tap(f"#late label:has(input[value='{game.game_id}'])")
            self.otto.tap(f"#{form} > button")
            self.wait_until(lambda: len(self.tournament.entrants) == before + 1)
        return self.tournament.entrants[-1].player_id

    def leave(self, player_id: int, way: str = "") -> None:
        """Somebody goes; `way` is what becomes of the game that they are in."""
        with self.acting(f"player {player_id} leaves"):
            self.olga.go(f"/player?player={player_id}")
            if way:
                self.olga.tap(f"#leave label:has(input[value='{way}'])")
            self.olga.tap("#leave > button")
            self.wait_until(lambda: not self.entrant(player_id).is_active)

    def forfeit(self, player_id: int) -> None:
        """Somebody goes home from a bracket: their matches are lost."""
        with self.acting(f"player {player_id} forfeits"):
            self.olga.go(f"/player?player={player_id}")
            self.olga.tap("#forfeit button")
            self.wait_until(lambda: all(player_id not in game.player_ids for game in self.open_games()))

    def away(self, player_id: int) -> None:
        """Somebody is away for the next round."""
        with self.acting(f"player {player_id} is away"):
            self.otto.go(f"/player?player={player_id}")
            self.otto.tap("text=Away for a round")
            self.wait_until(lambda: not self.entrant(player_id).is_active)

    def breaks(self, arena_id: int) -> None:
        """A machine is out of order."""
        with self.acting(f"machine {arena_id} breaks"):
            self.olga.go("/arenas")
            self.olga.tap(f"#broken-{arena_id} button")
            self.wait_until(lambda: not self._is_in_play(arena_id))

    def _is_in_play(self, arena_id: int) -> bool:
        return any(arena.is_active for arena in self.tournament.lineup if arena.arena_id == arena_id)

    def rule(self, game: Game, ruling: str) -> None:
        """Say what becomes of the game on the broken machine: `wait`, `resume`, `startOver` or `settle`."""
        with self.acting(f"{ruling} game {game.game_id}"):
            self.olga.go("/arenas")
            if ruling == "settle":
                self.olga.tap(f"details:has(#settle-{game.game_id}) summary")
                self._tap_order(self.olga, f"#settle-{game.game_id}", game.player_ids)
                self.olga.tap(f"#settle-{game.game_id} > button >> nth=0")
            else:
                self.olga.tap(f"#ruling-{game.game_id} button[value={ruling}]")
            self.wait_until(lambda: self._is_ruled(game, ruling))

    def _is_ruled(self, before: Game, ruling: str) -> bool:
        game = self.game(before.game_id)
        return {
            "wait": bool(game.waiting_since),
            "resume": not game.waiting_since,
            "startOver": game.arena_id != before.arena_id,
            "settle": game.status == "completed",
        }[ruling]

    def correct(self, game: Game, order: Sequence[int]) -> None:
        """A result of an earlier round was wrong."""
        with self.acting(f"correction of game {game.game_id}"):
            self.olga.go(f"/correct?game={game.game_id}")
            if len(order) == 2:
                self.olga.tap(f"#right button[name=first][value='{order[0]}']")
            else:
                self._tap_order(self.olga, "#right", order)
                self.olga.tap("text=Show what changes")
            self.olga.page.wait_for_selector("#changes")
            self.olga.assert_well_laid_out()
            self.came_back |= "Back in:" in self.olga.page.inner_text("main")
            for field in self.olga.page.locator("#correct input[name^=missed-]").all():
                field.fill("0")
            self.olga.fill("#correct-reason", "The sheet was read wrong.")
            self.olga.tap("text=Save the correction")
            self.wait_until(
                lambda: (
                    list(self.game(game.game_id).finishing_order or self.game(game.game_id).result_positions)
                    == list(order)
                )
            )

    def restart_server(self) -> None:
        """The server is gone for a while; nothing that was entered is lost."""
        self.server.kill_server()
        self.server.start_server()

    def goes_dark(self) -> None:
        """The server is gone while a round is played from its printed sheet, which is then typed in."""
        self.olga.go("/more")
        self.olga.page.goto(f"{self.server.connection.url}/t/{self.tournament_id}/print/round")
        # The sheet has no line for a game that waits for its players.
        games = [game for game in self.open_games() if len(game.player_ids) > 1]
        numbers = {game.game_id: self.order_of(game) for game in games}
        self.restart_server()
        with self.acting("results from paper"):
            self.olga.go("/paper")
            for game in games:
                digits = "".join(str(game.player_ids.index(each) + 1) for each in numbers[game.game_id])
                self.olga.page.fill(f"[name=line-{game.game_id}]", digits)
            self.olga.tap("text=Save the results")
            self.wait_until(lambda: all(self.game(game.game_id).status == "completed" for game in games))
        assert {
            game_id: list(self.game(game_id).finishing_order or self.game(game_id).result_positions)
            for game_id in numbers
        } == numbers

    def adjust(self, player_id: int, by: int | Decimal) -> None:
        """Points are added by hand, beside those that were given before."""
        wanted = self.entrant(player_id).points_adjustment + by
        with self.acting(f"{by} for player {player_id}"):
            self.olga.go(f"/player?player={player_id}")
            self.olga.fill("#adjusting-pointsAdjustment", str(wanted))
            self.olga.tap("text=Save the adjustment")
            self.wait_until(lambda: self.entrant(player_id).points_adjustment == wanted)

    def draw_tie(self, names: Sequence[str]) -> None:
        """A tie that decides is named, and drawn with three taps."""
        with self.acting("a tie is drawn"):
            self.olga.go("/standings")
            before = self.olga.taps
            self.olga.tap(".bar >> text=Now")
            self.olga.page.wait_for_selector("text=/^Tied for .*:/")
            title = self.olga.page.inner_text("h2:has-text('Tied for')")
            assert all(name in title for name in names), title
            self.olga.tap("summary >> text=/^Draw$/")
            self.olga.tap("text=Draw the order")
            self.olga.sees("Tie drawn by lot")
            assert self.olga.taps - before <= 3

    def finish(self) -> None:
        with self.acting("finish"):
            self.olga.go("/standings")
            self.olga.tap("text=Finish tournament")
            self.wait_until(lambda: self.tournament.status == "completed")

    def share_prizes(self, shares: Sequence[int], entry_fee: str, federation_fee: str, house: str) -> None:
        """Share the pot by these percents for everybody to see, and pay the first prize."""
        self.olga.go("/prizes")
        for field, value in (
            ("entryFee", entry_fee),
            ("federationFee", federation_fee),
            ("houseShare", house),
            ("shares", "\n".join(map(str, shares))),
            ("rounding", "1"),
        ):
            self.olga.page.fill(f"#prize-form-{field}", value)
        self.olga.tap("#prize-form label:has(input[name=published])")
        with self.acting("prize money"):
            self.olga.tap("text=Save the prize money")
            self.olga.page.wait_for_selector("#payouts")
        self.olga.assert_well_laid_out()
        with self.acting("a prize is paid"):
            self.olga.tap("section:has(#payouts) button >> nth=0")
            self.olga.page.wait_for_selector("section:has(#payouts) .badge")

    def shown_standings(self) -> dict[str, tuple[int, Fraction]]:
        """Name -> place and number, as the page of the standings shows them."""
        self.olga.go("/standings")
        shown = {}
        for row in self.olga.page.locator("section:has(#table) tbody tr").all():
            cells = row.locator("td, th")
            last = cells.count() - 1
            shown[row.locator("bdi").inner_text()] = (
                int(cells.nth(0).inner_text()),
                Fraction(cells.nth(last).inner_text().replace(",", "")),
            )
        return shown
