"""Simulated nights of equal players in random groups of the engine's sizes. Source: ratings, B.3.

All nights are played at the same time, as rows of arrays. This module imports NumPy, so import it only
where nights are simulated.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE, group_sizes
from silverball.rules.worth.answers import NIGHTS, PLAYERS_MAX, ROUNDS_MAX, SimulatedNight, SimulatedOutcome
from silverball.rules.worth.planned import GAME_WEIGHTS, round_weight

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Nights at once, so that an array stays in the processor's cache.
CELLS_AT_ONCE = 250_000


class SlotTables(Struct, frozen=True):
    """Awards and groups of each slot of a round, by the number of players: rows for 0, 1, ... players."""

    # (players, slot) -> award of the place, and number of the group.
    awards: Ints
    groups: Ints
    # players -> games, sum of their weights, and weight of the round.
    games: Ints
    weights: Floats
    round_weights: Floats


class NightTotals(Struct):
    """Sums over finished nights."""

    nights: int = 0
    rounds: float = 0.0
    games: float = 0.0
    weights: float = 0.0
    reached: int = 0
    reached_games: float = 0.0
    first_games: float = 0.0
    firsts: int = 0


@dataclass
class RunningNights:
    """Nights in play: one row each, with a column for each player."""

    totals: Ints
    byes: Ints
    is_in: Flags
    # Meaningful games of the rounds so far, and whether somebody has reached the target.
    played: Floats = field(init=False)
    has_first: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.played = np.zeros(len(self.totals))
        self.has_first = np.zeros(len(self.totals), dtype=np.bool_)

    def keep(self, rows: Any) -> None:
        """Keep these rows only."""
        self.totals, self.byes, self.is_in = self.totals[rows], self.byes[rows], self.is_in[rows]
        self.played, self.has_first = self.played[rows], self.has_first[rows]

    def drop_empty_columns(self) -> None:
        """Move the players who are in to the left once half of the columns are empty."""
        width = int(self.is_in.sum(axis=1).max(initial=0))
        if 0 < width * 2 <= self.is_in.shape[1]:
            order = np.argsort(~self.is_in, axis=1, kind="stable")[:, :width]
            self.totals = np.take_along_axis(self.totals, order, axis=1)
            self.byes = np.take_along_axis(self.byes, order, axis=1)
            self.is_in = np.take_along_axis(self.is_in, order, axis=1)


def simulate(
    night: SimulatedNight, *, nights: int = NIGHTS, dice: np.random.Generator | None = None
) -> SimulatedOutcome:
    """Return the means over this many nights; without dice, from a seed that follows from the night.

    Raises ValueError below 2 and above 1,000 players, and for a size of groups other than two and four.
    """
    if not 2 <= night.players <= PLAYERS_MAX or night.group_size not in (PAIR_SIZE, GROUP_SIZE):
        raise ValueError(f"a night of {night.players} in groups of {night.group_size} is not simulated")
    chance = dice if dice is not None else np.random.Generator(np.random.PCG64(_seed(night)))
    tables = _slot_tables(night)
    sums = NightTotals()
    at_once = max(1, CELLS_AT_ONCE // night.players)
    for begin in range(0, nights, at_once):
        _play_nights(night, min(at_once, nights - begin), tables, sums, chance)
    rounds = sums.rounds / sums.nights
    elimination = rounds * sums.weights / sums.games if sums.games else 0.0
    is_target = night.ends_by == "reaching"
    return SimulatedOutcome(
        nights=nights,
        rounds=rounds,
        meaningful_games=sums.reached_games / max(1, sums.reached) if is_target else elimination,
        meaningful_games_of_first=sums.first_games / max(1, sums.firsts) if is_target else elimination,
    )


def _seed(night: SimulatedNight) -> int:
    return int.from_bytes(hashlib.sha256(night.key.encode()).digest()[:8])


def _slot_tables(night: SimulatedNight) -> SlotTables:
    width = night.players
    awards = np.zeros((width + 1, width), dtype=np.int64)
    groups = np.full((width + 1, width), width, dtype=np.int64)
    games, weights, round_weights = (
        np.zeros(width + 1, dtype=np.int64),
        np.zeros(width + 1),
        np.zeros(width + 1),
    )
    for count in range(2, width + 1):
        sizes = _sizes(count, night.group_size)
        flat = [award for size in sizes for award in night.awards[size - 1]]
        awards[count, : len(flat)] = flat
        groups[count, : len(flat)] = [number for number, size in enumerate(sizes) for _slot in range(size)]
        games[count] = len(sizes) * night.games_per_round
        weights[count] = sum(float(GAME_WEIGHTS[size]) for size in sizes) * night.games_per_round
        round_weights[count] = float(round_weight(sizes)) * night.games_per_round
    return SlotTables(awards, groups, games, weights, round_weights)


def _sizes(players: int, group_size: int) -> tuple[int, ...]:
    """The sizes of the groups; in pairs, the odd one out is in none."""
    return (PAIR_SIZE,) * (players // PAIR_SIZE) if group_size == PAIR_SIZE else group_sizes(players)


def _play_nights(
    night: SimulatedNight, nights: int, tables: SlotTables, sums: NightTotals, dice: np.random.Generator
) -> None:
    """Play these nights to their ends, and add what they took to the sums."""
    shape = (nights, night.players)
    running = RunningNights(
        totals=np.zeros(shape, dtype=np.int64),
        byes=np.zeros(shape, dtype=np.int64),
        is_in=np.ones(shape, dtype=np.bool_),
    )
    sums.nights += nights
    for number in range(1, (night.rounds or ROUNDS_MAX) + 1):
        counts = running.is_in.sum(axis=1)
        sums.rounds += len(counts)
        sums.games += int(tables.games[counts].sum())
        sums.weights += float(tables.weights[counts].sum())
        running.played += tables.round_weights[counts]
        _play_round(night, running, tables, dice)
        leaving = _leaving(night, running, number)
        if night.ends_by == "reaching":
            _count_reached(running, leaving, sums)
        running.is_in &= ~leaving
        running.keep(running.is_in.sum(axis=1) > 1)
        if not len(running.totals):
            return
        running.drop_empty_columns()


def _play_round(
    night: SimulatedNight, running: RunningNights, tables: SlotTables, dice: np.random.Generator
) -> None:
    """Draw the groups of a round at random, and give each player what their place earns."""
    width = running.is_in.shape[1]
    chance = dice.random(running.is_in.shape)
    chance[~running.is_in] = 2.0
    counts = running.is_in.sum(axis=1)
    if night.group_size == PAIR_SIZE:
        _draw_byes(night, running, chance, counts, dice)
    order = np.argsort(chance, axis=1)
    awards, groups = tables.awards[counts][:, :width], tables.groups[counts][:, :width]
    earned = awards.copy()
    for _game in range(1, night.games_per_round):
        # The groups stay together, the places in them are drawn again.
        places = np.argsort(groups + dice.random(groups.shape), axis=1)
        again = np.empty_like(awards)
        np.put_along_axis(again, places, awards, axis=1)
        earned += again
    given = np.empty_like(earned)
    np.put_along_axis(given, order, earned, axis=1)
    running.totals += given


def _draw_byes(
    night: SimulatedNight, running: RunningNights, chance: Floats, counts: Ints, dice: np.random.Generator
) -> None:
    """Give the odd one of each row a bye: one of those with the fewest so far, as the engine does."""
    odd = np.flatnonzero(counts % PAIR_SIZE)
    if not len(odd):
        return
    wait = running.byes[odd] + dice.random((len(odd), running.byes.shape[1]))
    wait[~running.is_in[odd]] = np.inf
    chosen = wait.argmin(axis=1)
    running.byes[odd, chosen] += 1
    chance[odd, chosen] = 1.5
    if night.ends_by != "strikes":
        running.totals[odd, chosen] += night.awards[0][0] * night.games_per_round


def _leaving(night: SimulatedNight, running: RunningNights, number: int) -> Flags:
    """Return who is at the limit or below the bar; the best stay if nobody reaches it."""
    if night.ends_by != "pace":
        reached: Flags = running.is_in & (running.totals >= night.limit)
        return reached
    if number < night.bar_from_round:
        return np.zeros_like(running.is_in)
    bar = night.limit + (number - night.bar_from_round) * night.bar_increment
    best = np.where(running.is_in, running.totals, -1).max(axis=1)
    below: Flags = running.is_in & (running.totals < np.minimum(bar, best)[:, np.newaxis])
    return below


def _count_reached(running: RunningNights, leaving: Flags, sums: NightTotals) -> None:
    reached = leaving.sum(axis=1)
    sums.reached += int(reached.sum())
    sums.reached_games += float((reached * running.played).sum())
    first = (reached > 0) & ~running.has_first
    sums.firsts += int(first.sum())
    sums.first_games += float(running.played[first].sum())
    running.has_first |= first
