"""Builds knockouts for the rules: rounds of games, each game player id -> result points."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from silverball.rules.model import settings
from silverball.rules.model.tournament import Entrant, Game, Round, Tournament, TournamentStatus
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS

GameResult = Mapping[int, str]


def knockout_tournament(
    rounds: Sequence[Sequence[GameResult]],
    type_: str = "group_knockout",
    *,
    status: TournamentStatus = "completed",
    entrants: Sequence[Entrant] = (),
    open_rounds: int = 0,
    **chosen: Any,
) -> Tournament:
    """A knockout; a game of one player is a bye. The last `open_rounds` rounds are not completed."""
    listed = {player_id: Entrant(player_id=player_id) for player_id in sorted(_players(rounds))}
    listed.update({entrant.player_id: entrant for entrant in entrants})
    closed = len(rounds) - open_rounds
    return Tournament(
        tournament_id=1,
        type=type_,
        status=status,
        settings=settings.read_settings(FORMATS[type_].settings, chosen),
        entrants=tuple(listed.values()),
        rounds=tuple(
            Round(round_id=100 + n, round_index=n, status="completed" if n < closed else "started")
            for n in range(len(rounds))
        ),
        games=tuple(
            a_game(1000 * (n + 1) + m, 100 + n, result)
            for n, results in enumerate(rounds)
            for m, result in enumerate(results)
        ),
    )


def a_game(game_id: int, round_id: int, result: GameResult) -> Game:
    """A completed game; points "-" are a game that is still played."""
    is_open = "-" in result.values()
    return Game(
        game_id=game_id,
        round_id=round_id,
        status="started" if is_open else "completed",
        player_ids=tuple(result),
        result_positions=(None,) * len(result),
        result_points=tuple(None if points == "-" else Decimal(points) for points in result.values()),
        result_scores=(None,) * len(result),
        is_bye=len(result) == 1,
    )


def _players(rounds: Sequence[Sequence[GameResult]]) -> set[int]:
    return {player_id for games in rounds for game in games for player_id in game}


def standings(tournament: Tournament) -> list[Standing]:
    return FORMATS[tournament.type].rank(tournament)


def standings_with_strikes(tournament: Tournament) -> list[tuple[int, int, int | None]]:
    """Position, player and strikes, in the order of the standings."""
    return [(row.position, row.player_id, row.strike_count) for row in standings(tournament)]
