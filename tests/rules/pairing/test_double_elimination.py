"""Double elimination. Source: formats, section 14.11."""

from random import Random

import pytest

from silverball.kit.errors import Invalid
from silverball.rules.drawing import elimination
from silverball.rules.drawing.elimination import Bracket, GameKey, LoserSlot, SeedSlot, WinnerSlot


def _key(name: str) -> GameKey:
    """W1.0 is the first game of the first winners round."""
    number, place = name[1:].split(".")
    return GameKey(Bracket.WINNERS if name[0] == "W" else Bracket.LOSERS, int(number), int(place))


# Source: formats, section 14.11, the bracket of 8 written out (w: winner of, l: loser of).
EIGHT = {
    "W2.0": "wW1.0 wW1.1",
    "W2.1": "wW1.2 wW1.3",
    "W3.0": "wW2.0 wW2.1",
    "L1.0": "lW1.0 lW1.1",
    "L1.1": "lW1.2 lW1.3",
    "L2.0": "wL1.0 lW2.1",
    "L2.1": "wL1.1 lW2.0",
    "L3.0": "wL2.0 wL2.1",
    "L4.0": "wL3.0 lW3.0",
}


@pytest.mark.parametrize(("name", "sources"), EIGHT.items())
def test_the_bracket_of_eight_is_the_one_written_out(name: str, sources: str) -> None:
    games = {game.key: game for game in elimination.bracket_games(8)}
    expected = [(WinnerSlot if text[0] == "w" else LoserSlot)(_key(text[1:])) for text in sources.split()]
    assert list(games[_key(name)].slots) == expected


def test_the_first_round_is_that_of_a_single_bracket() -> None:
    opening = [game.slots for game in elimination.bracket_games(8) if game.key.bracket is Bracket.WINNERS][:4]
    assert opening == [
        (SeedSlot(1), SeedSlot(8)),
        (SeedSlot(4), SeedSlot(5)),
        (SeedSlot(3), SeedSlot(6)),
        (SeedSlot(2), SeedSlot(7)),
    ]


def test_rounds_are_played_in_the_order_written_out() -> None:
    short = [f"{bracket[0]}{number}" for bracket, number in elimination.round_order(8)]
    assert short == ["w1", "l1", "w2", "l2", "l3", "w3", "l4", "g1", "r1"]


@pytest.mark.parametrize("size", elimination.SIZES)
def test_everybody_but_the_winner_loses_twice(size: int) -> None:
    games = elimination.bracket_games(size)
    assert len(games) == 2 * size - 1
    dice = Random(size)
    winners: dict[GameKey, int] = {}
    losers: dict[GameKey, int] = {}
    defeats = dict.fromkeys(range(1, size + 1), 0)
    for game in games[:-1]:
        slots = []
        for source in game.slots:
            # A game is played after those that feed it.
            if isinstance(source, SeedSlot):
                slots.append(source.seed)
            else:
                slots.append((winners if isinstance(source, WinnerSlot) else losers)[source.game])
        dice.shuffle(slots)
        winners[game.key], losers[game.key] = slots
        defeats[slots[1]] += 1
    champion, beaten = winners[elimination.GRAND_FINAL], losers[elimination.GRAND_FINAL]
    others = [count for player, count in defeats.items() if player not in {champion, beaten}]
    assert others == [2] * (size - 2)
    assert (defeats[champion], defeats[beaten]) in {(0, 2), (1, 1)}


@pytest.mark.parametrize("size", [16, 32, 64])
def test_losers_of_the_first_two_rounds_do_not_meet_their_winners_again_at_once(size: int) -> None:
    games = {game.key: game for game in elimination.bracket_games(size)}
    for key, game in games.items():
        dropped = [source for source in game.slots if isinstance(source, LoserSlot)]
        if key.bracket is Bracket.LOSERS and key.round_number == 2:
            half = size // 8
            # Losers from one half of the winners bracket meet survivors of the other.
            assert (dropped[0].game.place < half) != (key.place < half)


@pytest.mark.parametrize(("size", "positions"), [(4, [4, 3]), (8, [7, 5, 4, 3]), (16, [13, 9, 7, 5, 4, 3])])
def test_losers_share_the_place_of_their_round(size: int, positions: list[int]) -> None:
    rounds = range(1, elimination.losers_round_count(size) + 1)
    assert [elimination.loser_position_of_round(size, number) for number in rounds] == positions
    assert sum(elimination.losers_game_count(size, number) for number in rounds) == size - 2


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(Invalid, match="no bracket of 12"):
        elimination.bracket_games(12)
