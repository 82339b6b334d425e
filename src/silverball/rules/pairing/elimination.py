"""Brackets as a binary heap: game 1 is the final, games 2i and 2i + 1 feed game i. Source: formats, 14.10."""

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.rules.pairing.bracket_table import BETTER_SEEDS

SIZES = (4, 8, 16, 32, 64, 128)
FINAL = 1


class FirstRoundGame(Struct, frozen=True):
    """A game of the first round between two seeds."""

    number: int
    better_seed: int
    worse_seed: int


def size_for(players: int) -> int:
    """The smallest bracket that holds a number of players; missing seeds are byes.

    Raises Invalid below 2 or above 128 players. Source: formats, section 14.10.
    """
    if not 2 <= players <= SIZES[-1]:
        raise Invalid({"bracketSize": [f"A bracket holds 2 to {SIZES[-1]} players, not {players}."]})
    return next(size for size in SIZES if size >= players)


def first_round_games(size: int) -> list[FirstRoundGame]:
    """The games of the first round by number, for a bracket of 2, 4, ... or 128.

    Raises Invalid for any other size. Source: formats, section 14.10; TournamentUtils.
    """
    if size not in BETTER_SEEDS:
        raise Invalid({"bracketSize": [f"There is no bracket of {size}. Choose one of {SIZES}."]})
    return [
        FirstRoundGame(size // 2 + at, seed, size + 1 - seed) for at, seed in enumerate(BETTER_SEEDS[size])
    ]


def feeding_game_numbers(number: int) -> tuple[int, int]:
    """The two games whose winners meet in a game. Source: formats, section 14.10."""
    return 2 * number, 2 * number + 1


def rounds_before_final(number: int) -> int:
    """Rounds from a game to the final. Raises ValueError below 1. Source: formats, section 14.10."""
    if number < FINAL:
        raise ValueError(f"game {number} is not in a bracket")
    return number.bit_length() - 1


def round_index(size: int, number: int) -> int:
    """The index of a game's round; the first round is 0. Source: formats, section 14.10."""
    return rounds_before_final(size // 2) - rounds_before_final(number)


def set_index(number: int) -> int:
    """The place of a game in its round, from 0 (`set` on the wire). Source: formats, section 14.10."""
    return int(number - 2 ** rounds_before_final(number))


def round_game_numbers(size: int, index: int) -> range:
    """Numbers of the games in a round. Takes the round's index from 0. Source: formats, section 14.10."""
    first = size >> (index + 1)
    return range(first, 2 * first)


def round_count(size: int) -> int:
    """Number of rounds of a bracket. Source: formats, section 14.10."""
    return rounds_before_final(size)


def loser_position(size: int, index: int) -> int:
    """The place shared by the losers of a round without extra games: 2, 3, 5, 9, 17, 33, 65.

    Takes the round's index from 0. Source: formats, section 14.10.
    """
    return (size >> (index + 1)) + 1
