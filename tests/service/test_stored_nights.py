"""The nights of the state machines, enacted on real databases.

After every action the rows equal the snapshot in memory; undo restores the standings to the letter; the
replayed journal ends with the stored tournament; and the verifier finds no faults.
"""

from random import Random
from typing import Any

import pytest

from mirror import Mirror
from rules import test_machines, test_machines_brackets, test_machines_solo
from rules.moves import Moves
from rules.night import Night
from rules.night_machine import NightMachine
from service import stored_nights
from silverball.rules.model.apply import apply_changes
from silverball.rules.registry import FORMATS
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from silverball.store.tournament import journal

ALL: dict[str, Moves] = {
    case.machine.moves.kind: case.machine.moves
    for module in (test_machines, test_machines_brackets, test_machines_solo)
    for case in vars(module).values()
    if hasattr(case, "machine")
}
STEPS = 30
RUNS = {"sqlite": 5, "postgresql": 3}
# Most steps of a night are play.
WEIGHTS = {"play_round": 6, "record": 5, "record_all": 2, "undo": 3, "correct": 2, "something_else": 3}


def test_every_format_has_a_night() -> None:
    assert set(ALL) == set(FORMATS)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_rows_standings_and_journal_equal_the_snapshot_in_memory(store: Store, kind: str) -> None:
    stored_nights.skip_disk_sync(store)
    for run in range(RUNS["sqlite" if store.is_sqlite else "postgresql"]):
        machine = _machine(store, ALL[kind])
        _play(machine, Random(f"{kind} {run}"))
        machine.teardown()
        _assert_replay_ends_as_stored(store, machine)


def _machine(store: Store, played: Moves) -> NightMachine:
    class StoredNightMachine(NightMachine):
        moves = played

        def prepare_night(self, night: Night) -> Night:
            return stored_nights.a_stored_night(store, night)

    return StoredNightMachine()


def _play(machine: Any, dice: Random) -> None:
    """Take random steps, the same for the same dice."""
    # An eighth of all nights is only planned.
    machine.plan(pick=8 * dice.randrange(1000) + 1, seed=dice.randrange(1000))
    steps = machine.rules
    mirror = Mirror(machine.night.store, machine.tournament.tournament_id)
    for _ in range(STEPS):
        open_steps = [step for step in steps if all(holds(machine) for holds in step.preconditions)]
        weights = [WEIGHTS.get(step.function.__name__, 1) for step in open_steps]
        (step,) = dice.choices(open_steps, weights)
        drawn = {"pick": dice.randrange(2**16), "points": dice.randint(-2, 3), "actions": dice.randint(1, 3)}
        step.function(machine, **{name: drawn[name] for name in step.arguments})
        # A follower of the feed sees every change.
        mirror.follow()


def _assert_replay_ends_as_stored(store: Store, machine: Any) -> None:
    """The replayed journal ends with the stored tournament, and the verifier finds no faults."""
    tournament_id = machine.tournament.tournament_id
    first, *others = stored_nights.all_actions(store, tournament_id)
    replayed = journal.decode_creation(tournament_id, machine.moves.kind, first.entries[0][1])
    for action in others:
        replayed = apply_changes(replayed, action.decode_changes(replayed.type))
    stored_nights.assert_same_as_stored(store, replayed)
    with store.read() as db:
        assert verification.verify_tournament(db, tournament_id).faults == []
