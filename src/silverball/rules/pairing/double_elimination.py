"""Double elimination as a graph: which game feeds which. Source: formats, section 14.11.

The winners bracket is the heap of `elimination`. Losers drop into the losers bracket of 2 (k - 1) rounds,
whose champion reaches the grand final; a win there forces a second, deciding game (the bracket reset).
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from silverball.rules.pairing import elimination


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
    rounds = elimination.round_count(size)
    order: list[tuple[Bracket, int]] = [(Bracket.WINNERS, 1)]
    for number in range(2, rounds + 1):
        order.append((Bracket.LOSERS, 2 * number - 3))
        order.append((Bracket.WINNERS, number))
        order.append((Bracket.LOSERS, 2 * number - 2))
    return [*order, (Bracket.GRAND_FINAL, 1), (Bracket.RESET, 1)]


def losers_round_count(size: int) -> int:
    """Rounds of the losers bracket. Source: formats, section 14.11."""
    return 2 * (elimination.round_count(size) - 1)


def losers_game_count(size: int, number: int) -> int:
    """Games of a round of the losers bracket (number from 1). Source: formats, section 14.11."""
    return size >> ((number + 1) // 2 + 1)


def loser_position(size: int, number: int) -> int:
    """The place shared by the losers of a losers bracket round: 3, 4, 5, 7, 9, 13, 17, 25, ...

    Takes the number of the round, from 1. Source: formats, section 14.11.
    """
    later_numbers = range(number + 1, losers_round_count(size) + 1)
    return 3 + sum(losers_game_count(size, later_number) for later_number in later_numbers)


def _winners_bracket_games(size: int) -> Iterator[BracketGame]:
    for place, game in enumerate(elimination.first_round_games(size)):
        sources = (SeedSlot(game.better_seed), SeedSlot(game.worse_seed))
        yield BracketGame(GameKey(Bracket.WINNERS, 1, place), sources)
    for number in range(2, elimination.round_count(size) + 1):
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
    champion = GameKey(Bracket.WINNERS, elimination.round_count(size), 0)
    survivor = GameKey(Bracket.LOSERS, losers_round_count(size), 0)
    # A bracket of two has no losers bracket, so the loser of its only game plays the grand final.
    second: BracketSlot = WinnerSlot(survivor) if losers_round_count(size) else LoserSlot(champion)
    yield BracketGame(GRAND_FINAL, (WinnerSlot(champion), second))
    yield BracketGame(RESET, (WinnerSlot(GRAND_FINAL), LoserSlot(GRAND_FINAL)))
