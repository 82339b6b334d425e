"""Twelve identities with valid sign-ins, and objects of one organizer in each state, in one SQLite file.

Permissions do not depend on the database, so what a request has changed is undone by copying the file back.
"""

import re
import shutil
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from sqlalchemy import update

import build
from service.route_permissions import FORMATS, LIVE, QUERIES, WORDS
from silverball import app
from silverball.kit.http.endpoints import Endpoint, Request, collect_endpoints
from silverball.service.accounts.writes import accounts
from silverball.service.core.access import AuthenticatedCaller, Device, device_caller
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database.engine import Store

STATES = ("planned", "started", "completed")
USUAL_FORMAT = "group_knockout"
IDENTITIES = (
    "nobody",
    "stranger",
    "reader",
    "player",
    "hidden",
    "code",
    "kiosk",
    "keeper",
    "scorer",
    "director",
    "owner",
    "admin",
)
SETTINGS = Settings(base_url=build.BASE_URL)
TOKEN = {"name": "phone", "hash": "not a hash", "abilities": [], "created_at": build.NOW}
# Stand for a result of the game's players, and for their order.
POSITIONS, ORDER = object(), object()
# Bodies of operations that need more than the fields that are always there.
GAME = "/api/tournaments/{tournament_id}/games/{game_id}"
BODIES = {
    f"PUT {GAME}/result": POSITIONS,
    f"POST {GAME}/suggestions": POSITIONS,
    f"POST {GAME}/legs": POSITIONS,
    f"PATCH {GAME}/legs/{{leg}}": POSITIONS,
    # The order of the players, which scorekeepers may change too.
    f"PATCH {GAME}": ORDER,
    "PATCH /api/tournaments/{tournament_id}/single-player-games/{single_player_game_id}": {"score": 7},
    "POST /api/tournaments/{tournament_id}/single-player-games": {"playerId": 1, "arenaId": 1, "score": 7},
    "POST /api/tournaments/{tournament_id}/players": {"playerId": 1},
    "POST /api/tournaments/{tournament_id}/arenas": {"arenaId": 1},
    "PATCH /api/tournaments/{tournament_id}/rounds/{round_id}": {"arenaId": None},
    "POST /api/tournaments/{tournament_id}/tiebreaks": {"playerIds": [1, 2]},
    "PUT /api/tournaments/{tournament_id}/pairs-apart": {"pairs": []},
    "PUT /api/tournaments/{tournament_id}/prizes": {"places": 2},
    "PUT /api/tournaments/{tournament_id}/finals": {"steps": []},
    "PUT /api/tournaments/{tournament_id}/federation-results/sent": {"sent": False},
    "PUT /api/tournaments/{tournament_id}/prizes/players/{player_id}": {"paid": False},
    "PUT /api/tournaments/{tournament_id}/sign-ups/players/{player_id}": {"here": False},
    "POST /api/tournaments/{tournament_id}/sign-ups/waiting": {"playerId": 1},
    "POST /api/ifpa/wppr-estimator": {"names": ["Bo Larkin"]},
    "POST /api/plan": {"players": 8, "machines": 4},
    "POST /api/ratings/compare": {"userIds": [1]},
}
# Where nobody set prize money, there is nothing to read.
PRIZES = {"shares": [6000, 4000], "entry_fee": 500, "is_published": True}
DEVICE = {"kind": "scorekeeper", "name": "tablet", "created_at": build.NOW}
Document = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation of the interface, and the least body that is read without a fault."""

    endpoint: Endpoint
    body: Any

    @property
    def name(self) -> str:
        return f"{self.endpoint.method} {self.endpoint.path}"

    @property
    def format(self) -> str:
        """The format that has such a route."""
        path = self.endpoint.path
        return next((kind for word, kind in FORMATS.items() if f"/{word}" in path), USUAL_FORMAT)


def operations() -> list[Operation]:
    """All operations of the interface but the two that stream, which anybody may follow."""
    endpoints = [found for found in collect_endpoints(*ROUTE_MODULES) if found.path not in LIVE]
    with_document = app.build_api(Store("sqlite://"), SETTINGS)
    document = msgspec.json.decode(app.openapi_document(with_document, SETTINGS))
    described = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path)): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    return [
        Operation(
            endpoint=endpoint,
            body=_least_body(document, described[endpoint.method, re.sub(r"\{\w+\}", "{}", endpoint.path)]),
        )
        for endpoint in endpoints
    ]


def _least_body(document: Document, operation: Document) -> Any:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return None if content is None else least_value(document, content["schema"])


def least_value(document: Document, schema: Document) -> Any:
    """A value of a schema of the document, with its required fields only."""
    if "$ref" in schema:
        return least_value(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return least_value(document, schema[key][0])
    kinds = schema.get("type")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: least_value(document, fields[name]) for name in schema.get("required", ())}
    if kind == "array":
        if "prefixItems" in schema:
            return [least_value(document, item) for item in schema["prefixItems"]]
        return [least_value(document, schema["items"])] * schema.get("minItems", 0)
    if kind == "string":
        text = {"date": "2026-03-05", "date-time": "2026-03-05T19:00:00Z", "uri": "https://example.org/"}
        return text.get(schema.get("format", ""), "x" * max(1, schema.get("minLength", 1)))
    return {"boolean": False, "null": None}.get(str(kind), schema.get("minimum", 1))


def ended_tokens(store: Store) -> dict[str, str]:
    """Tokens of an administrator that hold no longer: expired, revoked, of an account that is gone."""
    now, texts = datetime.now(UTC), {}
    for name in ("expired", "revoked", "deleted", "suspended"):
        user_id = build.a_user(store, name=f"Ada {name}", role="admin")
        with store.write() as transaction:
            made = users_writes.create_token(
                transaction.connection,
                user_id,
                name,
                abilities=["admin"],
                expires_days=1,
                now=now - timedelta(days=2) if name == "expired" else now,
                dice=Random(name),
            )
            if name == "revoked":
                users_writes.revoke_token(transaction, made.token_id, now=now)
            if name == "deleted":
                accounts.erase_account(transaction, user_id)
            if name == "suspended":
                accounts.suspend(transaction, user_id, now=now)
        texts[name] = made.text
    return texts


class AccessWorld:
    """The objects, and requests for them that change nothing for the next request."""

    def __init__(self, file: Path) -> None:
        self._file, self._kept = file, file.with_suffix(".kept")
        self._store = Store(f"sqlite:///{file}")
        # Identity -> account id.
        self.users: dict[str, int] = {}
        self._api = app.build_api(self._store, SETTINGS, now=lambda: build.NOW)
        self._ids: dict[tuple[str, str], dict[str, Any]] = {}
        self._players: dict[tuple[str, str], list[int]] = {}
        self._callers: dict[tuple[str, str], dict[str, AuthenticatedCaller | None]] = {}
        self._fill()
        self.keep()

    @property
    def store(self) -> Store:
        return self._store

    def close(self) -> None:
        self._store.close()

    def keep(self) -> None:
        """Come back to what is stored now after each request that changes something."""
        self._checkpoint()
        shutil.copy(self._file, self._kept)

    def status(self, operation: Operation, identity: str, state: str) -> int:
        """The status of the answer to one identity, about the organizer's object in this state."""
        endpoint, key = operation.endpoint, (operation.format, state)
        path, _, query = self.address(endpoint.path, operation.format, state).partition("?")
        caller = self._callers[key][identity]
        request = Request(
            method=endpoint.method,
            path=path,
            query=query.encode(),
            caller=caller,
            body=self._body(operation, key),
            source="203.0.113.7",
        )
        status = app.answer_request(self._api, request).status
        if endpoint.is_write and status < 300:
            self._restore()
        return status

    def address(self, path: str, kind: str, state: str) -> str:
        """The path of a route for the objects of this format and state, with the query that it needs."""
        concrete = path.format_map(defaultdict(lambda: 1, self._ids[kind, state] | WORDS))
        return concrete + QUERIES.get(path, "")

    def _body(self, operation: Operation, key: tuple[str, str]) -> bytes:
        body = BODIES.get(operation.name, operation.body)
        if body is POSITIONS or body is ORDER:
            body = {"resultPositions" if body is POSITIONS else "playerIds": self._players[key]}
        return b"" if body is None else msgspec.json.encode(body)

    def _fill(self) -> None:
        store = self._store
        owner = build.a_user(store, name="Olga Ramp", role="organizer")
        users = {
            "stranger": build.a_user(store, name="Otto Tilt", role="organizer"),
            "player": build.a_user(store, name="Pia Yer"),
            "hidden": build.a_user(store, name="Hedda Den"),
            "keeper": build.a_user(store, name="Kim Eeper"),
            "director": build.a_user(store, name="Dita Rector", role="organizer"),
            "admin": build.a_user(store, name="Ada Min", role="admin"),
        }
        self.users = {"owner": owner} | users
        common = {
            "user_id": owner,
            "series_id": build.row(store, tables.series, organizer_id=owner),
            "event_id": build.row(store, tables.occasion, organizer_id=owner),
            "club_id": build.row(store, tables.club, user_id=owner),
            "location_id": build.row(store, tables.location, organizer_id=owner),
            "bank_id": build.row(store, tables.bank, organizer_id=owner),
            "rating_submission_id": build.row(store, tables.rating_submission, submitter_id=owner),
            "token_id": build.row(store, tables.token, user_id=owner, **TOKEN),
            "type": "users",
            "ifpa_id": 77,
            "date": "2026-03-05",
        }
        build.a_rating(store, user_id=owner, ifpa_id=77)
        build.row(store, tables.machine, opdb_id=WORDS["opdb_id"])
        for kind in sorted({USUAL_FORMAT, *FORMATS.values()}):
            for state in STATES:
                self._ids[kind, state] = common | self._night(owner, users, kind, state)
                self._callers[kind, state] = self._night_callers(owner, users, kind, state)

    def _night(self, owner: int, users: Mapping[str, int], kind: str, state: str) -> dict[str, int]:
        """Store a tournament with one object of each kind, in which two of the players are claimed."""
        store = self._store
        night = build.a_tournament(store, type=kind, organizer_id=owner, status=state)
        settings = {
            "scorekeeping": "user",
            "suggestions": "automatic",
            "playoffsCutoffs": [],
            "forecast": True,
        }
        tournament_id = night.tournament_id
        with store.write() as transaction:
            row = tables.tournament.c.tournament_id == tournament_id
            transaction.connection.execute(
                update(tables.tournament).where(row).values(settings=settings, prizes=PRIZES)
            )
        round_id = build.a_round(store, tournament_id)
        game_id = build.a_game(store, tournament_id, night.player_ids[:2], round_id=round_id)
        with store.write() as transaction:
            for player_id, name in zip(night.player_ids, ("player", "hidden"), strict=False):
                row = tables.player.c.player_id == player_id
                transaction.connection.execute(
                    update(tables.player).where(row).values(claimed_by=users[name])
                )
        common = {"tournament_id": tournament_id, "player_id": night.player_ids[0]}
        build.row(store, tables.scorekeeper, tournament_id=tournament_id, user_id=users["keeper"], place=0)
        directing = {"user_id": users["director"], "place": 1, "is_director": True}
        build.row(store, tables.scorekeeper, tournament_id=tournament_id, **directing)
        self._players[kind, state] = night.player_ids[:2]
        webhook_id = build.row(store, tables.webhook, tournament_id=tournament_id)
        suggested = {"results": night.player_ids[:2], "partial": False}
        return {
            "tournament_id": tournament_id,
            "round_id": round_id,
            "game_id": game_id,
            "device_id": build.row(store, tables.device, tournament_id=tournament_id, **DEVICE),
            # Nobody's own.
            "player_id": night.player_ids[2],
            "arena_id": night.arena_ids[0],
            "queue_id": build.row(store, tables.queue_entry, **common, created_at=build.NOW, queue_index=1),
            "suggestion_id": build.row(
                store, tables.suggestion, tournament_id=tournament_id, game_id=game_id, **suggested
            ),
            "webhook_id": webhook_id,
            "webhook_delivery_id": build.row(store, tables.webhook_delivery, webhook_id=webhook_id),
            **self._played(kind, common | {"arena_id": night.arena_ids[0]}),
        }

    def _played(self, kind: str, common: Document) -> dict[str, int]:
        """Store what only the best game formats have: a score, on a card where there are cards."""
        if "best_game" not in kind:
            return {}
        whose = {"tournament_id": common["tournament_id"], "player_id": common["player_id"]}
        score_id = build.row(self._store, tables.single_player_game, **common)
        if kind == "best_game":
            return {"single_player_game_id": score_id}
        return {"single_player_game_id": score_id, "card_id": build.row(self._store, tables.card, **whose)}

    def _night_callers(
        self, owner: int, users: Mapping[str, int], kind: str, state: str
    ) -> dict[str, AuthenticatedCaller | None]:
        ids = self._ids[kind, state]
        device = {"device_id": ids["device_id"], "tournament_id": ids["tournament_id"], "organizer_id": owner}
        return {
            "nobody": None,
            "stranger": build.caller(users["stranger"], role="organizer", ability="manage"),
            "reader": build.caller(owner, role="organizer", ability="read"),
            "player": build.caller(users["player"], ability="score"),
            "hidden": build.caller(users["hidden"], ability="score", is_hidden=True),
            "code": device_caller(Device(**device, game_id=ids["game_id"])),
            "kiosk": device_caller(Device(**device)),
            "keeper": build.caller(users["keeper"], ability="score"),
            "scorer": build.caller(owner, role="organizer", ability="score"),
            "director": build.caller(users["director"], role="organizer", ability="manage"),
            "owner": build.caller(owner, role="organizer", ability="manage"),
            "admin": build.caller(users["admin"], role="admin", ability="admin"),
        }

    def _checkpoint(self) -> None:
        with self._store.engine.connect() as db:
            db.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _restore(self) -> None:
        """Bring the kept file back, as it was before any request."""
        self._store.disconnect()
        for suffix in ("-wal", "-shm"):
            self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
        shutil.copy(self._kept, self._file)
