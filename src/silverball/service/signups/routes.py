"""The sign-up list over HTTP: waiting list, check-in, payments and fees."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    Access,
    Call,
    FileDownload,
    delete,
    get,
    patch,
    post,
    put,
)
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.exports import sheet
from silverball.service.signups import bodies, reads, writes
from silverball_wire.pages import Data
from silverball_wire.sign_ups import SignUpList

SIGN_UPS = "/api/tournaments/{tournament_id}/sign-ups"
WAITING_PLAYER = SIGN_UPS + "/waiting/{player_id}"


@get(SIGN_UPS, access=Access.OWN)
def show_sign_ups(call: Call[Query]) -> Data[SignUpList]:
    """Sign-up list of the caller's tournament: who plays, who waits, who is here and who paid."""
    with call.read() as db:
        return Data(data=reads.load_list(db, call.ids[TOURNAMENT], call.caller))


@get(SIGN_UPS + "/csv", access=Access.OWN)
def download_sign_ups(call: Call[Query]) -> FileDownload:
    """Sign-up list of the caller's tournament as CSV, with payments."""
    tournament_id = call.ids[TOURNAMENT]
    with call.read() as db:
        listed = reads.load_list(db, tournament_id, call.caller)
        rows = reads.list_rows(listed, reads.receiver_names(db, listed, call.caller))
    return sheet.csv_file(f"sign-ups-{tournament_id}.csv", reads.HEADER, rows)


@patch(SIGN_UPS, body=bodies.ChangedSignUpTerms, ability="manage")
def change_sign_up_terms(call: Write[bodies.ChangedSignUpTerms]) -> Data[SignUpList]:
    """Set the fees of a tournament, or replace the code of its door."""
    return Data(data=reads.sign_up_list(call.db, writes.change_terms(call)))


@put(SIGN_UPS + "/players/{player_id}", body=bodies.PersonAtDoor, ability="manage")
def update_person_at_door(call: Write[bodies.PersonAtDoor]) -> Data[SignUpList]:
    """Check somebody in, record what they paid, or take either back."""
    return Data(data=reads.sign_up_list(call.db, writes.update_person(call)))


@post(SIGN_UPS + "/absent", ability="manage")
def remove_absent_players(call: Write[Body]) -> Data[SignUpList]:
    """Remove the players who are not checked in; who waits moves up."""
    return Data(data=reads.sign_up_list(call.db, writes.remove_absent(call)))


@post(SIGN_UPS + "/waiting", body=bodies.NewWaiting, ability="manage")
def add_to_waiting_list(call: Write[bodies.NewWaiting]) -> Data[SignUpList]:
    """Put a player of the book at the end of the waiting list."""
    return Data(data=reads.sign_up_list(call.db, writes.add_waiting(call)))


@put(WAITING_PLAYER, body=bodies.WaitingMove, ability="manage")
def move_on_waiting_list(call: Write[bodies.WaitingMove]) -> Data[SignUpList]:
    """Move somebody on the waiting list, or put them into the tournament."""
    return Data(data=reads.sign_up_list(call.db, writes.move_waiting(call)))


@delete(WAITING_PLAYER, ability="manage")
def remove_from_waiting_list(call: Write[Body]) -> Data[SignUpList]:
    """Take somebody off the waiting list."""
    return Data(data=reads.sign_up_list(call.db, writes.remove_waiting(call)))
