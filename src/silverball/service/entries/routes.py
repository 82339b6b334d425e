"""POST entries of a player."""

from silverball.kit.http.endpoints import TOURNAMENT, post
from silverball.service.calls import Write
from silverball.service.entries import writes
from silverball.wire import times
from silverball.wire.entries import EntryPurchase
from silverball.wire.pages import Data

ENTRIES = "/api/tournaments/{tournament_id}/players/{player_id}/entries"


@post(ENTRIES, body=writes.NewEntries, ability="manage", status=201)
def add_entries(call: Write[writes.NewEntries]) -> Data[EntryPurchase]:
    """Entries bought, given free or refunded."""
    made = writes.add_entries(call)
    return Data(
        data=EntryPurchase(
            entry_id=made.entry_id,
            tournament_id=call.ids[TOURNAMENT],
            player_id=made.player_id,
            type=made.type,
            quantity=made.quantity,
            amount=None if made.amount is None else float(made.amount),
            currency=made.currency,
            created_at=times.iso(call.now),
        )
    )
