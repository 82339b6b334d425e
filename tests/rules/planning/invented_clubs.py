"""Clubs and their nights, minute by minute, from a generator that shares nothing with the planner.

People are slow each in their own way, machines have lengths of their own and break, somebody is outside when
they are called, and most nights have a break. A club keeps its format and its settings; who comes varies.

    for club in clubs("others", 100):
        for night, earlier in club.predicted():
            ...
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from silverball.rules.model.settings import TournamentSettings, read_settings
from silverball.rules.planning.pace import PastNight, PlayedGame
from silverball.rules.planning.simulation import FinishedNight
from silverball.rules.registry import FORMATS

# Ten nights of each club are predicted: the first one when it has five, and none from more than ten.
NIGHTS_OF_CLUB, NIGHTS_BEFORE, NIGHTS_KNOWN = 15, 5, 10
MEMBERS = 45
# Minutes of a game that no player plays: walking, starting, writing down; and those of each player.
FIXED_MINUTES, PLAYER_MINUTES = 3.5, 4.0
TURN_MINUTES = 5.5


@dataclass(frozen=True)
class InventedNight:
    """A night that was played: what was planned, and what came of it."""

    players: int
    # Machines that were there in the evening; some of them broke.
    machines: int
    minutes: float
    past: PastNight
    finished: FinishedNight


@dataclass(frozen=True)
class InventedClub:
    """A club with its nights, oldest first."""

    type: str
    settings: TournamentSettings
    nights: Sequence[InventedNight]

    def predicted(self) -> Iterator[tuple[InventedNight, Sequence[InventedNight]]]:
        """The nights before which there were five, each with those that a planner knows then."""
        for number in range(NIGHTS_BEFORE, len(self.nights)):
            yield self.nights[number], self.nights[max(0, number - NIGHTS_KNOWN) : number]


@dataclass
class Room:
    """An evening in a club: who is there, the machines, and all that was played so far."""

    dice: Random
    # Player -> how slow they are, and how good.
    slowness: Mapping[int, float]
    strength: Mapping[int, float]
    # Machine -> how much longer its games are.
    machines: dict[int, float]
    pace: float
    games: list[PlayedGame] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def play(self, players: Sequence[int], machine: int) -> float:
        """Play a game, and return its minutes; machines may break and people be away."""
        dice = self.dice
        own = [self.slowness[each] * dice.gammavariate(4, 1 / 4) for each in players]
        fixed, each_takes = (0.5, TURN_MINUTES) if len(players) == 1 else (FIXED_MINUTES, PLAYER_MINUTES)
        minutes = (fixed + each_takes * sum(own)) * self.machines[machine] * self.pace
        if dice.random() < 0.015 * len(players):
            minutes += dice.uniform(3, 12)  # somebody is outside
        if dice.random() < 0.012:
            minutes += dice.uniform(3, 25)  # a ball is stuck, or worse
            if dice.random() < 0.25 and len(self.machines) > 3:
                self.machines.pop(machine)
        self.games.append(PlayedGame(size=len(players), minutes=minutes, arena_id=machine))
        return minutes

    def order(self, players: Sequence[int]) -> list[int]:
        """A finishing order, best first."""
        luck = {each: self.strength[each] + self.dice.gauss(0, 1) for each in players}
        return sorted(players, key=lambda each: -luck[each])

    def play_round(self, groups: Sequence[Sequence[int]], games: Callable[[], int] = lambda: 1) -> float:
        """Play the groups on the machines that are there, and return the minutes until the last is done."""
        free = dict.fromkeys(sorted(self.machines), 0.0)
        ends = 0.0
        for group in groups:
            machine = min(free, key=lambda each: free[each])
            at = free.pop(machine)
            for _ in range(games()):
                # A group whose machine broke goes on where it can.
                at += self.play(group, machine if machine in self.machines else max(self.machines))
            ends = max(ends, at)
            if machine in self.machines or not free:
                free[machine] = at
        return ends

    def play_turns(self, turns: int, size: int) -> float:
        """Play so many turns of everybody, each as soon as enough people and a machine are free."""
        left = dict.fromkeys(self.slowness, turns)
        free_at = dict.fromkeys(self.slowness, 0.0)
        machine_at = dict.fromkeys(self.machines, 0.0)
        ends = 0.0
        while True:
            waiting = [each for each in left if left[each]]
            if len(waiting) < size:
                return ends
            # Whoever waits longest plays, and of those who wait as long the one with most turns left.
            chosen = sorted(waiting, key=lambda each: (free_at[each], -left[each]))[:size]
            machine = min(machine_at, key=lambda each: machine_at[each])
            begins = max(machine_at[machine], *(free_at[each] for each in chosen)) + self.dice.uniform(0, 2)
            end = begins + self.play(chosen, machine)
            ends = max(ends, end)
            machine_at[machine] = end
            if machine not in self.machines:
                machine_at.pop(machine)
            for each in chosen:
                left[each] -= 1
                free_at[each] = end + (self.dice.uniform(5, 15) if self.dice.random() < 0.03 else 0.0)


@dataclass
class Habits:
    """How a club spends the time between rounds."""

    gap: float
    # The chance that a night has a break, and its minutes.
    break_chance: float
    break_minutes: float


def pairs(players: Sequence[int]) -> list[Sequence[int]]:
    return [players[at : at + 2] for at in range(0, len(players) - 1, 2)]


def fours(players: Sequence[int]) -> list[Sequence[int]]:
    """Groups of four, with threes where it does not come out even; five are three and two."""
    count = len(players)
    threes = 1 if count == 5 else (-count) % 4
    sizes = [3, 2] if count == 5 else [4] * ((count - 3 * threes) // 4) + [3] * threes
    sizes = [count] if count < 4 else sizes
    return [players[sum(sizes[:at]) : sum(sizes[: at + 1])] for at in range(len(sizes))]


def shuffled(room: Room, players: Sequence[int]) -> list[int]:
    return room.dice.sample(players, len(players))


# How the nights of each format go: (room, settings) -> the minutes of each round.
Rounds: TypeAlias = Iterator[float]


def drawn(room: Room, settings: Any) -> Rounds:
    split = fours if hasattr(settings, "scoring") else pairs
    for _ in range(settings.duration):
        yield room.play_round(split(shuffled(room, list(room.slowness))))


def struck(room: Room, settings: Any) -> Rounds:
    in_fours = hasattr(settings, "knockout_four_player_strikes")
    strikes = dict.fromkeys(room.slowness, 0)
    while len(strikes) > 1:
        groups = (fours if in_fours else pairs)(shuffled(room, list(strikes)))
        yield room.play_round(groups)
        for group in groups:
            # Two of four are struck, and the last of three or two.
            for loser in room.order(group)[-(2 if len(group) == 4 else 1) :]:
                strikes[loser] += 1
        left = {each: count for each, count in strikes.items() if count < settings.knockout_strike_count}
        strikes = left or strikes


def everybody_meets(room: Room, _settings: Any) -> Rounds:
    ring: list[int | None] = [*room.slowness]
    if len(ring) % 2:
        ring.append(None)
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        met = zip(ring[:half], reversed(ring[half:]), strict=True)
        yield room.play_round([(a, b) for a, b in met if a is not None and b is not None])
        ring.insert(1, ring.pop())


def best_of(room: Room, settings: Any) -> Rounds:
    left = shuffled(room, list(room.slowness))
    size = 1
    while size < len(left):
        size *= 2
    byes = left[: size - len(left)]
    playing = left[size - len(left) :]
    last_two: list[int] = []
    while len(playing) > 1:
        groups = pairs(playing)
        needed = settings.games_per_round // 2 + 1

        def games(needed: int = needed) -> int:
            won = [0, 0]
            while max(won) < needed:
                won[room.dice.random() < 0.5] += 1
            return sum(won)

        if len(groups) == 1 and last_two:
            groups = [*groups, last_two]
        yield room.play_round(groups, games)
        winners = [room.order(group)[0] for group in groups[: len(playing) // 2]]
        if len(playing) == 4 and not byes:
            last_two = [each for each in playing if each not in winners]
        playing, byes = [*byes, *winners], []


def stages(room: Room, settings: Any) -> Rounds:
    playing = shuffled(room, list(room.slowness))
    while True:
        groups = fours(playing)
        yield room.play_round(groups, lambda: settings.games_per_round)
        if len(groups) == 1:
            return
        playing = [each for group in groups for each in room.order(group)[:2]]


def free_matches(room: Room, settings: Any) -> Rounds:
    yield room.play_turns(settings.max_matchplay_duration, 2)


def holes(room: Room, settings: Any) -> Rounds:
    yield room.play_turns(settings.golf_duration, 1)


def clock(room: Room, settings: Any) -> Rounds:
    lanes = min(len(room.machines), len(room.slowness) // 2)
    ends = 0.0
    for machine in sorted(room.machines)[:lanes]:
        at = 0.0
        while at < settings.frenzy_duration and machine in room.machines:
            at += room.play(room.dice.sample(list(room.slowness), 2), machine) + room.dice.uniform(0, 2)
        ends = max(ends, at)
    yield ends


# Format -> how it goes, what its settings may be, and the fewest and the most who come.
Kind: TypeAlias = tuple[Callable[[Room, Any], Rounds], dict[str, Sequence[int]], tuple[int, int]]
KINDS: dict[str, Kind] = {
    "matchplay": (drawn, {"duration": (5, 7, 9)}, (10, 30)),
    "group_matchplay": (drawn, {"duration": (4, 5, 6)}, (12, 36)),
    "knockout": (struck, {"knockoutStrikeCount": (2, 3)}, (10, 26)),
    "group_knockout": (struck, {"knockoutStrikeCount": (3, 4)}, (12, 32)),
    "round_robin": (everybody_meets, {}, (6, 11)),
    "bracket": (best_of, {"gamesPerRound": (3,)}, (9, 28)),
    "group_bracket": (stages, {"gamesPerRound": (3, 4)}, (16, 16)),
    "max_matchplay": (free_matches, {"maxMatchplayDuration": (8, 10)}, (10, 24)),
    "golf": (holes, {"golfDuration": (9,)}, (10, 24)),
    "frenzy": (clock, {"frenzyDuration": (90, 120)}, (12, 28)),
}


def clubs(name: str, count: int) -> Iterator[InventedClub]:
    """So many clubs; the same for the same name. They take turns with the formats."""
    kinds = list(KINDS)
    for number in range(count):
        yield _club(kinds[number % len(kinds)], Random(f"{name} {number}"))


def _club(type_: str, dice: Random) -> InventedClub:
    go, choices, (fewest, most) = KINDS[type_]
    wire: dict[str, Any] = {key: dice.choice(list(values)) for key, values in choices.items()}
    slowness = {
        each: dice.gammavariate(14, 1 / 14) * (1.5 if dice.random() < 0.1 else 1) for each in range(MEMBERS)
    }
    strength = {each: dice.gauss(0, 0.6) for each in range(MEMBERS)}
    usual = dice.lognormvariate(0.02, 0.17)
    habits = Habits(dice.uniform(0.5, 3.5), dice.uniform(0, 0.8), dice.uniform(8, 25))
    machines = {number + 1: dice.uniform(0.75, 1.3) for number in range(40)}
    around = dice.randint(fewest, most)
    is_crowded = dice.random() < 0.4
    settings = read_settings(FORMATS[type_].settings, wire)
    nights = []
    for _ in range(NIGHTS_OF_CLUB):
        count = min(max(around + dice.randint(-3, 3), fewest), most)
        coming = dice.sample(range(MEMBERS), count)
        there = max(3, count // 3) if is_crowded else count // 2 + 1
        room = Room(
            dice=dice,
            slowness={each: slowness[each] for each in coming},
            strength=strength,
            machines={each: machines[each] for each in range(1, there + 1)},
            pace=usual * dice.lognormvariate(0, 0.07),
        )
        minutes = _evening(room, habits, go(room, settings))
        nights.append(_night(type_, settings, room, count, there, minutes))
    return InventedClub(type_, settings, nights)


def _evening(room: Room, habits: Habits, rounds: Rounds) -> float:
    """The minutes from the first game to the last result, with what lies between the rounds."""
    has_break = room.dice.random() < habits.break_chance
    minutes = 0.0
    for number, lasted in enumerate(rounds):
        if number:
            gap = habits.gap * room.dice.uniform(0.6, 1.8)
            if has_break and number == 2:
                gap += habits.break_minutes * room.dice.uniform(0.7, 1.6)
            if room.dice.random() < 0.04:
                gap += room.dice.uniform(5, 15)  # a ruling, or somebody looks for somebody
            room.gaps.append(gap)
            minutes += gap
        minutes += lasted
    return minutes


def _night(
    type_: str, settings: TournamentSettings, room: Room, players: int, machines: int, minutes: float
) -> InventedNight:
    played = len({game.arena_id for game in room.games})
    shape = FORMATS[type_].planning.shape(settings, players)
    return InventedNight(
        players=players,
        machines=machines,
        minutes=minutes,
        past=PastNight(games=tuple(room.games), gaps=tuple(room.gaps)),
        finished=FinishedNight(shape=shape, players=players, machines=played, minutes=minutes),
    )
