"""Brackets as a binary heap: game 1 is the final, games 2i and 2i + 1 feed game i. Source: formats, 14.10."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.errors import Invalid

# The better seed of each first-round game, by bracket size, in the order of the heap's leaves.
#
# The two seeds of a game add up to size + 1. Source: TournamentUtils bracket maps.


BETTER_SEEDS = {
    2: (1,),
    4: (1, 2),
    8: (1, 4, 3, 2),
    16: (1, 8, 4, 5, 2, 7, 3, 6),
    32: (1, 16, 9, 8, 4, 13, 12, 5, 2, 15, 10, 7, 3, 14, 11, 6),
    64: (
        1,
        32,
        17,
        16,
        9,
        24,
        25,
        8,
        4,
        29,
        20,
        13,
        12,
        21,
        28,
        5,
        2,
        31,
        18,
        15,
        10,
        23,
        26,
        7,
        3,
        30,
        19,
        14,
        11,
        22,
        27,
        6,
    ),
    128: (
        1,
        64,
        32,
        33,
        16,
        49,
        17,
        48,
        8,
        57,
        25,
        40,
        9,
        56,
        24,
        41,
        4,
        61,
        29,
        36,
        13,
        52,
        20,
        45,
        5,
        60,
        28,
        37,
        12,
        53,
        21,
        44,
        2,
        63,
        31,
        34,
        15,
        50,
        18,
        47,
        7,
        58,
        26,
        39,
        10,
        55,
        23,
        42,
        3,
        62,
        30,
        35,
        14,
        51,
        19,
        46,
        6,
        59,
        27,
        38,
        11,
        54,
        22,
        43,
    ),
}


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


# Double elimination as a graph: which game feeds which. Source: formats, section 14.11.
#
# The winners bracket is the heap of `elimination`. Losers drop into the losers bracket of 2 (k - 1) rounds,
# whose champion reaches the grand final; a win there forces a second, deciding game (the bracket reset).


class Bracket(StrEnum):
    """The part of the bracket that a game belongs to."""

    WINNERS = "winners"
    LOSERS = "losers"
    GRAND_FINAL = "grand final"
    RESET = "reset"


class GameKey(Struct, frozen=True, order=True):
    """Identifies a game: its part, its round (from 1) and its place in the round (from 0)."""

    bracket: Bracket
    round_number: int
    place: int


class SeedSlot(Struct, frozen=True):
    """A slot filled by a seed before the first round."""

    seed: int


class WinnerSlot(Struct, frozen=True):
    """A slot for the winner of a game."""

    game: GameKey


class LoserSlot(Struct, frozen=True):
    """A slot for the loser of a game."""

    game: GameKey


BracketSlot: TypeAlias = SeedSlot | WinnerSlot | LoserSlot


class BracketGame(Struct, frozen=True):
    """A game and the sources of its two players."""

    key: GameKey
    slots: tuple[BracketSlot, BracketSlot]


GRAND_FINAL = GameKey(Bracket.GRAND_FINAL, 1, 0)
RESET = GameKey(Bracket.RESET, 1, 0)


def bracket_games(size: int) -> list[BracketGame]:
    """All 2 x size - 1 games in playing order, the bracket reset last.

    The reset is played only when the champion of the losers bracket wins the grand final. A slot without
    a seed is a bye, and so is the loser of a bye. Raises Invalid for an unknown size.
    Source: formats, section 14.11.
    """
    known = {
        game.key: game
        for game in (*_winners_bracket_games(size), *_losers_bracket_games(size), *_final_games(size))
    }
    by_round: dict[tuple[Bracket, int], list[BracketGame]] = {}
    for game in known.values():
        by_round.setdefault((game.key.bracket, game.key.round_number), []).append(game)
    return [game for played in round_order(size) for game in by_round[played]]


def round_order(size: int) -> list[tuple[Bracket, int]]:
    """The rounds in playing order: part and round number.

    Size 8: winners 1, losers 1, winners 2, losers 2, losers 3, winners 3, losers 4, grand final, reset.
    Source: formats, section 14.11.
    """
    rounds = round_count(size)
    order: list[tuple[Bracket, int]] = [(Bracket.WINNERS, 1)]
    for number in range(2, rounds + 1):
        order.append((Bracket.LOSERS, 2 * number - 3))
        order.append((Bracket.WINNERS, number))
        order.append((Bracket.LOSERS, 2 * number - 2))
    return [*order, (Bracket.GRAND_FINAL, 1), (Bracket.RESET, 1)]


def losers_round_count(size: int) -> int:
    """Rounds of the losers bracket. Source: formats, section 14.11."""
    return 2 * (round_count(size) - 1)


def losers_game_count(size: int, number: int) -> int:
    """Games of a round of the losers bracket (number from 1). Source: formats, section 14.11."""
    return size >> ((number + 1) // 2 + 1)


def loser_position_of_round(size: int, number: int) -> int:
    """The place shared by the losers of a losers bracket round: 3, 4, 5, 7, 9, 13, 17, 25, ...

    Takes the number of the round, from 1. Source: formats, section 14.11.
    """
    later_numbers = range(number + 1, losers_round_count(size) + 1)
    return 3 + sum(losers_game_count(size, later_number) for later_number in later_numbers)


def _winners_bracket_games(size: int) -> Iterator[BracketGame]:
    for place, game in enumerate(first_round_games(size)):
        sources = (SeedSlot(game.better_seed), SeedSlot(game.worse_seed))
        yield BracketGame(GameKey(Bracket.WINNERS, 1, place), sources)
    for number in range(2, round_count(size) + 1):
        for place in range(size >> number):
            yield _game_of_two_winners(Bracket.WINNERS, number, place)


def _game_of_two_winners(bracket: Bracket, number: int, place: int) -> BracketGame:
    """The game between the winners of two neighbouring games of the previous round."""
    before = [GameKey(bracket, number - 1, 2 * place + slot) for slot in (0, 1)]
    return BracketGame(GameKey(bracket, number, place), (WinnerSlot(before[0]), WinnerSlot(before[1])))


def _losers_bracket_games(size: int) -> Iterator[BracketGame]:
    for number in range(1, losers_round_count(size) + 1):
        for place in range(losers_game_count(size, number)):
            yield _losers_bracket_game(size, number, place)


def _losers_bracket_game(size: int, number: int, place: int) -> BracketGame:
    key = GameKey(Bracket.LOSERS, number, place)
    if number == 1:
        dropped = [GameKey(Bracket.WINNERS, 1, 2 * place + slot) for slot in (0, 1)]
        return BracketGame(key, (LoserSlot(dropped[0]), LoserSlot(dropped[1])))
    if number % 2:
        return _game_of_two_winners(Bracket.LOSERS, number, place)
    fed_from = drop_order(losers_game_count(size, number), number // 2)[place]
    survivor = GameKey(Bracket.LOSERS, number - 1, place)
    return BracketGame(
        key, (WinnerSlot(survivor), LoserSlot(GameKey(Bracket.WINNERS, number // 2 + 1, fed_from)))
    )


def drop_order(games_in_round: int, step: int) -> Sequence[int]:
    """The winners round place whose loser drops into each game of a losers round, in game order.

    Takes the number of games in the round and the step (1 for losers round 2, 2 for losers round 4, ...).
    Odd steps are reversed, even steps swap the halves, so that rematches come late.
    Source: formats, section 14.11.
    """
    places = list(range(games_in_round))
    if step % 2:
        return places[::-1]
    half = games_in_round // 2
    return places[half:] + places[:half]


def _final_games(size: int) -> Iterator[BracketGame]:
    champion = GameKey(Bracket.WINNERS, round_count(size), 0)
    survivor = GameKey(Bracket.LOSERS, losers_round_count(size), 0)
    # A bracket of two has no losers bracket, so the loser of its only game plays the grand final.
    second: BracketSlot = WinnerSlot(survivor) if losers_round_count(size) else LoserSlot(champion)
    yield BracketGame(GRAND_FINAL, (WinnerSlot(champion), second))
    yield BracketGame(RESET, (WinnerSlot(GRAND_FINAL), LoserSlot(GRAND_FINAL)))
