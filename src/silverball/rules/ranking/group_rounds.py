"""A round of group elimination: the players who advance, ties, and tiebreak results.

Source: formats, sections 13.4, 14.12 and 14.17.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.drawing.groups import ADVANCING, GROUP_SIZE, Group
from silverball.rules.scoring import point_maps

ZERO = Decimal(0)
PlayerScores: TypeAlias = Mapping[int, Decimal]


class BrokenTies(Struct, frozen=True):
    """Tiebreak results between players with equal scores."""

    # Sort keys, all of one length.
    keys: Mapping[int, tuple[Decimal, ...]] = msgspec.field(default_factory=dict)
    # Tiebreak points: 0.50, 0.25, 0.12, 0.00 by place among players who broke a tie together.
    values: PlayerScores = msgspec.field(default_factory=dict)


def break_ties(tiebreaks: Sequence[PlayerScores], rows: Sequence[Sequence[int | str]]) -> BrokenTies:
    """Resolve ties from tiebreak results: player id -> value for each tiebreak, first to last.

    Takes the tiebreaker points map too. A later tiebreak only separates players whom earlier ones left
    equal: the winner of the first stays ahead.
    """
    keys: dict[int, tuple[Decimal, ...]] = {}
    together: list[set[int]] = []
    for values in tiebreaks:
        length = max((len(keys.get(player_id, ())) for player_id in values), default=0)
        for player_id, value in values.items():
            keys[player_id] = (*pad_key(keys.get(player_id, ()), length), value)
        linked = [players for players in together if players & values.keys()]
        together = [players for players in together if players not in linked]
        together.append(set(values).union(*linked))
    longest = max(map(len, keys.values()), default=0)
    keys = {player_id: pad_key(key, longest) for player_id, key in keys.items()}
    values_shown: dict[int, Decimal] = {}
    for players in together:
        row_of_map = point_maps.points_by_place(rows, min(len(players), GROUP_SIZE))
        for player_id in players:
            place = sum(keys[other] > keys[player_id] for other in players)
            values_shown[player_id] = row_of_map[place] if place < len(row_of_map) else ZERO
    return BrokenTies(keys, values_shown)


def pad_key(key: tuple[Decimal, ...], length: int) -> tuple[Decimal, ...]:
    """The key padded with zeros to a length."""
    return key + (ZERO,) * (length - len(key))


class GroupRoundResult(Struct, frozen=True, kw_only=True):
    """The results of a round so far. Higher scores are better."""

    groups: Sequence[Group]
    scores: PlayerScores
    # Separate players with equal scores.
    ties: BrokenTies = msgspec.field(default_factory=BrokenTies)
    # Groups whose games all exist and all have results.
    finished_groups: frozenset[Group] = frozenset()

    def rank_key(self, player_id: int) -> tuple[Decimal, ...]:
        """The sort key of a player in the round; higher is better."""
        longest = max(map(len, self.ties.keys.values()), default=0)
        return (self.scores.get(player_id, ZERO), *pad_key(self.ties.keys.get(player_id, ()), longest))

    @property
    def player_ids(self) -> frozenset[int]:
        """All players of the round."""
        return frozenset(player_id for group in self.groups for player_id in group)

    @property
    def is_finished(self) -> bool:
        """Whether every game of every group has its result."""
        return bool(self.groups) and all(group in self.finished_groups for group in self.groups)

    def tied_groups(self) -> list[tuple[int, ...]]:
        """For each finished group, the players who are tied for its last advancing place."""
        tied = []
        for group in self.groups:
            if group not in self.finished_groups or len(group) <= ADVANCING:
                continue
            ordered = self._best_first(group)
            border = self.rank_key(ordered[ADVANCING - 1])
            if border == self.rank_key(ordered[ADVANCING]):
                tied.append(tuple(player_id for player_id in group if self.rank_key(player_id) == border))
        return tied

    def advancing_ids(self) -> frozenset[int]:
        """Players certain to advance: the best two of each finished group, without tied ones."""
        tied = {player_id for tie in self.tied_groups() for player_id in tie}
        finished = (group for group in self.groups if group in self.finished_groups)
        return (
            frozenset(player_id for group in finished for player_id in self._best_first(group)[:ADVANCING])
            - tied
        )

    def _best_first(self, group: Group) -> list[int]:
        return sorted(group, key=self.rank_key, reverse=True)
