"""Pinbowling: a frame is an arena with a target, counted as in ten-pin. Source: formats, 14.20, 17."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from random import Random

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.families import pingolf
from silverball.rules.format import (
    CountedIn,
    DemoNight,
    Format,
    FormatGroup,
    PlayKind,
    ResultUnit,
    Rounds,
    no_wins_or_losses,
    refuse_to_complete_round,
)
from silverball.rules.mechanics import attempts, rounds
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, SinglePlayerGameChanged, changes_between
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, Outcome
from silverball.rules.model.tournament import Entrant, Round, SinglePlayerGame, Tournament
from silverball.rules.planning import nights, planned, played
from silverball.rules.planning.nights import NightPlanning, NightShape, values_of
from silverball.rules.ranking import solo
from silverball.rules.ranking.solo import PlayerTally
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring import pingolf as scoring_pingolf
from silverball.rules.scoring.point_maps import no_points
from silverball.rules.verify import best, results
from silverball.rules.verify.checks import FormatChecks, no_wins

Frames = list[tuple[int, ...]]


class BowlingSettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of pinbowling, under the names golf has; par, limit and holes counted do nothing here.

    Source: formats, sections 14.20 and 24.
    """

    golf_duration: settings.GolfDuration = 10
    golf_par_score: settings.GolfParScore = 0
    golf_stroke_limit: settings.GolfStrokeLimit = 0
    golf_holes_counted: settings.GolfHolesCounted = 0
    tiebreaker: settings.Tiebreaker = "standard"


def settings_of(tournament: Tournament) -> BowlingSettings:
    """The settings of pinbowling."""
    chosen = tournament.settings
    assert isinstance(chosen, BowlingSettings)
    return chosen


def start(tournament: Tournament, _dice: Random, now: datetime) -> list[Change]:
    """Open all frames, with a pending game per player and frame."""
    return pingolf.open_rounds(tournament, settings_of(tournament).golf_duration, "Frame", now)


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct the rolls of a player in a frame, with the bonuses that follow."""
    if isinstance(outcome, GameOutcome):
        return attempts.record_tiebreak_game(tournament, outcome, now)
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    assert attempt.round_id is not None
    frame = rounds.find_round(tournament, attempt.round_id)
    is_last = frame.round_index == settings_of(tournament).golf_duration - 1
    rolls = derive_rolls(frame, outcome, is_last=is_last)
    # The points are those it has until the frames are counted again.
    changes = attempts.record_attempt(attempt, replace(outcome, rolls=rolls), points=attempt.points, now=now)
    return _count_frames(tournament, changes, attempt.player_id, now)


def derive_rolls(frame: Round, outcome: AttemptOutcome, *, is_last: bool) -> tuple[int, ...]:
    """The rolls of a whole frame, as entered or derived from the score's closeness to the target.

    Raises Invalid when neither is given, when the frame is not complete, and for a score that reached the
    target or has none. Source: formats, section 17.
    """
    if outcome.strokes is not None or outcome.is_advanced:
        raise Invalid({"rolls": ["Enter the rolls: nothing else counts in this tournament."]})
    if outcome.rolls:
        scoring_pingolf.check_frame(outcome.rolls, is_last=is_last)
        if not scoring_pingolf.is_complete(outcome.rolls, is_last=is_last):
            raise Invalid({"rolls": ["A roll of this frame is missing. Enter the frame when it is over."]})
        return outcome.rolls
    if outcome.score is None:
        raise Invalid({"rolls": ["Enter the rolls, or the score if the target was not reached."]})
    attempts.check_score(outcome.score)
    if not frame.score:
        raise Invalid({"rolls": [f"{frame.name} has no target to compare with. Enter the rolls."]})
    if outcome.score >= frame.score:
        raise Invalid({"rolls": ["The target was reached. Enter the rolls: a strike or a spare."]})
    return (scoring_pingolf.pins_by_closeness(outcome.score, frame.score), 0)


def _count_frames(tournament: Tournament, made: list[Change], player_id: int, now: datetime) -> list[Change]:
    """These changes, with the frames that they decide or change by bonuses, and completed rounds."""
    after = apply_changes(tournament, made)
    own = pingolf.completed_by_player(after).get(player_id, {})
    duration = settings_of(tournament).golf_duration
    changes = list(made)
    for index, points in _frame_points(own, duration).items():
        attempt = own[index]
        if attempt.points != points:
            changes += changes_between(
                SinglePlayerGameChanged, attempt, replace(attempt, points=points, updated_at=now)
            )
    return pingolf.update_rounds(tournament, changes, now)


def _frame_points(played: Mapping[int, SinglePlayerGame], duration: int) -> dict[int, Decimal | None]:
    """Index of a completed frame -> its value, None while that is open.

    A frame without rolls is of another service, which publishes values only: it is worth what was published.
    """
    values = scoring_pingolf.frame_values(_rolls_by_frame(played, duration), duration)
    points: dict[int, Decimal | None] = {}
    for index, frame in played.items():
        value = values[index] if index < duration else None
        points[index] = frame.points if not frame.rolls else None if value is None else Decimal(value)
    return points


def _rolls_by_frame(played: Mapping[int, SinglePlayerGame], duration: int) -> Frames:
    return [played[index].rolls if index in played else () for index in range(duration)]


def delete_result(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Clear a frame, which is played again; earlier frames lose its bonus."""
    return _count_frames(tournament, attempts.clear_attempt(attempt, now), attempt.player_id, now)


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: most pins first, then more strikes, then more spares. Source: formats, 17.

    Strikes and spares are compared where the rolls of all frames are known.
    """
    chosen = settings_of(tournament)
    played = pingolf.completed_by_player(tournament)
    has_rolls = all(frame.rolls for own in played.values() for frame in own.values())
    breaks_ties = chosen.tiebreaker == "standard" and has_rolls
    tallies = {
        entrant.player_id: _tally(
            entrant, played.get(entrant.player_id, {}), chosen.golf_duration, breaks_ties=breaks_ties
        )
        for entrant in solo.listed_entrants(tournament)
    }
    return solo.rank(tournament, tallies)


def _tally(
    entrant: Entrant, played: Mapping[int, SinglePlayerGame], duration: int, *, breaks_ties: bool
) -> PlayerTally:
    total = sum((points or Decimal(0) for points in _frame_points(played, duration).values()), Decimal(0))
    points = total + solo.adjustment_total(entrant)
    shown: tuple[int, ...] = ()
    if breaks_ties:
        shown = scoring_pingolf.strikes_and_spares(_rolls_by_frame(played, duration))
    return PlayerTally(
        points=points,
        key=(points, *(Decimal(part) for part in shown)),
        tiebreakers=shown,
        games_played=len(played),
    )


def night_shape(chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """A turn of each player in each frame."""
    assert isinstance(chosen, BowlingSettings)
    return nights.turns(chosen.golf_duration)


WITHOUT_RULE = planned.without_rule("No published rule counts the meaningful games of pinbowling.")

FORMAT = Format(
    type="bowling",
    title="Pinbowling",
    group=FormatGroup.OTHERS,
    summary="Each machine is a frame; pins are counted as in ten-pin bowling.",
    form_settings=("golfDuration", "tiebreaker"),
    settings=BowlingSettings,
    demo=DemoNight(name="Pinbowling", settings={"golfDuration": 4}),
    planning=NightPlanning(shape=night_shape, choices=values_of("golfDuration", 5, 10), unit="frames"),
    play=PlayKind.HOLES,
    players_per_game=1,
    counted_in=CountedIn.PINS,
    result_unit=ResultUnit.ROLLS,
    rated=False,
    points_map=no_points,
    win_loss_rule=no_wins_or_losses,
    rounds=Rounds.FIXED,
    rank=rank,
    is_over=pingolf.is_over,
    meaningful_games=WITHOUT_RULE,
    meaningful_games_played=played.by_plan(WITHOUT_RULE),
    verify=FormatChecks(standings=best.bowling_table, wins_by=no_wins, attempt_faults=results.frame_faults),
    start=start,
    settle=settle,
    roster_changed=lambda tournament, entrant, _dice, now: pingolf.roster_changed(tournament, entrant, now),
    at_reopen=pingolf.reopen_rounds,
    attempts=AttemptRules(
        start=attempts.start_pending_attempt, delete=delete_result, set_round=pingolf.set_round
    ),
    complete_round=refuse_to_complete_round,
    open_tiebreak=pingolf.open_tiebreak,
    late_entry="at_once",
    can_correct_any_round=True,
)
