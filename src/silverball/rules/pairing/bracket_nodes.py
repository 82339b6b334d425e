"""Brackets as nodes: each match, where its players come from, and the places it decides.

A node is known by its round (from 0) and its place in it, which is what rounds and games carry. Single
and double elimination are the same thing here. Source: formats, sections 14.10 and 14.11.
"""

from dataclasses import dataclass
from typing import TypeAlias

from silverball.rules.pairing import double_elimination, elimination
from silverball.rules.pairing.double_elimination import Bracket, GameKey

# Round from 0 and `set` in the round from 0.
Key: TypeAlias = tuple[int, int]

BRONZE_PLACE = 3
FIFTH_PLACE = 5


@dataclass(frozen=True)
class Seed:
    """The player of this seed (from 1), or nobody."""

    seed: int


@dataclass(frozen=True)
class WinnerOf:
    """Who wins this node."""

    node: Key


@dataclass(frozen=True)
class LoserOf:
    """Who loses this node."""

    node: Key


Source: TypeAlias = Seed | WinnerOf | LoserOf


@dataclass(frozen=True, kw_only=True)
class Node:
    """A match of a bracket."""

    key: Key
    sources: tuple[Source, ...]
    # The place its winner takes for good, the others taking the next ones; None when the winner plays on.
    decides_from: int | None = None
    # The place that its loser shares, unless another node decides it.
    losers_place: int | None = None
    # The extra node that may still decide the loser's place.
    losers_meet_in: Key | None = None
    # It may be left out: the end does not wait for it.
    is_extra: bool = False
    # Played only when the first seat of this node lost there; it decides the places then.
    repeats: Key | None = None


def single(size: int) -> list[Node]:
    """Single elimination of 4, 8, ... or 128, in playing order, with a game for third place.

    From 8 on the losers of the quarterfinals have a game of four for the places from 5; it stands in the
    round of the semifinals, the game for third place in that of the final. Raises Invalid for another
    size. Source: formats, section 14.10.
    """
    last = elimination.round_count(size) - 1
    seeds = {game.number: game for game in elimination.first_round(size)}
    nodes: list[Node] = []
    for index in range(last + 1):
        for number in elimination.numbers_of_round(size, index):
            key = (index, elimination.set_index(number))
            if index == 0:
                seeded = seeds[number]
                sources: tuple[Source, ...] = (Seed(seeded.better_seed), Seed(seeded.worse_seed))
            else:
                fed_by = elimination.children(number)
                sources = tuple(WinnerOf((index - 1, elimination.set_index(one))) for one in fed_by)
            nodes.append(_of_round(size, index, key, sources))
        nodes += _extra(index, last)
    return nodes


def _of_round(size: int, index: int, key: Key, sources: tuple[Source, ...]) -> Node:
    last = elimination.round_count(size) - 1
    if index == last:
        return Node(key=key, sources=sources, decides_from=1)
    place = elimination.position_of_loser(size, index)
    meet_in = {last - 1: (last, 1), last - 2: (last - 1, 2)}.get(index)
    return Node(key=key, sources=sources, losers_place=place, losers_meet_in=meet_in)


def _extra(index: int, last: int) -> list[Node]:
    """The game for the places below those of this round: for 3 beside the final, for 5 beside the semis."""
    if index == last:
        losers: tuple[Source, ...] = tuple(LoserOf((last - 1, place)) for place in range(2))
        return [Node(key=(last, 1), sources=losers, decides_from=BRONZE_PLACE, is_extra=True)]
    if index == last - 1 and index > 0:
        losers = tuple(LoserOf((last - 2, place)) for place in range(4))
        return [Node(key=(index, 2), sources=losers, decides_from=FIFTH_PLACE, is_extra=True)]
    return []


def double(size: int) -> list[Node]:
    """Double elimination of 4, 8, ... or 128, in playing order, the deciding second final last.

    Raises Invalid for another size. Source: formats, section 14.11.
    """
    index_of = {part: index for index, part in enumerate(double_elimination.round_order(size))}

    def key_of(game: GameKey) -> Key:
        return (index_of[game.bracket, game.round_number], game.place)

    def source_of(source: double_elimination.Source) -> Source:
        if isinstance(source, double_elimination.Seed):
            return Seed(source.seed)
        kind = WinnerOf if isinstance(source, double_elimination.WinnerOf) else LoserOf
        return kind(key_of(source.game))

    nodes: list[Node] = []
    for game in double_elimination.games(size):
        one, other = (source_of(source) for source in game.sources)
        part = game.key.bracket
        is_losers = part is Bracket.LOSERS
        nodes.append(
            Node(
                key=key_of(game.key),
                sources=(one, other),
                decides_from=1 if part in {Bracket.GRAND_FINAL, Bracket.RESET} else None,
                losers_place=double_elimination.position_of_loser(size, game.key.round_number)
                if is_losers
                else None,
                repeats=key_of(double_elimination.GRAND_FINAL) if part is Bracket.RESET else None,
            )
        )
    return nodes
