"""Moves that all formats share, and the particulars of a format's random nights.

A move takes the night and dice and returns the changes of the rules, or raises a refusal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from rules.night import Night
from silverball.kit.errors import Conflict
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families.drawn_rounds import points_by_player as points_of_games
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.ranking import points as ranking

Move = Callable[[Night, Random], Sequence[Change]]
Points = Callable[[Tournament], Mapping[int, Decimal]]


def open_round_any(night: Night, dice: Random) -> Sequence[Change]:
    """Open the next round."""
    return tournament_commands.open_round(night.tournament, dice, night.now)


def nothing_to_open(_night: Night, _dice: Random) -> Sequence[Change]:
    """Open nothing: the format continues by itself."""
    return []


def record_any(night: Night, dice: Random) -> Sequence[Change]:
    """Record a random finishing order for an open game."""
    game = choose_any(night.open_games(), dice, "open game")
    return record_outcome(
        night,
        GameOutcome(game_id=game.game_id, finishing_order=random_finish(game, dice), recorded_by=7),
        dice,
    )


def forfeit_any(night: Night, dice: Random) -> Sequence[Change]:
    """Record a no-show of one of two players of an open game."""
    game = choose_any(
        [game for game in night.open_games() if len(game.player_ids) == 2], dice, "open game of two"
    )
    outcome = GameOutcome(game_id=game.game_id, forfeited_by=dice.choice(game.player_ids))
    return record_outcome(night, outcome, dice)


def tie_any(night: Night, dice: Random) -> Sequence[Change]:
    """Record equal scores in an open game."""
    game = choose_any(night.open_games(), dice, "open game")
    return record_outcome(
        night, GameOutcome(game_id=game.game_id, scores=dict.fromkeys(game.player_ids, 500)), dice
    )


def correct_any(night: Night, dice: Random) -> Sequence[Change]:
    """Record another finishing order for a completed game."""
    game = choose_any(completed_games(night.tournament), dice, "completed game")
    return record_outcome(
        night, GameOutcome(game_id=game.game_id, finishing_order=random_finish(game, dice)), dice
    )


def clear_any(night: Night, dice: Random) -> Sequence[Change]:
    """Clear the result of a completed game."""
    return tournament_commands.clear_result(
        night.tournament, choose_any(completed_games(night.tournament), dice, "completed game").game_id
    )


def order_any(night: Night, dice: Random) -> Sequence[Change]:
    """Change the playing order of an open game."""
    game = choose_any(night.open_games(), dice, "open game")
    return game_commands.change_order(night.tournament, game.game_id, random_finish(game, dice))


def arena_any(night: Night, dice: Random) -> Sequence[Change]:
    """Change the arena of an open game: to a drawn one, a chosen one or none."""
    game = choose_any(night.open_games(), dice, "open game")
    if dice.random() < 0.5:
        return game_commands.redraw_arena(night.tournament, game.game_id, dice)
    chosen = dice.choice([None, *(arena.arena_id for arena in night.tournament.lineup)])
    return game_commands.change_arena(night.tournament, game.game_id, chosen)


def swap_any(night: Night, dice: Random) -> Sequence[Change]:
    """Swap the seats of two players."""
    players = [entrant.player_id for entrant in night.tournament.entrants]
    return game_commands.swap_players(night.tournament, dice.choice(players), dice.choice(players))


def seat_any(night: Night, dice: Random) -> Sequence[Change]:
    """Add a player to one of the last games."""
    game = choose_any(night.tournament.games[-3:], dice, "game")
    player_id = dice.choice(night.tournament.entrants).player_id
    return game_commands.add_player(night.tournament, game.game_id, player_id, dice, night.now)


def unseat_any(night: Night, dice: Random) -> Sequence[Change]:
    """Remove a player from an open game."""
    game = choose_any(night.open_games(), dice, "open game")
    return game_commands.remove_player(night.tournament, game.game_id, dice.choice(game.player_ids))


def create_any(night: Night, dice: Random) -> Sequence[Change]:
    """Create a game of two to four players."""
    players = [entrant.player_id for entrant in night.tournament.entrants]
    chosen = dice.sample(players, min(len(players), dice.randint(2, 4)))
    arena_id = dice.choice([None, *(arena.arena_id for arena in night.tournament.lineup)])
    return game_commands.create_game(night.tournament, chosen, arena_id, dice=dice, now=night.now)


def delete_any(night: Night, dice: Random) -> Sequence[Change]:
    """Delete a game."""
    game = choose_any(night.tournament.games, dice, "game")
    return game_commands.delete_game(night.tournament, game.game_id, dice, night.now)


def has_open(tournament: Tournament) -> bool:
    """Whether a result can be recorded."""
    attempts = any(game.status != "completed" for game in tournament.single_player_games)
    return attempts or any(game.status == "started" for game in tournament.games)


def has_played(tournament: Tournament) -> bool:
    """Whether a result can be corrected."""
    attempts = any(game.status == "completed" for game in tournament.single_player_games)
    return attempts or bool(completed_games(tournament))


def points_without_adjustments(tournament: Tournament) -> Mapping[int, Decimal]:
    """Player id -> points of games and byes without adjustments, for strike formats."""
    games = [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]
    totals = ranking.total_points(tournament, games)
    return {
        entrant.player_id: totals[entrant.player_id] - entrant.points_adjustment - entrant.score_adjustment
        for entrant in tournament.entrants
    }


def no_points(_tournament: Tournament) -> Mapping[int, Decimal]:
    """No points, for formats with a check of their own."""
    return {}


# Moves in drawn rounds besides results.
ROUND_EXTRAS: Mapping[str, Move] = {
    "forfeit": forfeit_any,
    "order": order_any,
    "arena": arena_any,
    "swap": swap_any,
    "seat": seat_any,
    "unseat": unseat_any,
    "delete": delete_any,
}
# Moves after which byes may differ by more than the draws make them.
UNEVEN = frozenset({"seat", "unseat"})


@dataclass(frozen=True, kw_only=True)
class Moves:
    """The particulars of a format's random nights."""

    kind: str
    # Setting -> the values to choose from.
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    players: tuple[int, int] = (2, 9)
    arenas: tuple[int, int] = (1, 6)
    # The move that continues the night after a round.
    go_on: Move = open_round_any
    record: Move = record_any
    can_record: Callable[[Tournament], bool] = has_open
    correct: Move = correct_any
    clear: Move = clear_any
    # Refused whenever there is an open game; None where equal results are allowed.
    tie: Move | None = tie_any
    # Name -> further moves: forfeits, swaps, voids, queues, a clock.
    extra: Mapping[str, Move] = field(default_factory=lambda: ROUND_EXTRAS)
    # Called after every action that changed something; raise AssertionError.
    checks: Sequence[Callable[[Tournament], None]] = ()
    # Player id -> points that the standings must show; rows of missing players are not compared.
    points: Points = points_of_games
    one_group_per_round: bool = True
    one_game_at_once: bool = False
    # False where the standings list only players whose place is decided.
    lists_everybody: bool = True
    # False where byes follow from the seeds instead of from earlier byes.
    byes_are_even: bool = True
    # Names of extra moves after which strikes may be fewer, or byes uneven.
    lowering: frozenset[str] = frozenset()
    uneven: frozenset[str] = UNEVEN


def choose_any(items: Sequence[Any], dice: Random, name: str) -> Any:
    """A random item. Raises a Conflict when there is none, which counts as a refusal."""
    if not items:
        raise Conflict(f"There is no {name}.")
    return dice.choice(list(items))


def completed_games(tournament: Tournament) -> list[Game]:
    return [game for game in tournament.games if game.status == "completed" and not game.is_bye]


def random_finish(game: Game, dice: Random) -> tuple[int, ...]:
    return tuple(dice.sample(game.player_ids, len(game.player_ids)))


def record_outcome(night: Night, outcome: GameOutcome, dice: Random) -> list[Change]:
    return tournament_commands.record_result(night.tournament, outcome, dice, night.now)
