"""Results corrected with a reason, or previewed; both kinds of games."""

from typing import Any

from msgspec import UnsetType

from silverball.kit.values import replace
from silverball.rules.commands import corrections
from silverball.rules.commands.corrections import CorrectionEffects, PlayersAfterwards, StandingChange
from silverball.rules.model.outcome import Outcome
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking.standing import Standing
from silverball.service.core import access, commands
from silverball.service.core.calls import Write
from silverball.service.core.commands import Decision
from silverball.service.games.bodies import ResultCorrection
from silverball.service.standings.reads import standings
from silverball.store.tournament import journal
from silverball_wire import singleplayer


def correct_result(
    call: Write[Any], outcome: Outcome, draw: str, correction: ResultCorrection | UnsetType, *, dry_run: bool
) -> singleplayer.Correction:
    """Correct a result of any round and return the consequences; a dry run stores nothing.

    Only the organizer corrects. Raises Conflict and Invalid as the rules do.
    """
    wanted = ResultCorrection() if isinstance(correction, UnsetType) else correction
    afterwards = PlayersAfterwards(missed_rounds=wanted.missed_rounds, taken_out_ids=wanted.take_out)
    effects: list[CorrectionEffects] = []

    def rule(tournament: Tournament) -> Decision:
        decision = commands.decide_by_draw(
            tournament,
            draw,
            lambda dice: corrections.correct_result(tournament, outcome, afterwards, dice, call.now),
        )
        effects.append(corrections.correction_effects(tournament, decision.changes))
        note = {"reason": wanted.reason, "moved": _moved_players(effects[-1])}
        return replace(decision, notes=((journal.RESULT_CORRECTED, note),))

    if dry_run:
        rule(commands.load_tournament(call, access.may_manage))
    else:
        commands.run_command(call, rule, is_allowed=access.may_manage)
    return _wire_correction(effects[-1], dry_run=dry_run)


def _moved_players(effects: CorrectionEffects) -> list[dict[str, int | None]]:
    """The players whose place changes, who are shown it."""
    places = [
        {
            "player_id": change.player_id,
            "before": change.before.position if change.before else None,
            "after": change.after.position if change.after else None,
        }
        for change in effects.standings
    ]
    return [place for place in places if place["before"] != place["after"]]


def _wire_correction(effects: CorrectionEffects, *, dry_run: bool) -> singleplayer.Correction:
    return singleplayer.Correction(
        dry_run=dry_run,
        standings=tuple(_corrected_standing(change) for change in effects.standings),
        out=effects.out_ids,
        back_in=effects.back_in_ids,
        deleted_rounds=effects.deleted_round_ids,
        deleted_games=effects.deleted_game_ids,
        deleted_single_player_games=effects.deleted_attempt_ids,
    )


def _corrected_standing(change: StandingChange) -> singleplayer.CorrectedStanding:
    return singleplayer.CorrectedStanding(
        player_id=change.player_id,
        before=_place_and_points(change.before),
        after=_place_and_points(change.after),
    )


def _place_and_points(row: Standing | None) -> singleplayer.PlaceAndPoints | None:
    if row is None:
        return None
    published = standings.wire_standing(row)
    return singleplayer.PlaceAndPoints(
        position=published.position, points=published.points, strike_count=published.strike_count
    )
