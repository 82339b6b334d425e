"""The arenas of a tournament: added, taken out of service, brought back, removed.

Each function states changes or refuses; what follows in the format (a frenzy moves the game that was on
the arena) is stated too. Source: formats, sections 2, 7 and 14.14.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import ArenaAdded, ArenaChanged, ArenaRemoved, Change, changes_between
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
    """Arenas join, before the start or later. Raises Conflict for one that is in already."""
    _require_not_completed(tournament)
    changes: list[Change] = []
    current = tournament
    for one in new:
        if any(other.arena_id == one.arena_id for other in current.lineup):
            raise ArenaAlreadyInLineup(arena=one.arena_id)
        place = max((other.place for other in current.lineup), default=-1) + 1
        placed = replace(one, place=place)
        step: list[Change] = [ArenaAdded(placed)]
        step += _lineup_consequences(apply_changes(current, step), placed, dice, now)
        current = apply_changes(current, step)
        changes += step
    return changes


def change_arena(
    tournament: Tournament, arena_id: int, dice: Random, now: datetime, **after: Any
) -> list[Change]:
    """Fields of LineupArena (`is_active`, `is_preferred`, ...) with new values, and what follows.

    Games that are open on an arena taken out of service keep it, unless the format moves them: the
    organizer draws another one. Raises NotFound.
    """
    _require_not_completed(tournament)
    lineup_arena = find_lineup_arena(tournament, arena_id)
    changed = replace(lineup_arena, **after)
    changes = changes_between(ArenaChanged, lineup_arena, changed)
    if changed.is_active == lineup_arena.is_active:
        return changes
    return [*changes, *_lineup_consequences(apply_changes(tournament, changes), changed, dice, now)]


def mark_out_of_order(
    tournament: Tournament, arena_id: int, dice: Random, now: datetime, **after: Any
) -> list[Change]:
    """An arena out of service, and every game that is open on it moved to another one.

    Raises Conflict when a game finds no other arena.
    """
    changes = change_arena(tournament, arena_id, dice, now, is_active=False, **after)
    current = apply_changes(tournament, changes)
    for game in tournament.games:
        stays = next((one for one in current.games if one.game_id == game.game_id), None)
        if stays is not None and stays.status == "started" and stays.arena_id == arena_id:
            step = game_commands.redraw_arena(current, stays.game_id, dice)
            current = apply_changes(current, step)
            changes += step
    return changes


def remove_arena(tournament: Tournament, arena_id: int) -> list[Change]:
    """Take an arena out that nobody has played. Raises Conflict for any other: set it inactive instead."""
    _require_not_completed(tournament)
    lineup_arena = find_lineup_arena(tournament, arena_id)
    played = any(game.arena_id == arena_id for game in tournament.games)
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
