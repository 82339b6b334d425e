"""The weight of a game by the size of its group. Source: ratings, B.3."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from silverball.rules.pairing.groups import GROUP_SIZE

# A player alone plays one game, whoever else plays.
GAME_WEIGHTS = {1: Fraction(1), 2: Fraction(1), 3: Fraction(3, 2), 4: Fraction(2)}


def round_weight(sizes: Sequence[int]) -> Fraction:
    """Return the weight of each game of a round: that of the size most groups have.

    Where two sizes are equal in number the federation's rule is not settled (`is_weight_unsettled`), and
    the smaller one counts.
    """
    counts = Counter(sizes)
    commonest = min(counts, key=lambda size: (-counts[size], size))
    return GAME_WEIGHTS[commonest]


def is_weight_unsettled(sizes: Sequence[int]) -> bool:
    """Return whether two sizes are equally common, which leaves the weight open (7, 14, 21 players)."""
    counts = Counter(size for size in sizes if size <= GROUP_SIZE)
    most = max(counts.values(), default=0)
    return sum(count == most for count in counts.values()) > 1
