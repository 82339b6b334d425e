"""Helpers for nights of single player games."""

from rules.night import Night
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.tournament import Card, SinglePlayerGame, Tournament


def find_game(night: Night, player_id: int, index: int) -> SinglePlayerGame:
    """A player's game in the round of this index (holes, frames)."""
    rounds = {round_.round_id: round_.round_index for round_ in night.tournament.rounds}
    for game in night.tournament.single_player_games:
        if game.player_id == player_id and rounds.get(game.round_id or 0) == index:
            return game
    raise LookupError(f"player {player_id} has no game {index}")


def play_hole(night: Night, player_id: int, index: int, strokes: int) -> None:
    night.record(_attempt_outcome(find_game(night, player_id, index), strokes=strokes))


def play_holes(night: Night, player_id: int, *strokes: int) -> None:
    """Record strokes on the holes from the first on."""
    for index, each in enumerate(strokes):
        play_hole(night, player_id, index, each)


def bowl(night: Night, player_id: int, index: int, *rolls: int) -> None:
    night.record(_attempt_outcome(find_game(night, player_id, index), rolls=rolls))


def _attempt_outcome(
    game: SinglePlayerGame, *, strokes: int | None = None, rolls: tuple[int, ...] = ()
) -> AttemptOutcome:
    return AttemptOutcome(single_player_game_id=game.single_player_game_id, strokes=strokes, rolls=rolls)


def play_score(night: Night, player_id: int, arena_id: int, points: int | None) -> SinglePlayerGame:
    """Record a score on an arena (None starts the game) and return the game."""
    night.tick()
    attempt = NewAttempt(player_id=player_id, arena_id=arena_id, score=points, recorded_by=7)
    night.apply(single_player_commands.open_attempt(night.tournament, attempt, night.now))
    return newest_game(night.tournament, player_id, arena_id)


def newest_game(tournament: Tournament, player_id: int, arena_id: int) -> SinglePlayerGame:
    """The last game of a player on an arena."""
    games = [
        game
        for game in tournament.single_player_games
        if (game.player_id, game.arena_id) == (player_id, arena_id)
    ]
    return games[-1]


def play_card(night: Night, player_id: int, scores: dict[int, int]) -> Card:
    """Record these scores by arena id on a card and return the card."""
    for arena_id, points in scores.items():
        play_score(night, player_id, arena_id, points)
    return [card for card in night.tournament.cards if card.player_id == player_id][-1]


def play_race_score(night: Night, player_id: int, points: int) -> None:
    """Record the score of a player in the round that they play next."""
    night.record(
        AttemptOutcome(
            single_player_game_id=pending_game(night, player_id).single_player_game_id, score=points
        )
    )


def pending_game(night: Night, player_id: int) -> SinglePlayerGame:
    """The game that a player of a race plays next."""
    for game in night.tournament.single_player_games:
        if game.player_id == player_id and game.status != "completed":
            return game
    raise LookupError(f"player {player_id} has nothing to play")


def undo_all(night: Night) -> Tournament:
    """Undo all actions and return the planned tournament."""
    while night.journal:
        night.undo()
    return night.tournament
