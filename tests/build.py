"""Builders: `build.a_user(store)`, `build.a_tournament(store, players=8)`, `build.ask(store, "/api/arenas")`.

Everything invented here has invented names. Every builder returns the id of what it made.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import ModuleType
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, insert, select

from silverball import app
from silverball.kit.http import endpoints as http
from silverball.kit.http.api import Api
from silverball.service.core.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import names
from silverball.store.revisions import stamps
from silverball.store.tournament import chain
from silverball_wire.machines import OpdbEntry

NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
BASE_URL = "http://silverball.test"

MACHINE = OpdbEntry(
    opdb_id="G4ODR",
    opdb_group="G4ODR",
    opdb_machine=None,
    name="Comet Rider",
    short_name=None,
    common_name=None,
    name_sort="Comet Rider",
    year=None,
    manufacture_date=None,
    description=None,
    type=None,
    display=None,
    player_count=None,
    physical_machine=False,
    manufacturer_id=None,
    ipdb_id=None,
    pinball_primer_url=None,
    pinball_rules_url=None,
    pinball_cards_url=None,
    bobs_guide_url=None,
    competition_setup_url=None,
    competition_notes_url=None,
    created_at=None,
    updated_at=None,
    entry_type="machineGroup",
    manufacturer=None,
    features=(),
    keywords=(),
)

DEFAULTS: dict[str, dict[str, Any]] = {
    "user": {
        "name": "Ada Quill",
        "role": "player",
        "placeholder": False,
        "ratings_opt_out": False,
        "stats_opt_out": False,
        "video_opt_out": False,
        "profile_opt_out": False,
        "history_opt_out": False,
        "history_only_completed": False,
        "created_at": NOW,
    },
    "club": {"name": "The Tilters"},
    "player": {"name": "Bo Larkin", "status": "active", "labels": []},
    "arena": {"name": "Meteor Shower", "status": "active", "labels": []},
    "federation_player": {"total_events": 100, "updated_at": NOW},
    "bank": {"name": "Bank A", "status": "active"},
    "location": {"name": "The Drain", "status": "active"},
    "series": {
        "name": "Winter League",
        "status": "active",
        "test": False,
        "removed_results": 0,
        "playoffs_cutoffs": [],
        "scoring": "points",
        "placeholder": False,
    },
    "occasion": {
        "name": "Silver Weekend",
        "status": "active",
        "start_utc": NOW,
        "start_local": "2026-03-05 20:30:00",
        "timezone": "Europe/Stockholm",
    },
    "tournament": {
        "name": "Thursday Strikes",
        "status": "started",
        "type": "group_knockout",
        "start_utc": NOW,
        "start_local": "2026-03-05 20:30:00",
        "end_utc": NOW,
        "end_local": "2026-03-05 20:30:00",
        "created_at": NOW,
        "updated_at": NOW,
        "timezone": "Europe/Stockholm",
        "test": False,
        "primary_config_settings": [],
        "managers": [],
        "settings": {"scorekeeping": "disabled", "playoffsCutoffs": []},
        "revision": 1,
        "epoch": "k3f9",
        "seq": 0,
        "seq_low": 0,
    },
    "occasion_tournament": {"place": 0, "labels": [], "external": {}},
    "entrant": {
        "place": 0,
        "status": "active",
        "points_adjustment": Decimal(0),
        "score_adjustment": Decimal(0),
        "labels": [],
    },
    "lineup_arena": {"place": 0, "status": "active", "labels": []},
    "lineup_bank": {"place": 0},
    "scorekeeper": {"place": 0},
    "round": {"round_index": 0, "name": "Round 1", "status": "started", "created_at": NOW},
    "game": {
        "set_number": 0,
        "game_index": 0,
        "status": "started",
        "bye": False,
        "scorbit_verified": False,
        "result_count_mismatch": False,
        "started_at": NOW,
    },
    "suggestion": {"results": [], "partial": False},
    "card": {
        "status": "started",
        "best_game": False,
        "voided": False,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "single_player_game": {
        "status": "completed",
        "best_game": False,
        "voided": False,
        "created_at": NOW,
        "updated_at": NOW,
        "scorbit_verified": False,
    },
    "queue_entry": {"queue_index": 0, "created_at": NOW},
    "rating_submission": {
        "url": "https://results.example.org/night.json",
        "source_domain": "results.example.org",
        "status": "fetching",
        "errors": [],
        "tries": 0,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "rating": {
        "name": "Ada Quill",
        "name_folded": "ada quill",
        "rating": 1599.74,
        "rd": 24.23,
        "delta": -9.12,
        "lower_bound": 1551.28,
        "rank": 1,
        "first_period": "2026-03-01",
        "last_period": "2026-03-05",
        "game_count": 10,
        "win_count": 10,
        "loss_count": 16,
        "result_count": 26,
    },
    "rating_period": {
        "period_date": "2026-03-05",
        "status": "processed",
        "is_current": True,
        "is_imported": False,
        "percentiles": {},
    },
    "rating_revision": {
        "period_date": "2026-03-05",
        "rating": 1599.74,
        "rd": 24.23,
        "delta": -9.12,
        "game_count": 10,
        "win_count": 10,
        "loss_count": 16,
        "result_count": 26,
        "meetings": [],
    },
    "webhook": {
        "name": "Score board",
        "url": "https://hooks.example.org/silverball",
        "form": "events",
        "events": [],
        "secret": "whsec_c2lsdmVyYmFsbCBzaWx2ZXJiYWxsIHNpbHZlcmJhbGw=",
        "is_active": True,
        "epoch": "k3f9",
        "seq": 0,
        "told": {"status": "planned", "motd": None, "round_id": 0},
        "failures": 0,
        "is_slow": False,
        "tried_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    },
    "webhook_delivery": {
        "message_id": "msg_1",
        "event": "TournamentUpdated",
        "epoch": "k3f9",
        "seq": 1,
        "status": "failed",
        "tries": 7,
        "created_at": NOW,
    },
    "entry": {"type": "regular", "quantity": 1, "status": "active", "created_at": NOW},
    "machine": {
        "opdb_id": "G4ODR",
        "opdb_group": "G4ODR",
        "entry_type": "machineGroup",
        "name": "Comet Rider",
        "entry": msgspec.to_builtins(MACHINE),
        "synthetic": False,
        "homebrew": False,
    },
}


def row(store: Store, table: Table, **values: Any) -> int:
    """Insert a row with defaults for missing values; returns its id (0 when it has none of its own)."""
    with store.write() as transaction:
        return _insert_row(transaction.connection, table, **values)


def _insert_row(db: Connection, table: Table, **values: Any) -> int:
    """Insert a row inside a transaction; returns its id."""
    done = db.execute(insert(table).values(**{**DEFAULTS.get(table.name, {}), **values}))
    key = done.inserted_primary_key
    return int(key[0]) if key is not None and isinstance(key[0], int) else 0


def a_user(store: Store, **values: Any) -> int:
    return row(store, tables.user, **values)


def a_user_with_number(store: Store, *, ifpa_id: int, **values: Any) -> int:
    """A user with this federation number, which an administrator has confirmed."""
    user_id = a_user(store, ifpa_id=ifpa_id, **values)
    row(store, tables.confirmed_number, ifpa_id=ifpa_id, user_id=user_id, at=NOW)
    return user_id


def a_player(store: Store, organizer_id: int, **values: Any) -> int:
    named = chain.with_name_digest({**DEFAULTS["player"], **values})
    return row(store, tables.player, organizer_id=organizer_id, **named)


def a_federation_record(store: Store, ifpa_id: int, name: str, **values: Any) -> int:
    """A federation record of a player, who is rated unless `total_events` is too low."""
    plain = names.strip_punctuation(name)
    row(store, tables.federation_player, ifpa_id=ifpa_id, name=name, name_plain=plain, **values)
    return ifpa_id


def an_arena(store: Store, organizer_id: int, **values: Any) -> int:
    return row(store, tables.arena, organizer_id=organizer_id, **values)


def a_rating(store: Store, **values: Any) -> int:
    """A rating with one revision in the current period, which is created with the first rating."""
    with store.read() as db:
        has_period = db.execute(select(tables.rating_period)).first() is not None
    if not has_period:
        row(store, tables.rating_period)
    rating_id = row(store, tables.rating, **values)
    row(store, tables.rating_revision, rating_id=rating_id)
    return rating_id


@dataclass(frozen=True)
class Night:
    """A tournament with its players and arenas."""

    tournament_id: int
    organizer_id: int
    player_ids: list[int]
    arena_ids: list[int]


def a_tournament(store: Store, *, players: int = 4, arenas: int = 2, **values: Any) -> Night:
    """A started tournament with players and arenas, and no rounds."""
    organizer_id = values.pop("organizer_id", None) or a_user(store, name="Olga Ramp", role="organizer")
    with store.write() as transaction:
        db, own = transaction.connection, {"organizer_id": organizer_id}
        tournament_id = _insert_row(db, tables.tournament, **own, **values)
        player_ids = [_insert_row(db, tables.player, **own, name=f"Player {n + 1}") for n in range(players)]
        arena_ids = [_insert_row(db, tables.arena, **own, name=f"Machine {n + 1}") for n in range(arenas)]
        part = {"tournament_id": tournament_id}
        for place, player_id in enumerate(player_ids):
            _insert_row(db, tables.entrant, **part, player_id=player_id, place=place)
        for place, arena_id in enumerate(arena_ids):
            _insert_row(db, tables.lineup_arena, **part, arena_id=arena_id, place=place)
    return Night(tournament_id, organizer_id, player_ids, arena_ids)


def a_round(store: Store, tournament_id: int, index: int = 0, **values: Any) -> int:
    created_at = values.pop("created_at", NOW + timedelta(minutes=20 * index))
    return row(
        store,
        tables.round_,
        tournament_id=tournament_id,
        round_index=index,
        name=f"Round {index + 1}",
        created_at=created_at,
        **values,
    )


def a_game(store: Store, tournament_id: int, player_ids: list[int], **values: Any) -> int:
    """A game of these players in playing order; `points` and `positions` complete it."""
    points = values.pop("points", [None] * len(player_ids))
    positions = values.pop("positions", [None] * len(player_ids))
    scores = values.pop("scores", [None] * len(player_ids))
    with store.write() as transaction:
        db = transaction.connection
        game_id = _insert_row(db, tables.game, tournament_id=tournament_id, **values)
        for slot, player_id in enumerate(player_ids):
            _insert_row(
                db,
                tables.game_player,
                game_id=game_id,
                slot=slot,
                tournament_id=tournament_id,
                player_id=player_id,
                points=None if points[slot] is None else Decimal(points[slot]),
                result_position=positions[slot],
                score=scores[slot],
            )
    return game_id


def caller(
    user_id: int, *, role: str = "player", ability: str = "read", is_hidden: bool = False
) -> AuthenticatedCaller:
    return AuthenticatedCaller(user_id=user_id, role=role, ability=ability, has_opt_outs=is_hidden)


def ask(
    store: Store, path: str, *, by: AuthenticatedCaller | int | None = None, public_read: bool = False
) -> tuple[int, Any]:
    """Send a GET through the whole route table, without the edge: status and decoded body.

    `by` is the caller, a user id, or None for an anonymous request.
    """
    api = app.build_api(store, Settings(base_url=BASE_URL, public_read=public_read))
    who = caller(by) if isinstance(by, int) else by
    route, _, query = path.partition("?")
    got = app.answer_request(api, http.Request(method="GET", path=route, query=query.encode(), caller=who))
    is_json = got.content_type == "application/json"
    return got.status, json.loads(got.body) if is_json else got.body.decode()


def do(
    store: Store,
    method: str,
    path: str,
    body: Any = None,
    *,
    by: AuthenticatedCaller | int | None = None,
    key: str | None = None,
    if_match: str | None = None,
    modules: Sequence[ModuleType] = ROUTE_MODULES,
    now: datetime = NOW,
) -> tuple[int, Any, dict[str, str]]:
    """Send a write request without the edge: status, decoded body, headers.

    `body` is sent as JSON, or as it is when it is bytes. `by` is a caller, or the id of a user with the
    role and token of an organizer.
    """
    api = app.build_api(store, Settings(base_url=BASE_URL), modules=modules, now=lambda: now)
    who = caller(by, role="organizer", ability="manage") if isinstance(by, int) else by
    return send(api, method, path, body, by=who, key=key, if_match=if_match)


def send(
    api: Api,
    method: str,
    path: str,
    body: Any = None,
    *,
    by: AuthenticatedCaller | None = None,
    key: str | None = None,
    if_match: str | None = None,
) -> tuple[int, Any, dict[str, str]]:
    """Send a request to an existing API, for tests with several requests."""
    route, _, query = path.partition("?")
    sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    request = http.Request(
        method=method,
        path=route,
        query=query.encode(),
        caller=by,
        body=sent,
        source="203.0.113.7",
        idempotency_key=None if key is None else key.encode(),
        if_match=None if if_match is None else if_match.encode(),
    )
    got = app.answer_request(api, request)
    return got.status, json.loads(got.body), {name.decode(): value.decode() for name, value in got.headers}


def public_epoch(store: Store, epoch: str = "k3f9") -> str:
    """The epoch of a channel as clients see it: by default that of every new tournament here."""
    with store.read() as db:
        return stamps.public_epoch(epoch, stamps.current_generation(db))
