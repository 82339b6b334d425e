"""Every operation of a tournament is answered in every format and state, whoever asks: never by a 5xx.

A body is the least one that is read without a fault, with ids of the night.
"""

from typing import Any

import msgspec
import pytest

import build
from service import stored_nights
from service.access_world import BODIES, DEVICE, IDENTITIES, ORDER, POSITIONS, SETTINGS, Operation, operations
from service.kept_night import KINDS, STATES, KeptDatabase, kept_database, play_night
from service.route_permissions import QUERIES, WORDS
from silverball import app
from silverball.kit.http.endpoints import Request
from silverball.service.core.access import AuthenticatedCaller, Device, device_caller
from silverball.store import tables
from trials.figures import count_attempts

__all__ = ["kept_database"]

OF_A_TOURNAMENT = [found for found in operations() if "{tournament_id}" in found.endpoint.path]
# The last is suspended, and a node that has not heard of it yet knows the token still.
WHO = (*IDENTITIES, "suspended")


class StoredNightOfAFormat:
    """A night of a format in one state, and the answers to requests about it."""

    def __init__(self, database: KeptDatabase, kind: str, state: str) -> None:
        self._database = database
        self._api = app.build_api(database.store, SETTINGS, now=lambda: build.NOW)
        self._tournament = play_night(database.store, kind, state)
        self._ids = self._find_ids()
        self._callers = self._find_callers()
        database.keep()

    def failures(self, operation: Operation) -> dict[tuple[str, str], int]:
        """Each answer that is a fault of the server, by operation and who asked."""
        failed = {}
        is_changed = False
        for who in WHO:
            status = self._status(operation, who)
            is_changed |= operation.endpoint.is_write and status < 300
            # A database of PostgreSQL takes a tenth of a second to bring back: once for all who ask.
            if is_changed and (self._database.store.is_sqlite or who == WHO[-1]):
                self._database.bring_back()
                is_changed = False
            if status >= 500:
                failed[operation.name, who] = status
        return failed

    def _status(self, operation: Operation, who: str) -> int:
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
        return app.answer_request(self._api, request).status

    def _find_ids(self) -> dict[str, Any]:
        tournament = self._tournament
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
        store, organizer, tournament_id = (
            self._database.store,
            stored_nights.ORGANIZER_ID,
            self._ids["tournament_id"],
        )
        device_id = build.row(store, tables.device, tournament_id=tournament_id, **DEVICE)
        device = {"device_id": device_id, "tournament_id": tournament_id, "organizer_id": organizer}
        director = build.a_user(store, name="Dita Rector", role="organizer")
        directing = {"user_id": director, "place": 9, "is_director": True}
        build.row(store, tables.scorekeeper, tournament_id=tournament_id, **directing)
        suspended = build.a_user(store, name="Sue Spended", role="organizer", suspended_at=build.NOW)
        return {
            "nobody": None,
            "stranger": self._organizer(build.a_user(store, name="Otto Tilt", role="organizer")),
            "reader": build.caller(organizer, role="organizer", ability="read"),
            "player": build.caller(self._claims(0, "Pia Yer"), ability="score"),
            "hidden": build.caller(self._claims(1, "Hedda Den"), ability="score", is_hidden=True),
            "code": device_caller(Device(**device, game_id=self._ids["game_id"])),
            "kiosk": device_caller(Device(**device)),
            "keeper": build.caller(stored_nights.SCOREKEEPER_ID, ability="score"),
            "scorer": build.caller(organizer, role="organizer", ability="score"),
            "director": self._organizer(director),
            "owner": self._organizer(organizer),
            "admin": build.caller(build.a_user(store, name="Ada Min"), role="admin", ability="admin"),
            "suspended": self._organizer(suspended),
        }

    def _organizer(self, user_id: int) -> AuthenticatedCaller:
        return build.caller(user_id, role="organizer", ability="manage")

    def _claims(self, entrant: int, name: str) -> int:
        """The id of a new account that has claimed one of the players."""
        user_id = build.a_user(self._database.store, name=name)
        player_id = self._tournament.entrants[entrant].player_id
        with self._database.store.write() as transaction:
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(tables.player.update().where(own).values(claimed_by=user_id))
        return user_id

    def _body(self, operation: Operation) -> bytes:
        body = BODIES.get(operation.name, operation.body)
        games = self._tournament.games
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
@pytest.mark.parametrize("kind", KINDS)
def test_no_operation_fails_in_any_format_or_state(
    kept_database: KeptDatabase, kind: str, state: str
) -> None:
    night = StoredNightOfAFormat(kept_database, kind, state)
    failed: dict[tuple[str, str], int] = {}
    for operation in OF_A_TOURNAMENT:
        failed |= night.failures(operation)
    assert failed == {}
    count_attempts("operations of each format and state", len(OF_A_TOURNAMENT) * len(WHO))
