"""The points of a tournament's players, round by round."""

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from silverball.rules.model.tournament import Round, Tournament


class PointsRow(Struct, frozen=True):
    """A player's points in each round; None for a round without a result of theirs."""

    player_id: int
    points: Sequence[Decimal | None]


class RoundPoints(Struct, frozen=True):
    """The points of all players in the rounds that have results."""

    rounds: Sequence[Round]
    rows: Sequence[PointsRow]


def points_by_round(tournament: Tournament, player_ids: Sequence[int]) -> RoundPoints:
    """A row for each of the players, in their order; tiebreak games and void games give no points."""
    rounds, columns = [], []
    for round_ in tournament.rounds_in_order:
        column = _points_of_round(tournament, round_.round_id)
        if column:
            rounds.append(round_)
            columns.append(column)
    rows = [PointsRow(player_id, [column.get(player_id) for column in columns]) for player_id in player_ids]
    return RoundPoints(rounds, rows)


def _points_of_round(tournament: Tournament, round_id: int) -> dict[int, Decimal]:
    """Player id -> points in the round."""
    earned = [
        (player_id, points)
        for game in tournament.games_by_round.get(round_id, ())
        if not game.is_tiebreak
        for player_id, points in zip(game.player_ids, game.result_points, strict=False)
    ]
    earned += [
        (attempt.player_id, attempt.points)
        for attempt in tournament.attempts_by_round.get(round_id, ())
        if not attempt.is_voided
    ]
    totals: dict[int, Decimal] = {}
    for player_id, points in earned:
        if points is not None:
            totals[player_id] = totals.get(player_id, Decimal(0)) + points
    return totals
