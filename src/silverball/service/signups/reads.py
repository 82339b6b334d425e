"""The sign-up list: whether players may sign themselves up, the code of the door, who waits and who paid."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.errors import NotAllowed
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.sign_ups import EntryPayment, SignUpEntry, SignUpTerms
from silverball.rules.model.tournament import Tournament
from silverball.service.access import AuthenticatedCaller
from silverball.service.directors import reads as directors
from silverball.service.exports.sheet import Cell, VerbatimText
from silverball.service.prizes.reads import money_text
from silverball.service.users import reads as users
from silverball.store import snapshot, tables
from silverball_wire import times
from silverball_wire.sign_ups import ListedPerson, SignUpList, SignUpPayment

CODE_LETTERS = 12
CLOSED = "Sign-up is closed. Ask the organizer to add you."
NOT_YET = "Sign-up is not open yet. Come back later."
STARTED = "The tournament has started. Ask the organizer whether you can still join."
FULL = "The tournament is full. Ask the organizer."
HEADER = (
    "Player ID",
    "Name",
    "Place",
    "Position",
    "Signed up at",
    "Checked in at",
    "Due",
    "Paid",
    "How",
    "By",
    "Paid at",
)


def sign_up_code(tournament: Tournament) -> str:
    """The code of the tournament's sign-up link; empty when it can have none.

    It follows from the seed of the draws, which is secret until the end, and does not reveal it; each
    replacement gives another one.
    """
    terms = tournament.sign_up_terms
    number = 0 if terms is None else terms.code_number
    return _seed_hash(tournament, f"sign-up {tournament.tournament_id}", f" {number}" if number else "")


def personal_code(tournament: Tournament, player_id: int) -> str:
    """The code of the page that shows somebody their own place; empty when there can be none."""
    return _seed_hash(tournament, f"place of {player_id} in {tournament.tournament_id}", "")


def _seed_hash(tournament: Tournament, text: str, suffix: str) -> str:
    seed = tournament.state.dice_seed
    return hashlib.sha256(f"{text} {seed}{suffix}".encode()).hexdigest()[:CODE_LETTERS] if seed else ""


def own_place(tournament: Tournament, player_id: int, code: str) -> str | None:
    """The sentence about the holder of this personal code; None when it is not the player's."""
    own = personal_code(tournament, player_id)
    if not own or not hmac.compare_digest(own.encode(), code.encode()):
        return None
    if player_id in tournament.entrant_by_id:
        return "You are in."
    position = waiting_list.position_of(tournament, player_id)
    if position is None:
        return "You are not on the list any more. Ask the organizer."
    return f"You are {ordinal(position)} on the waiting list."


def ordinal(number: int) -> str:
    """The number as a place: 1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def closed_reason(tournament: Tournament, now: datetime) -> str:
    """The sentence that says why nobody can sign up; empty while they can."""
    registration: Mapping[str, Any] = tournament.details["rsvp_configuration"] or {}
    opens_at, closes_at = _moment(registration, "openAtUtc"), _moment(registration, "closeAtUtc")
    if tournament.status != "planned":
        return STARTED
    if registration.get("status") != "active" or not sign_up_code(tournament):
        return CLOSED
    if opens_at is not None and now < opens_at:
        return NOT_YET
    if closes_at is not None and now >= closes_at:
        return CLOSED
    is_full = waiting_list.free_places(tournament) <= 0
    return FULL if is_full and not registration.get("hasWaitlist") else ""


def _moment(registration: Mapping[str, Any], name: str) -> datetime | None:
    text = registration.get(name)
    return datetime.fromisoformat(text) if text else None


def load_list(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> SignUpList:
    """The sign-up list as who runs the tournament sees it. Raises NotFound, and NotAllowed for others.

    Even reading needs the ability to manage: a reading token shows nobody's payments.
    """
    directors.require_director(db, tournament_id, viewer)
    if viewer is None or not viewer.may("manage"):
        raise NotAllowed
    return sign_up_list(db, snapshot.load(db, tournament_id))


def sign_up_list(db: Connection, tournament: Tournament) -> SignUpList:
    """The sign-up list of a loaded tournament in its published shape."""
    names = names_on_list(db, tournament)
    terms = tournament.sign_up_terms or SignUpTerms()
    people = [
        _listed_person(terms, entry, names, position) for entry, position in _entries_in_order(tournament)
    ]
    return SignUpList(
        tournament_id=tournament.tournament_id,
        code=sign_up_code(tournament),
        player_limit=waiting_list.player_limit(tournament),
        fee=terms.fee,
        late_fee=terms.late_fee,
        late_from=times.iso_or_none(terms.late_from),
        people=tuple(people),
        paid_total=sum(person.payment.cents for person in people if person.payment is not None),
        unpaid_players=sum(
            person.place == "in" and person.due > 0 and person.payment is None for person in people
        ),
    )


def _entries_in_order(tournament: Tournament) -> list[tuple[SignUpEntry, int | None]]:
    """The entries with positions: 0 for players, from 1 for who waits, None for who left and had paid."""
    entered = tournament.entrant_by_id
    known = {entry.player_id: entry for entry in tournament.sign_ups}
    waiting = waiting_list.waiting_entries(tournament)
    listed = {*entered, *(entry.player_id for entry in waiting)}
    return [
        *((known.get(player_id, SignUpEntry(player_id=player_id)), 0) for player_id in entered),
        *((entry, position) for position, entry in enumerate(waiting, start=1)),
        *((entry, None) for entry in tournament.sign_ups if entry.player_id not in listed),
    ]


def _listed_person(
    terms: SignUpTerms, entry: SignUpEntry, names: Mapping[int, str], position: int | None
) -> ListedPerson:
    return ListedPerson(
        player_id=entry.player_id,
        name=names.get(entry.player_id, ""),
        place="out" if position is None else "waiting" if position else "in",
        position=position or None,
        signed_up_at=times.iso_or_none(entry.signed_up_at),
        checked_in_at=times.iso_or_none(entry.checked_in_at),
        late=entry.is_late,
        due=0 if position is None else waiting_list.fee_due(terms, entry),
        payment=None if entry.payment is None else _published_payment(entry.payment),
    )


def _published_payment(payment: EntryPayment) -> SignUpPayment:
    return SignUpPayment(
        cents=payment.cents, how=payment.how, user_id=payment.user_id, paid_at=times.iso(payment.paid_at)
    )


def names_on_list(db: Connection, tournament: Tournament) -> dict[int, str]:
    """Player id -> name in the book, for players and for all who are on the list."""
    ids = {*tournament.entrant_by_id, *(entry.player_id for entry in tournament.sign_ups)}
    player = tables.player.c
    rows = select(player.player_id, player.name).where(player.player_id.in_(ids))
    return {row.player_id: row.name for row in db.execute(rows)}


def receiver_names(db: Connection, listed: SignUpList, viewer: AuthenticatedCaller | None) -> dict[int, str]:
    """Account id -> name, for the accounts that took the payments."""
    payments = [person.payment for person in listed.people if person.payment is not None]
    user_ids = sorted({payment.user_id for payment in payments if payment.user_id is not None})
    return {user.user_id: user.name for user in users.existing_users(db, user_ids, viewer)}


def list_rows(listed: SignUpList, user_names: Mapping[int, str]) -> list[tuple[Cell, ...]]:
    """One row per person on the list."""
    return [
        (
            person.player_id,
            person.name,
            person.place,
            person.position,
            _verbatim(person.signed_up_at),
            _verbatim(person.checked_in_at),
            VerbatimText(money_text(person.due)),
            *_payment_cells(person.payment, user_names),
        )
        for person in listed.people
    ]


def _payment_cells(payment: SignUpPayment | None, user_names: Mapping[int, str]) -> tuple[Cell, ...]:
    if payment is None:
        return (None, None, None, None)
    name = user_names.get(payment.user_id or 0)
    return (VerbatimText(money_text(payment.cents)), payment.how, name, _verbatim(payment.paid_at))


def _verbatim(text: str | None) -> Cell:
    return None if text is None else VerbatimText(text)
