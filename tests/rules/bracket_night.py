"""Helpers for nights of brackets and group brackets."""

from collections.abc import Sequence
from typing import Any

from rules.night import Night, a_night
from silverball.rules.model.outcome import AttemptOutcome
from silverball.rules.model.tournament import Game, SinglePlayerGame, Tournament


def start_night(kind: str, players: int, **given: Any) -> Night:
    """A running tournament, seeded in the order of the player ids."""
    night = a_night(kind, players=players, **given)
    night.start()
    return night


def games_of_round(tournament: Tournament, round_index: int) -> list[Game]:
    """The games of a round, by set and number; byes last."""
    rounds = [round_ for round_ in tournament.rounds if round_.round_index == round_index]
    games = [game for round_ in rounds for game in tournament.games_by_round.get(round_.round_id, ())]
    return sorted(games, key=lambda game: (game.set_number, game.game_index or 0, game.game_id))


def pairs_of_round(night: Night, round_index: int) -> list[tuple[int, ...]]:
    """The players of each game of a round, seeds ascending; a bye is one player."""
    return [tuple(sorted(game.player_ids)) for game in games_of_round(night.tournament, round_index)]


def record_win(night: Night, winner: int, *others: int) -> Game:
    """Record a win over the others in their open game."""
    game = next(game for game in night.open_games() if set(game.player_ids) == {winner, *others})
    night.record_order(game, winner, *others)
    return game


def play_to_the_end(night: Night, better: Any = lambda player_id: player_id) -> None:
    """Record open games until none is left; the better by this key wins."""
    while night.open_games():
        game = night.open_games()[0]
        night.record_order(game, *sorted(game.player_ids, key=better))


def standings_rows(night: Night) -> list[tuple[int, int, Any]]:
    """Position, player and points."""
    return [(row.position, row.player_id, row.points) for row in night.standings()]


def holes_of_player(night: Night, player_id: int, round_index: int) -> list[SinglePlayerGame]:
    """A player's holes in a round of a golf bracket, by number."""
    round_id = night.tournament.rounds_in_order[round_index].round_id
    own = [
        game
        for game in night.tournament.single_player_games
        if game.player_id == player_id and game.round_id == round_id
    ]
    return sorted(own, key=lambda hole: hole.game_index or 0)


def putt(night: Night, player_id: int, strokes: Sequence[int], round_index: int = 0) -> None:
    """Record strokes on the player's pending holes of a round."""
    waiting = [hole for hole in holes_of_player(night, player_id, round_index) if hole.status != "completed"]
    for hole, count in zip(waiting, strokes, strict=False):
        night.record(AttemptOutcome(single_player_game_id=hole.single_player_game_id, strokes=count))
