"""Shapes of nights before they are played: rounds, turns or a clock.

A format answers with the shape of its night (`Format.planning`); `simulation` plays the shape in minutes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.drawing import bracket_nodes, elimination, groups
from silverball.rules.drawing.bracket_nodes import BracketNode
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE, group_sizes
from silverball.rules.model import settings_protocols
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import (
    HasGroupBracket,
    HasPace,
    HasRaceByes,
    HasRoundRobinGroups,
    HasScoring,
    HasStrikeCount,
    HasTargetPoints,
    has,
)
from silverball.rules.scoring import point_maps, strikes
from silverball.rules.scoring.point_maps import WireRows
from silverball.rules.scoring.strikes import StrikeSettings

# By group size (one to four) and place: strikes, or hundredths of a point.
Awards: TypeAlias = tuple[tuple[int, ...], ...]
ALGORITHM_VERSION = 1
HUNDREDTHS = 100


class SetRounds(Struct, frozen=True, kw_only=True):
    """Rounds that are known ahead. A round ends with its last game, and then the next one begins."""

    # The sizes of the groups of each round; byes are left out.
    rounds: tuple[tuple[int, ...], ...]
    # Games that a group plays in a round, one after the other.
    games: int = 1
    # Whether a group stops as soon as one player has won more than half of them.
    is_best_of: bool = False
    # Machines that a round is played on at most; None for all there are.
    machines_max: int | None = None


class SimulatedNight(Struct, frozen=True, kw_only=True):
    """Drawn rounds until at most one player is left: the settings that decide how long that takes."""

    # `strikes`: out at the limit. `reaching`: no more games at the limit. `pace`: out below the rising bar.
    ends_by: Literal["strikes", "reaching", "pace"]
    players: int
    group_size: int
    awards: Awards
    limit: int
    games_per_round: int = 1
    # Planned rounds; 0 leaves them open.
    rounds: int = 0
    # The first round with a bar, and its increase in each later round.
    bar_from_round: int = 0
    bar_increment: int = 0

    @property
    def key(self) -> str:
        """The text under which the outcome is stored; nights with equal keys have equal outcomes."""
        awards = "/".join(",".join(str(award) for award in row) for row in self.awards)
        numbers = (
            self.players,
            self.group_size,
            self.limit,
            self.games_per_round,
            self.rounds,
            self.bar_from_round,
            self.bar_increment,
        )
        return f"v{ALGORITHM_VERSION} {self.ends_by} {' '.join(map(str, numbers))} {awards}"


class FreeTurns(Struct, frozen=True, kw_only=True):
    """The same number of games for each player, whenever players and machines are free."""

    turns: int
    # Players in a game.
    size: int = 1
    # Games running at once at most; None for no limit.
    at_once: int | None = None


class ClockNight(Struct, frozen=True, kw_only=True):
    """Games until a clock runs out; those that run then are finished."""

    minutes: int
    size: int = 2


class OpenEnd(Struct, frozen=True):
    """A night without an end of its own; the sentence says why."""

    reason: str


class DoesNotFit(ValueError):
    """A format that cannot be played by so many players, with a sentence."""


NightShape: TypeAlias = SetRounds | SimulatedNight | FreeTurns | ClockNight | OpenEnd
ShapeOf: TypeAlias = Callable[[TournamentSettings, int], NightShape]
DrawnNight: TypeAlias = Callable[[TournamentSettings, int], SimulatedNight]


class CertainBy(Enum):
    """The way in which a running night of a format can be decided before its end."""

    # Nothing is certain before the organizer closes it.
    NOTHING = "nothing"
    # Points of drawn rounds, of which the number is planned.
    ROUNDS = "rounds"
    # Points of games that are all there from the start.
    GAMES = "games"
    # Points of the same number of games for each player.
    TURNS = "turns"
    # Players go out one after the other, and whoever goes out later is better.
    ELIMINATION = "elimination"


def no_settings(_players: int) -> Mapping[str, Any]:
    """The settings that follow from the number of players, in most formats."""
    return {}


def unknown_night(_settings: TournamentSettings, _players: int) -> NightShape:
    """The night of a format that does not say what it consists of."""
    return OpenEnd("This format does not say how long it is.")


class NightPlanning(Struct, frozen=True, kw_only=True):
    """How a night of a format is planned."""

    # (settings, players) -> the shape. Raises DoesNotFit.
    shape: ShapeOf = unknown_night
    # The settings that a plan compares, by wire key; the first key of each is the one that is named.
    choices: tuple[Mapping[str, Any], ...] = msgspec.field(default=({},))
    # Players -> the settings that follow from their number, by wire key; they join every choice.
    fitted: Callable[[int], Mapping[str, Any]] = no_settings
    # What the first key counts: rounds, strikes, holes.
    unit: str = ""
    # How a running night can be decided before its end.
    certain_by: CertainBy = CertainBy.NOTHING


UNPLANNED = NightPlanning()


def values_of(key: str, *values: int | str) -> tuple[Mapping[str, Any], ...]:
    """Choices that differ in one setting."""
    return tuple({key: value} for value in values)


# The shapes of nights that several formats share, from their settings. No numbers are drawn here.


NO_ROUNDS_PLANNED = "No number of rounds is set: it ends when you close it."


def sizes_of_round(players: int, group_size: int) -> tuple[int, ...]:
    """The sizes of the groups of a drawn round, without byes."""
    if group_size == PAIR_SIZE:
        return (PAIR_SIZE,) * (players // PAIR_SIZE)
    return tuple(size for size in group_sizes(players) if size > 1)


def drawn_rounds(group_size: int) -> ShapeOf:
    """The planned number of drawn rounds of everybody."""

    def shape(settings: TournamentSettings, players: int) -> NightShape:
        rounds = settings_protocols.rounds_planned(settings)
        if not rounds:
            return OpenEnd(NO_ROUNDS_PLANNED)
        games = settings_protocols.games_per_round(settings)
        return SetRounds(rounds=(sizes_of_round(players, group_size),) * rounds, games=games)

    return shape


def struck_night(
    group_size: int, strike_settings: Callable[[TournamentSettings], StrikeSettings]
) -> DrawnNight:
    """Rounds until all but one have their strikes."""

    def night(settings: TournamentSettings, players: int) -> SimulatedNight:
        assert has(settings, HasStrikeCount)
        chosen = strike_settings(settings)
        sizes = range(1, GROUP_SIZE + 1)
        return SimulatedNight(
            ends_by="strikes",
            players=players,
            group_size=group_size,
            awards=tuple(
                strikes.strikes_by_place(chosen, size) if size <= group_size else () for size in sizes
            ),
            limit=settings.knockout_strike_count,
        )

    return night


def target_night(
    settings: TournamentSettings, players: int, points_map: WireRows | None = None
) -> SimulatedNight:
    """Rounds until all but one have reached the target. Without a map, points are as `usual_points` says."""
    assert has(settings, HasTargetPoints)
    return SimulatedNight(
        ends_by="reaching",
        players=players,
        group_size=GROUP_SIZE,
        awards=_awards_in_hundredths(points_map or usual_points(settings)),
        limit=settings.target_points * HUNDREDTHS,
        games_per_round=settings_protocols.games_per_round(settings),
    )


def pace_night(
    settings: TournamentSettings, players: int, points_map: WireRows | None = None
) -> SimulatedNight:
    """Rounds until all but one are below the rising bar. Without a map, points are as `usual_points` says."""
    assert has(settings, HasPace)
    return SimulatedNight(
        ends_by="pace",
        players=players,
        group_size=GROUP_SIZE,
        awards=_awards_in_hundredths(points_map or usual_points(settings)),
        limit=settings.pace_initial_target * HUNDREDTHS,
        games_per_round=settings_protocols.games_per_round(settings),
        bar_from_round=settings.pace_initial_rounds,
        bar_increment=settings.pace_increment * HUNDREDTHS,
    )


def usual_points(settings: TournamentSettings) -> WireRows:
    """The points of the scoring, as on the wire; those of IFPA for points of one's own."""
    assert has(settings, HasScoring)
    return point_maps.SCORINGS.get(settings.scoring, point_maps.IFPA)


def _awards_in_hundredths(points_map: WireRows) -> Awards:
    return tuple(
        tuple(int(points * HUNDREDTHS) for points in point_maps.points_by_place(points_map, size))
        for size in range(1, GROUP_SIZE + 1)
    )


def round_robin(*, is_double: bool) -> ShapeOf:
    """All games of each group, in the rounds of the circle method."""

    def shape(settings: TournamentSettings, players: int) -> NightShape:
        assert has(settings, HasRoundRobinGroups)
        wanted = settings.round_robin_group_size
        groups = 1 if not wanted else max(1, players // wanted)
        members = Counter(number % groups for number in range(players))
        longest = max(members.values())
        rounds = longest - 1 + longest % 2
        pairs = (PAIR_SIZE,) * sum(count // PAIR_SIZE for count in members.values())
        return SetRounds(rounds=(pairs,) * rounds, games=2 if is_double else 1)

    return shape


def bracket(nodes_of: Callable[[int], Sequence[BracketNode]]) -> ShapeOf:
    """The matches of a bracket for so many seeds, round by round. Raises DoesNotFit above 128."""

    def shape(settings: TournamentSettings, players: int) -> NightShape:
        if players > elimination.SIZES[-1]:
            raise DoesNotFit(f"A bracket takes at most {elimination.SIZES[-1]} players.")
        nodes = nodes_of(elimination.size_for(players))
        seats = bracket_nodes.known_seats(nodes, players)
        rounds: dict[int, list[int]] = {}
        for node in nodes:
            if seats[node.key] > 1:
                rounds.setdefault(node.key[0], []).append(min(seats[node.key], GROUP_SIZE))
        games = settings_protocols.games_per_round(settings)
        in_order = tuple(tuple(rounds[index]) for index in sorted(rounds))
        return SetRounds(rounds=in_order, games=games, is_best_of=True)

    return shape


def group_stages(settings: TournamentSettings, players: int) -> NightShape:
    """The rounds of a bracket of groups. Raises DoesNotFit above 128."""
    if players > groups.SIZE_MAX:
        raise DoesNotFit(f"A group bracket takes at most {groups.SIZE_MAX} players.")
    assert has(settings, HasGroupBracket)
    stages = groups.planned_rounds(
        max(players, groups.SIZE_MIN), has_double_byes=bool(settings.group_bracket_double_byes)
    )
    return SetRounds(
        rounds=tuple(group_sizes(stage.player_count) for stage in stages),
        games=settings_protocols.games_per_round(settings),
    )


def group_bracket_size(players: int) -> Mapping[str, Any]:
    """The size of a bracket of groups for so many players, by wire key."""
    return {"bracketSize": min(max(players, groups.SIZE_MIN), groups.SIZE_MAX)}


def ladder_steps(players: int, *, is_fast: bool) -> NightShape:
    """The games of a ladder, one after the other."""
    steps = groups.ladder_games(players, is_fast=is_fast)
    return SetRounds(rounds=tuple((step.player_count,) for step in steps))


def race_of_one_machine(settings: TournamentSettings, players: int) -> NightShape:
    """A round for each player but one: all who are in and do not wait play it, one after the other."""
    assert has(settings, HasRaceByes)
    waiting, rounds_with_byes = settings.amazing_race_byes or 0, settings.amazing_race_bye_rounds or 0
    sizes = [
        left - waiting if index < rounds_with_byes and left - waiting >= PAIR_SIZE else left
        for index, left in enumerate(range(players, 1, -1))
    ]
    return SetRounds(rounds=tuple((1,) * size for size in sizes), machines_max=1)


def turns(count: int, *, size: int = 1, at_once: int = 0) -> FreeTurns:
    """So many games for each player; `at_once` 0 is no limit."""
    return FreeTurns(turns=count, size=size, at_once=at_once or None)
