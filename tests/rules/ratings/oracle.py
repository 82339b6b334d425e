"""A second implementation of a rating period, player by player; it shares nothing with the kernel."""

import math
from collections.abc import Collection, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

Q = math.log(10) / 400
Rating = tuple[float, float]
# Number of players, and key -> place.
Game = tuple[int, Mapping[int, int]]


def g(rd: float) -> float:
    return 1 / math.sqrt(1 + 3 * Q**2 * rd**2 / math.pi**2)


def expected(rating: float, opponent: Rating, *, is_rounded: bool) -> float:
    exact = 1 / (1 + 10 ** (g(opponent[1]) * (opponent[0] - rating) / 400))
    return float(Decimal(exact).quantize(Decimal("0.0001"), ROUND_HALF_UP)) if is_rounded else exact


def results(games: Sequence[Game], drawless: Collection[int] = ()) -> list[tuple[int, int, float, float]]:
    """Player, opponent, score, adjustment: both directions of every pair.

    Equal places are no result in the games with these numbers.
    """
    found = []
    for number, (size, places) in enumerate(games):
        adjustment = math.sqrt(size - 1) if size > 2 else 1.0
        for player, own in places.items():
            for other, theirs in places.items():
                if player != other and (own != theirs or number not in drawless):
                    score = 0.5 if own == theirs else float(own < theirs)
                    found.append((player, other, score, adjustment))
    return found


def rated(
    players: Mapping[int, Rating],
    games: Sequence[Game],
    *,
    rd_min: float = 20.0,
    rd_max: float = 75.0,
    is_rounded: bool = True,
    drawless: Collection[int] = (),
) -> dict[int, Rating]:
    """Ratings after the period. Takes deviations at the time of the period."""
    after = dict(players)
    for player, (rating, rd) in players.items():
        information = gain = 0.0
        for first, other, score, adjustment in results(games, drawless):
            if first != player:
                continue
            weight, chance = g(players[other][1]), expected(rating, players[other], is_rounded=is_rounded)
            information += weight**2 * chance * (1 - chance) / adjustment
            gain += weight * (score - chance) / adjustment
        if information:
            new_rd = min(max(math.sqrt(1 / (1 / rd**2 + Q**2 * information)), rd_min), rd_max)
            after[player] = (rating + Q * new_rd**2 * gain, new_rd)
    return after
