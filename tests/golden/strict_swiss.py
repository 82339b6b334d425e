"""Strict Swiss rounds with the least penalty that any draw has, found by looking at all of them.

    .venv/bin/python tests/golden/strict_swiss.py

writes `vectors/strict_swiss.json`. It shares no code with the rules. Source: formats, section 6.5.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

FILE = Path(__file__).with_name("vectors") / "strict_swiss.json"
REPEATS_COUNTED, FLOATS_COUNTED = 12, 10
# Players as in the vectors of the library, whose pairs are the same: P1, P2A, P2B, P3A, P3B, P4.
FIRST_MET = [[0, 2], [0, 3], [0, 5], [1, 3], [1, 4], [1, 5], [2, 3], [2, 4], [4, 5]]
NAMED: list[dict[str, Any]] = [
    {"scores": [3, 2, 2, 1, 1, 0], "meetings": [[*pair, 1] for pair in FIRST_MET]},
    {"scores": [3, 2, 1, 2, 1, 0], "meetings": [[a, b, 1] for a in (0, 1, 2) for b in (3, 4, 5)]},
    {"scores": [2, 2, 1, 0, 0]},
    {"scores": [2, 2, 1, 0, 0], "byes": [0, 0, 0, 1, 1]},
    # A gap of two levels costs as much as four of one level.
    {"scores": [4, 4, 2, 2], "meetings": [[0, 1, 1]]},
    {"scores": [3, 2, 1, 0], "meetings": [[0, 1, 1], [2, 3, 1]]},
    # Of three leaders who has not floated goes down, and so does who comes up.
    {"scores": [2, 2, 2, 1, 1, 1], "floats": [1, 0, 1, 0, 1, 1]},
    {"scores": [2, 2, 2, 1, 1, 1], "floats": [3, 2, 3, 1, 0, 1], "meetings": [[1, 4, 1]]},
    # Everybody has met everybody: the second meeting of the fewest.
    {"scores": [1, 1, 0, 0], "meetings": [[0, 1, 2], [2, 3, 1], [0, 2, 1], [1, 3, 1], [0, 3, 1], [1, 2, 1]]},
]
RANDOM_ROUNDS = 16


def all_pairings(players: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Every way to pair these players; of an odd number one is alone."""
    if not players:
        yield []
        return
    first, *rest = players
    for opponent in rest:
        for pairs in all_pairings([player for player in rest if player != opponent]):
            yield [(first, opponent), *pairs]
    if len(players) % 2:
        for pairs in all_pairings(rest):
            yield [(first,), *pairs]


def sums(waiting: dict[str, Any], pairs: Sequence[tuple[int, ...]]) -> tuple[int, int] | None:
    """The penalty of a draw and the sum of its floats; None where the bye is not allowed."""
    scores, byes, floats = waiting["scores"], waiting["byes"], waiting["floats"]
    met: dict[tuple[int, ...], int] = {(low, high): times for low, high, times in waiting["meetings"]}
    games, top = -(-len(scores) // 2), max(scores)
    repeat = 1 + games * top**2 + (top + 1) ** 3
    penalty = floated = 0
    for pair in pairs:
        if len(pair) == 1:
            if byes[pair[0]] == max(byes) != min(byes):
                return None
            penalty += (scores[pair[0]] + 1) ** 3
            continue
        gap = abs(scores[pair[0]] - scores[pair[1]])
        times = min(met.get(pair, 0), REPEATS_COUNTED)
        penalty += gap**2 + (repeat * games ** (times - 1) if times else 0)
        floated += sum(4 ** min(floats[player], FLOATS_COUNTED) for player in pair) if gap else 0
    return penalty, floated


def solved(waiting: dict[str, Any]) -> dict[str, Any]:
    """The round with the least sums, and all draws that have them."""
    count = len(waiting["scores"])
    whole = {"meetings": [], "byes": [0] * count, "floats": [0] * count, **waiting}
    by_sums: dict[tuple[int, int], list[Any]] = {}
    for pairs in all_pairings(range(count)):
        found = sums(whole, pairs)
        if found is not None:
            by_sums.setdefault(found, []).append(pairs)
    least = min(by_sums)
    return {**whole, "penalty": least[0], "floated": least[1], "draws": by_sums[least]}


def random_waiting(dice: Random) -> dict[str, Any]:
    """A round of five to nine players, of whom the lowest has no points, after some rounds."""
    count = dice.randint(5, 9)
    pairs = [(low, high) for low in range(count) for high in range(low + 1, count)]
    met = dice.sample(pairs, dice.randint(0, len(pairs)))
    return {
        "scores": [*(dice.randint(0, 4) for _ in range(count - 1)), 0],
        "meetings": [[*pair, dice.choice([1, 1, 1, 2])] for pair in sorted(met)],
        "byes": [dice.randint(0, 1) * (count % 2) for _ in range(count)],
        "floats": [dice.randint(0, 3) for _ in range(count)],
    }


def vectors() -> list[dict[str, Any]]:
    dice = Random(65)
    return [solved(waiting) for waiting in [*NAMED, *(random_waiting(dice) for _ in range(RANDOM_ROUNDS))]]


def main() -> int:
    lines = ",\n".join(json.dumps(vector) for vector in vectors())
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
