"""Expected standings of group elimination, by games or strokes. Source: formats, 14.12 and 14.17."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.drawing import groups
from silverball.rules.model.settings_protocols import HasGamesPerRound, HasGroupBracket, has
from silverball.rules.model.tournament import Game, Round, SinglePlayerGame, Tournament
from silverball.rules.verify import checks
from silverball.rules.verify.brackets import bracket_row
from silverball.rules.verify.checks import ZERO, Row

ADVANCING = 2
GROUP_SIZE = 4
# Players who join in a later round rank above all players who are out.
JOINS_LATER = 1000


class _PlayedRound(Struct, frozen=True):
    """A played round; higher scores are better."""

    groups: list[tuple[int, ...]]
    scores: Mapping[int, Decimal]
    tiebreak_scores: Mapping[int, Decimal]
    finished_groups: set[tuple[int, ...]]
    is_final: bool
    is_last: bool
    # Player id -> result of each tiebreak, where one followed another.
    tiebreak_keys: Mapping[int, tuple[Decimal, ...]] = msgspec.field(default_factory=dict)

    def rank_key(self, player_id: int) -> tuple[Decimal, tuple[Decimal, ...]]:
        if not self.tiebreak_keys:
            return (self.scores.get(player_id, ZERO), (self.tiebreak_scores.get(player_id, ZERO),))
        nothing = (ZERO,) * len(next(iter(self.tiebreak_keys.values())))
        return (self.scores.get(player_id, ZERO), self.tiebreak_keys.get(player_id, nothing))

    @property
    def is_finished(self) -> bool:
        return bool(self.groups) and len(self.finished_groups) == len(self.groups)

    def tied_ids(self) -> set[int]:
        """Players who share the last advancing place of a finished group."""
        tied: set[int] = set()
        for group in self.finished_groups:
            ordered = sorted((self.rank_key(player_id) for player_id in group), reverse=True)
            if len(group) > ADVANCING and ordered[ADVANCING - 1] == ordered[ADVANCING]:
                tied |= {player_id for player_id in group if self.rank_key(player_id) == ordered[ADVANCING]}
        return tied

    def advancing_ids(self) -> set[int]:
        advancing = set()
        for group in self.finished_groups:
            advancing |= set(sorted(group, key=self.rank_key, reverse=True)[:ADVANCING])
        return advancing - self.tied_ids()


# Takes the tournament, the round, and the rounds before it.
_ReadRound: TypeAlias = Callable[[Tournament, Round, list[_PlayedRound]], _PlayedRound]


def group_bracket_table(tournament: Tournament) -> list[Row]:
    """Rows of group elimination by points; more are better."""
    return _table(tournament, _round_of_games, sign=1)


def hole_bracket_table(tournament: Tournament) -> list[Row]:
    """Rows of group elimination by strokes; fewer are better."""
    return _table(tournament, _round_of_holes, sign=-1)


def _table(tournament: Tournament, read_round: _ReadRound, *, sign: int) -> list[Row]:
    """Rows of players whose place is decided: by the last round played, then by the score in it."""
    if not tournament.rounds:
        return []
    played: list[_PlayedRound] = []
    for round_ in tournament.rounds_in_order:
        played.append(read_round(tournament, round_, played))
    keys: dict[int, Any] = dict.fromkeys(checks.active_ids_by_seed(tournament), (JOINS_LATER,))
    last: dict[int, tuple[_PlayedRound, bool]] = {}
    for at, stage in enumerate(played):
        for player_id in {player_id for group in stage.groups for player_id in group}:
            goes_on = not stage.is_final and player_id in stage.advancing_ids()
            waits = not stage.is_final and bool(stage.tied_ids()) and tournament.status == "started"
            is_decided = stage.is_finished and not waits and (stage.is_last or not goes_on)
            keys[player_id] = (
                (at, int(goes_on), *stage.rank_key(player_id)) if is_decided else (at, 2, ZERO, ZERO)
            )
            last[player_id] = (stage, is_decided)
    placed = _apply_manual_orders(tournament, checks.places_by_player(keys))
    listed_rows = []
    for player_id, (stage, is_decided) in last.items():
        if is_decided:
            score, extra = stage.scores.get(player_id, ZERO), stage.tiebreak_scores.get(player_id, ZERO)
            listed_rows.append(
                bracket_row(tournament, player_id, placed[player_id], sign * score, sign * extra)
            )
    return listed_rows


def _apply_manual_orders(tournament: Tournament, placed: Mapping[int, int]) -> dict[int, int]:
    """Apply manual orders among players who share a place and were ordered together."""
    after = dict(placed)
    for place in set(placed.values()):
        members = [tournament.entrant_by_id[player_id] for player_id in placed if placed[player_id] == place]
        sets = {entrant.tie_group for entrant in members}
        if len(members) > 1 and len(sets) == 1 and members[0].tie_group:
            for entrant in members:
                before = sum((other.tie_place or 0) < (entrant.tie_place or 0) for other in members)
                after[entrant.player_id] = place + before
    return after


def _round_of_games(tournament: Tournament, round_: Round, earlier: list[_PlayedRound]) -> _PlayedRound:
    games = [game for game in tournament.games if game.round_id == round_.round_id and not game.is_bye]
    main = [game for game in games if not game.is_tiebreak]
    sets = {
        number: [game for game in main if game.set_number == number]
        for number in {game.set_number for game in main}
    }
    needed = _games_per_round(tournament)
    groups = {number: tuple(sorted(listed[0].player_ids)) for number, listed in sets.items()}
    done = {
        groups[number]
        for number, listed in sets.items()
        if len(listed) >= needed and all(game.status == "completed" for game in listed)
    }
    ties = _game_tiebreaks([game for game in games if game.is_tiebreak])
    extra, keys = _linked_tiebreaks(tournament, ties)
    scores = checks.points_of_games(main)
    is_final, is_last = _is_final_and_last(tournament, earlier)
    return _PlayedRound(list(groups.values()), scores, extra, done, is_final, is_last, keys)


def _game_tiebreaks(games: list[Game]) -> list[dict[int, Decimal]]:
    """Player id -> points, for each completed tiebreak game."""
    return [
        {
            player_id: points or ZERO
            for player_id, points in zip(game.player_ids, game.result_points, strict=True)
        }
        for game in games
        if game.status == "completed"
    ]


def _hole_tiebreaks(tournament: Tournament, games: list[SinglePlayerGame]) -> list[dict[int, Decimal]]:
    """Player id -> points by fewest strokes, for each tiebreak hole that all its players have completed."""
    found: list[dict[int, Decimal]] = []
    for index in sorted({game.game_index or 0 for game in games}):
        hole = [game for game in games if game.game_index == index]
        if all(game.status == "completed" for game in hole):
            strokes = {game.player_id: game.points or ZERO for game in hole}
            worth = _worth_by_place(tournament, len(strokes))
            found.append(
                {
                    player_id: worth[sum(other < own for other in strokes.values())]
                    for player_id, own in strokes.items()
                }
            )
    return found


def _worth_by_place(tournament: Tournament, players: int) -> list[Decimal]:
    row = (tournament.tiebreaker_points_map or ())[min(players, GROUP_SIZE) - 1]
    return [Decimal(str(points)) for points in row] + [ZERO] * players


def _linked_tiebreaks(
    tournament: Tournament, tiebreaks: list[dict[int, Decimal]]
) -> tuple[dict[int, Decimal], dict[int, tuple[Decimal, ...]]]:
    """Points and sort keys of tiebreaks: a later one separates only players whom earlier ones left equal.

    The points go by place among all players whom tiebreaks connect.
    """
    results: dict[int, list[Decimal]] = {}
    connected: list[set[int]] = []
    for tiebreak in tiebreaks:
        before = max(len(results.get(player_id, ())) for player_id in tiebreak)
        for player_id, points in tiebreak.items():
            own = results.setdefault(player_id, [])
            own += [ZERO] * (before - len(own)) + [points]
        met = [players for players in connected if players & tiebreak.keys()]
        connected = [players for players in connected if players not in met]
        connected.append({*tiebreak}.union(*met))
    longest = max(map(len, results.values()), default=0)
    keys = {player_id: tuple(own + [ZERO] * (longest - len(own))) for player_id, own in results.items()}
    values: dict[int, Decimal] = {}
    for players in connected:
        worth = _worth_by_place(tournament, len(players))
        for player_id in players:
            values[player_id] = worth[sum(keys[other] > keys[player_id] for other in players)]
    return values, keys


def _games_per_round(tournament: Tournament) -> int:
    assert has(tournament.settings, HasGamesPerRound)
    return tournament.settings.games_per_round


def _planned_rounds(tournament: Tournament) -> list[groups.GroupBracketRound]:
    settings = tournament.settings
    assert has(settings, HasGroupBracket)
    return groups.planned_rounds(
        settings.bracket_size,
        has_double_byes=bool(settings.group_bracket_double_byes),
        is_short=settings.is_short,
    )


def _is_final_and_last(tournament: Tournament, earlier: list[_PlayedRound]) -> tuple[bool, bool]:
    """Whether the round after these is the final, and whether it is the last round."""
    plan = _planned_rounds(tournament)
    is_last = len(earlier) == len(plan) - 1
    return is_last and plan[len(earlier)].player_count <= GROUP_SIZE, is_last


def _round_of_holes(tournament: Tournament, round_: Round, earlier: list[_PlayedRound]) -> _PlayedRound:
    needed = _games_per_round(tournament)
    games = [game for game in tournament.single_player_games if game.round_id == round_.round_id]
    main = [game for game in games if (game.game_index or 0) < needed]
    finished = [game for game in main if game.status == "completed"]
    scores: dict[int, Decimal] = {}
    for game in finished:
        scores[game.player_id] = scores.get(game.player_id, ZERO) - (game.points or ZERO)
    groups = _expected_groups(tournament, {game.player_id for game in main}, earlier)
    done = {
        group
        for group in groups
        if all(sum(game.player_id == player_id for game in finished) >= needed for player_id in group)
    }
    ties = _hole_tiebreaks(tournament, [game for game in games if (game.game_index or 0) >= needed])
    extra, keys = _linked_tiebreaks(tournament, ties)
    is_final, is_last = _is_final_and_last(tournament, earlier)
    return _PlayedRound(groups, scores, extra, done, is_final, is_last, keys)


def _expected_groups(
    tournament: Tournament, present_ids: set[int], earlier: list[_PlayedRound]
) -> list[tuple[int, ...]]:
    """Groups by seed of the expected players; of the present players when these are not known."""
    stage = _planned_rounds(tournament)[len(earlier)]
    seeds = checks.active_ids_by_seed(tournament)
    joining = (
        set(seeds[stage.best_joining_seed - 1 : stage.worst_joining_seed])
        if stage.worst_joining_seed
        else set()
    )
    expected = joining | (earlier[-1].advancing_ids() if earlier else set())
    is_known = not earlier or (
        earlier[-1].is_finished and len(earlier[-1].advancing_ids()) == ADVANCING * len(earlier[-1].groups)
    )
    players = expected if is_known and present_ids <= expected else present_ids
    if len(players) != 2 and len(players) % GROUP_SIZE not in {0, GROUP_SIZE - 1}:
        return [tuple(sorted(players))]
    ordered = [player_id for player_id in seeds if player_id in players]
    count = (len(ordered) + GROUP_SIZE - 1) // GROUP_SIZE
    return [
        tuple(
            ordered[at - 1]
            for at in (i, 2 * count + 1 - i, 2 * count + i, 4 * count + 1 - i)
            if at <= len(ordered)
        )
        for i in range(1, count + 1)
    ]
