"""The other tournaments of the room as pages of a tournament show them: who and what is busy there."""

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec import Struct

from silverball.rules.mechanics import shared_room
from silverball.rules.mechanics.shared_room import ARENA, RoomGame
from silverball.rules.model.tournament import QueueSpot, Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.arenas import reads as arena_reads
from silverball.service.core import shared_rooms
from silverball.service.core.shared_rooms import SharedRoom
from silverball.store.engine import Db


class RoomView(Struct, frozen=True):
    """The words of a page about the other tournaments of the room; empty where there is none."""

    # Id and name of the other tournaments whose console the caller may open.
    consoles: Sequence[tuple[int, str]] = ()
    # Entrant or arena of the lineup -> what they do elsewhere: `playing in Women's`.
    players: Mapping[int, str] = msgspec.field(default_factory=dict)
    arenas: Mapping[int, str] = msgspec.field(default_factory=dict)
    # Entrant -> the same with the machine: `on Godzilla in Women's`.
    places: Mapping[int, str] = msgspec.field(default_factory=dict)
    # Game that waits -> the entrant, or the arena, for which it does.
    awaited_players: Mapping[int, int] = msgspec.field(default_factory=dict)
    awaited_arenas: Mapping[int, int] = msgspec.field(default_factory=dict)

    def first_free(self, queue: Sequence[QueueSpot]) -> QueueSpot | None:
        """The spot of the player who is up: the first in the queue who is not busy elsewhere."""
        return next((spot for spot in queue if spot.player_id not in self.players), None)


def load_room_view(db: Db, tournament: Tournament, caller: AuthenticatedCaller | None) -> RoomView:
    """The room of a tournament, for its staff or, without a caller, for everybody."""
    room = shared_rooms.shared_room_of(db, tournament)
    if room is None:
        return RoomView()
    names = {other.tournament_id: str(other.details["name"]) for other in room.others}
    players = shared_room.busy_players(tournament, room.elsewhere)
    arenas = shared_room.busy_arenas(tournament, room.elsewhere)
    machines = _machine_names(db, players.values())
    awaited_players, awaited_arenas = _awaited(tournament, room, players)
    return RoomView(
        consoles=[
            (other.tournament_id, names[other.tournament_id])
            for other in room.others
            if caller is not None and access.may_score(caller, other)
        ],
        players={
            player_id: f"{'up' if game.turn else 'playing'} in {names[game.tournament_id]}"
            for player_id, game in players.items()
        },
        arenas={
            arena_id: f"{'wanted' if game.turn else 'in use'} in {names[game.tournament_id]}"
            for arena_id, game in arenas.items()
        },
        places={
            player_id: _place_text(game, machines, names[game.tournament_id])
            for player_id, game in players.items()
        },
        awaited_players=awaited_players,
        awaited_arenas=awaited_arenas,
    )


def _machine_names(db: Db, games: Collection[RoomGame]) -> dict[int, str]:
    arena_ids = sorted({game.arena_id for game in games if game.arena_id is not None})
    return {arena.arena_id: arena.name for arena in arena_reads.existing_arenas(db, arena_ids)}


def _place_text(game: RoomGame, machines: Mapping[int, str], name: str) -> str:
    """The place of a busy player: `on Godzilla in Main`."""
    if game.turn is not None:
        return f"up next in {name}"
    return f"playing in {name}" if game.arena_id is None else f"on {machines[game.arena_id]} in {name}"


def _awaited(
    tournament: Tournament, room: SharedRoom, players: Mapping[int, RoomGame]
) -> tuple[dict[int, int], dict[int, int]]:
    """Game that waits -> the first of its players who is busy elsewhere; and others -> their machine."""
    awaited_players: dict[int, int] = {}
    awaited_arenas: dict[int, int] = {}
    for own in shared_room.room_games(tournament):
        reason = shared_room.waits_for(own, room.elsewhere)
        if reason is None or own.game is None:
            continue
        busy = [player_id for player_id in own.player_ids if players.get(player_id) is reason]
        if busy:
            awaited_players[own.game.game_id] = busy[0]
        elif own.arena_id is not None and (ARENA, own.arena_id) in reason.resources:
            awaited_arenas[own.game.game_id] = own.arena_id
    return awaited_players, awaited_arenas
