"""The state of a player in a running tournament, as their own page shows it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec import UNSET, Struct, UnsetType

from silverball.kit.errors import Conflict
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import round_timer
from silverball.rules.model.tournament import Tournament
from silverball.service.core import loaded
from silverball.service.rulings import reads as rulings
from silverball.service.tournaments.journal_text import away_text
from silverball.store.engine import Db
from silverball.web.room_view import load_room_view


class PlayerState(Struct, frozen=True, kw_only=True):
    """Where a player waits, whether they are out, and what the clocks say."""

    # The machine (None for the tournament's own queue) and the place in its line.
    waiting: Sequence[tuple[int | None, int]] = ()
    # Whether their results have put them out; someone who was dropped is not out in this sense.
    is_out: bool = False
    round_ends_at: datetime | None = None
    # Game -> when its players were last called.
    calls: Mapping[int, datetime] = msgspec.field(default_factory=dict)

    # Rounds that the player still sits out, 0 for the newest one; None when they are not away.
    away_rounds: int | None = None
    # Games whose clock stands still: their machine is out of order, or busy in another tournament, as may
    # be a player.
    waiting_ids: Sequence[int] = ()
    # Machines out of order, and the one of them whose queue the player was in when it was dissolved.
    broken_arena_ids: Collection[int] = ()
    dissolved_arena_id: int | None = None
    # Where they are busy in another tournament of the room: `on Godzilla in Main`.
    elsewhere: str = ""

    @property
    def away_text(self) -> str:
        """The absence as a sentence; empty when the player is there."""
        if self.away_rounds is None:
            return ""
        return f"You are {away_text(self.away_rounds)}, and back in the draw by yourself."

    def call_key(self, game_id: int) -> str:
        """A text that differs for each call to a game: the page rings when it is new."""
        called_at = self.calls.get(game_id)
        return str(game_id) if called_at is None else f"{game_id}-{called_at:%H%M%S}"


def load_player_state(db: Db, tournament_id: int, player_id: int) -> PlayerState:
    """The state of a player; an empty one in a tournament of an unknown format."""
    try:
        tournament = loaded.load_tournament(db, tournament_id)
    except Conflict:
        return PlayerState()
    broken = {arena.arena_id for arena in tournament.lineup if not arena.is_active}
    dissolved_id = rulings.dissolved_queue(db, tournament_id, player_id) if broken else None
    return PlayerState(
        waiting=_places_in_queues(tournament, player_id),
        broken_arena_ids=broken,
        dissolved_arena_id=dissolved_id if dissolved_id in broken else None,
        is_out=_is_out(tournament, player_id),
        round_ends_at=_own_end(tournament, player_id),
        away_rounds=_away_rounds(tournament, player_id),
        waiting_ids=tuple(game.game_id for game in tournament.open_games if game.waiting_since is not UNSET),
        calls=tournament.state.calls,
        elsewhere=load_room_view(db, tournament, None).places.get(player_id, ""),
    )


def _places_in_queues(tournament: Tournament, player_id: int) -> list[tuple[int | None, int]]:
    lines: dict[tuple[int | None, int | None], list[int]] = {}
    for spot in tournament.waiting_spots:
        lines.setdefault((spot.arena_id, spot.round_id), []).append(spot.player_id)
    return [
        (arena_id, player_ids.index(player_id) + 1)
        for (arena_id, _), player_ids in lines.items()
        if player_id in player_ids
    ]


def _own_end(tournament: Tournament, player_id: int) -> datetime | None:
    """When the time of the player's own game is up, or that of the round while they play none."""
    game = next((game for game in tournament.open_games if player_id in game.player_ids), None)
    if game is None:
        return round_timer.round_ends_at(tournament)
    return round_timer.game_ends_at(tournament, game)


def _away_rounds(tournament: Tournament, player_id: int) -> int | None:
    entrant = tournament.entrant_by_id.get(player_id)
    if tournament.status != "started" or entrant is None or isinstance(entrant.away_rounds, UnsetType):
        return None
    return entrant.away_rounds


def _is_out(tournament: Tournament, player_id: int) -> bool:
    if tournament.status != "started" or player_id not in tournament.active_ids:
        return False
    return player_id not in tournament_commands.format_of(tournament).playing_ids(tournament)
