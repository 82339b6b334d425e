"""Pingolf: a hole is an arena with a target, strokes are balls, fewest win. Source: formats, 14.16 and 16."""

from datetime import datetime
from decimal import Decimal
from random import Random

from silverball.kit.errors import Invalid
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
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, Outcome
from silverball.rules.model.tournament import Entrant, Round, SinglePlayerGame, Tournament
from silverball.rules.planning import nights, open_play, played
from silverball.rules.planning.nights import NightPlanning, NightShape, values_of
from silverball.rules.ranking import solo
from silverball.rules.ranking.solo import PlayerTally
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring import pingolf as scoring_pingolf
from silverball.rules.scoring.point_maps import no_points
from silverball.rules.verify import best, results
from silverball.rules.verify.checks import FormatChecks, no_wins


class GolfSettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of pingolf. Source: formats, sections 14.16 and 24."""

    golf_duration: settings.GolfDuration = 9
    golf_par_score: settings.GolfParScore = 0
    golf_stroke_limit: settings.GolfStrokeLimit = 6
    golf_holes_counted: settings.GolfHolesCounted = 0
    tiebreaker: settings.Tiebreaker = "standard"
    suggestions: settings.Suggestions = "disabled"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


def settings_of(tournament: Tournament) -> GolfSettings:
    """The settings of pingolf."""
    chosen = tournament.settings
    assert isinstance(chosen, GolfSettings)
    return chosen


def start(tournament: Tournament, _dice: Random, now: datetime) -> list[Change]:
    """Open all holes, with a pending game per player and hole."""
    return pingolf.open_rounds(tournament, settings_of(tournament).golf_duration, "Hole", now)


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct the strokes of a player on a hole."""
    if isinstance(outcome, GameOutcome):
        return attempts.record_tiebreak_game(tournament, outcome, now)
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    assert attempt.round_id is not None
    hole = rounds.find_round(tournament, attempt.round_id)
    strokes = derive_strokes(hole, outcome, settings_of(tournament).golf_stroke_limit)
    return pingolf.update_rounds(
        tournament, attempts.record_attempt(attempt, outcome, points=Decimal(strokes), now=now), now
    )


def derive_strokes(hole: Round, outcome: AttemptOutcome, stroke_limit: int) -> int:
    """Strokes as they count, as entered or derived from the score's closeness to the target.

    Raises Invalid when neither is given, and for a score that reached the target or has none.
    Source: formats, section 16.
    """
    if outcome.rolls or outcome.is_advanced:
        raise Invalid({"strokes": ["Enter the strokes: nothing else counts in this tournament."]})
    if outcome.strokes is not None:
        return scoring_pingolf.limited_strokes(outcome.strokes, stroke_limit)
    if outcome.score is None:
        raise Invalid({"strokes": ["Enter the strokes, or the score if the target was not reached."]})
    attempts.check_score(outcome.score)
    if not hole.score:
        raise Invalid({"strokes": [f"{hole.name} has no target to compare with. Enter the strokes."]})
    if outcome.score >= hole.score:
        raise Invalid({"strokes": ["The target was reached. Enter the number of the ball as the strokes."]})
    return scoring_pingolf.limited_strokes(
        scoring_pingolf.strokes_after_last_ball(outcome.score, hole.score), stroke_limit
    )


def delete_result(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Clear a result, so that the hole is played again."""
    return pingolf.update_rounds(tournament, attempts.clear_attempt(attempt, now), now)


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: fewest strokes first, then more holes in one, in two, in three. Source: formats, 16.

    While it runs, players without a hole are last: no strokes are the fewest. Later each missing hole
    counts the maximum.
    """
    played = pingolf.completed_by_player(tournament)
    tallies = {
        entrant.player_id: _tally(tournament, entrant, played.get(entrant.player_id, {}))
        for entrant in solo.listed_entrants(tournament)
    }
    return solo.rank(tournament, tallies, lower_is_better=True)


def _tally(tournament: Tournament, entrant: Entrant, played: dict[int, SinglePlayerGame]) -> PlayerTally:
    chosen = settings_of(tournament)
    strokes = [_strokes_in_game(played.get(index)) for index in range(chosen.golf_duration)]
    is_closed = tournament.status == "completed"
    total = scoring_pingolf.strokes_total(
        strokes,
        holes_counted=chosen.golf_holes_counted,
        stroke_limit=chosen.golf_stroke_limit,
        is_closed=is_closed,
    )
    points = total + solo.adjustment_total(entrant)
    broken = scoring_pingolf.golf_tiebreak(total, strokes)
    is_broken = chosen.tiebreaker == "standard"
    return PlayerTally(
        points=points,
        key=(
            Decimal(is_closed or bool(played)),
            -points,
            *(Decimal(-part) for part in (broken.key[1:] if is_broken else ())),
        ),
        tiebreakers=broken.values[1:] if is_broken else (),
        games_played=len(played),
    )


def _strokes_in_game(attempt: SinglePlayerGame | None) -> int | None:
    return None if attempt is None or attempt.points is None else int(attempt.points)


def night_shape(chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """A turn of each player on each hole."""
    assert isinstance(chosen, GolfSettings)
    return nights.turns(chosen.golf_duration)


FORMAT = Format(
    type="golf",
    title="Pingolf",
    group=FormatGroup.OTHERS,
    summary="Each machine is a hole with a target score; the fewest balls win.",
    form_settings=("golfDuration", "golfStrokeLimit", "golfHolesCounted", "tiebreaker"),
    settings=GolfSettings,
    demo=DemoNight(name="Pingolf", settings={"golfDuration": 5}),
    planning=NightPlanning(
        shape=night_shape,
        choices=values_of("golfDuration", 6, 9, 18),
        unit="holes",
    ),
    play=PlayKind.HOLES,
    players_per_game=1,
    counted_in=CountedIn.STROKES,
    result_unit=ResultUnit.STROKES,
    rated=False,
    points_map=no_points,
    win_loss_rule=no_wins_or_losses,
    rounds=Rounds.FIXED,
    rank=rank,
    is_over=pingolf.is_over,
    meaningful_games=open_play.strokes_unknown,
    meaningful_games_played=played.holes_played,
    verify=FormatChecks(standings=best.golf_table, wins_by=no_wins, attempt_faults=results.stroke_faults),
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
