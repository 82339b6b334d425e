"""Pingolf elimination: as a group bracket, the two with the fewest strokes go on. Source: formats, 14.17."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.drawing.groups import SIZE_MAX, Group
from silverball.rules.families import group_stages
from silverball.rules.families.group_stages import GroupStageRules
from silverball.rules.format import (
    CountedIn,
    DemoNight,
    Format,
    FormatGroup,
    PlayKind,
    ResultUnit,
    no_wins_or_losses,
    refuse_to_join,
)
from silverball.rules.mechanics import attempts, call_ups, lineups
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    RoundReopened,
    SinglePlayerGameOpened,
)
from silverball.rules.model.outcome import AttemptOutcome, Outcome
from silverball.rules.model.tournament import Round, SinglePlayerGame, Tournament
from silverball.rules.planning import nights, open_play, played
from silverball.rules.planning.nights import CertainBy, NightPlanning, values_of
from silverball.rules.ranking import group_rounds
from silverball.rules.ranking.group_rounds import GroupRoundResult
from silverball.rules.scoring import pingolf, point_maps
from silverball.rules.scoring.point_maps import no_points
from silverball.rules.verify import groups as verify_groups
from silverball.rules.verify import results
from silverball.rules.verify.checks import FormatChecks, no_wins

ZERO = Decimal(0)


class PlayerHasOpenHole(Conflict):
    sentence = "{player} has a hole to finish first. Record its strokes."


class GolfBracketSettings(group_stages.GroupStageSettings, frozen=True, kw_only=True):
    """Settings of a golf bracket. Source: formats, sections 14.17 and 24."""

    games_per_round: settings.GamesPerRound = 3
    seeding: settings.Seeding = "manual"
    player_order: settings.PlayerOrder = "seed"
    player_order_open: settings.PlayerOrderOpen = "scorekeepers"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"
    golf_stroke_limit: settings.GolfStrokeLimit = 6


def settings_of(tournament: Tournament) -> GolfBracketSettings:
    """The settings of a golf bracket."""
    chosen = tournament.settings
    assert isinstance(chosen, GolfBracketSettings)
    return chosen


def round_result(tournament: Tournament, round_: Round) -> GroupRoundResult:
    """The strokes of a round, negative so that more is better, and the decisions of tiebreak holes."""
    played = attempts.attempts_in_round(tournament, round_.round_id)
    holes = [each for each in played if not is_tiebreak_hole(tournament, each)]
    groups = RULES.groups_by_seed(tournament, round_, {each.player_id for each in holes})
    scores: dict[int, Decimal] = {}
    done: dict[int, int] = {}
    for each in holes:
        if each.status == "completed":
            scores[each.player_id] = scores.get(each.player_id, ZERO) - (each.points or ZERO)
            done[each.player_id] = done.get(each.player_id, 0) + 1
    wanted = settings_of(tournament).games_per_round
    rows = tournament.tiebreaker_points_map or point_maps.TIEBREAKER
    return GroupRoundResult(
        groups=groups,
        scores=scores,
        ties=group_rounds.break_ties(
            _tiebreak_values([each for each in played if is_tiebreak_hole(tournament, each)], rows), rows
        ),
        finished_groups=frozenset(
            group for group in groups if all(done.get(player_id, 0) >= wanted for player_id in group)
        ),
    )


def is_tiebreak_hole(tournament: Tournament, attempt: SinglePlayerGame) -> bool:
    """Whether this is a tiebreak hole, beyond the games of the round."""
    return (attempt.game_index or 0) >= settings_of(tournament).games_per_round


def _tiebreak_values(
    played: Sequence[SinglePlayerGame], rows: Sequence[Sequence[int | str]]
) -> list[dict[int, Decimal]]:
    """The values of each tiebreak hole, by player: 0.50, 0.25, 0.12, 0.00 for fewest strokes first.

    Equals share the better value and need another hole. A hole counts once all its players have completed
    it. Source: formats, 14.17.
    """
    found: list[dict[int, Decimal]] = []
    for index in sorted({game.game_index or 0 for game in played}):
        strokes = {game.player_id: game.points for game in played if game.game_index == index}
        done = {player_id: points for player_id, points in strokes.items() if points is not None}
        if len(done) == len(strokes):
            worth = point_maps.points_by_place(rows, len(done))
            found.append(
                {
                    player_id: worth[sum(other < own for other in done.values())]
                    for player_id, own in done.items()
                }
            )
    return found


def open_games(tournament: Tournament, groups: Sequence[Group], dice: Random, now: datetime) -> list[Change]:
    """Open a round with a pending game per player and hole; a group plays each hole on one arena."""
    index = len(tournament.rounds)
    changes = call_ups.open_missing_rounds(tournament, [index], now)
    after = apply_changes(tournament, changes)
    assert after.newest_round is not None
    made = _missing_holes(after, after.newest_round, groups, dice, now)
    return [*changes, *attempts.open_attempts(made)]


def _missing_holes(
    tournament: Tournament, round_: Round, groups: Iterable[Group], dice: Random, now: datetime
) -> list[SinglePlayerGame]:
    """The holes that these groups lack in a round."""
    chosen = settings_of(tournament)
    there = {
        (each.player_id, each.game_index): each
        for each in attempts.attempts_in_round(tournament, round_.round_id)
    }
    drawn = list(groups)
    seats = lineups.assign_groups(tournament, drawn, games=chosen.games_per_round, positions={}, dice=dice)
    made: list[SinglePlayerGame] = []
    for group, seat in zip(drawn, seats, strict=True):
        for index, (arena_id, order) in enumerate(zip(seat.arena_ids, seat.playing_orders, strict=True)):
            mates = [there[each, index] for each in group if (each, index) in there]
            for player_id in order:
                if (player_id, index) not in there:
                    new = attempts.pending_attempt(
                        -1 - len(made), player_id, now=now, round_id=round_.round_id, game_index=index
                    )
                    made.append(replace(new, arena_id=mates[0].arena_id if mates else arena_id))
    return made


def open_missing_games(
    tournament: Tournament, round_: Round, groups: Sequence[Group], dice: Random, now: datetime
) -> list[Change]:
    """Open the holes that groups of a closed round lack, and reopen the round."""
    made = _missing_holes(tournament, round_, groups, dice, now)
    changes: list[Change] = list(attempts.open_attempts(made))
    if made and round_.status == "completed":
        changes.append(RoundReopened(round_, replace(round_, status="started", completed_at=None)))
    return changes


RULES = GroupStageRules(
    round_result=round_result,
    open_games=open_games,
    open_missing_games=open_missing_games,
    points_for_score=lambda score: -score,
    tiebreak_sign=-1,
)


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct strokes on a hole; later rounds go when other players advance.

    Raises Invalid without strokes.
    """
    assert isinstance(outcome, AttemptOutcome)
    RULES.require_own_schedule(tournament)
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    if outcome.strokes is None or outcome.rolls or outcome.is_advanced:
        raise Invalid({"strokes": ["Enter the strokes: nothing else counts in this tournament."]})
    strokes = pingolf.limited_strokes(outcome.strokes, settings_of(tournament).golf_stroke_limit)
    changes = attempts.record_attempt(attempt, outcome, points=Decimal(strokes), now=now)
    return [*changes, *RULES.delete_stale_rounds(apply_changes(tournament, changes))]


def delete_attempt(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Clear the strokes of a hole; a tiebreak hole without any is deleted."""
    if attempt.status != "completed" and is_tiebreak_hole(tournament, attempt):
        hole = [
            each
            for each in attempts.attempts_in_round(tournament, attempt.round_id or 0)
            if each.game_index == attempt.game_index
        ]
        if all(each.status != "completed" for each in hole):
            return [change for each in hole for change in attempts.delete_attempt(each)]
    RULES.require_own_schedule(tournament)
    changes = attempts.clear_attempt(attempt, now)
    return [*changes, *RULES.delete_stale_rounds(apply_changes(tournament, changes))]


def open_tiebreak(tournament: Tournament, player_ids: Sequence[int], now: datetime) -> list[Change]:
    """Open a tiebreak hole for these players, in the round in which they are tied.

    Raises Conflict unless all players tied for an advancing place play it.
    """
    round_ = RULES.find_round_of_tie(tournament, player_ids)
    played = attempts.attempts_in_round(tournament, round_.round_id)
    waiting = [each for each in played if each.player_id in player_ids and each.status != "completed"]
    if waiting:
        raise PlayerHasOpenHole(player=waiting[0].player_id)
    index = max(each.game_index or 0 for each in played) + 1
    return [
        SinglePlayerGameOpened(
            attempts.pending_attempt(-1 - at, player_id, now=now, round_id=round_.round_id, game_index=index)
        )
        for at, player_id in enumerate(player_ids)
    ]


FORMAT = Format(
    type="golf_bracket",
    title="Golf bracket",
    group=FormatGroup.OTHERS,
    summary="Groups of four play holes; the two with the fewest strokes go on.",
    form_settings=("groupBracketDoubleByes", "gamesPerRound", "golfStrokeLimit", "seeding"),
    settings=GolfBracketSettings,
    setting_faults=group_stages.setting_faults,
    defaults_beside=group_stages.defaults_beside,
    demo=DemoNight(name="Golf Bracket", settings={"gamesPerRound": 2}),
    planning=NightPlanning(
        certain_by=CertainBy.ELIMINATION,
        shape=nights.group_stages,
        choices=values_of("gamesPerRound", 2, 3, 4),
        unit="holes in a round",
    ),
    play=PlayKind.HOLES,
    players_per_game=1,
    counted_in=CountedIn.STROKES,
    result_unit=ResultUnit.STROKES,
    rated=True,
    is_ranked_by_points=False,
    points_map=no_points,
    win_loss_rule=no_wins_or_losses,
    group_stages=RULES,
    bye_lines=RULES.bye_lines,
    rank=RULES.rank,
    is_over=RULES.is_over,
    meaningful_games=open_play.strokes_unknown,
    meaningful_games_played=played.holes_played,
    verify=FormatChecks(
        standings=verify_groups.hole_bracket_table, wins_by=no_wins, attempt_faults=results.stroke_faults
    ),
    start=RULES.start,
    open_round=RULES.open_round,
    settle=settle,
    roster_changed=refuse_to_join,
    complete_round=RULES.complete_round,
    playing_ids=RULES.playing_ids,
    tied_groups=RULES.tied_groups,
    open_tiebreak=open_tiebreak,
    at_reopen=RULES.at_reopen,
    attempts=AttemptRules(
        start=attempts.start_pending_attempt,
        delete=delete_attempt,
        accepts_scores=False,
    ),
    fit_to_players=RULES.fit_to_players,
    players_max=SIZE_MAX,
    late_entry="never",
    can_leave=False,
    can_adjust=False,
    can_correct_any_round=True,
)
