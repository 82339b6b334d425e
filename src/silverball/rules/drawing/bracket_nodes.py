"""Brackets as nodes: each match, where its players come from, and the places it decides.

A node is identified by its round (from 0) and its place in the round; its game has the node's number as
`index` and its part of the bracket as `set`. Single and double elimination share this model. Source:
formats, sections 14.10 and 14.11.
"""

from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.drawing import elimination
from silverball.rules.drawing.elimination import Bracket, GameKey

# Round from 0 and place in the round from 0.
NodeKey: TypeAlias = tuple[int, int]

BRONZE_PLACE = 3
FIFTH_PLACE = 5
# Numbers of the extra games, outside the heap.
BRONZE_NUMBER = 0
FIFTH_NUMBER = 9999
# The `set` of a double elimination's games.
SETS = {Bracket.WINNERS: 0, Bracket.LOSERS: 1, Bracket.GRAND_FINAL: 2, Bracket.RESET: 2}


class SeedSource(Struct, frozen=True):
    """The player with this seed (from 1), if there is one."""

    seed: int


class WinnerSource(Struct, frozen=True):
    """The winner of this node."""

    node: NodeKey


class LoserSource(Struct, frozen=True):
    """The loser of this node."""

    node: NodeKey


Source: TypeAlias = SeedSource | WinnerSource | LoserSource


class BracketNode(Struct, frozen=True, kw_only=True):
    """A match of a bracket."""

    key: NodeKey
    # The number in the heap, where the final is 1 and games 2n and 2n + 1 feed game n; further games of a
    # double elimination come after those of the winners.
    number: int
    set_number: int
    sources: tuple[Source, ...]
    # The final place of the winner; the other players take the next ones. None when the winner plays on.
    winner_place: int | None = None
    # The place that the loser shares, unless another node decides it.
    loser_place: int | None = None
    # The optional node that decides the loser's place when it is played.
    extra_node_key: NodeKey | None = None
    # The bracket can end without this match.
    is_extra: bool = False
    # The grand final that this match repeats; it is played only when the first seat lost there.
    reset_of: NodeKey | None = None


@cache
def single_elimination_nodes(size: int) -> tuple[BracketNode, ...]:
    """Single elimination of 4, 8, ... or 128, in playing order, with a game for third place.

    From 8 on the losers of the quarterfinals play a game of four for fifth place and below, in the round
    of the semifinals. The game for third place is in the round of the final. Raises Invalid for any
    other size. Source: formats, section 14.10.
    """
    last = elimination.round_count(size) - 1
    seeds = {game.number: game for game in elimination.first_round_games(size)}
    nodes: list[BracketNode] = []
    for index in range(last + 1):
        for number in elimination.round_game_numbers(size, index):
            key = (index, elimination.set_index(number))
            if index == 0:
                seeded = seeds[number]
                sources: tuple[Source, ...] = (SeedSource(seeded.better_seed), SeedSource(seeded.worse_seed))
            else:
                feeding_numbers = elimination.feeding_game_numbers(number)
                sources = tuple(
                    WinnerSource((index - 1, elimination.set_index(feeding_number)))
                    for feeding_number in feeding_numbers
                )
            nodes.append(_match_node(size, number, key, sources))
        nodes += _extra_nodes(index, last)
    return tuple(nodes)


def _match_node(size: int, number: int, key: NodeKey, sources: tuple[Source, ...]) -> BracketNode:
    last = elimination.round_count(size) - 1
    index, place = key
    node = BracketNode(key=key, number=number, set_number=place, sources=sources)
    if index == last:
        return replace(node, winner_place=1)
    meet_in = {last - 1: (last, 1), last - 2: (last - 1, 2)}.get(index)
    return replace(node, loser_place=elimination.loser_position(size, index), extra_node_key=meet_in)


def _extra_nodes(index: int, last: int) -> list[BracketNode]:
    """The placement game of a round: for third place beside the final, for fifth beside the semifinals."""
    if index == last:
        return [_extra_node(last, 1, BRONZE_NUMBER, BRONZE_PLACE)]
    if index == last - 1 and index > 0:
        return [_extra_node(index, 2, FIFTH_NUMBER, FIFTH_PLACE)]
    return []


def _extra_node(index: int, place: int, number: int, winner_place: int) -> BracketNode:
    """The game of the losers of the previous round, behind the matches of this one."""
    return BracketNode(
        key=(index, place),
        number=number,
        set_number=place,
        sources=tuple(LoserSource((index - 1, loser)) for loser in range(2 * place)),
        winner_place=winner_place,
        is_extra=True,
    )


@cache
def double_elimination_nodes(size: int) -> tuple[BracketNode, ...]:
    """Double elimination of 4, 8, ... or 128, in playing order, the bracket reset last.

    The winners' bracket is numbered as a heap; the losers' games, the grand final and the reset have the
    next numbers, in playing order. Raises Invalid for any other size. Source: formats, section 14.11.
    """
    index_of = {part: index for index, part in enumerate(elimination.round_order(size))}

    def key_of(game: GameKey) -> NodeKey:
        return (index_of[game.bracket, game.round_number], game.place)

    def source_of(source: elimination.BracketSlot) -> Source:
        if isinstance(source, elimination.SeedSlot):
            return SeedSource(source.seed)
        kind = WinnerSource if isinstance(source, elimination.WinnerSlot) else LoserSource
        return kind(key_of(source.game))

    nodes: list[BracketNode] = []
    later_numbers = count(size)
    for game in elimination.bracket_games(size):
        first_source, second_source = (source_of(source) for source in game.slots)
        part = game.key.bracket
        is_losers = part is Bracket.LOSERS
        heap_number = (size >> game.key.round_number) + game.key.place
        nodes.append(
            BracketNode(
                key=key_of(game.key),
                number=heap_number if part is Bracket.WINNERS else next(later_numbers),
                set_number=SETS[part],
                sources=(first_source, second_source),
                winner_place=1 if part in {Bracket.GRAND_FINAL, Bracket.RESET} else None,
                loser_place=elimination.loser_position_of_round(size, game.key.round_number)
                if is_losers
                else None,
                reset_of=key_of(elimination.GRAND_FINAL) if part is Bracket.RESET else None,
            )
        )
    return tuple(nodes)


def known_seats(nodes: Sequence[BracketNode], players: int) -> dict[NodeKey, int]:
    """Node -> how many players come there in the end, for so many seeds; byes have one."""
    seats: dict[NodeKey, int] = {}
    for node in nodes:
        seats[node.key] = sum(
            source.seed <= players
            if isinstance(source, SeedSource)
            else seats[source.node] >= (1 if isinstance(source, WinnerSource) else 2)
            for source in node.sources
        )
    return seats


def match_numbers(nodes: Sequence[BracketNode], players: int) -> dict[NodeKey, int]:
    """Node -> the number of its match, from 1 in playing order; byes have none.

    The games for third and fifth place come after the semifinals, before the final. They follow from the
    seeds alone, so no result changes them. Source: formats, section 26.
    """
    seats = known_seats(nodes, players)
    played = [node for node in nodes if seats[node.key] > 1]
    ordered = sorted(played, key=_numbering_key)
    return {node.key: number for number, node in enumerate(ordered, start=1)}


def _numbering_key(node: BracketNode) -> tuple[int, int]:
    """Matches, then games for places, then finals; the sort keeps the playing order within each."""
    if node.is_extra:
        return 1, node.winner_place or 0
    return (0, 0) if node.winner_place is None else (2, 0)
