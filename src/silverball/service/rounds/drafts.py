"""A round that was drawn but not stored, as it would be shown. Ids of what is not stored are 0."""

from silverball.rules.model import tournament as rules
from silverball.rules.model.tournament import Tournament
from silverball.wire import times
from silverball.wire.games import Game
from silverball.wire.rounds import DrawnRound, Round


def drawn_round(drawn: Tournament) -> DrawnRound:
    """The newest round of a tournament that holds the draw, and its games."""
    newest = drawn.newest_round
    assert newest is not None
    games = drawn.games_by_round.get(newest.round_id, ())
    return DrawnRound(data=_draft_round(drawn, newest), games=tuple(_draft_game(drawn, one) for one in games))


def _draft_round(drawn: Tournament, one: rules.Round) -> Round:
    assert one.created_at is not None
    return Round(
        round_id=max(one.round_id, 0),
        tournament_id=drawn.tournament_id,
        arena_id=one.arena_id,
        score=one.score,
        size=one.size,
        description=None,
        index=one.round_index,
        name=one.name,
        status=one.status,
        duration=None,
        created_at=times.plain_z(one.created_at),
        completed_at=times.plain_z_or_none(one.completed_at),
    )


def _draft_game(drawn: Tournament, one: rules.Game) -> Game:
    users = {entrant.player_id: entrant.user_id for entrant in drawn.entrants}
    return Game(
        game_id=max(one.game_id, 0),
        round_id=max(one.round_id or 0, 0),
        tournament_id=drawn.tournament_id,
        arena_id=one.arena_id,
        bank_id=one.bank_id,
        index=one.game_index,
        set=one.set_number,
        player_id_advantage=one.advantage_id,
        scorekeeper_id=None,
        status=one.status,
        started_at=times.iso_or_none(one.started_at),
        duration=None,
        bye=one.is_bye,
        player_ids=one.player_ids,
        user_ids=tuple(users.get(player_id) for player_id in one.player_ids),
        result_positions=one.result_positions,
        result_points=tuple(None if points is None else f"{points:.2f}" for points in one.result_points),
        result_scores=one.result_scores,
        suggestions=(),
    )
