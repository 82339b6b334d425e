"""The rising bar of a pace match play: who is out, since when, and how far the next bar is.

Source: formats, section 14.6. Rounds are counted from 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import target
from silverball.rules.ranking.standing import PaceBubble

ZERO = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class PaceRules:
    """The first round with a bar, the bar in it, and what is added in each later round."""

    initial_rounds: int
    initial_target: int
    increment: int

    def bar_after(self, number: int) -> Decimal | None:
        """The points needed after a round; None while no bar applies."""
        if number < self.initial_rounds:
            return None
        return Decimal(self.initial_target + (number - self.initial_rounds) * self.increment)


def out_rounds(tournament: Tournament, pace: PaceRules) -> dict[int, int]:
    """Player id -> the round after which the player was out; who is still in is missing.

    Out is who is below the bar when a round completes, and who left: from the round of the last game.
    Should nobody reach a bar, those with the most points stay. Adjustments count as if they had been
    there from the start, so that they may bring a player back. Source: formats, section 14.6.
    """
    adjustments = {
        entrant.player_id: entrant.points_adjustment + entrant.score_adjustment
        for entrant in tournament.entrants
    }
    earned = target.points_by_round(tournament)
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
        staying = _staying_ids(alive, totals, bar)
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


def _staying_ids(alive: Sequence[int], totals: Mapping[int, Decimal], bar: Decimal) -> list[int]:
    """Who is not below the bar; if that were nobody, the best."""
    reached = [player_id for player_id in alive if totals[player_id] >= bar]
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
    """Player id -> the next bar and what is missing, for those whom the worst result would put out.

    Takes the points by player id, who is still in, and what the last place of four earns in a round.
    Nobody is listed until the round before the first bar is completed, nor when all is over.
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
