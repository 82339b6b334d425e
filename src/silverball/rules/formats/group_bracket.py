"""Group elimination: groups of four, the best two of each go on. Source: formats, 14.12."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from silverball.kit.values import replace
from silverball.rules.drawing.groups import SIZE_MAX, Draw, Group
from silverball.rules.families import group_stages
from silverball.rules.families.group_stages import GroupStageRules
from silverball.rules.format import DemoNight, Format, FormatGroup, refuse_to_join
from silverball.rules.mechanics import call_ups, results, rounds
from silverball.rules.mechanics.call_ups import CallUp
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, GameOpened, RoundReopened
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.tournament import Game, Round, Tournament
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking import group_rounds, points
from silverball.rules.ranking.group_rounds import GroupRoundResult
from silverball.rules.scoring import point_maps
from silverball.rules.scoring.point_maps import points_of_scoring
from silverball.rules.verify import groups as verify_groups
from silverball.rules.verify.checks import ArenaUse, FormatChecks

ZERO = Decimal(0)


class GroupBracketSettings(group_stages.GroupStageSettings, frozen=True, kw_only=True):
    """Settings of a group bracket. Source: formats, sections 14.12 and 24."""

    scoring: settings.Scoring = "papa"
    games_per_round: settings.GamesPerRound = 3
    seeding: settings.Seeding = "manual"
    player_order: settings.PlayerOrder = "seed"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"


def games_per_round(tournament: Tournament) -> int:
    """Games each group plays in a round."""
    chosen = tournament.settings
    assert isinstance(chosen, GroupBracketSettings)
    return chosen.games_per_round


def round_result(tournament: Tournament, round_: Round) -> GroupRoundResult:
    """The points of a round, by group, and the values of its tiebreak games."""
    played = tournament.games_by_round.get(round_.round_id, ())
    games = [game for game in played if not game.is_tiebreak and not game.is_bye]
    by_set: dict[int, list[Game]] = {}
    for game in games:
        by_set.setdefault(game.set_number, []).append(game)
    groups = {number: tuple(sorted(in_set[0].player_ids)) for number, in_set in by_set.items()}
    finished = {
        groups[number]
        for number, in_set in by_set.items()
        if len(in_set) >= games_per_round(tournament) and not results.open_games(in_set)
    }
    return GroupRoundResult(
        groups=list(groups.values()),
        scores=points.points_of_games(games),
        ties=group_rounds.break_ties(
            [
                points.points_of_games([game])
                for game in played
                if game.is_tiebreak and game.status == "completed"
            ],
            tournament.tiebreaker_points_map or point_maps.TIEBREAKER,
        ),
        finished_groups=frozenset(finished),
    )


def open_games(tournament: Tournament, groups: Sequence[Group], dice: Random, now: datetime) -> list[Change]:
    """Open a round with all games of its groups."""
    return rounds.open_round(
        tournament,
        Draw(tuple(groups)),
        games=games_per_round(tournament),
        positions={},
        bye_points=ZERO,
        has_advantage=False,
        dice=dice,
        now=now,
    )


def open_missing_games(
    tournament: Tournament, round_: Round, groups: Sequence[Group], dice: Random, now: datetime
) -> list[Change]:
    """Open the games that groups of a closed round lack, and reopen the round."""
    played = tournament.games_by_round.get(round_.round_id, ())
    by_group: dict[frozenset[int], list[Game]] = {}
    for game in played:
        if not game.is_tiebreak:
            by_group.setdefault(frozenset(game.player_ids), []).append(game)
    taken = Counter(game.set_number for game in played)
    free = (number for number in range(len(played) + len(groups)) if number not in taken)
    made: list[Game] = []
    for group in groups:
        there = by_group.get(frozenset(group), [])
        number = there[0].set_number if there else next(free)
        while len(there) < games_per_round(tournament):
            call = CallUp(
                round_id=round_.round_id, set_number=number, player_ids=group, earlier_games=tuple(there)
            )
            current = replace(tournament, games=(*tournament.games, *made))
            made += call_ups.create_games(current, [call], dice, now)
            there = [*there, made[-1]]
    changes: list[Change] = [GameOpened(game) for game in made]
    if made and round_.status == "completed":
        changes.append(RoundReopened(round_, replace(round_, status="started", completed_at=None)))
    return changes


RULES = GroupStageRules(
    round_result=round_result, open_games=open_games, open_missing_games=open_missing_games
)


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct a result; later rounds go when other players advance."""
    assert isinstance(outcome, GameOutcome)
    RULES.require_own_schedule(tournament)
    changes = results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)
    return [*changes, *RULES.delete_stale_rounds(apply_changes(tournament, changes))]


def result_cleared(tournament: Tournament, game: Game) -> list[Change]:
    """Delete the rounds that followed from a cleared result; takes the game as it was."""
    RULES.require_own_schedule(call_ups.with_game_restored(tournament, game))
    return RULES.delete_stale_rounds(tournament)


def open_tiebreak(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    """Open a tiebreak game in the round in which the players are tied.

    Raises Conflict unless all players tied for an advancing place play it.
    """
    round_ = RULES.find_round_of_tie(tournament, player_ids)
    return rounds.open_tiebreak_in_round(tournament, round_, player_ids, now)


FORMAT = Format(
    type="group_bracket",
    title="Group bracket",
    group=FormatGroup.BRACKETS,
    summary="Groups of four; the best two of each go on.",
    form_settings=("groupBracketDoubleByes", "seeding", "gamesPerRound", "scoring"),
    settings=GroupBracketSettings,
    setting_faults=group_stages.setting_faults,
    defaults_beside=group_stages.defaults_beside,
    demo=DemoNight(name="Group Bracket"),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=nights.group_stages,
        choices=values_of("gamesPerRound", 2, 3, 4),
        fitted=nights.group_bracket_size,
        unit="games in a round",
    ),
    players_per_game=4,
    rated=True,
    is_ranked_by_points=False,
    points_map=points_of_scoring,
    group_stages=RULES,
    bye_lines=RULES.bye_lines,
    rank=RULES.rank,
    is_over=RULES.is_over,
    meaningful_games=planned.group_elimination,
    meaningful_games_played=played.by_plan(planned.group_elimination),
    verify=FormatChecks(standings=verify_groups.group_bracket_table, arena_use=ArenaUse.ONCE_PER_WAVE),
    start=RULES.start,
    open_round=RULES.open_round,
    settle=settle,
    roster_changed=refuse_to_join,
    result_cleared=result_cleared,
    complete_round=RULES.complete_round,
    playing_ids=RULES.playing_ids,
    tied_groups=RULES.tied_groups,
    open_tiebreak=open_tiebreak,
    at_reopen=RULES.at_reopen,
    fit_to_players=RULES.fit_to_players,
    players_max=SIZE_MAX,
    late_entry="never",
    can_leave=False,
    can_adjust=False,
    can_correct_any_round=True,
)
