"""How long games take: published defaults, or learned from nights that are over.

The defaults are ours: round numbers from club nights, documented in docs/planning.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, expm1, hypot, log, sqrt
from statistics import fmean, stdev

from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.drawing.groups import PAIR_SIZE

# With fewer nights than this the defaults are used.
NIGHTS_MIN = 5
# Shorter and longer games are corrections made later, breaks or forgotten results.
MINUTES_MIN, MINUTES_MAX = 1.0, 120.0
# Games after which a machine's own length counts as much as the mean of all machines.
MACHINE_GAMES_HALF = 20
NIGHT_SPREAD_MIN = 0.05


class PlayedGame(Struct, frozen=True, kw_only=True):
    """A game of a night that is over."""

    # Number of players.
    size: int
    minutes: float
    arena_id: int | None = None


class PastNight(Struct, frozen=True, kw_only=True):
    """A night that is over, as far as its pace is concerned."""

    games: tuple[PlayedGame, ...]
    # Minutes from the last result of a round to the opening of the next.
    gaps: tuple[float, ...] = ()


class Pace(Struct, frozen=True, kw_only=True):
    """How fast is played."""

    # Players in a game -> its mean length in minutes.
    minutes: Mapping[int, float]
    # Standard deviation of the logarithm of a game's length, within a night.
    game_spread: float
    # Standard deviation of the logarithm of a whole night's pace.
    night_spread: float
    # Minutes between a result and the next game, or between two rounds.
    gap: float
    # Standard deviation of the logarithm of a venue's pace among all venues; 0 for a venue that is known.
    venue_spread: float = 0.0
    # How much longer whole nights were than their games explain; below 1 they were shorter.
    length_factor: float = 1.0
    # The nights it was learned from; 0 for the defaults.
    nights: int = 0
    # Arena id -> how much longer than the mean its games are; 1.2 is a fifth longer.
    machine_factors: Mapping[int, float] = field(default_factory=dict)

    @property
    def whole_spread(self) -> float:
        """Standard deviation of the logarithm of a night's pace, at whichever venue it is."""
        return hypot(self.night_spread, self.venue_spread)

    @property
    def is_default(self) -> bool:
        """Whether these are the published defaults."""
        return self.nights == 0

    def on_machines(self, arena_ids: Sequence[int]) -> "Pace":
        """The pace when these arenas are played equally often."""
        if not arena_ids:
            return self
        factor = fmean(self.machine_factors.get(arena_id, 1.0) for arena_id in arena_ids)
        return replace(self, minutes={size: mean * factor for size, mean in self.minutes.items()})


# The means of all venues. A plan is for one of them: two of three are within two fifths of the mean.
DEFAULT_PACE = Pace(
    minutes={1: 6.0, 2: 12.0, 3: 16.0, 4: 20.0},
    game_spread=0.4,
    night_spread=0.15,
    venue_spread=0.4,
    gap=1.0,
)


def learn_pace(nights: Sequence[PastNight]) -> Pace:
    """The pace of these nights; the published defaults for fewer than five with games."""
    timed = [timed for timed in (_timed_games(night) for night in nights) if timed]
    if len(timed) < NIGHTS_MIN:
        return DEFAULT_PACE
    games = [game for night in timed for game in night]
    minutes = _mean_minutes(games)
    ratios = [[game.minutes / minutes[game.size] for game in night] for night in timed]
    paces = [log(fmean(night)) for night in ratios]
    within = [deviation for night in ratios for deviation in _deviations(night)]
    gaps = [min(max(gap, 0.0), MINUTES_MAX) for night in nights for gap in night.gaps]
    count = len(timed)
    return Pace(
        minutes=minutes,
        game_spread=sqrt(fmean(each * each for each in within)) if within else DEFAULT_PACE.game_spread,
        # The next night differs from a mean that is itself uncertain.
        night_spread=max(stdev(paces), NIGHT_SPREAD_MIN) * sqrt(1 + 1 / count),
        gap=fmean(gaps) if gaps else DEFAULT_PACE.gap,
        nights=count,
        machine_factors=_machine_factors(games, minutes),
    )


def _deviations(ratios: Sequence[float]) -> list[float]:
    """How far the logarithms are from their mean; none for a single one, which says nothing."""
    logs = [log(ratio) for ratio in ratios]
    if len(logs) < 2:  # a deviation needs two
        return []
    mean = fmean(logs)
    return [each - mean for each in logs]


def _timed_games(night: PastNight) -> list[PlayedGame]:
    return [
        game
        for game in night.games
        if game.size in DEFAULT_PACE.minutes and MINUTES_MIN <= game.minutes <= MINUTES_MAX
    ]


def _mean_minutes(games: Iterable[PlayedGame]) -> dict[int, float]:
    """Mean lengths by size; sizes that were not played follow the others in the defaults' proportion."""
    by_size: dict[int, list[float]] = {}
    for game in games:
        by_size.setdefault(game.size, []).append(game.minutes)
    usual = DEFAULT_PACE.minutes
    weights = {size: len(lengths) for size, lengths in by_size.items()}
    scale = exp(
        sum(weights[size] * log(fmean(lengths) / usual[size]) for size, lengths in by_size.items())
        / sum(weights.values())
    )
    return {size: fmean(by_size[size]) if size in by_size else usual[size] * scale for size in usual}


def _machine_factors(games: Iterable[PlayedGame], minutes: Mapping[int, float]) -> dict[int, float]:
    ratios: dict[int, list[float]] = {}
    for game in games:
        if game.arena_id is not None:
            ratios.setdefault(game.arena_id, []).append(game.minutes / minutes[game.size])
    return {
        arena_id: (sum(own) + MACHINE_GAMES_HALF) / (len(own) + MACHINE_GAMES_HALF)
        for arena_id, own in ratios.items()
    }


# The matches of a night against the clock, predicted from the pace. Ours.


def matches_at_once(players: int, *, machines: int, waiting: int = 0) -> int:
    """How many matches are played at once while the clock runs; `waiting` is the queue that is wanted."""
    return max(0, min(machines, (players - max(waiting, players % PAIR_SIZE)) // PAIR_SIZE))


def matches_per_player(players: int, *, minutes: int, at_once: int, pace: Pace) -> float:
    """The matches that a player plays in the mean before the clock stops.

    On each machine a match begins with the clock, and the next one a gap after its end; whatever has begun
    is finished. The mean number that begin is that of a renewal process, whose first match comes at once.
    """
    length = pace.minutes[PAIR_SIZE]
    cycle = length + pace.gap
    variation = expm1(pace.game_spread**2) * (length / cycle) ** 2
    begun = max(1.0, minutes / cycle + (1 + variation) / 2)
    return PAIR_SIZE * at_once * begun / players
