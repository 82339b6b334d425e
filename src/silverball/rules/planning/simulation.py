"""How many minutes a night lasts, by playing its shape many times among equal players.

All nights are played at once, as arrays with a row per night. Chance is an argument.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb, exp, sqrt
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from silverball.kit.values import replace
from silverball.rules.drawing.groups import group_sizes
from silverball.rules.planning.nights import (
    ClockNight,
    FreeTurns,
    NightShape,
    OpenEnd,
    RoundsUntilOut,
    SetRounds,
)
from silverball.rules.planning.pace import NIGHT_SPREAD_MIN, NIGHTS_MIN, Pace

Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Dice: TypeAlias = np.random.Generator
# No night that ends by itself has more rounds.
ROUNDS_MAX = 300
# Turns per machine that are played one by one; earlier ones are summed.
TURNS_PLAYED = 20


class GameClock:
    """Draws the lengths of games: each night has a pace of its own."""

    def __init__(self, pace: Pace, dice: Dice, nights: int) -> None:
        self.gap = pace.gap
        self.nights = nights
        self._dice = dice
        self._spread = pace.game_spread
        self._mean = np.array([0.0, *(pace.minutes[size] for size in (1, 2, 3, 4))])
        drift = pace.whole_spread
        self.night_factor = pace.length_factor * np.exp(drift * dice.standard_normal(nights))[:, None]

    def minutes(self, sizes: NDArray[np.int64], games: int = 1) -> Numbers:
        """Minutes that groups of these sizes (nights x groups, or groups) take for so many games."""
        wide = np.broadcast_to(sizes, (self.nights, sizes.shape[-1]))
        total = np.zeros(wide.shape)
        for _ in range(games):
            total += self._draw(wide)
        return total

    def match_minutes(self, sizes: NDArray[np.int64], best_of: int) -> Numbers:
        """Minutes of matches that end when one side has won more than half of the games."""
        shape = (self.nights, sizes.shape[-1])
        needed = best_of // 2 + 1
        lengths = np.arange(needed, best_of + 1)
        odds = np.array([2 * comb(int(length) - 1, needed - 1) * 0.5**length for length in lengths])
        played = self._dice.choice(lengths, size=shape, p=odds / odds.sum())
        total = np.zeros(shape)
        for number in range(best_of):
            total += self._draw(np.broadcast_to(sizes, shape)) * (played > number)
        return total

    def elapsed_share(self, count: int) -> Numbers:
        """The share that is left of games that run when a clock stops."""
        return self._dice.random((self.nights, count))

    def bulk_minutes(self, size: int, games: int, lanes: int) -> Numbers:
        """Minutes of many games in a row on each of the machines."""
        mean = self._mean[size]
        spread = mean * np.sqrt(np.exp(self._spread**2) - 1) * np.sqrt(games)
        drawn = games * mean + spread * self._dice.standard_normal((self.nights, lanes))
        return np.asarray(np.maximum(drawn, 0.0) * self.night_factor + games * self.gap)

    def _draw(self, sizes: NDArray[np.int64]) -> Numbers:
        noise = self._dice.standard_normal(sizes.shape)
        length = self._mean[sizes] * np.exp(self._spread * noise - self._spread**2 / 2)
        return np.asarray(length * self.night_factor)


def simulate_minutes(
    shape: NightShape, *, players: int, machines: int, pace: Pace, dice: Dice, nights: int
) -> Numbers | None:
    """Minutes from the first game to the last result, one per simulated night; None without an end.

    players: at least 2. machines: at least 1; games that find none free wait for one.
    """
    clock = GameClock(pace, dice, nights)
    if isinstance(shape, SetRounds):
        return minutes_of_rounds(shape, machines, clock)
    if isinstance(shape, RoundsUntilOut):
        totals = np.zeros((nights, players))
        return minutes_until_out(shape, totals, totals < 1, machines, clock, dice)
    if isinstance(shape, FreeTurns):
        games = -(-players * shape.turns // shape.size)
        return minutes_of_turns(shape, games, players, machines, clock)
    if isinstance(shape, ClockNight):
        lanes = max(1, min(machines, players // shape.size))
        running = clock.minutes(np.full(lanes, shape.size)) * clock.elapsed_share(lanes)
        return np.asarray(shape.minutes + running.max(axis=1))
    assert isinstance(shape, OpenEnd)
    return None


def minutes_of_rounds(shape: SetRounds, machines: int, clock: GameClock) -> Numbers:
    """Minutes of rounds that are known ahead."""
    total = np.zeros(clock.nights)
    usable = min(machines, shape.machines_max or machines)
    for sizes in shape.rounds:
        groups = np.array(sizes, dtype=np.int64)
        if not len(groups):
            continue
        lengths = (
            clock.match_minutes(groups, shape.games)
            if shape.is_best_of
            else clock.minutes(groups, shape.games)
        )
        total += last_result(lengths, usable, 0.0) + clock.gap
    return np.asarray(np.maximum(total - clock.gap, 0.0))


def minutes_until_out(
    shape: RoundsUntilOut,
    totals: Numbers,
    playing: Flags,
    machines: int,
    clock: GameClock,
    dice: Dice,
    *,
    rounds_completed: int = 0,
) -> Numbers:
    """Minutes of drawn rounds until at most one player is left, from these totals (nights x players)."""
    tables = GroupTables.for_players(totals.shape[1], shape.is_in_pairs)
    awards = tables.award_table(shape.awards)
    minutes = np.zeros(clock.nights)
    for number in range(rounds_completed + 1, ROUNDS_MAX):
        counts = playing.sum(axis=1)
        is_on = counts > 1
        if not is_on.any():
            break
        counts = np.where(is_on, counts, 0)
        lengths = clock.minutes(tables.sizes[counts][:, : tables.groups_in(int(counts.max()))], shape.games)
        lasts = last_result(lengths, machines, 0.0)
        minutes += np.where(is_on, lasts + clock.gap, 0.0)
        for _ in range(shape.games):
            totals = totals + play_round(playing, tables, awards, dice)
        playing = playing & ~(shape.leaves(totals, number) & is_on[:, None])
    return np.asarray(np.maximum(minutes - clock.gap, 0.0))


def minutes_of_turns(shape: FreeTurns, games: int, players: int, machines: int, clock: GameClock) -> Numbers:
    """Minutes of a number of games that begin whenever players and a machine are free."""
    lanes = max(1, min(machines, players // shape.size, shape.at_once or machines))
    early = max(0, games // lanes - TURNS_PLAYED)
    before = clock.bulk_minutes(shape.size, early, lanes) if early else np.zeros((clock.nights, lanes))
    left = games - early * lanes
    lengths = clock.minutes(np.full(left, shape.size, dtype=np.int64))
    return last_result(lengths, lanes, clock.gap, free_at=before)


def last_result(lengths: Numbers, machines: int, gap: float, *, free_at: Numbers | None = None) -> Numbers:
    """When the last of these games (nights x games) ends: each begins on the machine that is free first."""
    nights, games = lengths.shape
    if free_at is None and games <= machines:
        return np.asarray(lengths.max(axis=1, initial=0.0))
    free = np.zeros((nights, machines)) if free_at is None else free_at.copy()
    rows = np.arange(nights)
    for game in range(games):
        first = free.argmin(axis=1)
        free[rows, first] += lengths[:, game] + gap * (lengths[:, game] > 0)
    return np.asarray(np.maximum(free.max(axis=1) - gap, 0.0))


class GroupTables:
    """For each number of players the groups of a round: seat by seat, as arrays."""

    def __init__(self, players: int, split: Callable[[int], Sequence[int]]) -> None:
        counts = range(players + 1)
        splits = [tuple(split(count)) if count else () for count in counts]
        widest = max((len(sizes) for sizes in splits), default=1) or 1
        # Number of players -> the sizes of the groups; groups of one (byes) take no time.
        self.sizes = np.zeros((players + 1, widest), dtype=np.int64)
        # Number of players -> group, first seat of it and its size, by seat.
        self.group_of = np.full((players + 1, players), widest, dtype=np.int64)
        self.first_seat = np.zeros((players + 1, players), dtype=np.int64)
        self.size_of = np.zeros((players + 1, players), dtype=np.int64)
        for count, sizes in zip(counts, splits, strict=True):
            seat = 0
            for number, size in enumerate(sizes):
                self.sizes[count, number] = size if size > 1 else 0
                self.group_of[count, seat : seat + size] = number
                self.first_seat[count, seat : seat + size] = seat
                self.size_of[count, seat : seat + size] = size
                seat += size

    @classmethod
    def for_players(cls, players: int, is_in_pairs: bool) -> "GroupTables":
        """The tables for up to so many players, in pairs or in groups of four and three."""
        return _group_tables(players, is_in_pairs)

    def groups_in(self, count: int) -> int:
        """The most groups that a round of up to so many players has."""
        return max(1, -(-count // 2)) if count <= 5 else int((self.sizes[: count + 1] > 0).sum(axis=1).max())

    def award_table(self, awards: Any) -> Numbers:
        """Awards as an array: size of the group, then place from 0. A size without awards gives none."""
        table = np.zeros((5, 4))
        for size, given in awards.items():
            table[size, : len(given)] = given
        return table


@lru_cache(maxsize=16)
def _group_tables(players: int, is_in_pairs: bool) -> GroupTables:
    return GroupTables(players, _pairs if is_in_pairs else group_sizes)


def _pairs(count: int) -> tuple[int, ...]:
    return (2,) * (count // 2) + (1,) * (count % 2)


def play_round(
    playing: Flags,
    tables: GroupTables,
    awards: Numbers,
    dice: Dice,
    strength: Numbers | None = None,
) -> Numbers:
    """The awards of one round drawn at random among those who play (nights x players).

    strength: by player, in natural logarithms: who is ahead of whom follows Plackett and Luce. None is
    a round of equals.
    """
    nights, players = playing.shape
    counts = playing.sum(axis=1)
    drawn = np.argsort(dice.random((nights, players)) + ~playing, axis=1)
    luck = dice.gumbel(size=(nights, players))
    form = luck if strength is None else luck + strength[drawn]
    # Groups stay apart: form is squeezed into a span below one.
    seats = tables.group_of[counts] - np.clip(form, -49.0, 49.0) / 100.0
    order = np.argsort(seats, axis=1)
    place = np.arange(players) - tables.first_seat[counts]
    earned = awards[tables.size_of[counts], np.clip(place, 0, 3)]
    result = np.zeros((nights, players))
    np.put_along_axis(result, np.take_along_axis(drawn, order, axis=1), earned, axis=1)
    return np.where(playing, result, 0.0)


# Whole nights against what their games say: how far a plan was off, and how far the next one may be.
#
# A simulation of equal players knows nothing of skill, breaks and habits. What past nights lasted, compared
# with what the simulation says of them, corrects it.


# Simulated nights for each past one.
NIGHTS_EACH = 60
# Nights as planned that are added to the past ones, so that a few do not say too much.
NIGHTS_ASSUMED = 1


class FinishedNight(Struct, frozen=True, kw_only=True):
    """A night that is over: its shape, and how long it was."""

    shape: NightShape
    players: int
    machines: int
    # From the first game to the last result.
    minutes: float


def calibrate(pace: Pace, finished: Sequence[FinishedNight], dice: Dice) -> Pace:
    """The pace with the length and the spread of whole nights; unchanged for fewer than five of them."""
    steady = replace(pace, night_spread=0.0, venue_spread=0.0)
    off: list[float] = []
    chance: list[float] = []
    for night in finished:
        if isinstance(night.shape, ClockNight) or night.minutes <= 0:
            continue
        simulated = simulate_minutes(
            night.shape,
            players=night.players,
            machines=night.machines,
            pace=steady,
            dice=dice,
            nights=NIGHTS_EACH,
        )
        if simulated is not None:
            off.append(float(np.log(night.minutes / simulated.mean())))
            chance.append(float(np.log(np.maximum(simulated, 1.0)).var()))
    count = len(off)
    if count < NIGHTS_MIN:
        return pace
    left = float(np.var(off, ddof=1)) - float(np.mean(chance))
    spread = max(sqrt(max(left, 0.0)), NIGHT_SPREAD_MIN)
    return replace(
        pace,
        length_factor=exp(sum(off) / (count + NIGHTS_ASSUMED)),
        night_spread=spread * sqrt(1 + 1 / count),
        # Whole nights of this venue say how fast it is.
        venue_spread=0.0,
    )
