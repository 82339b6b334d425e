"""Tables of strike formats: who is out, since which round. Source: formats, sections 12, 14.1 and 14.2."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.verify import results, rows
from silverball.rules.verify.rows import ZERO, Row, points_text


@dataclass
class _KnockoutPath:
    """An entrant's way; rounds count from 1, 0 is before the first."""

    entrant: Entrant
    # Round -> strikes of completed games; only rounds that are over.
    strikes_by_round: dict[int, int]
    strikes: Decimal
    points: Decimal
    games: int
    struck_out_round: int | None = None
    out_round: int | None = None

    @property
    def last_round(self) -> int:
        return max(self.strikes_by_round, default=0)


def knockout_table(tournament: Tournament) -> list[Row]:
    """Alive before out; fewer strikes, later rounds; equals share a place."""
    paths = _paths(tournament)
    nobody_left = all(one.out_round is not None for one in paths)
    final = max((one.out_round or 0 for one in paths), default=0)
    keys = {
        one.entrant.player_id: (
            *_rank_key(one, nobody_left, final),
            *rows.manual_order_key(tournament, one.entrant.player_id),
        )
        for one in paths
    }
    placed, added = rows.places_by_player(keys), rows.tiebreak_points(tournament)
    shows_rounds = results.strike_kind(tournament) in results.STRIKE_POINTS
    newest = max(_completed_round_numbers(tournament), default=0)
    found: list[Row] = []
    for one in paths:
        player_id = one.entrant.player_id
        points = points_text(one.points)
        rounds = newest if one.out_round is None else one.out_round
        found.append(
            {
                "playerId": player_id,
                "position": placed[player_id],
                "points": points,
                "tiebreakers": [rounds, int(one.strikes)] if shows_rounds else [points],
                "pointsWithTiebreaker": points_text(one.points + added[player_id])
                if player_id in added
                else None,
                "gamesPlayed": one.games,
                "strikeCount": int(one.strikes),
                "adjustment": one.entrant.score_adjustment,
                "activeGames": rows.open_game_ids(tournament, player_id),
            }
        )
    return found


def _rank_key(one: _KnockoutPath, nobody_left: bool, final: int) -> tuple[Any, ...]:
    if nobody_left and one.out_round == final:
        return (1, 0, ZERO)
    if one.out_round is None:
        return (1, 0, -one.strikes)
    return (0, one.out_round, -one.strikes)


def _completed_round_numbers(tournament: Tournament) -> list[int]:
    """Numbers of the rounds that are over."""
    is_closed = tournament.status == "completed"
    return [one.round_index + 1 for one in tournament.rounds if is_closed or one.status == "completed"]


def _paths(tournament: Tournament) -> list[_KnockoutPath]:
    number = {one.round_id: one.round_index + 1 for one in tournament.rounds}
    over = _completed_round_numbers(tournament)
    found = []
    for entrant in tournament.entrants:
        one = _KnockoutPath(entrant, {}, entrant.points_adjustment, ZERO, 0)
        has_played = False
        for game in rows.counted_games(tournament):
            if entrant.player_id in game.player_ids:
                has_played = True
                slot = game.player_ids.index(entrant.player_id)
                count = results.strikes_by_slot(tournament, game)[slot]
                one.strikes += count
                one.points += game.result_points[slot] or ZERO
                one.games += not game.is_bye
                at = number.get(game.round_id or 0, 0)
                if at in over:
                    one.strikes_by_round[at] = one.strikes_by_round.get(at, 0) + count
        if has_played or entrant.is_active:
            found.append(one)
    for one in found:
        one.struck_out_round = _struck_out_round(tournament, one, max(over, default=0))
    _decide_out_rounds(tournament, found, number, max(over, default=0))
    return found


def _struck_out_round(tournament: Tournament, one: _KnockoutPath, newest: int) -> int | None:
    """The round in which strikes, by games and by hand, were too many."""
    limit = int(getattr(tournament.settings, "knockout_strike_count", 0))
    by_hand = one.entrant.points_adjustment
    so_far = 0
    reached = 0 if by_hand >= limit else None
    for number in sorted(one.strikes_by_round):
        if reached is None:
            so_far += one.strikes_by_round[number]
            reached = number if so_far + by_hand >= limit else None
    if reached is None:
        return None
    if one.entrant.adjusted_after is None or so_far >= limit:
        return max(reached, one.last_round)
    adjusted = min(one.entrant.adjusted_after, newest)
    return max(reached, min(adjusted, one.last_round) if one.strikes_by_round else adjusted)


def _decide_out_rounds(
    tournament: Tournament, found: list[_KnockoutPath], number: dict[int, int], newest: int
) -> None:
    """Set who is out: by strikes, by leaving, and who stays because nobody else is left."""
    present = {
        player_id
        for game in tournament.games
        if not game.is_tiebreak and number.get(game.round_id or 0, 0) >= newest
        for player_id in game.player_ids
    }
    was_played_here = bool(tournament.state.dice_seed)
    for one in found:
        one.out_round = one.struck_out_round
        if one.struck_out_round is not None:
            continue
        is_missing = bool(present) and one.entrant.player_id not in present
        has_left = one.last_round > 0 and is_missing and not was_played_here
        never_came = one.last_round == 0 and is_missing and tournament.status == "completed"
        if not one.entrant.is_active or has_left or never_came:
            one.out_round = one.last_round
    if all(one.out_round is not None for one in found):
        for one in found:
            if one.entrant.player_id in present and one.struck_out_round is None:
                one.out_round = None
