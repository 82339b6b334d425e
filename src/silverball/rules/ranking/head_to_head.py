"""The tiebreaker by who beat whom, `head_to_head`. Source: formats, section 26.

It asks about exactly the players who share a place, and only if each of them has met each other one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

from silverball.rules.model.tournament import Game
from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import StoredResult, WinLossRule

# (winner, loser) -> games.
Wins: TypeAlias = Counter[tuple[int, int]]
# Why it leaves players equal: two of them have not met, each won as often, or their wins form a circle.
Undecided: TypeAlias = Literal["not met", "even", "circle"]


def players_behind(ties: Iterable[Sequence[int]], games: Sequence[Game]) -> dict[int, int]:
    """Player id -> how many of those tied with them they come before.

    Takes the ties and the games that count; nobody meets anybody in a bye. A beats B where A finished
    ahead in more of their common games. A circle (A beats B, B beats C, C beats A) separates nobody in it,
    and a tie in which two have not met is left as it is.
    """
    wins, met = _wins_and_meetings(games)
    behind: dict[int, int] = {}
    for tie in ties:
        behind.update(dict.fromkeys(tie, 0))
        if _have_all_met(tie, met):
            behind.update(_behind_in_tie(tie, wins))
    return behind


def why_undecided(tie: Sequence[int], games: Sequence[Game]) -> Undecided | None:
    """Why the tied players stay equal; None where their games tell them apart."""
    wins, met = _wins_and_meetings(games)
    if not _have_all_met(tie, met):
        return "not met"
    if any(_behind_in_tie(tie, wins).values()):
        return None
    return "even" if len(tie) == 2 else "circle"


def _wins_and_meetings(games: Sequence[Game]) -> tuple[Wins, set[frozenset[int]]]:
    wins: Wins = Counter()
    met: set[frozenset[int]] = set()
    for game in games:
        stored = StoredResult(game.player_ids, game.result_positions, game.result_points)
        for pair in standing.pair_results(WinLossRule.POSITIONS, stored):
            met.add(frozenset((pair.player_id, pair.opponent_id)))
            if pair.winner_id is not None:
                loser_id = pair.opponent_id if pair.winner_id == pair.player_id else pair.player_id
                wins[pair.winner_id, loser_id] += 1
    return wins, met


def _have_all_met(tie: Sequence[int], met: set[frozenset[int]]) -> bool:
    return all(frozenset(pair) in met for pair in combinations(tie, 2))


def _behind_in_tie(tie: Sequence[int], wins: Wins) -> dict[int, int]:
    """Player id -> players of the tie behind them; takes a tie in which each has met each.

    Two points for beating a player, one each where neither did. The best k beat all others exactly when
    they have all the points that k players can have: k(k - 1) among themselves and two for each other one.
    """
    points = {player_id: _points_in_tie(player_id, tie, wins) for player_id in tie}
    ordered = sorted(tie, key=lambda player_id: -points[player_id])
    behind: dict[int, int] = {}
    total, waiting = 0, list[int]()
    for count, player_id in enumerate(ordered, start=1):
        total += points[player_id]
        waiting.append(player_id)
        others = len(ordered) - count
        if total == count * (count - 1) + 2 * count * others:
            behind.update(dict.fromkeys(waiting, others))
            waiting = []
    return behind


def _points_in_tie(player_id: int, tie: Sequence[int], wins: Wins) -> int:
    total = 0
    for other_id in tie:
        if other_id != player_id:
            won, lost = wins[player_id, other_id], wins[other_id, player_id]
            total += 1 + (won > lost) - (won < lost)
    return total
