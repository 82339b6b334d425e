"""Nights that are completed, reopened and put back by hand in any order are undone to their start.

No undo is refused on the way, each leads back to what was there, and no seed that was shown is used again.
"""

from random import Random
from typing import Any

import pytest

import build
from rules.moves import Moves
from rules.night import Night
from rules.night_machine import NightMachine
from service import stored_nights
from service.stored_nights import ORGANIZER_ID, StoredNight
from service.test_stored_nights import ALL, WEIGHTS
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Tournament
from silverball.service.core import enact
from silverball.service.core.enact import ActionContext
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from silverball.store.tournament import journal, snapshot

NIGHTS_OF_EACH_FORMAT = 15
STEPS = 25
# Beside play: what a night is completed with, and what is put back by hand.
EVENTFUL = ("close", "pay", "away_and_back", "rename", "make_final", "delete_final")
PRIZES = {"entryFee": 1_000, "shares": [6_000, 4_000]}


class EventfulNight:
    """A night of a format whose organizer completes, reopens and changes their mind, over HTTP."""

    def __init__(self, store: Store, played: Moves, dice: Random) -> None:
        class EventfulMachine(NightMachine):
            moves = played

            def prepare_night(self, night: Night) -> Night:
                return stored_nights.a_stored_night(store, night)

            def complete(self, pick: int) -> None:
                """Completing is a step of its own here."""

            def reopen(self) -> None:
                """So is reopening."""

        self._store, self._dice = store, dice
        self._caller = build.caller(ORGANIZER_ID, role="organizer", ability="manage")
        self.machine: Any = EventfulMachine()
        self.machine.plan(pick=8 * dice.randrange(1000) + 1, seed=dice.randrange(1000))
        # Links to what is deleted, and prizes that were paid after the end.
        self.night.passed_over = ("details", "prizes")
        self.shown: set[str] = set()
        self._final_id: int | None = None

    @property
    def night(self) -> StoredNight:
        night: StoredNight = self.machine.night
        return night

    @property
    def path(self) -> str:
        return f"/api/tournaments/{self.night.tournament.tournament_id}"

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and body of a request, whose changes the night in memory follows."""
        night, lines = self.night, len(self._actions())
        before = night.tournament, stored_nights.stored_standings(self._store, night.tournament.tournament_id)
        status, answer, _ = build.do(
            self._store, method, self.path + path, body, by=self._caller, now=night.now
        )
        for action in self._actions()[lines:]:
            changes = action.decode_changes(night.tournament.type)
            night.journal.append(changes)
            night.action_ids.append(action.action_id)
            night.states_before.append(before)
        self._load()
        return status, answer

    def _load(self) -> None:
        with self._store.read() as db:
            self.night.tournament = snapshot.load(db, self.night.tournament.tournament_id)

    def _actions(self) -> list[journal.Action]:
        return stored_nights.all_actions(self._store, self.night.tournament.tournament_id)

    def play(self) -> None:
        """Take random steps, the same for the same dice."""
        for _ in range(STEPS):
            if self._dice.random() < 0.35 or self.night.tournament.status == "completed":
                getattr(self, "_" + self._dice.choice(EVENTFUL))()
            else:
                self._step()
            self._require_hidden_seed()

    def _step(self) -> None:
        machine = self.machine
        open_steps = [step for step in machine.rules if all(holds(machine) for holds in step.preconditions)]
        weights = [WEIGHTS.get(step.function.__name__, 1) for step in open_steps]
        (step,) = self._dice.choices(open_steps, weights)
        drawn = {
            "pick": self._dice.randrange(2**16),
            "points": self._dice.randint(-2, 3),
            "actions": self._dice.randint(1, 3),
        }
        step.function(machine, **{name: drawn[name] for name in step.arguments})

    def _close(self) -> None:
        """Complete the night by hand or by the clock, or reopen it."""
        night = self.night
        if night.tournament.status == "completed":
            self.send("POST", "/reopen")
        elif night.tournament.status == "started" and self._dice.random() < 0.3:
            changes = tournament_commands.complete(night.tournament, night.now)
            context = ActionContext(actor_id=None, source="clock", now=night.now)
            lines, before = len(self._actions()), night.tournament
            standings = stored_nights.stored_standings(self._store, before.tournament_id)
            with self._store.write(before.tournament_id) as transaction:
                night.tournament = enact.enact(transaction, before.tournament_id, changes, context)
            night.journal.append(changes)
            night.action_ids.append(self._actions()[lines].action_id)
            night.states_before.append((before, standings))
        else:
            self.send("POST", "/complete", {"openRound": self._dice.choice(["keep", "keep", "drop"])})
        if night.tournament.status == "completed":
            self.shown.add(night.tournament.state.dice_seed)

    def _pay(self) -> None:
        player_id = self._dice.choice(night_players(self.night.tournament))
        if self._dice.random() < 0.5:
            self.send("PUT", "/prizes", {**PRIZES, "entryFee": 100 * self._dice.randint(1, 9)})
        self.send("PUT", f"/prizes/players/{player_id}", {"paid": self._dice.random() < 0.7})

    def _away_and_back(self) -> None:
        """A player goes away and is back, or a machine is out of order and in order again."""
        player_id = self._dice.choice(night_players(self.night.tournament))
        arena_id = self._dice.choice(self.night.tournament.lineup).arena_id
        path = self._dice.choice([f"/players/{player_id}", f"/arenas/{arena_id}"])
        for status in ("inactive", "active"):
            self.send("PATCH", path, {"status": status})

    def _rename(self) -> None:
        self.send("PATCH", "", {"name": f"Night {self._dice.randint(1, 3)}"})

    def _make_final(self) -> None:
        if self._final_id is None:
            players = night_players(self.night.tournament)[:2]
            status, answer = self.send("POST", "/playoffs", {"type": "bracket", "players": players})
            if status == 201:
                self._final_id = answer["data"]["tournamentId"]

    def _delete_final(self) -> None:
        if self._final_id is None:
            return
        links = [link for link in self.night.tournament.details["links"] if link["link_type"] == "playoff"]
        if links:
            assert self.send("PATCH", "", {"links": []})[0] == 200
        build.do(self._store, "DELETE", f"/api/tournaments/{self._final_id}", by=self._caller)
        self._final_id = None

    def _require_hidden_seed(self) -> None:
        if self.night.tournament.status == "started":
            assert self.night.tournament.state.dice_seed not in self.shown

    def undo_all(self) -> int:
        """Undo what is offered until nothing is, and return how many actions that were."""
        if self.night.tournament.status == "completed":
            assert self.send("POST", "/reopen")[0] == 200
        for count in range(10_000):
            _, page = self.send("GET", "/journal")
            undoable = page["meta"]["undoable"]
            if undoable is None:
                return count
            status, refusal = self.send("POST", "/undo", {"action": undoable})
            assert status == 200, refusal
            self._require_hidden_seed()
        raise AssertionError("The undo goes in a circle.")


def night_players(tournament: Tournament) -> list[int]:
    return [entrant.player_id for entrant in tournament.entrants]


@pytest.mark.sample(4)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("number", range(NIGHTS_OF_EACH_FORMAT))
@pytest.mark.parametrize("kind", sorted(ALL))
def test_a_night_is_undone_to_its_start(store: Store, kind: str, number: int) -> None:
    stored_nights.skip_disk_sync(store)
    walk = EventfulNight(store, ALL[kind], Random(f"start of {kind} {number}"))
    walk.play()
    walk.undo_all()
    tournament_id = walk.night.tournament.tournament_id
    first, *_ = stored_nights.all_actions(store, tournament_id)
    created = journal.decode_creation(tournament_id, kind, first.entries[0][1])
    with store.read() as db:
        assert verification.verify_tournament(db, tournament_id).faults == []
        left = snapshot.load(db, tournament_id)
    first_completion = {name: getattr(left, name) for name in stored_nights.FIRST_COMPLETION}
    started = replace(
        created, state=replace(created.state, dice_seed=left.state.dice_seed), **first_completion
    )
    assert left == started
