"""Earlier rounds as a draw sees them: meetings, byes, short groups. Source: formats, section 6."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations

import msgspec
from msgspec import Struct

from silverball.rules.drawing.groups import GROUP_SIZE


class DrawHistory(Struct, frozen=True):
    """Counts from earlier rounds.

    meetings: (lower player id, higher player id) -> groups shared; byes: player id -> byes;
    short_groups: player id -> groups of fewer than four; met_last: those of the meetings that were in the
    last round; floats: player id -> opponents of another score.
    """

    meetings: Mapping[tuple[int, int], int] = msgspec.field(default_factory=dict)
    byes: Mapping[int, int] = msgspec.field(default_factory=dict)
    short_groups: Mapping[int, int] = msgspec.field(default_factory=dict)
    met_last: Set[tuple[int, int]] = frozenset()
    floats: Mapping[int, int] = msgspec.field(default_factory=dict)

    def times_met(self, player_id: int, opponent_id: int) -> int:
        """Number of groups that both players were in."""
        low, high = min(player_id, opponent_id), max(player_id, opponent_id)
        return self.meetings.get((low, high), 0)

    def bye_count(self, player_id: int) -> int:
        """Number of byes of a player."""
        return self.byes.get(player_id, 0)

    def meeting_matrix(self, player_ids: Sequence[int]) -> list[list[int]]:
        """Number of groups shared by each two players: rows and columns in the given order."""
        index = {player_id: at for at, player_id in enumerate(player_ids)}
        shared = [[0] * len(player_ids) for _ in player_ids]
        for (player_id, opponent_id), count in self.meetings.items():
            if player_id in index and opponent_id in index:
                row, column = index[player_id], index[opponent_id]
                shared[row][column] = shared[column][row] = count
        return shared


EMPTY_HISTORY = DrawHistory()


def history_of_rounds(rounds: Iterable[Iterable[Sequence[int]]]) -> DrawHistory:
    """The history of the given rounds, each a list of groups of player ids; a group of one is a bye.

    Two players meet at most once per round, however many games their group plays.
    Source: formats, section 6.
    """
    meetings: Counter[tuple[int, int]] = Counter()
    byes: Counter[int] = Counter()
    short_groups: Counter[int] = Counter()
    met: set[tuple[int, int]] = set()
    for groups in rounds:
        met = set()
        for group in groups:
            met.update(combinations(sorted(group), 2))
            if len(group) == 1:
                byes[group[0]] += 1
            elif len(group) < GROUP_SIZE:
                short_groups.update(group)
        meetings.update(met)
    return DrawHistory(meetings, byes, short_groups, met)


def players_with_fewest_byes(player_ids: Sequence[int], history: DrawHistory) -> list[int]:
    """The players with the fewest byes, in the given order. Source: formats, section 6.1."""
    fewest = min((history.bye_count(player_id) for player_id in player_ids), default=0)
    return [player_id for player_id in player_ids if history.bye_count(player_id) == fewest]


def byes_on_entry(active_ids: Sequence[int], past: DrawHistory, player_id: int) -> int:
    """Byes credited to a player who enters or returns: at least the fewest of any active player.

    Without them a late player would get every bye until the others are level. Source: formats, section 9.
    """
    fewest = min((past.bye_count(active_id) for active_id in active_ids), default=0)
    return max(past.bye_count(player_id), fewest)
