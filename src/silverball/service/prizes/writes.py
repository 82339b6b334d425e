"""Set the prize money, and tick who was paid."""

from typing import Any

from silverball.kit.errors import NotFound
from silverball.rules.commands import prizes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service.calls import Write
from silverball.service.core import commands, loaded
from silverball.service.prizes import reads
from silverball.service.prizes.bodies import PaidMark, PrizeSettings
from silverball.service.prizes.reads import PrizeSheet
from silverball.service.standings import reads as standings

PLAYER = "player_id"


def set_prizes(call: Write[PrizeSettings]) -> Tournament:
    """Set the prize money of the tournament in the path, or replace it."""

    def rule(tournament: Tournament) -> list[Change]:
        plan = call.body.plan()
        if call.body.from_payments:
            plan = prizes.filled_from_payments(tournament, plan)
        return prizes.set_plan(tournament, plan)

    return commands.run_command(call, rule)


def current_sheet(call: Write[Any], tournament: Tournament) -> PrizeSheet:
    """The prize money of the tournament that this call has just changed. Raises NotFound."""
    sheet = reads.prize_sheet(tournament, _current_places(call, tournament))
    if sheet is None:
        raise NotFound("PrizePlan", tournament.tournament_id)
    return sheet


def _current_places(call: Write[Any], tournament: Tournament) -> dict[int, int]:
    """Player id -> place, as this transaction sees the tournament."""
    if tournament.status == "completed":
        return reads.placed_players(call.db, tournament.tournament_id)
    rows = standings.standings_of(loaded.load_for_change(call.transaction, tournament.tournament_id))
    return {row.player_id: row.position for row in rows}


def mark_paid(call: Write[PaidMark]) -> Tournament:
    """Tick that the player in the path was given their prize, or take the tick back."""
    placed = _current_places(call, commands.load_tournament(call))
    return commands.run_command(
        call,
        lambda tournament: prizes.set_paid(
            tournament,
            call.ids[PLAYER],
            placed,
            is_paid=call.body.paid,
            user_id=call.actor_id,
            now=call.now,
        ),
    )
