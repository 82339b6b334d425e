"""A drawn round that is not stored, in its published shape. Ids of unstored things are 0."""

from silverball.rules.model import tournament as rules
from silverball.rules.model.tournament import Tournament
from silverball.wire import times
from silverball.wire.games import Game
from silverball.wire.rounds import DrawnRound, Round


def drawn_round(tournament: Tournament) -> DrawnRound:
    """The newest round of a tournament that includes the draw, with its games."""
    newest = tournament.newest_round
    assert newest is not None
    games = tournament.games_by_round.get(newest.round_id, ())
    return DrawnRound(
        data=_draft_round(tournament, newest), games=tuple(_draft_game(tournament, game) for game in games)
    )


def _draft_round(tournament: Tournament, round_: rules.Round) -> Round:
    assert round_.created_at is not None
    return Round(
        round_id=max(round_.round_id, 0),
        tournament_id=tournament.tournament_id,
        arena_id=round_.arena_id,
        score=round_.score,
        size=round_.size,
        description=None,
        index=round_.round_index,
        name=round_.name,
        status=round_.status,
        duration=None,
        created_at=times.plain_z(round_.created_at),
        completed_at=times.plain_z_or_none(round_.completed_at),
    )


def _draft_game(tournament: Tournament, game: rules.Game) -> Game:
    users = {entrant.player_id: entrant.user_id for entrant in tournament.entrants}
    return Game(
        game_id=max(game.game_id, 0),
        round_id=max(game.round_id or 0, 0),
        tournament_id=tournament.tournament_id,
        arena_id=game.arena_id,
        bank_id=game.bank_id,
        index=game.game_index,
        set=game.set_number,
        player_id_advantage=game.advantage_id,
        scorekeeper_id=None,
        status=game.status,
        started_at=times.iso_or_none(game.started_at),
        duration=None,
        bye=game.is_bye,
        player_ids=game.player_ids,
        user_ids=tuple(users.get(player_id) for player_id in game.player_ids),
        result_positions=game.result_positions,
        result_points=tuple(None if points is None else f"{points:.2f}" for points in game.result_points),
        result_scores=game.result_scores,
        suggestions=(),
    )
