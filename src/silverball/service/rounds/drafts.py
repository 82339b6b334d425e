"""A drawn round that is not stored, in its published shape. Ids of unstored things are 0."""

from msgspec.structs import replace

from silverball.rules.model.tournament import Tournament
from silverball.service.games.reads.games import shape_game
from silverball.service.rounds.shapes import wire_round
from silverball_wire.rounds import DrawnRound


def drawn_round(tournament: Tournament) -> DrawnRound:
    """The newest round of a tournament that includes the draw, with its games."""
    newest = tournament.newest_round
    assert newest is not None
    round_id = max(newest.round_id, 0)
    users = {entrant.player_id: entrant.user_id for entrant in tournament.entrants}
    games = [
        replace(
            shape_game(tournament.tournament_id, game, users),
            game_id=max(game.game_id, 0),
            round_id=round_id,
            scorekeeper_id=None,
            duration=None,
        )
        for game in tournament.games_by_round.get(newest.round_id, ())
    ]
    drawn = replace(wire_round(tournament.tournament_id, newest), round_id=round_id, duration=None)
    return DrawnRound(data=drawn, games=tuple(games))
