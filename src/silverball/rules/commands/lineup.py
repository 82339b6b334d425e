"""Commands on the arenas of a tournament: add, put out of service, bring back, remove.

Each function returns changes, with the consequences in the format, or refuses: a frenzy moves the game
that was on the arena. Source: formats, sections 2, 7 and 14.14.
"""

from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import rulings
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import queues
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    ArenaAdded,
    ArenaChanged,
    ArenaRemoved,
    Change,
    QueueLeft,
    changes_between,
)
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.tournament import LineupArena, Tournament


class ArenaAlreadyInLineup(Conflict):
    sentence = "{arena} is in the tournament already."


class ArenaInUse(Conflict):
    sentence = "{arena} is in use here. Set it inactive instead."


def find_lineup_arena(tournament: Tournament, arena_id: int) -> LineupArena:
    """An arena of the tournament. Raises NotFound."""
    for lineup_arena in tournament.lineup:
        if lineup_arena.arena_id == arena_id:
            return lineup_arena
    raise NotFound("Arena", arena_id)


def add_arenas(
    tournament: Tournament, new: Sequence[LineupArena], dice: Random, now: datetime
) -> list[Change]:
    """Add arenas, before the start or later. Raises Conflict for one already in the lineup."""
    _require_not_completed(tournament)
    changes: list[Change] = []
    current = tournament
    for lineup_arena in new:
        if any(each.arena_id == lineup_arena.arena_id for each in current.lineup):
            raise ArenaAlreadyInLineup(arena=lineup_arena.arena_id)
        place = max((other.place for other in current.lineup), default=-1) + 1
        placed = replace(lineup_arena, place=place)
        step: list[Change] = [ArenaAdded(placed)]
        step += _lineup_consequences(apply_changes(current, step), placed, dice, now)
        current = apply_changes(current, step)
        changes += step
    return changes


def change_arena(
    tournament: Tournament, arena_id: int, dice: Random, now: datetime, **after: Any
) -> list[Change]:
    """Change fields of a lineup arena (`is_active`, `is_preferred`, ...), with the consequences.

    Open games on an arena out of service keep it, unless the format moves them: the organizer rules
    what becomes of them. Those that wait go on when it is back. Raises NotFound.
    """
    _require_not_completed(tournament)
    lineup_arena = find_lineup_arena(tournament, arena_id)
    changed = replace(lineup_arena, **after)
    changes = changes_between(ArenaChanged, lineup_arena, changed)
    if changed.is_active == lineup_arena.is_active:
        return changes
    if changed.is_active:
        waiting = [game for game in tournament.open_games if game.arena_id == arena_id]
        changes += [change for game in waiting for change in rulings.resume_clock(game, now)]
    return [*changes, *_lineup_consequences(apply_changes(tournament, changes), changed, dice, now)]


def mark_out_of_order(
    tournament: Tournament, arena_id: int, dice: Random, now: datetime, **after: Any
) -> list[Change]:
    """Put an arena out of service and move every open game on it to another one.

    Raises Conflict when no other arena is free for a game.
    """
    changes = change_arena(tournament, arena_id, dice, now, is_active=False, **after)
    current = apply_changes(tournament, changes)
    for game in tournament.games:
        stays = next((each for each in current.games if each.game_id == game.game_id), None)
        if stays is not None and stays.status == "started" and stays.arena_id == arena_id:
            step = game_commands.redraw_arena(current, stays.game_id, dice)
            current = apply_changes(current, step)
            changes += step
    return changes


def dissolve_queue(tournament: Tournament, arena_id: int) -> list[Change]:
    """Take everybody out of the queue of an arena; without it they wait until it is back in play."""
    return [QueueLeft(spot) for spot in queues.waiting_spots(tournament, arena_id=arena_id)]


def remove_arena(tournament: Tournament, arena_id: int) -> list[Change]:
    """Remove an arena that was never played. Raises Conflict for any other: set it inactive instead."""
    _require_not_completed(tournament)
    lineup_arena = find_lineup_arena(tournament, arena_id)
    played = any(
        arena_id in {game.arena_id, *(leg.arena_id for leg in game.legs)} for game in tournament.games
    )
    attempted = any(game.arena_id == arena_id for game in tournament.single_player_games)
    holes = any(hole.arena_id == arena_id for hole in tournament.rounds)
    waited = any(spot.arena_id == arena_id and not spot.is_done for spot in tournament.queue)
    if played or attempted or holes or waited:
        raise ArenaInUse(arena=arena_id)
    return [ArenaRemoved(lineup_arena)]


def _lineup_consequences(
    tournament: Tournament, lineup_arena: LineupArena, dice: Random, now: datetime
) -> list[Change]:
    if tournament.status != "started":
        return []
    return tournament_commands.format_of(tournament).lineup_changed(tournament, lineup_arena, dice, now)


def _require_not_completed(tournament: Tournament) -> None:
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its arenas")
