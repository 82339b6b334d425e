"""Prize money over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, FileDownload, get, put
from silverball.kit.http.query import Query
from silverball.rules.model.tournament import Tournament
from silverball.service.calls import Write
from silverball.service.exports import sheet
from silverball.service.prizes import reads, writes
from silverball.service.prizes.bodies import PaidMark, PrizeSettings
from silverball_wire.pages import Data
from silverball_wire.prizes import PrizeMoney, PrizeTable

PRIZES = "/api/tournaments/{tournament_id}/prizes"


@get(PRIZES, access=Access.OWN)
def show_prizes(call: Call[Query]) -> Data[PrizeMoney]:
    """Prize money of the caller's tournament, and who was paid."""
    with call.read() as db:
        return Data(data=reads.prize_money(reads.load_sheet(db, call.ids[TOURNAMENT], call.caller)))


@get(PRIZES + "/csv", access=Access.OWN)
def download_prizes(call: Call[Query]) -> FileDownload:
    """Prizes and payouts of the caller's tournament as CSV."""
    tournament_id = call.ids[TOURNAMENT]
    with call.read() as db:
        prizes = reads.load_sheet(db, tournament_id, call.caller)
        rows = reads.payout_rows(prizes, reads.names_in(db, prizes, call.caller))
    return sheet.csv_file(f"prizes-{tournament_id}.csv", reads.HEADER, rows)


@get("/api/tournaments/{tournament_id}/prize-table", access=Access.OPENABLE)
def show_prize_table(call: Call[Query]) -> Data[PrizeTable]:
    """Prizes by place; 403 until the organizer publishes it."""
    with call.read() as db:
        return Data(data=reads.published_table(db, call.ids[TOURNAMENT]))


@put(PRIZES, body=PrizeSettings, ability="manage")
def set_prizes(call: Write[PrizeSettings]) -> Data[PrizeMoney]:
    """Set the prize money of a tournament and its shares, or replace them."""
    return _prize_money(call, writes.set_prizes(call))


@put(PRIZES + "/players/{player_id}", body=PaidMark, ability="manage")
def mark_paid(call: Write[PaidMark]) -> Data[PrizeMoney]:
    """Tick that a player was given their prize, or take the tick back."""
    return _prize_money(call, writes.mark_paid(call))


def _prize_money(call: Write[PrizeSettings] | Write[PaidMark], tournament: Tournament) -> Data[PrizeMoney]:
    return Data(data=reads.prize_money(writes.current_sheet(call, tournament)))
