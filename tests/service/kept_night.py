"""A night of a format in one state, on a database that is brought back after a change.

The nights are played by the state machines and stored.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Protocol

import pytest

from conftest import PATIENT, PostgreSQL
from rules.night import Night
from rules.night_machine import NightMachine
from service import stored_nights
from service.test_stored_nights import ALL, WEIGHTS
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Tournament
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import imports

# How many steps are played before the night is in this state.
STATES = {"planned": 0, "begun": 1, "played": 14, "completed": 14}
KINDS = tuple(sorted(ALL))


class KeptDatabase(Protocol):
    """A database with a copy of itself."""

    store: Store

    def keep(self) -> None:
        """Come back to what is stored now."""

    def bring_back(self) -> None:
        """Undo what was stored since."""


class KeptFile:
    """An SQLite file, copied."""

    def __init__(self, file: Path) -> None:
        self.store = Store(f"sqlite:///{file}", limits=PATIENT)
        self._file, self._copy = file, file.with_suffix(".kept")

    def keep(self) -> None:
        self.store.disconnect()
        shutil.copy(self._file, self._copy)

    def bring_back(self) -> None:
        self.store.disconnect()
        for suffix in ("-wal", "-shm"):
            self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
        shutil.copy(self._copy, self._file)


class KeptTemplate:
    """A PostgreSQL database, copied within its cluster."""

    def __init__(self, cluster: PostgreSQL, url: str, key_file: Path) -> None:
        self.store = Store(url, key_file, limits=PATIENT)
        self.store.key_file.may_make = True
        self._cluster, self._url, self._copy = cluster, url, cluster.empty_database()

    def keep(self) -> None:
        self.store.disconnect()
        self._cluster.copy(self._url, self._copy)

    def bring_back(self) -> None:
        self.store.disconnect()
        self._cluster.copy(self._copy, self._url)

    def drop_copy(self) -> None:
        self._cluster.drop(self._copy)


@pytest.fixture
def kept_database(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path
) -> Iterator[KeptDatabase]:
    """A fresh database of each of the two kinds that is brought back after a change."""
    if database_url.startswith("sqlite"):
        file = KeptFile(tmp_path / "silverball.db")
        yield file
        file.store.close()
    else:
        cluster: PostgreSQL = request.getfixturevalue("postgresql")
        template = KeptTemplate(cluster, database_url, tmp_path / "silverball.db.secret")
        yield template
        template.store.close()
        template.drop_copy()


def play_night(store: Store, kind: str, state: str) -> Tournament:
    """Store a night of this format and play it until it is in this state, always the same way."""
    stored_nights.skip_disk_sync(store)

    class PlayingMachine(NightMachine):
        moves = ALL[kind]

        def prepare_night(self, night: Night) -> Night:
            return stored_nights.a_stored_night(store, night)

    machine: Any = PlayingMachine()
    dice = Random(f"{kind} {state}")
    machine.plan(pick=8 * dice.randrange(1000) + (state != "planned"), seed=dice.randrange(1000))
    for _ in range(STATES[state]):
        steps = [step for step in machine.rules if step.function.__name__ in ("play_round", "record")]
        steps = [step for step in steps if all(holds(machine) for holds in step.preconditions)]
        if steps:
            weights = [WEIGHTS.get(step.function.__name__, 1) for step in steps]
            dice.choices(steps, weights)[0].function(machine, pick=dice.randrange(2**16))
    if state == "completed":
        machine.try_action(lambda: tournament_commands.complete(machine.tournament, machine.night.now))
    with store.write() as transaction:
        # The state machines chose the ids of accounts, players and machines.
        imports.move_sequences(transaction.connection, tables.metadata.sorted_tables)
    night: Tournament = machine.tournament
    return night
