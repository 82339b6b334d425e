"""Long draws that run while a transaction of the same thread is open fail the test."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import Any

import pytest

from silverball.rules.commands import clocks, roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import arenas, balanced, schedule, swiss, tiers
from silverball.store.database.engine import Store

# What can take over 50 ms with some hundred players.
LONG_DRAWS: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (tournament_commands, ("start", "open_round")),
    (clocks, ("create_matches",)),
    (tournament_commands, ("eligible_rows", "seed_players")),
    (schedule, ("regular_schedule", "rebuild_schedule", "meetings_to_start")),
    (balanced, ("draw_balanced_pairs", "draw_balanced_groups", "draw_random_pairs", "draw_random_groups")),
    (balanced, ("best_greedy_seating", "improve_by_swaps")),
    (tiers, ("draw_pairs", "draw_groups")),
    (swiss, ("draw_strict_swiss_pairs", "draw_swiss_pairs", "draw_groups")),
)
# Whole lineups of a running frenzy: a game for each arena. Before the start they are quick.
LINEUP_DRAWS = ((roster, ("add_arenas", "change_arena", "mark_out_of_order")),)
# Arenas of a whole round; that of the next game or two may be chosen inside.
ASSIGNMENTS = ("assign_balanced", "assign_random", "assign_by_category", "assign_banks")
GROUPS_MAX = 2


class DrawInTransaction(AssertionError):
    """A draw ran while a transaction was open, and held up others."""


class OpenTransactions:
    """The number of open transactions of each thread."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def number(self) -> int:
        return getattr(self._local, "number", 0)

    def counted(self, opened: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def count(*arguments: Any, **options: Any) -> Iterator[Any]:
            self._local.number = self.number + 1
            try:
                with opened(*arguments, **options) as transaction:
                    yield transaction
            finally:
                self._local.number -= 1

        return count


def watch_draws(
    monkeypatch: pytest.MonkeyPatch, more: tuple[tuple[ModuleType, tuple[str, ...]], ...] = ()
) -> None:
    """Fail each long draw inside a transaction, until the test ends; `more` names others beside them."""
    transactions = OpenTransactions()
    for name in ("read", "write"):
        monkeypatch.setattr(Store, name, transactions.counted(getattr(Store, name)))

    def guard(module: ModuleType, name: str, groups_max: int) -> None:
        draw = getattr(module, name)

        @wraps(draw)
        def guarded(*arguments: Any, **options: Any) -> Any:
            is_long = groups_max == 0 or len(arguments[0]) > groups_max
            if transactions.number and is_long:
                raise DrawInTransaction(f"{module.__name__}.{name} runs inside a transaction")
            return draw(*arguments, **options)

        monkeypatch.setattr(module, name, guarded)

    for module, names in (*LONG_DRAWS, *more):
        for name in names:
            guard(module, name, 0)
    for name in ASSIGNMENTS:
        guard(arenas, name, GROUPS_MAX)
