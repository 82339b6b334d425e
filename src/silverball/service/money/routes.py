"""The sign-up list over HTTP: waiting list, check-in, payments and fees; and the prize money."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    Access,
    Call,
    FileDownload,
    UncachedResult,
    delete,
    get,
    patch,
    post,
    put,
)
from silverball.kit.http.query import Query
from silverball.rules.model.tournament import Tournament
from silverball.service.core.calls import Write
from silverball.service.money import bodies as money_bodies
from silverball.service.money import reads, writes
from silverball.service.money.bodies import PaidMark, PrizeSettings
from silverball.service.tables import sheet
from silverball_wire.pages import Data
from silverball_wire.prizes import PrizeMoney, PrizeTable, SignUpList

SIGN_UPS = "/api/tournaments/{tournament_id}/sign-ups"
UNTAKEN = SIGN_UPS + "/untaken/{sign_up_id}"
WAITING_PLAYER = SIGN_UPS + "/waiting/{player_id}"


@get(SIGN_UPS, access=Access.OWN)
def show_sign_ups(call: Call[Query]) -> UncachedResult[Data[SignUpList]]:
    """Sign-up list of the caller's tournament: who plays, who waits, who is here and who paid."""
    # Strangers who sign up give the tournament no new revision.
    with call.read() as db:
        return UncachedResult(Data(data=reads.load_list(db, call.ids[TOURNAMENT], call.caller)))


@get(SIGN_UPS + "/csv", access=Access.OWN)
def download_sign_ups(call: Call[Query]) -> UncachedResult[FileDownload]:
    """Sign-up list of the caller's tournament as CSV, with payments."""
    tournament_id = call.ids[TOURNAMENT]
    with call.read() as db:
        listed = reads.load_list(db, tournament_id, call.caller)
        rows = reads.list_rows(listed, reads.receiver_names(db, listed, call.caller))
    return UncachedResult(sheet.csv_file(f"sign-ups-{tournament_id}.csv", reads.SIGN_UP_HEADER, rows))


@patch(SIGN_UPS, body=money_bodies.ChangedSignUpTerms, ability="manage")
def change_sign_up_terms(call: Write[money_bodies.ChangedSignUpTerms]) -> Data[SignUpList]:
    """Set the fees of a tournament, or replace the code of its door."""
    return Data(data=reads.sign_up_list(call.db, writes.change_terms(call)))


@put(SIGN_UPS + "/players/{player_id}", body=money_bodies.PersonAtDoor, ability="manage")
def update_person_at_door(call: Write[money_bodies.PersonAtDoor]) -> Data[SignUpList]:
    """Check somebody in, record what they paid, or take either back."""
    return Data(data=reads.sign_up_list(call.db, writes.update_person(call)))


@post(SIGN_UPS + "/absent", ability="manage")
def remove_absent_players(call: Write[Body]) -> Data[SignUpList]:
    """Remove the players who are not checked in; who waits moves up."""
    return Data(data=reads.sign_up_list(call.db, writes.remove_absent(call)))


@post(SIGN_UPS + "/untaken", ability="manage")
def take_all_sign_ups(call: Write[Body]) -> Data[SignUpList]:
    """Let everybody in who signed up themselves and has a place."""
    return Data(data=reads.sign_up_list(call.db, writes.take_all_sign_ups(call)))


@put(UNTAKEN, body=money_bodies.TakenSignUp, ability="manage")
def take_sign_up(call: Write[money_bodies.TakenSignUp]) -> Data[SignUpList]:
    """Let somebody in who signed up themselves, and check them in or record what they paid."""
    return Data(data=reads.sign_up_list(call.db, writes.take_sign_up(call)))


@delete(UNTAKEN, ability="manage")
def remove_sign_up(call: Write[Body]) -> Data[SignUpList]:
    """Take somebody off the list who signed up themselves and was not taken."""
    return Data(data=reads.sign_up_list(call.db, writes.remove_sign_up(call)))


@post(SIGN_UPS + "/waiting", body=money_bodies.NewWaiting, ability="manage")
def add_to_waiting_list(call: Write[money_bodies.NewWaiting]) -> Data[SignUpList]:
    """Put a player of the book at the end of the waiting list."""
    return Data(data=reads.sign_up_list(call.db, writes.add_waiting(call)))


@put(WAITING_PLAYER, body=money_bodies.WaitingMove, ability="manage")
def move_on_waiting_list(call: Write[money_bodies.WaitingMove]) -> Data[SignUpList]:
    """Move somebody on the waiting list, or put them into the tournament."""
    return Data(data=reads.sign_up_list(call.db, writes.move_waiting(call)))


@delete(WAITING_PLAYER, ability="manage")
def remove_from_waiting_list(call: Write[Body]) -> Data[SignUpList]:
    """Take somebody off the waiting list."""
    return Data(data=reads.sign_up_list(call.db, writes.remove_waiting(call)))


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
