"""Check-in and payments in the console: the list, its forms, and the file."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from silverball.kit.errors import NotAllowed
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.tournament import Tournament
from silverball.service.money import bodies as money_bodies
from silverball.service.money import reads as money_reads
from silverball.service.money import writes as money_writes
from silverball.service.money.reads import money_text
from silverball.service.players import reads as player_reads
from silverball.service.tables import sheet
from silverball.store.tournament.sign_up_requests import SignUpRequest
from silverball.web import exports, letters, row_revisions, site
from silverball.web.console import details
from silverball.web.form_actions import FormAction
from silverball.web.forms import FormData, hundredths, number_fields, numbers
from silverball.web.page_request import PageRequest, page
from silverball.web.tournament_night import TournamentNight

Untaken = Sequence[tuple[SignUpRequest, int | None]]
WAYS = (("cash", "cash"), ("card", "card"), ("", "other"))


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The sign-up list with the accounts that took payments, and the values of the forms."""
    with request.site.store.read() as db:
        listed = money_reads.sign_up_list(db, night.tournament)
        proposed = sorted({player_id for person in listed.people for player_id in person.may_be or ()})
        known = player_reads.existing_players(db, proposed, request.caller) if proposed else ()
        receivers = money_reads.receiver_names(db, listed, request.caller)
    terms = night.tournament.sign_up_terms
    late_from = None if terms is None else terms.late_from
    return {
        "listed": listed,
        "receivers": receivers,
        "book_names": {player.player_id: player.name for player in known},
        "money": money_text,
        "by_letter": lambda people: letters.by_letter(people, lambda person: person.name),
        "ways": WAYS,
        "late_from": details.local_minute(late_from, night.tournament.details["timezone"]),
    }


def door_summary(tournament: Tournament, untaken: Untaken) -> Mapping[str, Any]:
    """The numbers of the list for the page of the players."""
    entered = tournament.entrant_by_id
    terms = tournament.sign_up_terms
    paid = [entry for entry in tournament.sign_ups if entry.payment is not None]
    paid_ids = {entry.player_id for entry in paid}
    owing = [
        player_id
        for player_id in entered
        if player_id not in paid_ids
        and waiting_list.fee_due(terms, waiting_list.entry_of(tournament, player_id))
    ]
    return {
        "here": sum(entry.checked_in_at is not None for entry in tournament.sign_ups),
        "signed_up": sum(position is None for _, position in untaken),
        "waiting": len(waiting_list.waiting_entries(tournament))
        + sum(position is not None for _, position in untaken),
        "paid": money_text(sum(entry.payment.cents for entry in paid if entry.payment is not None)),
        "unpaid": len(owing),
    }


def sign_up_link(request: PageRequest, tournament: Tournament) -> str:
    """The address at which players sign themselves up; empty while nobody can."""
    with request.site.store.read() as db:
        pending = len(money_reads.untaken(db, tournament))
        if money_reads.closed_reason(tournament, request.site.now(), pending):
            return ""
        code = money_reads.sign_up_code(db, tournament)
    return f"{request.base_url}/t/{tournament.tournament_id}/sign-up?code={code}"


def presence_body(form: FormData) -> Mapping[str, Any]:
    """The body that checks somebody in, or takes it back; a sign-up may be a player of the book."""
    return {"here": form.value("here") == "on", **number_fields(form, "asPlayer")}


def payment_body(form: FormData) -> Mapping[str, Any]:
    """The body that records a payment, with the way of payment in words where it is another one."""
    how = form.value("how").strip() or form.value("otherWay").strip()
    return {"payment": {"cents": hundredths(form.value("amount")), "how": how}}


def terms_body(form: FormData) -> Mapping[str, Any]:
    """The body that sets the fees; a local time without a zone is one of the tournament's."""
    late_from = form.value("lateFrom").strip()
    zone = form.value("timezone")
    return {
        **{name: hundredths(form.value(name).strip() or "0") for name in ("fee", "lateFee")},
        "lateFrom": details.iso_time(late_from, zone, "lateFrom") if late_from else None,
    }


PLAYER, UNTAKEN = ("player_id",), ("sign_up_id",)
ACTIONS: Mapping[str, FormAction] = {
    "here": FormAction(
        write=money_writes.update_person,
        id_fields=PLAYER,
        body=money_bodies.PersonAtDoor,
        build_body=presence_body,
        revision=row_revisions.presence,
    ),
    "pay": FormAction(
        write=money_writes.update_person,
        id_fields=PLAYER,
        body=money_bodies.PersonAtDoor,
        build_body=payment_body,
        revision=row_revisions.payment,
    ),
    "refund": FormAction(
        write=money_writes.update_person,
        id_fields=PLAYER,
        body=money_bodies.PersonAtDoor,
        build_body=lambda _form: {"payment": None},
        revision=row_revisions.payment,
    ),
    "take": FormAction(
        write=money_writes.take_sign_up,
        id_fields=UNTAKEN,
        body=money_bodies.TakenSignUp,
        build_body=presence_body,
    ),
    "take-paid": FormAction(
        write=money_writes.take_sign_up,
        id_fields=UNTAKEN,
        body=money_bodies.TakenSignUp,
        build_body=payment_body,
    ),
    "take-all": FormAction(write=money_writes.take_all_sign_ups),
    "untaken-out": FormAction(write=money_writes.remove_sign_up, id_fields=UNTAKEN),
    "terms": FormAction(
        write=money_writes.change_terms, body=money_bodies.ChangedSignUpTerms, build_body=terms_body
    ),
    "new-code": FormAction(
        write=money_writes.change_terms,
        body=money_bodies.ChangedSignUpTerms,
        build_body=lambda _form: {"newCode": True},
    ),
    "absent": FormAction(write=money_writes.remove_absent),
    "waiting-move": FormAction(
        write=money_writes.move_waiting,
        id_fields=PLAYER,
        body=money_bodies.WaitingMove,
        build_body=numbers("position"),
        revision=row_revisions.waiting_place,
    ),
    "waiting-out": FormAction(
        write=money_writes.remove_waiting, id_fields=PLAYER, revision=row_revisions.waiting_place
    ),
}


@page("GET", "/t/{tournament_id}/run/door/csv")
def sign_ups_file(request: PageRequest) -> Response:
    """The sign-up list as CSV, for who runs the tournament."""
    tournament_id = request.path_id("tournament_id")
    try:
        with request.site.store.read() as db:
            listed = money_reads.load_list(db, tournament_id, request.caller)
            rows = money_reads.list_rows(listed, money_reads.receiver_names(db, listed, request.caller))
    except NotAllowed:
        return site.message_page(403, "This page is the organizer's", "Only the organizer can see payments.")
    file = sheet.csv_file(f"sign-ups-{tournament_id}.csv", money_reads.SIGN_UP_HEADER, rows)
    return exports.file_response(file)
