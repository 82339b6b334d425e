"""A tournament played in memory: the pure rules with a journal, without a database.

night = a_night("matchplay", players=8, arenas=4)
night.do(play.start)
night.open_round()
night.win(game, first, second)
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from silverball.kit.values import replace
from silverball.rules.commands import roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import outcome, settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, opposite_changes
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.tournament import EngineState, Entrant, Game, LineupArena, Tournament
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


@dataclass
class Night:
    """A tournament, its journal and its clock."""

    tournament: Tournament
    journal: list[list[Change]] = field(default_factory=list)
    now: datetime = NOON
    _ids: Any = field(default_factory=lambda: itertools.count(1001))

    def apply(self, changes: Sequence[Change]) -> list[Change]:
        """Assign ids, apply the changes and append them to the journal, as one action."""
        real = outcome.assign_ids(changes, lambda _kind: next(self._ids))
        self.tournament = apply_changes(self.tournament, real)
        if real:
            self.journal.append(real)
        return real

    def start(self) -> None:
        dice, _seed = tournament_commands.dice_for(self.tournament, "start")
        self.apply(tournament_commands.start(self.tournament, dice, self.now))

    def open_round(self) -> list[Game]:
        """Open the next round and return its open games."""
        dice, _seed = tournament_commands.dice_for(
            self.tournament, tournament_commands.next_draw_name(self.tournament)
        )
        self.apply(tournament_commands.open_round(self.tournament, dice, self.now))
        return self.open_games()

    def open_games(self) -> list[Game]:
        return [game for game in self.tournament.games if game.status == "started"]

    def record(self, outcome: Outcome) -> list[Change]:
        self.tick()
        dice, _seed = tournament_commands.dice_for(self.tournament, f"result {len(self.journal)}")
        return self.apply(tournament_commands.record_result(self.tournament, outcome, dice, self.now))

    def record_order(self, game: Game, *order: int) -> list[Change]:
        """Record a finishing order, first to last."""
        return self.record(GameOutcome(game_id=game.game_id, finishing_order=order))

    def finish_round(self, better: Callable[[int], Any] = lambda player_id: player_id) -> None:
        """Record every open game; players finish in the order of this key."""
        for game in self.open_games():
            self.record_order(game, *sorted(game.player_ids, key=better))

    def complete(self, *, drops_open_round: bool = False) -> None:
        self.apply(tournament_commands.complete(self.tournament, self.now, drops_open_round=drops_open_round))

    def undo(self) -> list[Change]:
        """Undo the newest action and return its changes."""
        changes = opposite_changes(self.journal.pop())
        self.tournament = apply_changes(self.tournament, changes)
        return changes

    def undo_all(self) -> None:
        """Undo all actions, newest first, down to the planned tournament."""
        for _ in range(len(self.journal)):
            self.undo()

    def join(self, player_id: int, **given: Any) -> None:
        """Add a player; strikes or points are given as `points_adjustment`."""
        new = Entrant(player_id=player_id, **given)
        self.apply(tournament_commands.add_entrants(self.tournament, [new], self.dice(), self.now))

    def leave(self, player_id: int) -> None:
        self.apply(
            tournament_commands.set_active(
                self.tournament, player_id, is_active=False, dice=self.dice(), now=self.now
            )
        )

    def come_back(self, player_id: int) -> None:
        self.apply(
            tournament_commands.set_active(
                self.tournament, player_id, is_active=True, dice=self.dice(), now=self.now
            )
        )

    def adjust(self, player_id: int, points: int | str) -> None:
        self.apply(roster.adjust_entrant(self.tournament, player_id, points=Decimal(points)))

    def correct(self, game: Game, *order: int) -> None:
        """Record another finishing order for a completed game."""
        self.record_order(game, *order)

    def clear(self, game: Game) -> None:
        self.apply(tournament_commands.clear_result(self.tournament, game.game_id))

    def complete_round(self) -> None:
        newest = self.tournament.newest_round
        assert newest is not None
        self.apply(tournament_commands.complete_round(self.tournament, newest.round_id, self.now))

    def play_round(self, better: Callable[[int], Any] = lambda player_id: player_id) -> None:
        """Open a round, record every game, complete it."""
        self.open_round()
        self.finish_round(better)
        self.complete_round()

    def dice(self) -> Random:
        """Dice that depend on the number of actions so far."""
        return Random(f"dice {len(self.journal)}")

    def game_with(self, player_id: int) -> Game:
        """The newest game or bye of a player."""
        return [game for game in self.tournament.games if player_id in game.player_ids][-1]

    def game(self, game_id: int) -> Game:
        return next(game for game in self.tournament.games if game.game_id == game_id)

    def row(self, player_id: int) -> Standing:
        """The player's row of the standings."""
        return next(row for row in self.standings() if row.player_id == player_id)

    def tick(self, seconds: int = 300) -> None:
        self.now += timedelta(seconds=seconds)

    def standings(self) -> list[Standing]:
        return FORMATS[self.tournament.type].rank(self.tournament)

    def places(self) -> Mapping[int, int]:
        """Player id -> position."""
        return {row.player_id: row.position for row in self.standings()}


def a_night(kind: str, *, players: int = 8, arenas: int = 8, **given: Any) -> Night:
    """A planned tournament of a format; settings by wire key or by name."""
    form = FORMATS[kind]
    wire = {_wire(name): value for name, value in given.items()}
    chosen = settings.read_settings(form.settings, wire)
    rows = FORMATS[kind].points_map(chosen, None)
    tournament = Tournament(
        tournament_id=42,
        type=form.type,
        status="planned",
        settings=chosen,
        entrants=tuple(Entrant(player_id=n + 1, place=n) for n in range(players)),
        lineup=tuple(LineupArena(arena_id=n + 501, place=n) for n in range(arenas)),
        points_map=rows,
        tiebreaker_points_map=point_maps.TIEBREAKER,
        state=EngineState(dice_seed="seed"),
    )
    return Night(tournament)


def _wire(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def random_order(game: Game, dice: Random) -> tuple[int, ...]:
    """A random finishing order of a game."""
    return tuple(dice.sample(game.player_ids, len(game.player_ids)))


def change_entrant(night: Night, player_id: int, **values: Any) -> None:
    """Change an entrant directly, without a journal entry."""
    changed = tuple(
        replace(entrant, **values) if entrant.player_id == player_id else entrant
        for entrant in night.tournament.entrants
    )
    night.tournament = replace(night.tournament, entrants=changed)
