"""Players over HTTP."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service import pages
from silverball.service.players import reads
from silverball.service.tournaments import reads as tournaments
from silverball.wire.base import Id
from silverball.wire.pages import Data, Page
from silverball.wire.players import Player


class UnknownPlayersQuery(Query, frozen=True, kw_only=True):
    """Parameters of both resolve-unknown for players. Source: interface 4.2 and 8."""

    players: Annotated[tuple[Id, ...], Meta(max_length=25)]


@get("/api/players", query=reads.PlayerQuery, access=Access.OWN)
def list_players(call: Call[reads.PlayerQuery]) -> Page[Player]:
    """The caller's players."""
    with call.read() as db:
        found = reads.owned_by(db, call.user_id, call.query, call.caller)
    return pages.page(call, found, per_page=reads.PER_PAGE)


@get("/api/players/resolve-unknown", query=UnknownPlayersQuery)
def resolve_players(call: Call[UnknownPlayersQuery]) -> Data[tuple[Player, ...]]:
    """Players by their ids."""
    with call.read() as db:
        return Data(data=reads.named(db, call.query.players, call.caller))


@get(
    "/api/tournaments/{tournament_id}/players/resolve-unknown",
    query=UnknownPlayersQuery,
    access=Access.OPENABLE,
)
def resolve_entrants(call: Call[UnknownPlayersQuery]) -> Data[tuple[Player, ...]]:
    """Players of a tournament by their ids."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        tournaments.require(db, tournament_id)
        return Data(data=reads.some_entrants(db, tournament_id, call.query.players, call.caller))
