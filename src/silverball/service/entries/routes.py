"""Entries of a player over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, post
from silverball.service.calls import Write
from silverball.service.entries import writes
from silverball_wire import times
from silverball_wire.entries import EntryPurchase
from silverball_wire.pages import Data

ENTRIES = "/api/tournaments/{tournament_id}/players/{player_id}/entries"


@post(ENTRIES, body=writes.NewEntries, ability="manage", status=201)
def add_entries(call: Write[writes.NewEntries]) -> Data[EntryPurchase]:
    """Record entries that a player bought, got free of charge or returned."""
    purchase = writes.add_entries(call)
    return Data(
        data=EntryPurchase(
            entry_id=purchase.entry_id,
            tournament_id=call.ids[TOURNAMENT],
            player_id=purchase.player_id,
            type=purchase.type,
            quantity=purchase.quantity,
            amount=None if purchase.amount is None else float(purchase.amount),
            currency=purchase.currency,
            created_at=times.iso(call.now),
        )
    )
