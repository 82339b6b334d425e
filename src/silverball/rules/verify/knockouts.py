"""Expected standings of strike formats. Source: formats, sections 12, 14.1 and 14.2."""

from decimal import Decimal
from typing import Any

from msgspec import Struct

from silverball.rules.model.settings_protocols import HasStrikeCount, has
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.verify import checks, results
from silverball.rules.verify.checks import ZERO, Row, StrikeKind, points_text


class _KnockoutPath(Struct):
    """An entrant's path through a knockout; rounds count from 1, 0 is before the first."""

    entrant: Entrant
    # Round -> strikes of completed games, for completed rounds only.
    strikes_by_round: dict[int, int]
    strikes: Decimal
    points: Decimal
    games: int
    struck_out_round: int | None = None
    out_round: int | None = None

    @property
    def last_round(self) -> int:
        return max(self.strikes_by_round, default=0)


def pair_knockout_table(tournament: Tournament) -> list[Row]:
    """Rows of a knockout in pairs."""
    return _table(tournament, results.pair_strikes(tournament))


def group_knockout_table(tournament: Tournament) -> list[Row]:
    """Rows of a knockout in groups of four and three."""
    return _table(tournament, results.group_strikes(tournament))


def _table(tournament: Tournament, kind: StrikeKind) -> list[Row]:
    """Rows by alive before out, fewer strikes and later rounds; equals share a place."""
    paths = _paths(tournament, kind)
    nobody_left = all(path.out_round is not None for path in paths)
    final = max((path.out_round or 0 for path in paths), default=0)
    keys = {
        path.entrant.player_id: (
            *_rank_key(path, nobody_left, final),
            *checks.manual_order_key(tournament, path.entrant.player_id),
        )
        for path in paths
    }
    placed, added = checks.places_by_player(keys), checks.tiebreak_points(tournament)
    shows_rounds = kind in results.STRIKE_POINTS
    newest = max(_completed_round_numbers(tournament), default=0)
    listed_rows: list[Row] = []
    for path in paths:
        player_id = path.entrant.player_id
        points = points_text(path.points)
        rounds = newest if path.out_round is None else path.out_round
        listed_rows.append(
            {
                "playerId": player_id,
                "position": placed[player_id],
                "points": points,
                "tiebreakers": [rounds, int(path.strikes)] if shows_rounds else [points],
                "pointsWithTiebreaker": points_text(path.points + added[player_id])
                if player_id in added
                else None,
                "gamesPlayed": path.games,
                "strikeCount": int(path.strikes),
                "adjustment": path.entrant.score_adjustment,
                "activeGames": checks.open_game_ids(tournament, player_id),
            }
        )
    return listed_rows


def _rank_key(path: _KnockoutPath, nobody_left: bool, final: int) -> tuple[Any, ...]:
    if nobody_left and path.out_round == final:
        return (1, 0, ZERO)
    if path.out_round is None:
        return (1, 0, -path.strikes)
    return (0, path.out_round, -path.strikes)


def _completed_round_numbers(tournament: Tournament) -> list[int]:
    """Numbers of the completed rounds."""
    is_closed = tournament.status == "completed"
    return [
        round_.round_index + 1 for round_ in tournament.rounds if is_closed or round_.status == "completed"
    ]


def _paths(tournament: Tournament, kind: StrikeKind) -> list[_KnockoutPath]:
    number = {round_.round_id: round_.round_index + 1 for round_ in tournament.rounds}
    over = _completed_round_numbers(tournament)
    paths = []
    for entrant in tournament.entrants:
        path = _KnockoutPath(entrant, {}, entrant.points_adjustment, ZERO, 0)
        has_played = False
        for game in checks.counted_games(tournament):
            if entrant.player_id in game.player_ids:
                has_played = True
                slot = game.player_ids.index(entrant.player_id)
                count = results.strikes_by_slot(game, kind)[slot]
                path.strikes += count
                path.points += game.result_points[slot] or ZERO
                path.games += not game.is_bye
                at = number.get(game.round_id or 0, 0)
                if at in over:
                    path.strikes_by_round[at] = path.strikes_by_round.get(at, 0) + count
        if has_played or entrant.is_active:
            paths.append(path)
    for path in paths:
        path.struck_out_round = _struck_out_round(tournament, path, max(over, default=0))
    _decide_out_rounds(tournament, paths, number, max(over, default=0))
    return paths


def _struck_out_round(tournament: Tournament, path: _KnockoutPath, newest: int) -> int | None:
    """The round in which strikes from games and adjustments reached the limit."""
    assert has(tournament.settings, HasStrikeCount)
    limit = tournament.settings.knockout_strike_count
    by_hand = path.entrant.points_adjustment
    so_far = 0
    reached = 0 if by_hand >= limit else None
    for number in sorted(path.strikes_by_round):
        if reached is None:
            so_far += path.strikes_by_round[number]
            reached = number if so_far + by_hand >= limit else None
    if reached is None:
        return None
    if path.entrant.adjusted_after is None or so_far >= limit:
        return max(reached, path.last_round)
    adjusted = min(path.entrant.adjusted_after, newest)
    return max(reached, min(adjusted, path.last_round) if path.strikes_by_round else adjusted)


def _decide_out_rounds(
    tournament: Tournament, paths: list[_KnockoutPath], number: dict[int, int], newest: int
) -> None:
    """Set the out round of each path: by strikes or by leaving, unless no player would be left."""
    present = {
        player_id
        for game in tournament.games
        if not game.is_tiebreak and number.get(game.round_id or 0, 0) >= newest
        for player_id in game.player_ids
    }
    closed_in = tournament.state.unfinished_round
    if closed_in is not None and closed_in >= newest - 1:
        present.update(tournament.state.unfinished_ids)
    was_played_here = bool(tournament.state.dice_seed)
    for path in paths:
        path.out_round = path.struck_out_round
        if path.struck_out_round is not None:
            continue
        is_missing = bool(present) and path.entrant.player_id not in present
        has_left = path.last_round > 0 and is_missing and not was_played_here
        never_came = path.last_round == 0 and is_missing and tournament.status == "completed"
        if not path.entrant.is_active or has_left or never_came:
            path.out_round = path.last_round
    if all(path.out_round is not None for path in paths):
        for path in paths:
            if path.entrant.player_id in present and path.struck_out_round is None:
                path.out_round = None
