"""The shapes of nights that several formats share, from their settings. No numbers are drawn here."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from silverball.rules.model import play_settings
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasGroupBracket, HasRoundRobinGroups, has
from silverball.rules.pairing import elimination, group_bracket, ladder
from silverball.rules.pairing.bracket_nodes import BracketNode, SeedSource, WinnerSource
from silverball.rules.pairing.groups import GROUP_SIZE, PAIR_SIZE, group_sizes
from silverball.rules.planning.shapes import (
    Awards,
    DoesNotFit,
    FreeTurns,
    NightShape,
    OpenEnd,
    RoundsUntilOut,
    SetRounds,
    ShapeOf,
)
from silverball.rules.scoring import point_maps

NO_ROUNDS_PLANNED = "No number of rounds is set: it ends when you close it."


def sizes_of_round(players: int, group_size: int) -> tuple[int, ...]:
    """The sizes of the groups of a drawn round, without byes."""
    if group_size == PAIR_SIZE:
        return (PAIR_SIZE,) * (players // PAIR_SIZE)
    return tuple(size for size in group_sizes(players) if size > 1)


def drawn_rounds(group_size: int) -> ShapeOf:
    """The planned number of drawn rounds of everybody."""

    def shape(settings: TournamentSettings, players: int) -> NightShape:
        rounds = play_settings.rounds_planned(settings)
        if not rounds:
            return OpenEnd(NO_ROUNDS_PLANNED)
        games = play_settings.games_per_round(settings)
        return SetRounds(rounds=(sizes_of_round(players, group_size),) * rounds, games=games)

    return shape


def rounds_until(
    awards_of: Callable[[TournamentSettings], Awards],
    leaves_of: Callable[[TournamentSettings], Callable[[Any, int], Any]],
    *,
    is_in_pairs: bool = False,
) -> ShapeOf:
    """Drawn rounds until at most one player is left."""

    def shape(settings: TournamentSettings, _players: int) -> NightShape:
        return RoundsUntilOut(
            is_in_pairs=is_in_pairs,
            awards=awards_of(settings),
            leaves=leaves_of(settings),
            games=play_settings.games_per_round(settings),
        )

    return shape


def points_by_size(points_map: Sequence[Sequence[int | str]]) -> dict[int, list[float]]:
    """Group size -> the points of first, second, ... of a point map as on the wire."""
    rows = range(1, point_maps.GROUP_SIZE_MAX + 1)
    return {size: [float(each) for each in point_maps.points_by_place(points_map, size)] for size in rows}


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
        seats: dict[tuple[int, int], int] = {}
        rounds: dict[int, list[int]] = {}
        for node in nodes_of(elimination.size_for(players)):
            seats[node.key] = sum(
                source.seed <= players
                if isinstance(source, SeedSource)
                else seats[source.node] >= (1 if isinstance(source, WinnerSource) else 2)
                for source in node.sources
            )
            if seats[node.key] > 1:
                rounds.setdefault(node.key[0], []).append(min(seats[node.key], GROUP_SIZE))
        games = play_settings.games_per_round(settings)
        in_order = tuple(tuple(rounds[index]) for index in sorted(rounds))
        return SetRounds(rounds=in_order, games=games, is_best_of=True)

    return shape


def group_stages(settings: TournamentSettings, players: int) -> NightShape:
    """The rounds of a bracket of groups, in the smallest size that holds the players.

    Raises DoesNotFit above 128.
    """
    if players > group_bracket.SIZES[-1]:
        raise DoesNotFit(f"A group bracket takes at most {group_bracket.SIZES[-1]} players.")
    assert has(settings, HasGroupBracket)
    size = size_for(players)
    double = bool(settings.group_bracket_double_byes) and size in group_bracket.DOUBLE_BYE_SIZES
    stages = group_bracket.planned_rounds(size, has_double_byes=double)
    return SetRounds(
        rounds=tuple((GROUP_SIZE,) * (stage.player_count // GROUP_SIZE) for stage in stages),
        games=play_settings.games_per_round(settings),
    )


def size_for(players: int) -> int:
    """The smallest size of a group bracket that holds the players, the largest above 128."""
    return next((size for size in group_bracket.SIZES if size >= players), group_bracket.SIZES[-1])


def ladder_steps(players: int, *, is_fast: bool) -> NightShape:
    """The games of a ladder, one after the other."""
    steps = ladder.ladder_games(players, is_fast=is_fast)
    return SetRounds(rounds=tuple((step.player_count,) for step in steps))


def race_of_one_machine(_settings: TournamentSettings, players: int) -> NightShape:
    """A round for each player but one: all who are in play it, one after the other."""
    return SetRounds(rounds=tuple((1,) * left for left in range(players, 1, -1)), machines_max=1)


def turns(count: int, *, size: int = 1, at_once: int = 0) -> FreeTurns:
    """So many games for each player; `at_once` 0 is no limit."""
    return FreeTurns(turns=count, size=size, at_once=at_once or None)
