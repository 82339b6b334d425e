"""Commands on open games whose machine is out of order: wait, start over elsewhere, or settle.

Each function returns changes or refuses. Source: formats, section 7; pages, section 2.
"""

from datetime import datetime
from random import Random

from msgspec import UNSET

from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.mechanics import shared_room
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, GameChanged, changes_between
from silverball.rules.model.tournament import Game, Tournament


def wait(tournament: Tournament, game_id: int, now: datetime) -> list[Change]:
    """Stop the clock of an open game until its machine is back; no change when it stands already."""
    game = game_commands.find_open_game(tournament, game_id)
    if game.waiting_since is not UNSET:
        return []
    return [GameChanged(game, replace(game, waiting_since=now))]


def resume(tournament: Tournament, game_id: int, now: datetime) -> list[Change]:
    """Let the clock of a game go on; no change when it runs."""
    return resume_clock(game_commands.find_open_game(tournament, game_id), now)


def resume_clock(game: Game, now: datetime) -> list[Change]:
    """The clock of a game goes on: it began later, by as long as it stood."""
    return changes_between(GameChanged, game, shared_room.clock_resumed(game, now))


def start_over(
    tournament: Tournament, game_id: int, arena_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Move an open game to another arena, or to one that is drawn, where it begins again.

    Raises Conflict when no other arena is free, and for one that is taken or out of service.
    """
    changes = (
        game_commands.redraw_arena(tournament, game_id, dice)
        if arena_id is None
        else game_commands.change_arena(tournament, game_id, arena_id)
    )
    moved = game_commands.find_open_game(apply_changes(tournament, changes), game_id)
    again = replace(moved, started_at=now, waiting_since=UNSET)
    game = game_commands.find_open_game(tournament, game_id)
    return changes_between(GameChanged, game, again)
