"""Checks of matches that are counted by their single games. Source: formats, 14.10."""

from collections import Counter

from silverball.rules.model.settings_protocols import HasGamesPerRound, has
from silverball.rules.model.tournament import Game, Tournament


def games_needed(tournament: Tournament) -> int:
    """Single games that win a match: more than half of them."""
    settings = tournament.settings
    return settings.games_per_round // 2 + 1 if has(settings, HasGamesPerRound) else 1


def is_counted(tournament: Tournament, game: Game) -> bool:
    """Whether the result of this game is the number of single games won."""
    is_pair = len(game.player_ids) == 2 and not game.is_tiebreak
    has_points = any(points is not None for points in game.result_points)
    return tournament.settings.has_matches and is_pair and has_points and set(game.result_positions) == {None}


def match_winner(tournament: Tournament, game: Game) -> int | None:
    """The player who has won a counted match; None while nobody has."""
    needed = games_needed(tournament)
    slots = zip(game.player_ids, game.result_points, strict=True)
    return next((player_id for player_id, points in slots if points == needed), None)


def count_faults(tournament: Tournament, game: Game) -> list[str]:
    """Counts that cannot be, a wrong winner, and single games that say otherwise."""
    needed, name = games_needed(tournament), f"Match {game.game_id}"
    won = [points or 0 for points in game.result_points]
    if any(points != int(points) or not 0 <= points <= needed for points in won) or sum(won) == 2 * needed:
        return [f"{name} cannot stand at {won[0]} to {won[1]}: {needed} games win it."]
    faults = []
    winner = match_winner(tournament, game)
    if (winner is not None) != (game.status == "completed"):
        faults.append(f"{name} is {game.status} at {won[0]} to {won[1]}; {needed} games win it.")
    elif winner is not None and game.finishing_order[:1] not in {(), (winner,)}:
        faults.append(f"{name} has the winner {game.finishing_order[0]}, its games were won by {winner}.")
    legs = Counter(leg.finishing_order[0] for leg in game.legs)
    if game.legs and [legs[player_id] for player_id in game.player_ids] != won:
        faults.append(f"{name} stands at {won[0]} to {won[1]}, its single games say otherwise.")
    return faults
