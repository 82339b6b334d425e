"""How often players met each other and played each arena, counted over thousands of games at once."""

from collections.abc import Sequence
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


# Two columns of ids.
IdPairs = tuple[Sequence[int], Sequence[int]]


# Id -> id of another -> how often the two came together; both ascend.
CountsById = dict[int, dict[int, int]]


NO_ARENA = 0


def count_meetings_and_plays(games: IdPairs, seats: IdPairs, alone: IdPairs) -> tuple[CountsById, CountsById]:
    """Player id -> opponent id -> games together, and player id -> arena id -> plays.

    Takes game and arena of each game; game and player of each seat, where seats in other games do not
    count; and player and arena of each play without opponents. An arena of 0 is none. The order does not
    matter.
    """
    game_ids, arenas_of_games = _sorted_columns(games)
    seat_games, players = _sorted_columns(seats)
    at = np.searchsorted(game_ids, seat_games)
    # Seats of games past the last have none.
    is_counted = np.append(game_ids, -1)[at] == seat_games
    seat_games, players, arenas = seat_games[is_counted], players[is_counted], arenas_of_games[at[is_counted]]
    player_ids, places = _number(np.concatenate([players, _column(alone[0])]))
    arena_ids, arena_places = _number(np.concatenate([arenas, _column(alone[1])]))
    plays = _count_pairs(player_ids, places, arena_ids, arena_places)
    for of_player in plays.values():
        of_player.pop(NO_ARENA, None)
    ones, others = _pair_players(seat_games, places[: len(seat_games)])
    return _count_pairs(player_ids, ones, player_ids, others), plays


def _number(ids: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct ids, and the place of each id in them: small numbers, two of which fit into one."""
    distinct = np.unique(ids)
    return distinct, np.searchsorted(distinct, ids)


def _pair_players(games: Numbers, players: Numbers) -> tuple[Numbers, Numbers]:
    """Each player beside each other one of the same game; takes game and player of each seat, by game."""
    ones, others = [players[:0]], [players[:0]]
    # Seats of a game are neighbours: each is paired with the next, then with the one after that.
    for distance in count(1):
        is_same = games[distance:] == games[:-distance]
        if not is_same.any():
            break
        earlier, later = players[:-distance][is_same], players[distance:][is_same]
        ones += [earlier, later]
        others += [later, earlier]
    return np.concatenate(ones), np.concatenate(others)


def _count_pairs(ids: Numbers, ones: Numbers, other_ids: Numbers, others: Numbers) -> CountsById:
    """How often each id comes with each other id; takes the ids, and the places in them of each pair."""
    pairs, counts = np.unique(ones * len(other_ids) + others, return_counts=True)
    first, second = np.divmod(pairs, max(len(other_ids), 1))
    met, times = other_ids[second].tolist(), counts.tolist()
    # The pairs of an id follow each other.
    begins = np.flatnonzero(np.diff(first, prepend=-1))
    slices = pairwise([*begins.tolist(), len(first)])
    return {
        id_: dict(zip(met[begin:end], times[begin:end], strict=True))
        for id_, (begin, end) in zip(ids[first[begins]].tolist(), slices, strict=True)
    }


def _sorted_columns(pairs: IdPairs) -> tuple[Numbers, Numbers]:
    """The columns in the order of the first."""
    first, second = map(_column, pairs)
    order = np.argsort(first, kind="stable")
    return first[order], second[order]


def _column(ids: Sequence[int]) -> Numbers:
    return np.array(ids, dtype=np.int64)
