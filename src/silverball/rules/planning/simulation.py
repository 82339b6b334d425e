"""Nights played many times: how long they last, who wins them, and how many games they are worth.

All nights are played at once, as arrays with a row per night. Chance is an argument. This module imports
NumPy, so import it only where nights are simulated.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from math import comb, exp, sqrt
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from silverball.kit.values import replace
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE, group_sizes
from silverball.rules.model.tournament import Tournament
from silverball.rules.planning.answers import NIGHTS, PLAYERS_MAX, SimulatedOutcome, nights_for
from silverball.rules.planning.nights import (
    ClockNight,
    FreeTurns,
    NightShape,
    OpenEnd,
    SetRounds,
    SimulatedNight,
)
from silverball.rules.planning.pace import NIGHTS_MIN, Pace
from silverball.rules.planning.planned import GAME_WEIGHTS, round_weight

Numbers: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Dice: TypeAlias = np.random.Generator
# A rising bar and the player who is last to reach a target need not come to an end.
ROUNDS_MAX = 200
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

    def running_minutes(self, size: int, count: int) -> Numbers:
        """Minutes that are left of games that run when a clock stops: more often long ones than short."""
        share = self._dice.random((self.nights, count))
        return self.minutes(np.full(count, size)) * exp(self._spread**2) * share

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
    if isinstance(shape, SimulatedNight):
        totals = np.zeros((nights, players))
        return minutes_until_out(shape, totals, totals < 1, machines, clock, dice)
    if isinstance(shape, FreeTurns):
        games = -(-players * shape.turns // shape.size)
        return minutes_of_turns(shape, games, players, machines, clock)
    if isinstance(shape, ClockNight):
        lanes = max(1, min(machines, players // shape.size))
        return np.asarray(shape.minutes + clock.running_minutes(shape.size, lanes).max(axis=1))
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


class SeatTables:
    """For each number of players the groups of a round: seat by seat, as arrays."""

    def __init__(self, players: int, is_in_pairs: bool) -> None:
        splits = [_round_sizes(count, is_in_pairs) for count in range(players + 1)]
        widest = max(len(sizes) for sizes in splits) or 1
        # Number of players -> the sizes of the groups; groups of one (byes) take no time.
        self.sizes = np.zeros((players + 1, widest), dtype=np.int64)
        # Number of players -> group, place in it and size of it, by seat.
        self.group_of = np.full((players + 1, players), widest, dtype=np.int16)
        self.place_of = np.zeros((players + 1, players), dtype=np.int16)
        self.size_of = np.zeros((players + 1, players), dtype=np.int16)
        for count, sizes in enumerate(splits):
            self.sizes[count, : len(sizes)] = [size if size > 1 else 0 for size in sizes]
            self.group_of[count, :count] = np.repeat(np.arange(len(sizes)), sizes)
            self.place_of[count, :count] = [place for size in sizes for place in range(size)]
            self.size_of[count, :count] = np.repeat(sizes, sizes)

    def groups_in(self, count: int) -> int:
        """The most groups that a round of up to so many players has."""
        return max(1, -(-count // 2)) if count <= 5 else int((self.sizes[: count + 1] > 0).sum(axis=1).max())


@lru_cache(maxsize=4)
def seat_tables(players: int, is_in_pairs: bool) -> SeatTables:
    """The tables for up to so many players, in pairs or in groups of four and three."""
    return SeatTables(players, is_in_pairs)


def _round_sizes(players: int, is_in_pairs: bool) -> tuple[int, ...]:
    """The sizes of the groups of a round; in pairs, the odd one out is in a group of one."""
    if is_in_pairs:
        return (PAIR_SIZE,) * (players // PAIR_SIZE) + (1,) * (players % PAIR_SIZE)
    return group_sizes(players) if players else ()


class DrawnNights:
    """Nights of rounds drawn at random, all in play at once: a row each, with a column for each player.

    totals, is_in: nights x players. awards: by size of a group (from one) and place; a size without
    awards gives none. strength: by player, in natural logarithms: who is ahead of whom follows Plackett
    and Luce. None is a night of equals, whose places are those in which they are drawn.
    """

    def __init__(
        self,
        totals: Numbers,
        is_in: Flags,
        *,
        group_size: int,
        awards: Sequence[Sequence[float]],
        games: int,
        dice: Dice,
        strength: Numbers | None = None,
    ) -> None:
        self.totals = totals
        self.is_in = is_in
        self.byes: NDArray[np.int64] = np.zeros(totals.shape, dtype=np.int64)
        self.is_in_pairs = group_size == PAIR_SIZE
        self.tables = seat_tables(totals.shape[1], self.is_in_pairs)
        self._games = games
        self._dice = dice
        self._strength = strength
        earned = np.zeros((GROUP_SIZE + 1, GROUP_SIZE))
        for size, row in enumerate(awards, start=1):
            earned[size, : len(row)] = row
        # Number of players -> the award of each seat.
        self._awards = earned[self.tables.size_of, self.tables.place_of]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The players who are in, of each night."""
        return np.asarray(self.is_in.sum(axis=1))

    def play_round(self) -> None:
        """Draw the groups of a round at random, and give each player what their place earns."""
        counts, width = self.counts, self.is_in.shape[1]
        chance = self._dice.random(self.is_in.shape)
        chance[~self.is_in] = 2.0
        if self.is_in_pairs:
            self._draw_byes(chance, counts)
        order = np.argsort(chance, axis=1)
        awards, groups = self._awards[counts][:, :width], self.tables.group_of[counts][:, :width]
        earned = np.zeros(awards.shape)
        # The groups stay together for all games of a round; the places in them are drawn for each game.
        for number in range(self._games):
            if number == 0 and self._strength is None:
                earned += awards
                continue
            places = np.argsort(groups + self._luck(order), axis=1)
            again = np.empty_like(awards)
            np.put_along_axis(again, places, awards, axis=1)
            earned += again
        given = np.empty_like(earned)
        np.put_along_axis(given, order, earned, axis=1)
        self.totals = self.totals + np.where(self.is_in, given, 0.0)

    def _luck(self, order: NDArray[np.int64]) -> Numbers:
        """The order of the seats of a group, least first, in a span below one so that groups stay apart."""
        if self._strength is None:
            return self._dice.random(order.shape)
        form = self._strength.take(order) + self._dice.gumbel(size=order.shape)
        return -np.clip(form, -49.0, 49.0) / 100.0

    def _draw_byes(self, chance: Numbers, counts: NDArray[np.int64]) -> None:
        """Give the odd one of each row a bye: one of those with the fewest so far, as the engine does."""
        odd = np.flatnonzero(counts % PAIR_SIZE)
        if not len(odd):
            return
        wait = self.byes[odd] + self._dice.random((len(odd), self.byes.shape[1]))
        wait[~self.is_in[odd]] = np.inf
        chosen = wait.argmin(axis=1)
        self.byes[odd, chosen] += 1
        chance[odd, chosen] = 1.5

    def leaving(self, night: SimulatedNight, number: int) -> Flags:
        """The players who play no more after this round."""
        return leaving(night, self.totals, self.is_in, number)

    def drop_finished(self) -> None:
        """Drop the nights that are over, and the columns without players once they are half of all."""
        rows = self.counts > 1
        self.totals, self.byes, self.is_in = self.totals[rows], self.byes[rows], self.is_in[rows]
        width = int(self.counts.max(initial=0))
        if 0 < width * 2 <= self.is_in.shape[1]:
            order = np.argsort(~self.is_in, axis=1, kind="stable")[:, :width]
            self.totals = np.take_along_axis(self.totals, order, axis=1)
            self.byes = np.take_along_axis(self.byes, order, axis=1)
            self.is_in = np.take_along_axis(self.is_in, order, axis=1)


def leaving(night: SimulatedNight, totals: Numbers, is_in: Flags, number: int) -> Flags:
    """The players who play no more after this round: those at the limit or below the bar.

    The best stay if nobody reaches the bar, and so does whoever is left alone.
    """
    playing: Flags = is_in & (is_in.sum(axis=1) > 1)[:, np.newaxis]
    if night.ends_by != "pace":
        return np.asarray(playing & (totals >= night.limit))
    if number < night.bar_from_round:
        return np.zeros_like(is_in)
    bar = night.limit + (number - night.bar_from_round) * night.bar_increment
    best = np.where(is_in, totals, -1).max(axis=1)
    return np.asarray(playing & (totals < np.minimum(bar, best)[:, np.newaxis]))


def minutes_until_out(
    night: SimulatedNight,
    totals: Numbers,
    is_in: Flags,
    machines: int,
    clock: GameClock,
    dice: Dice,
    *,
    rounds_completed: int = 0,
) -> Numbers:
    """Minutes of drawn rounds until at most one player is left, from these totals (nights x players)."""
    # Equals, whose luck is drawn as that of the unequal: a plan stays what it was.
    running = DrawnNights(
        totals,
        is_in,
        group_size=night.group_size,
        awards=night.awards,
        games=night.games_per_round,
        dice=dice,
        strength=np.zeros(totals.shape[1]),
    )
    minutes = np.zeros(clock.nights)
    for number in range(rounds_completed + 1, ROUNDS_MAX + 1):
        counts = running.counts
        is_on = counts > 1
        if not is_on.any():
            break
        counts = np.where(is_on, counts, 0)
        sizes = running.tables.sizes[counts][:, : running.tables.groups_in(int(counts.max()))]
        lasts = last_result(clock.minutes(sizes, night.games_per_round), machines, 0.0)
        minutes += np.where(is_on, lasts + clock.gap, 0.0)
        running.play_round()
        running.is_in = running.is_in & ~running.leaving(night, number)
    return np.asarray(np.maximum(minutes - clock.gap, 0.0))


def awards_of_open_games(
    tournament: Tournament,
    ids: Sequence[int],
    awards: Sequence[Sequence[float]],
    dice: Dice,
    nights: int,
    strength: Numbers | None = None,
) -> Numbers:
    """Awards of the open games among these players (nights x players), by strength as in later rounds."""
    column = {player_id: number for number, player_id in enumerate(ids)}
    given = np.zeros((nights, len(ids)))
    for game in tournament.games:
        seats = [column[player_id] for player_id in game.player_ids if player_id in column]
        row = awards[len(game.player_ids) - 1] if 0 < len(game.player_ids) <= len(awards) else ()
        is_counted = game.status == "started" and not game.is_tiebreak
        if not is_counted or not row or len(seats) != len(game.player_ids):
            continue
        earned = np.tile(np.array(row, dtype=np.float64), (nights, 1))
        if strength is None:
            given[:, seats] += dice.permuted(earned, axis=1)
            continue
        form = strength[seats] + dice.gumbel(size=(nights, len(seats)))
        places = np.argsort(np.argsort(-form, axis=1), axis=1)
        given[:, seats] += np.take_along_axis(earned, places, axis=1)
    return given


# The meaningful games of nights that last until somebody has won. Source: ratings, B.3.


# Cells at once, so that an array stays in the processor's cache.
CELLS_AT_ONCE = 250_000


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


def simulate(night: SimulatedNight, *, nights: int = 0, dice: Dice | None = None) -> SimulatedOutcome:
    """Return the means over this many nights, 0 for as many as suit its players.

    Without dice, their seed follows from the night.

    Raises ValueError below 2 and above 1,000 players, and for a size of groups other than two and four.
    """
    if not 2 <= night.players <= PLAYERS_MAX or night.group_size not in (PAIR_SIZE, GROUP_SIZE):
        raise ValueError(f"a night of {night.players} in groups of {night.group_size} is not simulated")
    nights = nights or nights_for(night.players, NIGHTS)
    seed = int.from_bytes(hashlib.sha256(night.key.encode()).digest()[:8])
    chance = dice if dice is not None else np.random.Generator(np.random.PCG64(seed))
    weights = RoundWeights(night)
    sums = NightTotals()
    at_once = max(1, CELLS_AT_ONCE // night.players)
    for begin in range(0, nights, at_once):
        _play_nights(night, min(at_once, nights - begin), weights, sums, chance)
    rounds = sums.rounds / sums.nights
    elimination = rounds * sums.weights / sums.games if sums.games else 0.0
    is_target = night.ends_by == "reaching"
    return SimulatedOutcome(
        nights=nights,
        rounds=rounds,
        meaningful_games=sums.reached_games / max(1, sums.reached) if is_target else elimination,
        meaningful_games_of_first=sums.first_games / max(1, sums.firsts) if is_target else elimination,
    )


class RoundWeights:
    """By number of players: the games of a round, the sum of their weights, and the weight of the round."""

    def __init__(self, night: SimulatedNight) -> None:
        self.games = np.zeros(night.players + 1, dtype=np.int64)
        self.all_games = np.zeros(night.players + 1)
        self.round = np.zeros(night.players + 1)
        for count in range(2, night.players + 1):
            # A bye is no game.
            sizes = [size for size in _round_sizes(count, night.group_size == PAIR_SIZE) if size > 1]
            self.games[count] = len(sizes) * night.games_per_round
            self.all_games[count] = sum(float(GAME_WEIGHTS[size]) for size in sizes) * night.games_per_round
            self.round[count] = float(round_weight(sizes)) * night.games_per_round


def _play_nights(
    night: SimulatedNight, nights: int, weights: RoundWeights, sums: NightTotals, dice: Dice
) -> None:
    """Play these nights to their ends, and add what they took to the sums."""
    shape = (nights, night.players)
    running = DrawnNights(
        np.zeros(shape),
        np.ones(shape, dtype=np.bool_),
        group_size=night.group_size,
        awards=night.awards,
        games=night.games_per_round,
        dice=dice,
    )
    # Meaningful games of the rounds so far, and whether somebody has reached the target.
    played, has_first = np.zeros(nights), np.zeros(nights, dtype=np.bool_)
    sums.nights += nights
    for number in range(1, (night.rounds or ROUNDS_MAX) + 1):
        counts = running.counts
        sums.rounds += len(counts)
        sums.games += int(weights.games[counts].sum())
        sums.weights += float(weights.all_games[counts].sum())
        played += weights.round[counts]
        running.play_round()
        leaving = running.leaving(night, number)
        if night.ends_by == "reaching":
            has_first |= _count_reached(leaving, played, has_first, sums)
        running.is_in &= ~leaving
        is_on = running.counts > 1
        played, has_first = played[is_on], has_first[is_on]
        running.drop_finished()
        if not len(played):
            return


def _count_reached(leaving: Flags, played: Numbers, has_first: Flags, sums: NightTotals) -> Flags:
    """Add those who have reached the target to the sums, and return the nights in which they are first."""
    reached = leaving.sum(axis=1)
    sums.reached += int(reached.sum())
    sums.reached_games += float((reached * played).sum())
    first = (reached > 0) & ~has_first
    sums.firsts += int(first.sum())
    sums.first_games += float(played[first].sum())
    return np.asarray(first)


# Whole nights against what their games say: how far a plan was off, and how far the next one may be.
#
# A simulation of equal players knows nothing of skill, breaks and habits. What past nights lasted, compared
# with what the simulation says of them, corrects it.


# Simulated nights for each past one.
NIGHTS_EACH = 60
# Misses that are added to those of the past nights, so that a few do not say too much, and their size as the
# logarithm of a night's length. Fitted, with the spread of the defaults, by `benchmarks/planner.py`.
MISSES_ASSUMED, MISS_ASSUMED = 4, 0.2
# Nine of ten are below the mean and so many standard deviations.
LINE_DEVIATIONS = 1.2816


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
        simulated = simulate_minutes(
            night.shape,
            players=night.players,
            machines=night.machines,
            pace=steady,
            dice=dice,
            nights=NIGHTS_EACH,
        )
        if simulated is None or night.minutes <= 0:
            continue
        # The clock itself is always as long; only what is played after it differs.
        fixed = night.shape.minutes if isinstance(night.shape, ClockNight) else 0
        played = np.maximum(simulated - fixed, 1.0)
        off.append(float(np.log(max(night.minutes - fixed, 1.0) / played.mean())))
        chance.append(float(np.log(played).var()))
    count = len(off)
    if count < NIGHTS_MIN:
        return pace
    # The squares of what each night missed the mean of those before it add up to this sum.
    missed = float(np.var(off)) * count - float(np.mean(chance)) * (count - 1)
    known = MISSES_ASSUMED + count - 1
    spread = sqrt((MISSES_ASSUMED * MISS_ASSUMED**2 + max(missed, 0.0)) / known)
    return replace(
        pace,
        length_factor=exp(sum(off) / count),
        night_spread=spread * sqrt(1 + 1 / count) * widening(known),
        # Whole nights of this venue say how fast it is.
        venue_spread=0.0,
    )


def widening(known: int) -> float:
    """How much wider a line lies when the spread is known from so few misses: Student's t over the normal.

    At nine of ten; an expansion that is within half a percent from four misses on.
    """
    square = LINE_DEVIATIONS**2
    return 1 + (square + 1) / (4 * known) + (5 * square**2 + 16 * square + 3) / (96 * known**2)
