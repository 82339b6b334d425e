"""Every operation of a tournament is answered in every format and state, whoever asks: never by a 5xx.

The nights are played by the state machines and stored; after an operation that changed something the
file is copied back. A body is the least one that is read without a fault, with ids of the night.
"""

import shutil
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

import build
from rules.night import Night
from rules.night_machine import NightMachine
from service import stored_nights
from service.access_world import BODIES, DEVICE, ORDER, POSITIONS, SETTINGS, Operation, operations
from service.route_permissions import QUERIES, WORDS
from service.test_stored_nights import ALL, WEIGHTS
from silverball import app
from silverball.kit.http.endpoints import Request
from silverball.rules.commands import tournament as tournament_commands
from silverball.service.core.access import AuthenticatedCaller, Device, device_caller
from silverball.store import tables
from silverball.store.database.engine import Store

OF_A_TOURNAMENT = [found for found in operations() if "{tournament_id}" in found.endpoint.path]
STATES = {"planned": 0, "begun": 1, "played": 14, "completed": 14}
WHO = ("nobody", "stranger", "reader", "code", "kiosk", "keeper", "owner", "admin")


class StoredNightOfAFormat:
    """A night of a format in one state, and the answers to requests about it."""

    def __init__(self, file: Path, kind: str, state: str) -> None:
        self._file, self._kept = file, file.with_suffix(".kept")
        self._store = Store(f"sqlite:///{file}")
        stored_nights.skip_disk_sync(self._store)
        self._api = app.build_api(self._store, SETTINGS, now=lambda: build.NOW)
        self._machine = self._play(kind, state)
        self._ids = self._find_ids()
        self._callers = self._find_callers()
        self._store.disconnect()
        shutil.copy(file, self._kept)

    def close(self) -> None:
        self._store.close()

    def status(self, operation: Operation, who: str) -> int:
        """The status of the answer; what it changed is undone."""
        endpoint = operation.endpoint
        known = {name: self._ids.get(name, 1) for name in _names_in(endpoint.path)}
        request = Request(
            method=endpoint.method,
            path=endpoint.path.format_map(known),
            query=QUERIES.get(endpoint.path, "").removeprefix("?").encode(),
            caller=self._callers[who],
            body=self._body(operation),
            source="203.0.113.7",
        )
        status = app.answer_request(self._api, request).status
        if endpoint.is_write and status < 300:
            self._store.disconnect()
            for suffix in ("-wal", "-shm"):
                self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
            shutil.copy(self._kept, self._file)
        return status

    def _play(self, kind: str, state: str) -> Any:
        store = self._store

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
        return machine

    def _find_ids(self) -> dict[str, Any]:
        tournament = self._machine.tournament
        newest_game = tournament.games[-1].game_id if tournament.games else 1
        newest_round = tournament.rounds[-1].round_id if tournament.rounds else 1
        return WORDS | {
            "tournament_id": tournament.tournament_id,
            "player_id": tournament.entrants[0].player_id,
            "arena_id": tournament.lineup[0].arena_id,
            "game_id": newest_game,
            "round_id": newest_round,
            "user_id": stored_nights.SCOREKEEPER_ID,
        }

    def _find_callers(self) -> dict[str, AuthenticatedCaller | None]:
        organizer = stored_nights.ORGANIZER_ID
        tournament_id = self._ids["tournament_id"]
        device_id = build.row(self._store, tables.device, tournament_id=tournament_id, **DEVICE)
        device = {"device_id": device_id, "tournament_id": tournament_id, "organizer_id": organizer}
        stranger = build.a_user(self._store, name="Otto Tilt", role="organizer")
        admin = build.a_user(self._store, name="Ada Min", role="admin")
        return {
            "nobody": None,
            "stranger": build.caller(stranger, role="organizer", ability="manage"),
            "reader": build.caller(organizer, role="organizer", ability="read"),
            "code": device_caller(Device(**device, game_id=self._ids["game_id"])),
            "kiosk": device_caller(Device(**device)),
            "keeper": build.caller(stored_nights.SCOREKEEPER_ID, ability="score"),
            "owner": build.caller(organizer, role="organizer", ability="manage"),
            "admin": build.caller(admin, role="admin", ability="admin"),
        }

    def _body(self, operation: Operation) -> bytes:
        body = BODIES.get(operation.name, operation.body)
        games = self._machine.tournament.games
        seated = list(games[-1].player_ids) if games else [1, 2]
        if body is POSITIONS or body is ORDER:
            body = {"resultPositions" if body is POSITIONS else "playerIds": seated}
        if isinstance(body, dict):
            body = {name: self._ids_of_the_night(name, value) for name, value in body.items()}
        return b"" if body is None else msgspec.json.encode(body)

    def _ids_of_the_night(self, name: str, value: Any) -> Any:
        return {"playerId": self._ids["player_id"], "arenaId": self._ids["arena_id"]}.get(name, value)


def _names_in(path: str) -> list[str]:
    return [part.partition("}")[0] for part in path.split("{")[1:]]


@pytest.mark.sample(4)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_no_operation_fails_in_any_format_or_state(
    empty_sqlite: Path, tmp_path: Path, kind: str, state: str
) -> None:
    file = tmp_path / "night.db"
    shutil.copy(empty_sqlite, file)
    night = StoredNightOfAFormat(file, kind, state)
    failed: dict[tuple[str, str], int] = {
        (operation.name, who): status
        for operation in OF_A_TOURNAMENT
        for who in WHO
        if (status := night.status(operation, who)) >= 500
    }
    night.close()
    assert failed == {}
