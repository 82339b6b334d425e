"""Expected standings of an amazing race. Source: formats, section 14.21."""

from decimal import Decimal
from typing import Any

from silverball.rules.model.tournament import Round, SinglePlayerGame, Tournament
from silverball.rules.verify import alone, rows
from silverball.rules.verify.rows import Row


def race_table(tournament: Tournament) -> list[Row]:
    """Rows by still in before out, then by most rounds survived."""
    survived: dict[int, int] = {}
    out: set[int] = set()
    for round_ in tournament.rounds_in_order:
        safe, last = _round_outcome(tournament, round_)
        for player_id in safe:
            survived[player_id] = survived.get(player_id, 0) + 1
        # Players who went out earlier have no game in later rounds, so a safe player is not out.
        out -= safe
        if last is not None:
            out.add(last)
    points, keys, format_columns = {}, {}, {}
    for entrant in alone.listed_entrants(tournament):
        player_id = entrant.player_id
        count = Decimal(survived.get(player_id, 0))
        points[player_id] = count + rows.adjustment_total(entrant)
        keys[player_id] = (int(player_id not in out), count)
        format_columns[player_id] = {
            "gamesPlayed": sum(
                game.player_id == player_id and game.status == "completed" and not game.is_voided
                for game in tournament.single_player_games
            )
        }
    return alone.single_player_rows(tournament, points, keys, format_columns)


def _round_outcome(tournament: Tournament, round_: Round) -> tuple[set[int], int | None]:
    """The players safe in a round and the player out; those tied for lowest replay."""
    games = [game for game in tournament.single_player_games if game.round_id == round_.round_id]
    member_ids = {game.player_id for game in games}
    group, safe = set(member_ids), set[int]()
    expected = round_.size or len(member_ids)
    for level in range(len(games) + 1):
        games_by_player: dict[int, SinglePlayerGame] = {
            game.player_id: game
            for game in games
            if (game.game_index or 0) == level and game.player_id in group
        }
        given_up = [player_id for player_id, game in games_by_player.items() if game.is_voided]
        if given_up:
            return safe | (group - {given_up[0]}), given_up[0]
        completed_games = {
            player_id: game for player_id, game in games_by_player.items() if game.status == "completed"
        }
        scores: dict[int, Any] = {
            player_id: game.score
            for player_id, game in completed_games.items()
            if not game.is_advanced and game.score is not None
        }
        safe |= {player_id for player_id, game in completed_games.items() if game.is_advanced}
        safe |= {
            player_id
            for player_id, score in scores.items()
            if any(other < score for other in scores.values())
        }
        lowest = {player_id for player_id, score in scores.items() if score == min(scores.values())}
        if len(completed_games) < expected or not lowest:
            break
        if len(lowest) == 1:
            return safe, lowest.pop()
        group, expected = lowest, len(lowest)
    return safe, None
