"""Calls that follow in a tournament from games of the others in its room, in a transaction of its own."""

from datetime import datetime

from sqlalchemy import Connection

from silverball.rules.commands import clocks
from silverball.rules.mechanics import shared_room
from silverball.rules.model.tournament import Tournament
from silverball.service.core import commands, enact, loaded
from silverball.service.core.commands import Decision
from silverball.service.core.enact import ActionContext
from silverball.store.database.transaction import Transaction
from silverball.store.tournament import journal


def is_call_due(db: Connection, tournament: Tournament, now: datetime) -> bool:
    """Whether a game of the tournament may begin that waited for another tournament."""
    room = loaded.shared_room_of(db, tournament)
    if room is None or tournament.status != "started":
        return False
    if shared_room.settle_room(None, tournament, room.elsewhere, now):
        return True
    return bool(_next_games(shared_room.with_busy_elsewhere(tournament, room.elsewhere), now).changes)


def call_due_games(transaction: Transaction, tournament_id: int, now: datetime) -> Tournament:
    """Call the games that may begin by now, and open those that a queue has for free machines."""
    tournament = loaded.load_for_change(transaction, tournament_id).tournament
    room = loaded.room_for_change(transaction, tournament)
    if room is None:
        return tournament
    after = enact.settle_room(transaction, tournament, now)
    decision = _next_games(shared_room.with_busy_elsewhere(after, room.elsewhere), now)
    if not decision.changes:
        return after
    return enact.enact(
        transaction,
        tournament_id,
        decision.changes,
        ActionContext(actor_id=None, source=journal.ROOM_SOURCE, now=now),
        dice_seed=decision.dice_seed,
        extra_entries=decision.notes,
    )


def _next_games(informed: Tournament, now: datetime) -> Decision:
    """The games of waiting players on free machines, in a format whose queue makes the games."""
    if not clocks.has_running_queue(informed):
        return Decision(())
    return commands.decide_by_draw(
        informed,
        f"queue after {len(informed.games)}",
        lambda dice: clocks.fill_free_machines(informed, dice, now),
    )
