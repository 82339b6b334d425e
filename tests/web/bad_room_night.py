"""A bad night of two tournaments in one room, run from one console that switches between them.

After each action everything is read from the tables: nobody plays in both, no machine is in use in both, and
a game that may begin is called.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle
from typing import Any

from playwright.sync_api import Browser
from sqlalchemy import select

import build
from silverball.rules.model.tournament import Game
from silverball.store import tables
from silverball.store.database.engine import Store
from web.bad_night import BadNight
from web.phone import night_of
from web.server_process import LiveServer

BOTH = (1, 2)
NAMES = {1: "A bad night", 2: "Women's on a bad night"}


@dataclass(frozen=True)
class OpenGame:
    """An open game as the tables have it."""

    tournament_id: int
    game_id: int
    arena_id: int | None
    waiting_since: datetime | None
    # On a machine that is out of order.
    is_stuck: bool
    player_ids: frozenset[int]

    @property
    def is_in_play(self) -> bool:
        return self.waiting_since is None

    @property
    def turn(self) -> tuple[Any, int, int]:
        return self.waiting_since, self.tournament_id, self.game_id

    def shares_with(self, other: "OpenGame") -> bool:
        same_machine = self.arena_id is not None and self.arena_id == other.arena_id
        return same_machine or bool(self.player_ids & other.player_ids)


class BadRoomNight(BadNight):
    """Group match play, and a match play with some of its players on the same machines."""

    # Empty until there is the second tournament.
    in_both: frozenset[int] = frozenset()

    def __init__(
        self, store: Store, server: LiveServer, browser: Browser, *, people: int, others: int, shared: int
    ) -> None:
        super().__init__(store, server, browser, type_="group_matchplay", people=people)
        in_both = [entrant.player_id for entrant in self.tournament.entrants[:shared]]
        named = [{"name": f"Guest {number + 1}"} for number in range(others - shared)]
        machines = [{"arenaId": arena.arena_id} for arena in self.tournament.lineup]
        occasion = [{"tournamentId": tournament_id} for tournament_id in BOTH]
        at = "/api/tournaments/2"
        for path, body in (
            ("/api/tournaments", {"name": NAMES[2], "type": "matchplay", "tiebreaker": "none"}),
            (f"{at}/players", {"players": [*({"playerId": each} for each in in_both), *named]}),
            (f"{at}/arenas", {"arenas": machines}),
            ("/api/events", {"name": "Room", "startUtc": "2026-03-07T18:00:00Z", "tournaments": occasion}),
        ):
            status, answer, _ = build.do(store, "POST", path, body, by=self.organizer_id)
            assert status < 300, answer
        # One console enters all results.
        self._screens = cycle([self.olga])
        # Game -> the games that were open when it began to wait.
        self._ahead: dict[int, set[int]] = {}
        self.waits = 0
        self.in_both = frozenset(in_both)

    # What is so

    def open_in_room(self) -> list[OpenGame]:
        """The open games of both tournaments, as they are stored."""
        game, seat, lineup = tables.game.c, tables.game_player.c, tables.lineup_arena.c
        with self.store.read() as db:
            stuck = {
                (row.tournament_id, row.arena_id)
                for row in db.execute(
                    select(lineup.tournament_id, lineup.arena_id).where(lineup.status != "active")
                )
            }
            seats = db.execute(select(seat.game_id, seat.player_id)).all()
            rows = db.execute(
                select(game.tournament_id, game.game_id, game.arena_id, game.waiting_since)
                .where(game.status == "started", game.bye.is_(False))
                .order_by(game.game_id)
            ).all()
        players: dict[int, set[int]] = {}
        for row in seats:
            players.setdefault(row.game_id, set()).add(row.player_id)
        return [
            OpenGame(
                *row,
                is_stuck=(row.tournament_id, row.arena_id) in stuck,
                player_ids=frozenset(players[row.game_id]),
            )
            for row in rows
        ]

    def waited_for(self) -> tuple[OpenGame, OpenGame]:
        """A game in play, and one of the other tournament that waits for nothing else."""
        room = self.open_in_room()
        for waiting in room:
            ahead = [other for other in room if other.is_in_play and other.shares_with(waiting)]
            if not waiting.is_in_play and len(ahead) == 1:
                return ahead[0], waiting
        raise AssertionError(room)

    def _held_up(self, games: Iterable[OpenGame]) -> list[OpenGame]:
        """The games that wait though the other tournament has nothing that comes before them."""
        room = list(games)
        return [
            own
            for own in room
            if not own.is_in_play
            and not own.is_stuck
            and not any(
                other.tournament_id != own.tournament_id
                and other.shares_with(own)
                and (other.is_in_play or (not other.is_stuck and other.turn < own.turn))
                for other in room
            )
        ]

    def _check(self, what: str) -> None:
        if not self.in_both:
            super()._check(what)
            return
        self.wait_until(lambda: not self._held_up(self.open_in_room()))
        for tournament_id in BOTH:
            self._verify(tournament_id, what)
        room = self.open_in_room()
        in_play = [game for game in room if game.is_in_play]
        seated = [player_id for game in in_play for player_id in game.player_ids]
        assert len(seated) == len(set(seated)), (what, in_play)
        machines = [game.arena_id for game in room if game.arena_id is not None]
        assert len(machines) == len(set(machines)), (what, room)
        self._require_nobody_starves(what, room)

    def _require_nobody_starves(self, what: str, room: list[OpenGame]) -> None:
        """A game is called before the last of those that were open when it began to wait is over."""
        assert any(game.is_in_play for game in room) or not room, what
        called = {game_id for each in BOTH for game_id in night_of(self.store, each).state.calls}
        open_ids = {game.game_id for game in room}
        waiting = {game.game_id for game in room if not game.is_in_play and not game.is_stuck}
        assert not called & waiting, what
        for game_id in self._ahead.keys() - waiting:
            del self._ahead[game_id]
        for game_id in waiting:
            if game_id not in self._ahead:
                self.waits += 1
            ahead = self._ahead.setdefault(game_id, open_ids - {game_id})
            assert ahead & open_ids, (what, game_id)

    # Doing

    def switch_to(self, tournament_id: int) -> None:
        """Have a tournament on the console: one tap."""
        if tournament_id == self.tournament_id:
            return
        before = self.olga.taps
        self.olga.tap(f".rooms a[href='/t/{tournament_id}/run']")
        self.olga.page.wait_for_url(f"**/t/{tournament_id}/run")
        assert self.olga.taps - before == 1
        self._now_at(tournament_id)
        self.olga.page.wait_for_selector("#feed[data-state=live]", state="attached")
        assert self.olga.page.inner_text("h1") == NAMES[tournament_id]

    def open_by_address(self, tournament_id: int) -> None:
        """Have a tournament on the console whose other one does not run."""
        self._now_at(tournament_id)
        self.olga.go()

    def _now_at(self, tournament_id: int) -> None:
        self.tournament_id, self.olga.at = tournament_id, f"/t/{tournament_id}/run"

    def playable(self) -> list[OpenGame]:
        return [game for game in self.open_in_room() if game.is_in_play]

    def enter_any(self) -> None:
        """Enter the result of any game in play, of either tournament."""
        chosen = self.dice.choice(self.playable())
        self.switch_to(chosen.tournament_id)
        if not self.olga.page.url.endswith(self.olga.at):
            self.olga.go()
        self.enter(self.game(chosen.game_id))

    def open_rounds(self, rounds: int) -> bool:
        """Open the next round of each tournament that has played its last one; whether there was one."""
        due = [
            tournament_id
            for tournament_id in BOTH
            if len(night_of(self.store, tournament_id).rounds) < rounds
            and all(game.tournament_id != tournament_id for game in self.open_in_room())
        ]
        for tournament_id in due:
            self.switch_to(tournament_id)
            self.open_round()
        return bool(due)

    def waiting_rows(self) -> list[str]:
        """The reasons that the console gives for the games that wait."""
        self.olga.page.wait_for_selector(".game .waits", state="attached")
        return self.olga.page.locator(".game .waits").all_inner_texts()

    def machine_breaks_under(self, own: OpenGame) -> Game:
        """A game waits for its machine; meanwhile its players may play in the other tournament."""
        assert own.arena_id is not None
        self.switch_to(own.tournament_id)
        game = self.game(own.game_id)
        self.breaks(own.arena_id)
        self.rule(game, "wait")
        return game
