"""Players who have reached the target score, by round. Source: formats, section 14.15."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking.standing import PaceBubble

ZERO = Decimal(0)
# Before the first round: the round of players whose adjustments reach the target.
ROUND_NONE = 0


def rounds_reaching_target(tournament: Tournament, target: int) -> dict[int, int]:
    """Player id -> the round (from 1) in which the target was reached; other players are missing.

    Adjustments count from when they were made. Games of the open round count as soon as they have a
    result. Source: formats, section 14.15.
    """
    earned = points_by_round(tournament)
    reached_by_player: dict[int, int] = {}
    for entrant in tournament.entrants:
        adjustment = entrant.points_adjustment + entrant.score_adjustment
        rounds = earned.get(entrant.player_id, {})
        reached = _round_reaching(rounds, target - adjustment)
        if reached is None:
            continue
        by_games_alone = _round_reaching(rounds, Decimal(target)) == reached
        reached_by_player[entrant.player_id] = (
            reached if by_games_alone else max(reached, entrant.adjusted_after or ROUND_NONE)
        )
    return reached_by_player


def _round_reaching(earned: Mapping[int, Decimal], needed: Decimal) -> int | None:
    total = ZERO
    if total >= needed:
        return ROUND_NONE
    for number in sorted(earned):
        total += earned[number]
        if total >= needed:
            return number
    return None


def points_by_round(tournament: Tournament) -> dict[int, dict[int, Decimal]]:
    """Player id -> number of the round (from 1) -> points of its completed games."""
    earned: dict[int, dict[int, Decimal]] = {}
    for round_ in tournament.rounds:
        games = [
            game
            for game in tournament.games_by_round.get(round_.round_id, ())
            if game.status == "completed" and not game.is_tiebreak
        ]
        for player_id, total in ranking.points_of_games(games).items():
            earned.setdefault(player_id, {})[round_.round_index + 1] = total
    return earned


# The rising target of a pace match play: who is out, since which round, and the distance to the next one.
#
# Source: formats, section 14.6. Rounds are counted from 1.


class PaceRules(Struct, frozen=True, kw_only=True):
    """The first round with a target, its target, and the increase in each later round."""

    initial_rounds: int
    initial_target: int
    increment: int

    def bar_after(self, number: int) -> Decimal | None:
        """The points needed after a round; None before the first target."""
        if number < self.initial_rounds:
            return None
        return Decimal(self.initial_target + (number - self.initial_rounds) * self.increment)


def out_rounds(tournament: Tournament, pace: PaceRules) -> dict[int, int]:
    """Player id -> the round after which the player was out; players still in are missing.

    Players below the target when a round completes are out, and players who left are out from the round
    of their last game. Nobody is out because a game was not finished. If no player reaches a target,
    those with the most points stay. Adjustments count from the start, so they
    may bring a player back. Source: formats, sections 14.1 and 14.6.
    """
    adjustments = {
        entrant.player_id: entrant.points_adjustment + entrant.score_adjustment
        for entrant in tournament.entrants
    }
    earned = points_by_round(tournament)
    out_rounds: dict[int, int] = {}
    alive = list(tournament.active_ids)
    for number in _completed_round_numbers(tournament):
        bar = pace.bar_after(number)
        if bar is None:
            continue
        totals = {
            player_id: adjustments[player_id] + _points_up_to(earned.get(player_id, {}), number)
            for player_id in adjustments
        }
        staying = _staying_ids(alive, totals, bar, _unfinished_ids(tournament, number))
        left_ids = [entrant.player_id for entrant in tournament.entrants if not entrant.is_active]
        below = [player_id for player_id in left_ids if totals[player_id] < bar]
        for player_id in (*alive, *below):
            if player_id not in staying:
                out_rounds.setdefault(player_id, number)
        alive = staying
    for entrant in tournament.entrants:
        if not entrant.is_active:
            last = max(earned.get(entrant.player_id, ()), default=0)
            out_rounds[entrant.player_id] = min(out_rounds.get(entrant.player_id, last), last)
    return out_rounds


def _completed_round_numbers(tournament: Tournament) -> Sequence[int]:
    return [round_.round_index + 1 for round_ in tournament.rounds_in_order if round_.status == "completed"]


def _points_up_to(earned: Mapping[int, Decimal], number: int) -> Decimal:
    return sum((points for at, points in earned.items() if at <= number), ZERO)


def _unfinished_ids(tournament: Tournament, number: int) -> frozenset[int]:
    """Players whose game in this round was taken out when the tournament was closed."""
    state = tournament.state
    is_last = state.unfinished_round is not None and state.unfinished_round + 1 == number
    return frozenset(state.unfinished_ids if is_last else ())


def _staying_ids(
    alive: Sequence[int], totals: Mapping[int, Decimal], bar: Decimal, unfinished: frozenset[int]
) -> list[int]:
    """Players at or above the target, or without the chance to reach it; if there are none, the best."""
    reached = [player_id for player_id in alive if totals[player_id] >= bar or player_id in unfinished]
    if reached or not alive:
        return reached
    best = max(totals[player_id] for player_id in alive)
    return [player_id for player_id in alive if totals[player_id] == best]


def pace_bubbles(
    tournament: Tournament,
    pace: PaceRules,
    points: Mapping[int, Decimal],
    *,
    alive: Sequence[int],
    lowest_award: Decimal,
) -> dict[int, PaceBubble]:
    """Player id -> the next target and the points missing, for players whom the worst result would put out.

    Takes the points by player id, the players still in, and the points that last place of four earns in
    a round. Empty until the next round has a target, and once the tournament is over.
    Source: formats, section 14.6.
    """
    bar = pace.bar_after(tournament.rounds_completed + 1)
    if bar is None or tournament.status != "started":
        return {}
    missing = {player_id: bar - points.get(player_id, ZERO) for player_id in alive}
    return {
        player_id: PaceBubble(target=bar, needed=needed)
        for player_id, needed in missing.items()
        if needed > lowest_award
    }
