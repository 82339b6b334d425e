"""The data that is kept here, opened, and what this version answers from it."""

import shutil
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Table, func, make_url, select

import build
from conftest import PostgreSQL
from silverball import app
from silverball.kit.http import endpoints as http
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.core.access import AuthenticatedCaller
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database.engine import Store

HERE = Path(__file__).parent
ARCHIVE = HERE / "version-0.2.0.tar.xz"
ANSWERS = HERE / "answers.json.xz"
OPENAPI, ASYNCAPI = HERE / "openapi.json.xz", HERE / "asyncapi.json.xz"
# Members of the archive.
DATABASE, DUMP, SEALED = "silverball.db", "silverball.sql", "silverball.tar.sealed"
BUNDLES, HEADS = "bundles", "heads.json"
PASSPHRASE = "kept for later versions"
# Players with accounts: one is erased, one hides, and their tournaments have only begun to follow.
ERASED, HIDING = "Cleo Vanish", "Dov Hidewell"
# The owner of all nights, and one who was not there, who is asked about some of them.
CALLERS = ("owner", "stranger")
STRANGERS_SHARE = 3
NOBODY = 999_999
PARTS = "?includePlayers=1&includeArenas=1&includeBanks=1&includeScorekeepers=1"
QUERIES = {
    "/api/arenas/resolve-unknown": "?arenas={arena_id}",
    "/api/players/resolve-unknown": "?players={player_id}",
    "/api/users/resolve-unknown": "?users={user_id}",
    "/api/tournaments/{tournament_id}/players/resolve-unknown": "?players={player_id}",
    "/api/tournaments/{tournament_id}/arenas/resolve-unknown": "?arenas={arena_id}",
    "/api/tournaments/{tournament_id}": PARTS,
    "/api/games": "?tournaments={tournament_id}",
    "/api/pintips": "?opdbId=G4ODR",
    "/api/search": "?query=a&type=users",
    "/api/users/{user_id}": "?includeIfpa=1&includeCounts=1",
    "/api/ratings": "?userIds={user_id}",
    "/api/ratings/search": "?query=a",
    "/api/ratings/compare": "?userIds={user_id}",
}
# They are computed from chance, or take seconds.
LEFT_OUT = ("/api/tournaments/{tournament_id}/forecast", "/api/tournaments/{tournament_id}/estimate")


def unpack(folder: Path) -> Path:
    """Unpack the archive into a folder, and return it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@contextmanager
def open_sqlite(unpacked: Path) -> Iterator[Store]:
    """A copy of the kept file, open."""
    copy = unpacked / "copy.db"
    shutil.copy(unpacked / DATABASE, copy)
    store = Store(f"sqlite:///{copy}")
    yield store
    store.close()
    for file in unpacked.glob("copy.db*"):
        file.unlink()


def load_dump(postgresql: PostgreSQL, unpacked: Path) -> str:
    """Load the kept dump into a database of its own, and return its address; skip without psql."""
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("psql is not installed here")
    url = postgresql.empty_database()
    options = ["-q", "-X", "-v", "ON_ERROR_STOP=1", "-h", postgresql.folder, "-U", "silverball"]
    command = [psql, *options, "-d", make_url(url).database, "-f", unpacked / DUMP]
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL, timeout=120)
    return url


def user_named(store: Store, name: str) -> int:
    with store.read() as db:
        # Another of the same name may have come with the mirror.
        found = select(func.min(tables.user.c.user_id)).where(tables.user.c.name == name)
        return int(db.execute(found).scalar_one())


def tournament_ids(store: Store) -> list[int]:
    own = tables.tournament.c.tournament_id
    with store.read() as db:
        return list(db.execute(select(own).order_by(own)).scalars())


def answers(store: Store, who: str, share: int | None = None) -> Iterator[tuple[str, str]]:
    """Every path that can be read, and the status and body of its answer to this caller.

    With a share, of each so-manyth tournament only.
    """
    api = app.build_api(store, Settings(base_url=build.BASE_URL), now=lambda: build.NOW)
    by = _caller(store, who)
    for path in _paths(store, share or (1 if who == "owner" else STRANGERS_SHARE)):
        route, _, query = path.partition("?")
        asked = http.Request(method="GET", path=route, query=query.encode(), caller=by)
        got = app.answer_request(api, asked)
        assert got.status < 500, path
        yield path, f"{got.status} {got.body.decode()}"


def _caller(store: Store, who: str) -> AuthenticatedCaller:
    if who == "owner":
        return build.caller(user_named(store, "Olga Ramp"), role="organizer", ability="manage")
    return build.caller(NOBODY)


def _paths(store: Store, share: int) -> Iterator[str]:
    own = ("{tournament_id}",)
    reading = sorted(
        endpoint.path
        for endpoint in collect_endpoints(*ROUTE_MODULES)
        if endpoint.method == "GET" and not endpoint.is_async and endpoint.path not in LEFT_OUT
    )
    for number, tournament_id in enumerate(tournament_ids(store)[::share]):
        ids = _ids(store, tournament_id)
        for path in reading:
            whole = path + QUERIES.get(path, "")
            if number == 0 or any(part in whole for part in own):
                yield whole.format_map(ids)


def _ids(store: Store, tournament_id: int) -> dict[str, Any]:
    """The values of the parameters in paths: the first of each kind in this tournament."""
    first: tuple[tuple[str, Table], ...] = (
        ("player_id", tables.entrant),
        ("arena_id", tables.lineup_arena),
        ("round_id", tables.round_),
        ("game_id", tables.game),
        ("single_player_game_id", tables.single_player_game),
        ("card_id", tables.card),
        ("webhook_id", tables.webhook),
    )
    words = {"tournament_id": tournament_id, "user_id": user_named(store, "Ada Quill"), "type": "users"}
    found: dict[str, Any] = defaultdict(lambda: 1, words, opdb_id="G4ODR", date="2026-03-05")
    with store.read() as db:
        for name, table in first:
            statement = select(func.min(table.c[name])).where(table.c.tournament_id == tournament_id)
            found[name] = db.execute(statement).scalar_one() or 1
    return found


@cache
def documents() -> dict[Path, bytes]:
    """The documents of the interface, as they are kept, without the number of the version."""
    chosen = Settings(base_url=build.BASE_URL)
    store = Store("sqlite://")
    openapi = app.openapi_document(app.build_api(store, chosen), chosen)
    store.close()
    return {OPENAPI: _without_version(openapi), ASYNCAPI: _without_version(app.asyncapi_document(chosen))}


def _without_version(document: bytes) -> bytes:
    decoded = msgspec.json.decode(document)
    decoded["info"]["version"] = ""
    return msgspec.json.format(msgspec.json.encode(decoded), indent=1)
