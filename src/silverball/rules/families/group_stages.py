"""Elimination in groups of four, by games or by strokes.

A format supplies the content of its rounds (`GroupStageRules`); stages, ties, corrections and places are
the same. Source: formats, sections 14.12 and 14.17.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any, Self

import msgspec
from msgspec import Struct

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.drawing import groups
from silverball.rules.drawing.groups import ADVANCING, GROUP_SIZE, Group, GroupBracketRound
from silverball.rules.families.brackets import bracket_standing
from silverball.rules.mechanics import call_ups, rounds, seeding
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, RoundReopened, TournamentEdited, tournament_changes
from silverball.rules.model.refusals import AllRoundsPlayed, DrawnElsewhere
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Round, Tournament
from silverball.rules.ranking import standing
from silverball.rules.ranking.group_rounds import ZERO, GroupRoundResult
from silverball.rules.ranking.standing import Standing

NEVER_PLAYED = 1000
BRACKET_SIZE = 8


class RoundLacksGames(Conflict):
    sentence = "{round} lacks games. Open the next round: it brings the missing games first."


class AdvancingPlaceTied(Conflict):
    sentence = "{players} are tied for a place in the next round. Play a tiebreak between them first."


class TiebreakNeedsAllTied(Conflict):
    sentence = "{players} are tied: all of them play the tiebreak."


class NoRoundInCommon(Conflict):
    sentence = "These players have no round in common: they are not tied."


class GroupStageSettings(settings.ForecastSettings, frozen=True, kw_only=True):
    """The settings of brackets of groups. Source: formats, sections 14.12 and 24."""

    round_count: settings.RoundCount = groups.round_count(BRACKET_SIZE)
    bracket_size: settings.GroupBracketSize = BRACKET_SIZE
    group_bracket_double_byes: settings.GroupBracketDoubleByes = 0

    @property
    def is_short(self) -> bool:
        """Whether forty players end after two rounds, with sixteen qualifiers."""
        return self.bracket_size == groups.SHORT_SIZE and self.round_count == groups.SHORT_ROUNDS

    def with_derived(self) -> Self:
        """These settings with the number of rounds that follows from size and byes."""
        count = groups.round_count(
            self.bracket_size,
            has_double_byes=bool(self.group_bracket_double_byes),
            is_short=self.is_short,
        )
        return msgspec.structs.replace(super().with_derived(), round_count=count)


def defaults_beside(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """All rounds, unless forty players are to end after two of them."""
    if given.get("bracketSize") != groups.SHORT_SIZE:
        return {}
    return {"roundCount": groups.round_count(groups.SHORT_SIZE)}


def setting_faults(settings: TournamentSettings) -> Mapping[str, str]:
    """Double byes need a number of players that has them, when they are chosen."""
    assert isinstance(settings, GroupStageSettings)
    sizes = groups.DOUBLE_BYE_SIZES
    if not settings.group_bracket_double_byes or settings.bracket_size in sizes:
        return {}
    named = ", ".join(map(str, sizes[:-1]))
    return {"groupBracketDoubleByes": f"Double byes need {named} or {sizes[-1]} players."}


class GroupStageRules(Struct, frozen=True, kw_only=True):
    """The functions in which brackets of groups differ."""

    # The result of a round.
    round_result: Callable[[Tournament, Round], GroupRoundResult]
    # The games of a new round: (tournament, groups, dice, now).
    open_games: Callable[[Tournament, Sequence[Group], Random, datetime], list[Change]]
    # The games that a round lacks: (tournament, round, groups as they should be, dice, now).
    open_missing_games: Callable[[Tournament, Round, Sequence[Group], Random, datetime], list[Change]]
    # The points shown for a score.
    points_for_score: Callable[[Decimal], Decimal] = lambda score: score
    # The sign with which a tiebreak value changes them.
    tiebreak_sign: int = 1

    def start(self, tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
        """Fix the size at the number of players, from which the rounds follow. Raises Invalid above 128."""
        return self.fit_to_players(tournament)

    def fit_to_players(self, tournament: Tournament) -> list[Change]:
        """The size follows the number of players. Raises Invalid above 128."""
        chosen, players = tournament.settings, len(tournament.active_ids)
        assert isinstance(chosen, GroupStageSettings)
        if players < groups.SIZE_MIN or players == chosen.bracket_size:
            return []
        fitted = msgspec.structs.replace(chosen, bracket_size=players, round_count=0).with_derived()
        return tournament_changes(TournamentEdited, tournament, settings=fitted)

    @staticmethod
    def bye_lines(settings: TournamentSettings, players: int) -> tuple[int, ...]:
        """The worst seed that joins in each later round: one line, or two with double byes."""
        assert isinstance(settings, GroupStageSettings)
        fitted = settings
        if settings.bracket_size != players:
            fitted = msgspec.structs.replace(settings, bracket_size=players, round_count=0)
        return tuple(stage.worst_joining_seed for stage in stages(fitted)[1:] if stage.worst_joining_seed)

    def open_round(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the next round after completing the open one, or the missing games of the open one.

        Raises Conflict when games are open, when an advancing place is tied, and after the final.
        """
        self.require_own_schedule(tournament)
        newest = tournament.newest_round
        before: list[Change] = []
        if newest is not None:
            missing = self.open_missing_games(
                tournament, newest, self._groups_in_round(tournament, newest), dice, now
            )
            if missing:
                return missing
            before = self.complete_round(tournament, newest, now)
        after = apply_changes(tournament, before)
        index = len(after.rounds)
        if index >= len(planned_stages(after)):
            raise AllRoundsPlayed(reason="the final is played")
        players = self.expected_players(after, index)
        assert players is not None
        return [*before, *self.open_games(after, _groups_of_four(after, players), dice, now)]

    def complete_round(self, tournament: Tournament, round_: Round, now: datetime) -> list[Change]:
        """Complete a round. Raises Conflict for open games and for a tied advancing place."""
        changes = rounds.complete_round(tournament, round_, now)
        result = self.round_result(tournament, round_)
        if not result.is_finished:
            raise RoundLacksGames(round=round_.name)
        blocking = self._blocking_ties(tournament, round_, result)
        if blocking:
            raise AdvancingPlaceTied(players=blocking[0])
        return changes

    def _blocking_ties(
        self, tournament: Tournament, round_: Round, result: GroupRoundResult
    ) -> list[tuple[int, ...]]:
        """Ties that must be broken: those for an advancing place, which the final does not have."""
        return [] if _is_final(tournament, round_) else result.tied_groups()

    def tied_groups(self, tournament: Tournament) -> list[tuple[int, ...]]:
        """Groups that may play a tiebreak: tied for an advancing place, or sharing a final place."""
        newest = tournament.newest_round
        blocking: list[tuple[int, ...]] = []
        if newest is not None:
            blocking = self._blocking_ties(tournament, newest, self.round_result(tournament, newest))
        placed = {row.player_id: row.position for row in self.rank(tournament)}
        shared = [group for group in standing.members_by_position(placed).values() if len(group) > 1]
        return [*blocking, *shared]

    def expected_players(self, tournament: Tournament, index: int) -> frozenset[int] | None:
        """Ids of the players of a round, by index: advancing and joining ones; None if undecided."""
        planned = planned_stages(tournament)
        if index >= len(planned):
            return None
        stage = planned[index]
        seeds = seeding.ids_by_seed(tournament)
        joining = frozenset(
            seeds[stage.best_joining_seed - 1 : stage.worst_joining_seed] if stage.worst_joining_seed else ()
        )
        if index == 0:
            return joining
        result = self.round_result(tournament, tournament.rounds_in_order[index - 1])
        advancing = result.advancing_ids()
        if not result.is_finished or len(advancing) != ADVANCING * len(result.groups):
            return None
        return joining | advancing

    def _groups_in_round(self, tournament: Tournament, round_: Round) -> list[Group]:
        """The groups of a round: those in play, and by seed those without games."""
        there = self.round_result(tournament, round_).groups
        players = self.expected_players(tournament, tournament.rounds_in_order.index(round_)) or frozenset()
        by_seed = _groups_of_four(tournament, players)
        planned = {frozenset(group) for group in by_seed}
        full = [group for group in there if len(group) == GROUP_SIZE or frozenset(group) in planned]
        seen = {player_id for group in full for player_id in group}
        drawn = [group for group in by_seed if not seen & set(group)]
        rest = players - seen - {player_id for group in drawn for player_id in group}
        return [*full, *drawn, *(_groups_of_four(tournament, rest) if rest else [])]

    def groups_by_seed(self, tournament: Tournament, round_: Round, there: set[int]) -> list[Group]:
        """The groups of a round whose games do not name them.

        Takes the players with games in it; some may be missing since it was closed early.
        """
        expected = self.expected_players(tournament, tournament.rounds_in_order.index(round_))
        players = expected if expected is not None and there <= expected else there
        if not groups.makes_groups(len(players)):
            return [tuple(sorted(players))]
        return _groups_of_four(tournament, players)

    def find_round_of_tie(self, tournament: Tournament, player_ids: Sequence[int]) -> Round:
        """The round in which these players are tied.

        Raises Conflict unless all who are tied for the place play the tiebreak.
        """
        wanted = set(player_ids)
        for tie in self.tied_groups(tournament):
            if wanted < set(tie) and len(tie) <= GROUP_SIZE:
                raise TiebreakNeedsAllTied(players=tie)
        played = [
            round_
            for round_ in tournament.rounds_in_order
            if wanted <= self.round_result(tournament, round_).player_ids
        ]
        if not played:
            raise NoRoundInCommon
        return played[-1]

    def stale_rounds(self, tournament: Tournament) -> Sequence[Round]:
        """The rounds from the first on whose players no longer follow from the results before."""
        played = tournament.rounds_in_order
        for at in range(1, len(played)):
            expected = self.expected_players(tournament, at)
            if expected is None or not self.round_result(tournament, played[at]).player_ids <= expected:
                return played[at:]
        return ()

    def require_own_schedule(self, tournament: Tournament) -> None:
        """Refuse an imported bracket with another schedule, whose rounds would go. Raises Conflict."""
        if self.stale_rounds(tournament):
            raise DrawnElsewhere

    def delete_stale_rounds(self, tournament: Tournament) -> list[Change]:
        """Delete rounds whose players did not advance; the round before them opens again."""
        changes: list[Change] = []
        for round_ in reversed(self.stale_rounds(tournament)):
            changes += rounds.delete_round(apply_changes(tournament, changes), round_)
        newest = apply_changes(tournament, changes).newest_round
        if newest is None or newest.status != "completed":
            return changes
        result = self.round_result(tournament, newest)
        if changes or not result.is_finished or self._blocking_ties(tournament, newest, result):
            changes.append(RoundReopened(newest, replace(newest, status="started", completed_at=None)))
        return changes

    def at_reopen(self, tournament: Tournament) -> list[Change]:
        """Bring back the games that closing discarded, and reopen an unfinished round."""
        self.require_own_schedule(tournament)
        newest, now = tournament.newest_round, tournament.completed_at
        changes: list[Change] = []
        if newest is not None and now is not None:
            groups, dice = self._groups_in_round(tournament, newest), call_ups.dice_at_reopen(tournament)
            changes = self.open_missing_games(tournament, newest, groups, dice, now)
        return [*changes, *self.delete_stale_rounds(apply_changes(tournament, changes))]

    def playing_ids(self, tournament: Tournament) -> tuple[int, ...]:
        """Ids of the active players whose place is not decided yet."""
        placed = {row.player_id for row in self.rank(tournament)}
        return tuple(player_id for player_id in tournament.active_ids if player_id not in placed)

    def is_over(self, tournament: Tournament) -> bool:
        """Whether the last round is played; shared places in a final do not keep it open."""
        newest = tournament.newest_round
        if newest is None or len(tournament.rounds) < len(planned_stages(tournament)):
            return False
        result = self.round_result(tournament, newest)
        return result.is_finished and not self._blocking_ties(tournament, newest, result)

    def rank(self, tournament: Tournament) -> list[Standing]:
        """Decided places: later rounds first, then by the score in the last round played.

        Source: formats, sections 13.2 and 14.12.
        """
        if not tournament.rounds:
            return []
        spots = self._spots(tournament)
        placed = _apply_manual_order(
            tournament, standing.positions({spot.player_id: spot.key for spot in spots})
        )
        playing = standing.active_game_ids(tournament.games)
        rows = [
            replace(
                bracket_standing(
                    spot.player_id,
                    placed[spot.player_id],
                    self.points_for_score(spot.score),
                    self.tiebreak_sign * spot.tiebreak,
                ),
                active_games=playing.get(spot.player_id, ()),
                manual_tiebreaker_group=tournament.entrant_by_id[spot.player_id].tie_group,
            )
            for spot in spots
            if spot.is_decided
        ]
        return sorted(rows, key=lambda row: (row.position, row.player_id))

    def _spots(self, tournament: Tournament) -> list["StageSpot"]:
        """The spots of all players, by the last round that each has played."""
        spots: dict[int, StageSpot] = {
            player_id: StageSpot(player_id, (NEVER_PLAYED,), ZERO, ZERO, is_decided=False)
            for player_id in seeding.ids_by_seed(tournament)
        }
        for index, round_ in enumerate(tournament.rounds_in_order):
            spots.update({spot.player_id: spot for spot in self._spots_of_round(tournament, round_, index)})
        return list(spots.values())

    def _spots_of_round(self, tournament: Tournament, round_: Round, index: int) -> Iterator["StageSpot"]:
        result = self.round_result(tournament, round_)
        advancing = frozenset() if _is_final(tournament, round_) else result.advancing_ids()
        is_last = index == len(planned_stages(tournament)) - 1
        is_tied = bool(self._blocking_ties(tournament, round_, result)) and tournament.status == "started"
        for player_id in result.player_ids:
            goes_on = player_id in advancing
            score, tiebreak = result.scores.get(player_id, ZERO), result.ties.values.get(player_id, ZERO)
            if result.is_finished and not is_tied and (is_last or not goes_on):
                key = (index, int(goes_on), *result.rank_key(player_id))
                yield StageSpot(player_id, key, score, tiebreak, is_decided=True)
            else:
                # Above all who are out in this round; not listed.
                yield StageSpot(player_id, (index, 2), score, tiebreak, is_decided=False)


class StageSpot(Struct, frozen=True):
    """A player's spot in the bracket; `key` ranks, more is better."""

    player_id: int
    key: tuple[Any, ...]
    score: Decimal
    tiebreak: Decimal
    is_decided: bool


def planned_stages(tournament: Tournament) -> list[GroupBracketRound]:
    """All rounds that follow from the settings. Source: formats, sections 14.12 and 26."""
    assert isinstance(tournament.settings, GroupStageSettings)
    return stages(tournament.settings)


def stages(settings: GroupStageSettings) -> list[GroupBracketRound]:
    """All rounds that follow from size and byes."""
    return groups.planned_rounds(
        settings.bracket_size,
        has_double_byes=bool(settings.group_bracket_double_byes),
        is_short=settings.is_short,
    )


def _is_final(tournament: Tournament, round_: Round) -> bool:
    """Whether this is the round of the last four; a bracket of forty can end without one."""
    all_stages = planned_stages(tournament)
    index = tournament.rounds_in_order.index(round_)
    return index == len(all_stages) - 1 and all_stages[index].player_count <= GROUP_SIZE


def _groups_of_four(tournament: Tournament, players: Iterable[int]) -> list[Group]:
    """Groups of four by original seed."""
    wanted = set(players)
    ordered = [player_id for player_id in seeding.ids_by_seed(tournament) if player_id in wanted]
    return groups.groups_by_seed(ordered) if ordered else []


def _apply_manual_order(tournament: Tournament, placed: Mapping[int, int]) -> dict[int, int]:
    """Positions with manual orders, which hold only between players ordered together."""
    after = dict(placed)
    for position, members in standing.members_by_position(placed).items():
        entrants = [tournament.entrant_by_id[player_id] for player_id in members]
        if (
            len(members) > 1
            and len({entrant.tie_group for entrant in entrants}) == 1
            and entrants[0].tie_group
        ):
            spots = {entrant.player_id: entrant.tie_place or 0 for entrant in entrants}
            ordered = standing.positions(spots, highest_first=False)
            after.update({player_id: position + place - 1 for player_id, place in ordered.items()})
    return after
