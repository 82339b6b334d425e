"""The same walks through all formats give the same answers, feed, exports and journal to the byte.

The golden digests were recorded before standings of running tournaments were derived. Whoever changes
the wire or a rule on purpose records them again:

    SILVERBALL_RECORD_WALKS=1 python -m pytest -n 0 tests/service/test_walks.py
"""

import hashlib
import os
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from sqlalchemy import Text, select, type_coerce

import build
from rules.moves import Moves
from rules.night import Night
from rules.night_machine import NightMachine
from service import stored_nights
from service.test_stored_nights import ALL, WEIGHTS
from silverball.service.moving import reads as moving_reads
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.base import UNSET

GOLDEN = Path(__file__).parents[1] / "golden" / "walks.txt"
IS_RECORDING = os.environ.get("SILVERBALL_RECORD_WALKS") == "1"
STEPS = 40
WALKS = 2
PARTS = "includePlayers=true&includeArenas=true&includeBanks=true&includeScorekeepers=true"
PATHS = (f"?{PARTS}", "/rounds", "/games", "/single-player-games", "/cards", "/queues", "/standings")


class Walk:
    """Random steps through one night, and a digest of all that could be read on the way."""

    def __init__(self, store: Store, played: Moves, dice: Random) -> None:
        class WalkingMachine(NightMachine):
            moves = played

            def prepare_night(self, night: Night) -> Night:
                return stored_nights.a_stored_night(store, night)

        self._store, self._dice = store, dice
        self._machine: Any = WalkingMachine()
        self._digest = hashlib.sha256()

    def digest(self) -> str:
        """Walk, and return what was read as one digest."""
        # The second entry is no multiple of eight, so that the night is begun.
        self._machine.plan(pick=8 * self._dice.randrange(1000) + 1, seed=self._dice.randrange(1000))
        for _ in range(STEPS):
            self._step()
            self._read("/standings")
        for path in PATHS:
            self._read(path)
        self._read_stored()
        return self._digest.hexdigest()[:32]

    @property
    def _tournament_id(self) -> int:
        return int(self._machine.tournament.tournament_id)

    def _step(self) -> None:
        steps = self._machine.rules
        open_steps = [step for step in steps if all(holds(self._machine) for holds in step.preconditions)]
        weights = [WEIGHTS.get(step.function.__name__, 1) for step in open_steps]
        (step,) = self._dice.choices(open_steps, weights)
        drawn = {
            "pick": self._dice.randrange(2**16),
            "points": self._dice.randint(-2, 3),
            "actions": self._dice.randint(1, 3),
        }
        step.function(self._machine, **{name: drawn[name] for name in step.arguments})

    def _read(self, path: str) -> None:
        status, body = build.ask(
            self._store, f"/api/tournaments/{self._tournament_id}{path}", public_read=True
        )
        self._add(path, status, body)

    def _read_stored(self) -> None:
        journal, announcement = tables.journal.c, tables.announcement.c
        lines = select(journal.action_id, journal.change, type_coerce(journal.data, Text), journal.dice_seed)
        events = select(announcement.epoch, announcement.seq, announcement.name, announcement.data)
        with self._store.read() as db:
            own = journal.tournament_id == self._tournament_id
            for row in db.execute(lines.where(own).order_by(journal.journal_id)):
                self._add(*row)
            own = announcement.tournament_id == self._tournament_id
            for row in db.execute(events.where(own).order_by(announcement.seq)):
                self._add(*row)
            bundle = moving_reads.load_bundle(db, self._tournament_id)
        # The head is salted, and the source is the database's own name. The digests are older than
        # `engine`, which tests/exchange/test_engine_round_trip.py holds.
        compared = msgspec.structs.replace(bundle, journal_head=UNSET, engine=UNSET, source=UNSET)
        self._add(msgspec.to_builtins(compared))

    def _add(self, *values: Any) -> None:
        self._digest.update(msgspec.json.encode(values) + b"\n")


def _recorded() -> dict[str, str]:
    return dict(line.split() for line in GOLDEN.read_text().splitlines())


@pytest.mark.sample(5)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_a_walk_gives_the_same_answers_feed_exports_and_journal(store: Store, kind: str) -> None:
    stored_nights.skip_disk_sync(store)
    for number in range(WALKS):
        name = f"{kind}-{number}"
        digest = Walk(store, ALL[kind], Random(f"walk {name}")).digest()
        if IS_RECORDING:
            recorded = _recorded() if GOLDEN.exists() else {}
            recorded[name] = digest
            lines = [f"{each} {text}\n" for each, text in sorted(recorded.items())]
            GOLDEN.write_text("".join(lines))
        assert _recorded()[name] == digest
