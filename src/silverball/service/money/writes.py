"""The sign-up list is changed: by players on the public page, and by who runs the tournament."""

import hmac
from datetime import datetime, timedelta
from random import Random
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Name
from silverball.kit.http.refusals import TooManyAttempts
from silverball.kit.values import convert, replace
from silverball.rules.commands import sign_ups
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import EntryPayment, SignUpTerms, Tournament
from silverball.service.core import commands, loaded, sign_up_taking
from silverball.service.core.calls import Write
from silverball.service.money import bodies as money_bodies
from silverball.service.money import reads
from silverball.service.money.bodies import PaidMark, PrizeSettings
from silverball.service.money.reads import PrizeSheet
from silverball.service.players import reads as players
from silverball.service.roster import reads as roster_reads
from silverball.service.standings.reads import standings
from silverball.store.database.transaction import Transaction
from silverball.store.people import names
from silverball.store.tournament import sign_up_requests
from silverball.store.tournament.sign_up_requests import SignUpRequest

PLAYER, SIGN_UP = "player_id", "sign_up_id"


class SignUpClosed(Conflict):
    sentence = "{reason}"


class SignUpCodeWrong(NotAllowed):
    sentence = "This code is not the one of the door. Scan it once more."


class AlreadySignedUp(Conflict):
    sentence = "{name} is on the list already. If that is somebody else, add an initial to your name."


class NameNotUnique(Conflict):
    sentence = "The organizer knows several people called {name}. Ask them to add you."


class ManySignUps(TooManyAttempts):
    sentence = "Many people are signing up from this network. Wait a minute and send it again."


class ManySignUpsToday(TooManyAttempts):
    sentence = "Too many people have signed up from this network today. Ask the organizer to add you."


class SignUpsOfBrowser(Conflict):
    sentence = "{count} people have signed up from this phone. Ask the organizer to add the others."


class SignUpsFull(Conflict):
    sentence = "The list is full. Ask the organizer to add you."


# What strangers may do; a device and a director at the door may do more.
MINUTE_MAX, DAY_MAX, BROWSER_MAX = 30, 200, 5
WAITING_MAX, UNLIMITED_MAX = 100, 300
NUMBER_DIGITS_MAX = 7


class SignUp(Struct, frozen=True, kw_only=True):
    """A name and the code of the door, as they were sent."""

    name: str
    code: str
    # The federation number as it was typed.
    number: str = ""


class Sender(Struct, frozen=True, kw_only=True):
    """The sender of a sign-up: hashes of address and browser, and whether they run the tournament."""

    source: str
    browser: str
    is_trusted: bool


class SignedUp(Struct, frozen=True, kw_only=True):
    """A person on the list: name, code of their own page, and position if they wait."""

    sign_up_id: int
    name: str
    code: str
    position: int | None
    # As it is with them.
    tournament: Tournament


def sign_up(
    transaction: Transaction, tournament_id: int, sent: SignUp, sender: Sender, now: datetime
) -> SignedUp:
    """Put the sender on the list of the planned tournament, where they wait to be taken.

    Raises Conflict while nobody can sign up and for a name that is taken, NotAllowed for a wrong code,
    TooManyAttempts for an address that sends too many.
    """
    db = transaction.connection
    tournament = loaded.load_for_change(transaction, tournament_id).tournament
    own_code = reads.sign_up_code(db, tournament)
    pending = sign_up_requests.pending(db, tournament_id)
    if reason := reads.closed_reason(tournament, now, len(pending)):
        raise SignUpClosed(reason=reason)
    if not hmac.compare_digest(sent.code.strip().encode(), own_code.encode()):
        raise SignUpCodeWrong
    name, number = _valid_name(sent.name), _valid_number(sent.number)
    if names.fold(name) in {names.fold(request.name) for request in pending}:
        raise AlreadySignedUp(name=name)
    _known_player(db, tournament, name)
    _require_room(db, tournament, len(pending), sender, now)
    values = {"source": sender.source, "browser": sender.browser, "signed_up_at": now, "name": name}
    is_late = waiting_list.is_late(tournament, now)
    row = {**values, "tournament_id": tournament_id, "is_late": is_late, "ifpa_id": number}
    sign_up_id = sign_up_requests.add(db, row)
    return SignedUp(
        sign_up_id=sign_up_id,
        name=name,
        code=reads.request_code(db, tournament, sign_up_id),
        position=reads.untaken(db, tournament)[-1][1],
        tournament=tournament,
    )


def _require_room(
    db: Connection, tournament: Tournament, pending: int, sender: Sender, now: datetime
) -> None:
    """Raise Conflict when the list is full, and a refusal for who has sent too many."""
    free = waiting_list.free_places(tournament)
    if waiting_list.player_limit(tournament) is None:
        is_full = pending >= UNLIMITED_MAX
    else:
        waiting = len(waiting_list.waiting_entries(tournament))
        is_full = pending >= free and waiting + pending - max(free, 0) >= WAITING_MAX
    if is_full:
        raise SignUpsFull
    if sender.is_trusted:
        return
    if sign_up_requests.count_from(db, sender.source, now, timedelta(minutes=1)) >= MINUTE_MAX:
        raise ManySignUps
    if sign_up_requests.count_from(db, sender.source, now, timedelta(days=1)) >= DAY_MAX:
        raise ManySignUpsToday
    if sign_up_requests.count_of_browser(db, tournament.tournament_id, sender.browser) >= BROWSER_MAX:
        raise SignUpsOfBrowser(count=BROWSER_MAX)


def _valid_name(text: str) -> str:
    # PostgreSQL stores no NUL.
    words = text.replace("\x00", " ").split()
    try:
        return convert(" ".join(words), Name)
    except msgspec.ValidationError as error:
        raise Invalid({"name": ["Enter your name, in at most 100 letters."]}) from error


def _valid_number(text: str) -> int | None:
    """The federation number, which only proposes who they are; None for none."""
    digits = text.strip().removeprefix("#")
    if not digits:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) <= NUMBER_DIGITS_MAX and int(digits)):
        sentence = (
            f"A federation number has 1 to {NUMBER_DIGITS_MAX} digits. Leave it empty if you have none."
        )
        raise Invalid({"ifpaId": [sentence]})
    return int(digits)


def _known_player(db: Connection, tournament: Tournament, name: str) -> int | None:
    """The player of this name in the organizer's book; None when there is none.

    Raises Conflict for who is on the list, and where several have the name.
    """
    known_ids = players.ids_by_name(db, tournament.details["organizer_id"], [name])[name]
    listed = sign_up_taking.listed_ids(tournament)
    free_ids = [player_id for player_id in known_ids if player_id not in listed]
    if known_ids and not free_ids:
        raise AlreadySignedUp(name=name)
    if len(free_ids) > 1:
        raise NameNotUnique(name=name)
    return free_ids[0] if free_ids else None


def take_all_sign_ups(call: Write[Body]) -> Tournament:
    """Let everybody in who signed up and has a place."""
    sign_up_taking.take_all(call)
    return commands.load_tournament(call)


def take_sign_up(call: Write[money_bodies.TakenSignUp]) -> Tournament:
    """Let the person of the sign-up in the path in, also into a full tournament; then as `update_person`."""
    tournament, request = _find_request(call)
    (player_id,) = sign_up_taking.take(call, tournament, [request], as_player=call.body.as_player)
    here, payment = call.body.here or UNSET, call.body.payment or UNSET
    return commands.run_command(call, lambda current: _door_changes(call, current, player_id, here, payment))


def remove_sign_up(call: Write[Body]) -> Tournament:
    """Take the sign-up in the path off the list."""
    tournament, request = _find_request(call)
    sign_up_requests.settle(call.db, tournament.tournament_id, request.sign_up_id, None)
    return tournament


def _find_request(call: Write[Any]) -> tuple[Tournament, SignUpRequest]:
    tournament = commands.load_tournament(call)
    for request in sign_up_requests.pending(call.db, tournament.tournament_id):
        if request.sign_up_id == call.ids[SIGN_UP]:
            return tournament, request
    raise NotFound("SignUp", call.ids[SIGN_UP])


def change_terms(call: Write[money_bodies.ChangedSignUpTerms]) -> Tournament:
    """Set the fees in the body, and replace the code if it says so."""

    def rule(tournament: Tournament) -> list[Change]:
        terms = tournament.sign_up_terms or SignUpTerms()
        number = terms.code_number + (1 if call.body.new_code else 0)
        return sign_ups.set_terms(
            tournament, replace(terms, code_number=number, **money_bodies.changed_values(call.body))
        )

    return commands.run_command(call, rule)


def update_person(call: Write[money_bodies.PersonAtDoor]) -> Tournament:
    """Check the player in the path in, record what they paid, or take either back."""
    here, payment = call.body.here, call.body.payment
    return commands.run_command(
        call, lambda current: _door_changes(call, current, call.ids[PLAYER], here, payment)
    )


def _door_changes(
    call: Write[Any],
    tournament: Tournament,
    player_id: int,
    here: bool | UnsetType,
    payment: money_bodies.NewPayment | UnsetType | None,
) -> list[Change]:
    changes: list[Change] = []
    current = tournament
    if not isinstance(here, UnsetType):
        changes = sign_ups.check_in(tournament, player_id, call.now, is_here=here)
        current = apply_changes(tournament, changes)
    if payment is None:
        changes += sign_ups.refund_payment(current, player_id)
    elif not isinstance(payment, UnsetType):
        paid = EntryPayment(cents=payment.cents, how=payment.how, user_id=call.actor_id, paid_at=call.now)
        changes += sign_ups.record_payment(current, player_id, paid)
    return changes


def remove_absent(call: Write[Body]) -> Tournament:
    """Remove the players who are not checked in, and the sign-ups with a place that were not taken."""

    def rule(tournament: Tournament) -> commands.Decision:
        return commands.decide_by_draw(
            tournament, "roster", lambda dice: sign_ups.remove_absent(tournament, dice, call.now)
        )

    before = commands.load_tournament(call)
    away = [request for request, position in reads.untaken(call.db, before) if position is None]
    after = commands.run_command(call, rule)
    for request in away:
        sign_up_requests.settle(call.db, after.tournament_id, request.sign_up_id, None)
    return after


def add_waiting(call: Write[money_bodies.NewWaiting]) -> Tournament:
    """Put a player of the book on the waiting list."""
    player_id = call.body.player_id
    tournament = commands.load_tournament(call)
    if player_id not in roster_reads.book_players(call.db, tournament.details["organizer_id"], [player_id]):
        sentence = Sentence("{player} is not in the organizer's book.", player=player_id)
        raise Invalid({"playerId": [sentence]})
    return commands.run_command(call, lambda tournament: sign_ups.wait(tournament, player_id, call.now))


def move_waiting(call: Write[money_bodies.WaitingMove]) -> Tournament:
    """Move the player in the path on the waiting list, or put them into the tournament."""
    player_id, position = call.ids[PLAYER], call.body.position
    if position:
        return commands.run_command(
            call, lambda tournament: sign_ups.move_waiting(tournament, player_id, position)
        )
    before = commands.load_tournament(call)
    claimed = roster_reads.book_players(call.db, before.details["organizer_id"], [player_id])

    def admit(tournament: Tournament) -> commands.Decision:
        def rule(dice: Random) -> list[Change]:
            return sign_ups.admit(tournament, player_id, claimed.get(player_id), dice, call.now)

        return commands.decide_by_draw(tournament, "roster", rule)

    if before.status == "started":
        return commands.run_long_command(call, admit)
    return commands.run_command(call, admit)


def remove_waiting(call: Write[Body]) -> Tournament:
    """Take the player in the path off the waiting list."""
    return commands.run_command(
        call, lambda tournament: sign_ups.remove_waiting(tournament, call.ids[PLAYER])
    )


def set_prizes(call: Write[PrizeSettings]) -> Tournament:
    """Set the prize money of the tournament in the path, or replace it."""

    def rule(tournament: Tournament) -> list[Change]:
        plan = call.body.plan()
        if call.body.from_payments:
            plan = sign_ups.filled_from_payments(tournament, plan)
        return sign_ups.set_plan(tournament, plan)

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
        lambda tournament: sign_ups.set_paid(
            tournament,
            call.ids[PLAYER],
            placed,
            is_paid=call.body.paid,
            user_id=call.actor_id,
            now=call.now,
        ),
    )
