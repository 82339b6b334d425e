"""Tables of strike formats: who is out, since which round. Source: formats, sections 12, 14.1 and 14.2."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from silverball.rules.tournament import Entrant, Tournament
from silverball.rules.verify import results, rows
from silverball.rules.verify.rows import ZERO, Row, text


@dataclass
class _Path:
    """An entrant's way; rounds count from 1, 0 is before the first."""

    entrant: Entrant
    # Round -> strikes of completed games; only rounds that are over.
    closed: dict[int, int]
    strikes: Decimal
    points: Decimal
    games: int
    struck_in: int | None = None
    out_in: int | None = None

    @property
    def last(self) -> int:
        return max(self.closed, default=0)


def table(tournament: Tournament) -> list[Row]:
    """Alive before out; fewer strikes, later rounds; equals share a place."""
    paths = _paths(tournament)
    nobody_left = all(one.out_in is not None for one in paths)
    final = max((one.out_in or 0 for one in paths), default=0)
    keys = {
        one.entrant.player_id: (
            *_key(one, nobody_left, final),
            *rows.by_hand(tournament, one.entrant.player_id),
        )
        for one in paths
    }
    placed, added = rows.places(keys), rows.tiebreaks(tournament)
    shows_rounds = results.strike_kind(tournament) in results.CODES
    newest = max(_over(tournament), default=0)
    found: list[Row] = []
    for one in paths:
        player_id = one.entrant.player_id
        points = text(one.points)
        rounds = newest if one.out_in is None else one.out_in
        found.append(
            {
                "playerId": player_id,
                "position": placed[player_id],
                "points": points,
                "tiebreakers": [rounds, int(one.strikes)] if shows_rounds else [points],
                "pointsWithTiebreaker": text(one.points + added[player_id]) if player_id in added else None,
                "gamesPlayed": one.games,
                "strikeCount": int(one.strikes),
                "adjustment": one.entrant.score_adjustment,
                "activeGames": rows.open_games(tournament, player_id),
            }
        )
    return found


def _key(one: _Path, nobody_left: bool, final: int) -> tuple[Any, ...]:
    if nobody_left and one.out_in == final:
        return (1, 0, ZERO)
    if one.out_in is None:
        return (1, 0, -one.strikes)
    return (0, one.out_in, -one.strikes)


def _over(tournament: Tournament) -> list[int]:
    """Numbers of the rounds that are over."""
    is_closed = tournament.status == "completed"
    return [one.round_index + 1 for one in tournament.rounds if is_closed or one.status == "completed"]


def _paths(tournament: Tournament) -> list[_Path]:
    number = {one.round_id: one.round_index + 1 for one in tournament.rounds}
    over = _over(tournament)
    found = []
    for entrant in tournament.entrants:
        one = _Path(entrant, {}, entrant.points_adjustment, ZERO, 0)
        has_played = False
        for game in rows.played(tournament):
            if entrant.player_id in game.player_ids:
                has_played = True
                slot = game.player_ids.index(entrant.player_id)
                count = results.strikes(tournament, game)[slot]
                one.strikes += count
                one.points += game.result_points[slot] or ZERO
                one.games += not game.is_bye
                at = number.get(game.round_id or 0, 0)
                if at in over:
                    one.closed[at] = one.closed.get(at, 0) + count
        if has_played or entrant.is_active:
            found.append(one)
    for one in found:
        one.struck_in = _struck_in(tournament, one, max(over, default=0))
    _decide(tournament, found, number, max(over, default=0))
    return found


def _struck_in(tournament: Tournament, one: _Path, newest: int) -> int | None:
    """The round in which strikes, by games and by hand, were too many."""
    limit = int(getattr(tournament.settings, "knockout_strike_count", 0))
    by_hand = one.entrant.points_adjustment
    so_far = 0
    reached = 0 if by_hand >= limit else None
    for number in sorted(one.closed):
        if reached is None:
            so_far += one.closed[number]
            reached = number if so_far + by_hand >= limit else None
    if reached is None:
        return None
    if one.entrant.adjusted_after is None or so_far >= limit:
        return max(reached, one.last)
    adjusted = min(one.entrant.adjusted_after, newest)
    return max(reached, min(adjusted, one.last) if one.closed else adjusted)


def _decide(tournament: Tournament, found: list[_Path], number: dict[int, int], newest: int) -> None:
    """Set who is out: by strikes, by leaving, and who stays because nobody else is left."""
    present = {
        player_id
        for game in tournament.games
        if not game.is_tiebreak and number.get(game.round_id or 0, 0) >= newest
        for player_id in game.player_ids
    }
    was_played_here = bool(tournament.state.dice_seed)
    for one in found:
        one.out_in = one.struck_in
        if one.struck_in is not None:
            continue
        is_missing = bool(present) and one.entrant.player_id not in present
        has_left = one.last > 0 and is_missing and not was_played_here
        never_came = one.last == 0 and is_missing and tournament.status == "completed"
        if not one.entrant.is_active or has_left or never_came:
            one.out_in = one.last
    if all(one.out_in is not None for one in found):
        for one in found:
            if one.entrant.player_id in present and one.struck_in is None:
                one.out_in = None
