"""Players and clubs over HTTP."""

from typing import Annotated

import msgspec
from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post, put
from silverball.kit.http.query import Query
from silverball.service.core import calls
from silverball.service.core.calls import Write
from silverball.service.players import reads, writes
from silverball.service.tournaments.reads import tournaments
from silverball.store.people import book
from silverball_wire.base import Id
from silverball_wire.pages import Data, Page
from silverball_wire.players import Claim, Club, Player


class UnknownPlayersQuery(Query, frozen=True, kw_only=True):
    """Parameters of both resolve-unknown for players. Source: interface 4.2 and 8."""

    players: Annotated[tuple[Id, ...], Meta(max_length=25)]
    """Ids of the players to answer; unknown ones are left out."""


class ClaimantQuery(Query, frozen=True, kw_only=True):
    """Parameters of DELETE /api/players/{playerId}/claim."""

    user: Id | None = None
    """Id of the account whose claim the organizer rejects; without it, callers withdraw their own claim."""


@get("/api/players", query=reads.PlayerQuery, access=Access.OWN)
def list_players(call: Call[reads.PlayerQuery]) -> Page[Player]:
    """The caller's players."""
    with call.read() as db:
        page = reads.owned_by(db, call.user_id, call.query, call.caller)
    return calls.full_page(call, page, per_page=reads.PER_PAGE)


@get("/api/players/resolve-unknown", query=UnknownPlayersQuery)
def resolve_players(call: Call[UnknownPlayersQuery]) -> Data[tuple[Player, ...]]:
    """Players by their ids."""
    with call.read() as db:
        return Data(data=reads.existing_players(db, call.query.players, call.caller))


@get("/api/tournaments/{tournament_id}/players", access=Access.OPENABLE)
def list_entrants(call: Call[Query]) -> Data[tuple[Player, ...]]:
    """All players of a tournament, as `includePlayers` embeds them."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        tournaments.require_tournament(db, tournament_id)
        return Data(data=reads.entrants(db, tournament_id, call.caller))


@get(
    "/api/tournaments/{tournament_id}/players/resolve-unknown",
    query=UnknownPlayersQuery,
    access=Access.OPENABLE,
)
def resolve_players_of_tournament(call: Call[UnknownPlayersQuery]) -> Data[tuple[Player, ...]]:
    """Players of a tournament by their ids."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        tournaments.require_tournament(db, tournament_id)
        return Data(data=reads.entrants_by_ids(db, tournament_id, call.query.players, call.caller))


@post("/api/players", body=writes.NewPlayer, ability="manage", status=201)
def add_player(call: Write[writes.NewPlayer]) -> Data[Player]:
    """Add a player to the caller's book."""
    return Data(data=reads.find_player(call.db, writes.add_player(call), call.caller))


@patch("/api/players/{player_id}", body=writes.ChangedPlayer, ability="manage")
def change_player(call: Write[writes.ChangedPlayer]) -> Data[Player]:
    """Change a player of the caller's book, in all tournaments."""
    return Data(data=reads.find_player(call.db, writes.change_player(call), call.caller))


@delete("/api/players/{player_id}", ability="manage")
def delete_player(call: Write[Body]) -> Data[Player]:
    """Delete a player who is in no tournament, and return them as they were."""
    player_id = writes.require_removable(call)
    removed = reads.find_player(call.db, player_id, call.caller)
    book.remove(call.db, book.PLAYER, player_id)
    return Data(data=removed)


@post("/api/players/{player_id}/merge", body=writes.MergeTarget, ability="manage")
def merge_player(call: Write[writes.MergeTarget]) -> Data[Player]:
    """Merge two entries of one person; the named one takes over all results."""
    return Data(data=reads.find_player(call.db, writes.merge_players(call), call.caller))


@get("/api/players/claims", access=Access.OWN)
def list_claims(call: Call[Query]) -> Data[tuple[Claim, ...]]:
    """Pending claims: the caller's own, and those on players of the caller's book."""
    with call.read() as db:
        return Data(data=reads.pending_claims(db, call.user_id))


@post("/api/players/{player_id}/claim", ability="score", status=201)
def claim_player(call: Write[Body]) -> Data[Player]:
    """Claim a player as the caller; the player's organizer must approve it."""
    return Data(data=reads.find_player(call.db, writes.stake_claim(call), call.caller))


@put("/api/players/{player_id}/claim", body=writes.ClaimApproval, ability="manage")
def approve_claim(call: Write[writes.ClaimApproval]) -> Data[Player]:
    """Approve a claim: from now on the player is this user."""
    return Data(data=reads.find_player(call.db, writes.approve_claim(call), call.caller))


@delete("/api/players/{player_id}/claim", query=ClaimantQuery, ability="score")
def give_up_claim(call: Write[Body]) -> Data[Player]:
    """Withdraw a claim, or reject it as the player's organizer, approved or not."""
    return Data(data=reads.find_player(call.db, writes.give_up_claim(call, call.query.user), call.caller))


@get("/api/clubs/{club_id}")
def show_club(call: Call[Query]) -> Data[Club]:
    """A club."""
    with call.read() as db:
        return Data(data=reads.find_club(db, call.ids["club_id"]))


@post("/api/clubs", body=writes.NewClub, ability="manage", status=201)
def add_club(call: Write[writes.NewClub]) -> Data[Club]:
    """Create a club, with the caller as its leader and first member."""
    given = msgspec.structs.asdict(call.body)
    return Data(data=reads.find_club(call.db, writes.create_club(call.transaction, call.user_id, **given)))


@patch("/api/clubs/{club_id}", body=writes.ChangedClub, ability="manage")
def change_club(call: Write[writes.ChangedClub]) -> Data[Club]:
    """Change a club that the caller leads."""
    return Data(data=reads.find_club(call.db, writes.change_club(call)))


@delete("/api/clubs/{club_id}", ability="manage")
def delete_club(call: Write[Body]) -> Data[Club]:
    """Delete a club that the caller leads, and return it as it was."""
    removed = reads.find_club(call.db, call.ids["club_id"])
    writes.delete_club(call)
    return Data(data=removed)
