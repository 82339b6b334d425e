"""Rounds whose arenas are to be assigned, and the two ways to count their cost.

The sum of costs by the plays before the round is the library's cost of several games (formats, section 7,
third vector); the played cost counts the arenas of earlier waves as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from silverball.rules.drawing import arenas
from silverball.rules.drawing.arenas import DrawableArena, Group, Lineup, Plays


@dataclass(frozen=True)
class WaitingArenas:
    """The matches of a round and all that decides their arenas."""

    groups: Sequence[Group]
    choice: Sequence[DrawableArena]
    plays: Plays
    waves: int

    def sum_of_costs(self, lineups: Sequence[Lineup]) -> int:
        """The sum by the plays before the round."""
        return sum(
            arenas.arena_cost(self.plays, group, arena_id)
            for group, lineup in zip(self.groups, lineups, strict=True)
            for arena_id in lineup
            if arena_id is not None
        )

    def played_cost(self, lineups: Sequence[Lineup]) -> int:
        return arenas.played_cost(self.groups, lineups, self.plays)

    def assigned_together(self, seed: int) -> list[Lineup]:
        return arenas.assign_balanced(
            self.groups, self.choice, self.plays, waves=self.waves, dice=Random(seed)
        )

    def assigned_one_by_one(self, seed: int) -> list[Lineup]:
        return arenas.assign_one_by_one(self.groups, [self.choice] * self.waves, self.plays, Random(seed))


def random_waiting(dice: Random, matches: tuple[int, int], arenas_each: float) -> WaitingArenas:
    """Matches of two; each player knows three arenas of ten from one to three plays."""
    groups = [(2 * at, 2 * at + 1) for at in range(dice.randint(*matches))]
    waves = dice.choice([2, 3, 4])
    count = max(waves, round(len(groups) * dice.uniform(1, arenas_each)))
    plays = {
        player: {90 + at: dice.randint(1, 3) for at in range(count) if dice.random() < 0.3}
        for group in groups
        for player in group
    }
    return WaitingArenas(groups, [DrawableArena(90 + at) for at in range(count)], plays, waves)
