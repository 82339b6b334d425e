"""Adjustments of points and strikes by hand. Source: formats, sections 12 and 13.5.

Each function returns changes or refuses.
"""

from decimal import Decimal

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, EntrantChanged, changes_between
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.tournament import Entrant, Tournament

ADJUSTMENT_MAX = 10**9


class AdjustmentsNotAllowed(Conflict):
    sentence = "Places of this tournament follow from its games: correct a result instead."


def require_adjustable(tournament: Tournament, **wanted: Decimal | None) -> None:
    """Refuse an adjustment. Raises Conflict by format, Invalid for a value that cannot be stored."""
    if not tournament_commands.format_of(tournament).can_adjust:
        raise AdjustmentsNotAllowed
    for name, value in wanted.items():
        if value is None:
            continue
        if not value.is_finite() or abs(value) > ADJUSTMENT_MAX:
            raise Invalid({name: [f"Adjust by at most {ADJUSTMENT_MAX}, up or down."]})
        if value != round(value, 2):
            raise Invalid({name: [f"{value} has more than two decimals."]})


def adjust_entrant(
    tournament: Tournament,
    player_id: int,
    *,
    points: Decimal | None = None,
    score: Decimal | None = None,
) -> list[Change]:
    """Adjust strikes in knockouts, points elsewhere; this may bring a player back at once.

    Source: formats, sections 12 and 13.5.
    """
    entrant = tournament_commands.find_entrant(tournament, player_id)
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="adjust anything")
    require_adjustable(tournament, pointsAdjustment=points, scoreAdjustment=score)
    after = replace(
        entrant,
        points_adjustment=entrant.points_adjustment if points is None else points,
        score_adjustment=entrant.score_adjustment if score is None else score,
    )
    if after.points_adjustment != entrant.points_adjustment:
        after = replace(after, adjusted_after=tournament.rounds_completed)
    return changes_between(EntrantChanged, entrant, _with_byes_credited(tournament, entrant, after))


def _with_byes_credited(tournament: Tournament, before: Entrant, after: Entrant) -> Entrant:
    """The entrant with byes credited when an adjustment brings them back into a running tournament."""
    playing = tournament_commands.format_of(tournament).playing_ids
    if tournament.status != "started" or before.player_id in playing(tournament):
        return after
    then = apply_changes(tournament, changes_between(EntrantChanged, before, after))
    if before.player_id not in playing(then):
        return after
    return replace(after, byes_credited=tournament_commands.byes_to_credit(tournament, before))
