"""Small endpoints that write, over a real database, and interruptions of their requests."""

from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import Connection, func, select, update

import build
from silverball import app
from silverball.kit.errors import Conflict, NotFound
from silverball.kit.http.api import Api
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Endpoint, PreparationOutdated, delete, patch, post, put
from silverball.service.core.calls import Write
from silverball.service.players import reads as players_reads
from silverball.service.players import writes as players_writes
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from silverball_wire.base import Wire
from silverball_wire.pages import Data
from silverball_wire.players import Club


class NewClub(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    description: str | None = None


class NewName(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=40)]


class Renamed(Wire, frozen=True, kw_only=True):
    name: str
    seen: int | None = None


class NotEncodable:
    """A value that cannot be encoded as an answer."""


# Run once each, between the preparation and the lock, or in the middle of a transaction.
INTERRUPTIONS: list[Callable[[Connection], None]] = []


def interrupt(db: Connection) -> None:
    if INTERRUPTIONS:
        INTERRUPTIONS.pop(0)(db)


def _rename(call: Write[NewName]) -> None:
    tournament_id = call.ids["tournament_id"]
    row = tables.tournament.c.tournament_id == tournament_id
    renamed = call.db.execute(update(tables.tournament).where(row).values(name=call.body.name))
    if renamed.rowcount == 0:
        raise NotFound("Tournament", tournament_id)
    revisions.raise_tournaments(call.transaction, [tournament_id])


@post("/api/clubs", body=NewClub, ability="manage", status=201)
def add_club(call: Write[NewClub]) -> Data[Club]:
    """A new club."""
    body = call.body
    club_id = players_writes.create_club(
        call.transaction, call.user_id, name=body.name, description=body.description, location=call.source
    )
    interrupt(call.db)
    return Data(data=players_reads.find_club(call.db, club_id))


@delete("/api/clubs/{club_id}", ability="admin")
def remove_club(call: Write[Body]) -> Data[Club]:
    """A deleted club."""
    return Data(data=players_reads.find_club(call.db, call.ids["club_id"]))


@patch("/api/tournaments/{tournament_id}/name", body=NewName, ability="score")
def rename(call: Write[NewName]) -> Data[Renamed]:
    """Another name."""
    _rename(call)
    interrupt(call.db)
    return Data(data=Renamed(name=call.body.name))


@put("/api/tournaments/{tournament_id}/regret", body=NewName, ability="read")
def regret(call: Write[NewName]) -> Data[Renamed]:
    """A change that is refused after it was made."""
    _rename(call)
    raise Conflict("Not today. Come back tomorrow.")


@put("/api/tournaments/{tournament_id}/not-encodable", body=NewName, ability="read")
def not_encodable(call: Write[NewName]) -> Any:
    """A change whose answer cannot be encoded."""
    _rename(call)
    return NotEncodable()


def _prepare_draw(call: Write[NewName]) -> Callable[[], int]:
    revision = revisions.current_revision(call.db, call.ids["tournament_id"])
    if revision is None:
        raise NotFound("Tournament", call.ids["tournament_id"])
    interrupt(call.db)
    # The draw itself, which runs when the snapshot is closed.
    return lambda: revision.number


@post("/api/tournaments/{tournament_id}/draw", body=NewName, ability="manage", prepare=_prepare_draw)
def draw(call: Write[NewName]) -> Data[Renamed]:
    """A name that takes long to find."""
    revision = revisions.current_revision(call.db, call.ids["tournament_id"])
    if revision is None or revision.number != call.preparation:
        raise PreparationOutdated
    _rename(call)
    return Data(data=Renamed(name=call.body.name, seen=call.preparation))


def module_of(*endpoints: Endpoint) -> ModuleType:
    module = ModuleType("small")
    vars(module).update({endpoint.handler.__name__: endpoint for endpoint in endpoints})
    return module


MODULES = [module_of(add_club, remove_club, rename, regret, not_encodable, draw)]


def an_api(store: Store) -> Api:
    return app.build_api(store, Settings(base_url=build.BASE_URL), modules=MODULES, now=lambda: build.NOW)


def do(
    store: Store, method: str, path: str, body: Any = None, **options: Any
) -> tuple[int, Any, dict[str, str]]:
    return build.do(store, method, path, body, modules=MODULES, **options)


def count_of_clubs(store: Store) -> int:
    with store.read() as db:
        return db.execute(select(func.count()).select_from(tables.club)).scalar_one()


def name_of(store: Store, tournament_id: int) -> str:
    with store.read() as db:
        row = tables.tournament.c.tournament_id == tournament_id
        return str(db.execute(select(tables.tournament.c.name).where(row)).scalar_one())


def change_by_another_request(store: Store, tournament_id: int) -> Callable[[Connection], None]:
    """An interruption in which another request changes the tournament."""

    def change(_db: Connection) -> None:
        with store.write(tournament_id) as transaction:
            revisions.raise_tournaments(transaction, [tournament_id])

    return change
