"""The sign-up list (terms, door code, who waits, who paid), and the prize money: public once published."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from sqlalchemy import Connection, func, select

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.values import compile_copy, convert
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.tournament import (
    EntryPayment,
    Payout,
    PrizePlan,
    SignUpEntry,
    SignUpTerms,
    Tournament,
)
from silverball.rules.ranking import prizes
from silverball.rules.ranking.prizes import Prize, Purse
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.players import reads as players
from silverball.service.standings.reads import standings
from silverball.service.tables.sheet import Cell, VerbatimText
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.people import person_numbers
from silverball.store.tournament import code_secrets, sign_up_requests, snapshot
from silverball.store.tournament.sign_up_requests import SignUpRequest
from silverball_wire import base
from silverball_wire.prizes import (
    ListedPerson,
    PlacePrize,
    PrizeMoney,
    PrizePayout,
    PrizeTable,
    SignUpList,
    SignUpPayment,
)

_place_prize = compile_copy(PlacePrize)
HEADER = ("Place", "Player ID", "Name", "Share", "Prize", "Currency", "Paid", "Paid at")


class PrizesNotPublished(NotAllowed):
    """The organizer shows the prize money to nobody yet."""

    sentence = "The organizer has not published the prize money."


class PrizeSheet(Struct, frozen=True, kw_only=True):
    """The plan of a tournament with what follows from it."""

    tournament_id: int
    is_final: bool
    plan: PrizePlan
    purse: Purse
    prizes: tuple[Prize, ...]

    @property
    def remainder(self) -> int:
        return prizes.remainder_of(self.purse, self.prizes)

    @property
    def total(self) -> int:
        """All prizes together."""
        return self.purse.shared - self.remainder

    @property
    def paid_otherwise(self) -> dict[int, int]:
        """Player id -> prize by the places of now, for those who were paid another one."""
        due = {player_id: prize.cents for prize in self.prizes for player_id in prize.player_ids}
        paid = {payout.player_id: payout.cents for payout in self.plan.payouts}
        return {
            player_id: due.get(player_id, 0)
            for player_id, cents in paid.items()
            if due.get(player_id, 0) != cents
        }


def placed_players(db: Connection, tournament_id: int) -> dict[int, int]:
    """Player id -> place in the standings; empty before the start."""
    return {row.player_id: row.position for row in standings.decoded_standings(db, tournament_id)}


def prize_sheet(tournament: Tournament, placed: Mapping[int, int]) -> PrizeSheet | None:
    """The prize money of a loaded tournament with these places; None where there is none."""
    plan = tournament.prizes
    if plan is None:
        return None
    purse = prizes.purse_of(plan, len(tournament.entrants))
    return PrizeSheet(
        tournament_id=tournament.tournament_id,
        is_final=tournament.status == "completed",
        plan=plan,
        purse=purse,
        prizes=prizes.prizes_of(plan, purse, placed),
    )


def load_sheet(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> PrizeSheet:
    """The prize money as who runs the tournament sees it. Raises NotFound, and NotAllowed for others.

    Even reading needs the ability to manage: a reading token shows nobody's payments.
    """
    users.require_director(db, tournament_id, viewer)
    if viewer is None or not viewer.may("manage"):
        raise NotAllowed
    row = _prize_row(db, tournament_id)
    if row.prizes is None:
        raise NotFound("PrizePlan", tournament_id)
    return _sheet_of(db, tournament_id, row)


def published_table(db: Connection, tournament_id: int) -> PrizeTable:
    """The published prizes. Raises NotFound, and NotAllowed until it is published."""
    row = _prize_row(db, tournament_id)
    if row.prizes is None or not row.prizes["is_published"]:
        raise PrizesNotPublished
    sheet = _sheet_of(db, tournament_id, row)
    return PrizeTable(
        tournament_id=tournament_id,
        currency=sheet.plan.currency,
        final=sheet.is_final,
        prizes=tuple(map(_place_prize, sheet.prizes)),
        prizes_total=sheet.total,
    )


def _prize_row(db: Connection, tournament_id: int) -> Any:
    """The columns of a tournament that its prize money needs. Raises NotFound."""
    own, entered = tables.tournament.c, tables.entrant.c
    players = select(func.count()).where(entered.tournament_id == own.tournament_id).scalar_subquery()
    columns = select(own.status, own.prizes, players.label("players"))
    row = db.execute(columns.where(own.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    return row


def _sheet_of(db: Connection, tournament_id: int, row: Any) -> PrizeSheet:
    plan = convert(row.prizes, PrizePlan)
    purse = prizes.purse_of(plan, row.players)
    return PrizeSheet(
        tournament_id=tournament_id,
        is_final=row.status == "completed",
        plan=plan,
        purse=purse,
        prizes=prizes.prizes_of(plan, purse, placed_players(db, tournament_id)),
    )


def prize_money(sheet: PrizeSheet) -> PrizeMoney:
    """The prize money in its published shape."""
    plan, purse = sheet.plan, sheet.purse
    return PrizeMoney(
        tournament_id=sheet.tournament_id,
        currency=plan.currency,
        published=plan.is_published,
        final=sheet.is_final,
        entry_fee=plan.entry_fee,
        players_paid=plan.players_paid,
        players=purse.players,
        payments=plan.payments,
        extras=plan.extras,
        pot=purse.pot,
        federation_fee=plan.federation_fee,
        federation_fees=purse.federation_fees,
        house_share=plan.house_share,
        house=purse.house,
        shares=plan.shares,
        rounding=plan.rounding,
        prizes=tuple(map(_place_prize, sheet.prizes)),
        prizes_total=sheet.total,
        remainder=sheet.remainder,
        payouts=tuple(
            prize_payout(paid, sheet.paid_otherwise.get(paid.player_id, UNSET)) for paid in plan.payouts
        ),
        paid_total=sum(paid.cents for paid in plan.payouts),
    )


def prize_payout(paid: Payout, due: int | UnsetType = UNSET) -> PrizePayout:
    """The payout in its published shape, with the prize of now where that is another one."""
    return PrizePayout(
        player_id=paid.player_id,
        cents=paid.cents,
        due=due,
        user_id=paid.user_id,
        paid_at=base.iso(paid.paid_at),
    )


def payout_rows(sheet: PrizeSheet, player_names: Mapping[int, str]) -> list[tuple[Cell, ...]]:
    """One row per player with a prize, then those who were paid and have none any more."""
    paid = {payout.player_id: payout for payout in sheet.plan.payouts}
    due = {player_id: prize for prize in sheet.prizes for player_id in prize.player_ids}
    rows: list[tuple[Cell, ...]] = []
    for player_id in (*due, *(player_id for player_id in paid if player_id not in due)):
        prize, payout = due.get(player_id), paid.get(player_id)
        rows.append(
            (
                None if prize is None else prize.position,
                player_id,
                player_names.get(player_id, ""),
                None if prize is None else VerbatimText(money_text(prize.share)),
                VerbatimText(money_text(0 if prize is None else prize.cents)),
                sheet.plan.currency,
                None if payout is None else VerbatimText(money_text(payout.cents)),
                None if payout is None else VerbatimText(base.iso(payout.paid_at)),
            )
        )
    return rows


def money_text(cents: int) -> str:
    """Cents as an amount with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"


def names_in(db: Connection, sheet: PrizeSheet, viewer: AuthenticatedCaller | None) -> Mapping[int, str]:
    """Player id -> name, for the players of the tournament."""
    entrants = players.entrants(db, sheet.tournament_id, viewer)
    return {player.player_id: player.name for player in entrants}


CODE_LETTERS = 12
CLOSED = "Sign-up is closed. Ask the organizer to add you."
NOT_YET = "Sign-up is not open yet. Come back later."
STARTED = "The tournament has started. Ask the organizer whether you can still join."
FULL = "The tournament is full. Ask the organizer."
SIGN_UP_HEADER = (
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


def sign_up_code(db: Connection, tournament: Tournament) -> str:
    """The code of the tournament's sign-up link; empty when it can have none.

    It stays through reopenings; each replacement gives another one.
    """
    terms = tournament.sign_up_terms
    number = 0 if terms is None else terms.code_number
    return _secret_hash(db, tournament, f"sign-up {tournament.tournament_id}", f" {number}" if number else "")


def personal_code(db: Connection, tournament: Tournament, player_id: int) -> str:
    """The code of the page that shows somebody their own place; empty when there can be none."""
    return _secret_hash(db, tournament, f"place of {player_id} in {tournament.tournament_id}", "")


def _secret_hash(db: Connection, tournament: Tournament, text: str, suffix: str) -> str:
    if not tournament.state.dice_seed:
        return ""
    # Codes of an older version were made from the seed of the draws, and are on paper.
    secret = code_secrets.find_secret(db, tournament.tournament_id) or tournament.state.dice_seed
    return hashlib.sha256(f"{text} {secret}{suffix}".encode()).hexdigest()[:CODE_LETTERS]


def request_code(db: Connection, tournament: Tournament, sign_up_id: int) -> str:
    """The code of the page that shows somebody what became of their sign-up."""
    return _secret_hash(db, tournament, f"sign-up {sign_up_id} for {tournament.tournament_id}", "")


class OwnPlace(Struct, frozen=True, kw_only=True):
    """A name and a sentence for the holder of a personal code."""

    name: str
    sentence: str


def own_place(db: Connection, tournament: Tournament, number: int, code: str) -> OwnPlace | None:
    """The place of the holder of this code of a sign-up; None when it is not theirs.

    Links of earlier versions have the id of the player in place of that of the sign-up.
    """
    own = request_code(db, tournament, number)
    if own and hmac.compare_digest(own.encode(), code.encode()):
        return _place_of_request(db, tournament, number)
    own = personal_code(db, tournament, number)
    if own and hmac.compare_digest(own.encode(), code.encode()):
        return _place_of_player(db, tournament, number)
    return None


def _place_of_player(db: Connection, tournament: Tournament, player_id: int) -> OwnPlace:
    name = names_on_list(db, tournament).get(player_id, "")
    return OwnPlace(name=name, sentence=place_sentence(tournament, player_id))


def _place_of_request(db: Connection, tournament: Tournament, sign_up_id: int) -> OwnPlace | None:
    for request, position in untaken(db, tournament):
        if request.sign_up_id == sign_up_id:
            return OwnPlace(name=request.name, sentence=position_sentence(position))
    settled = sign_up_requests.find(db, tournament.tournament_id, sign_up_id)
    return None if settled is None else _place_of_player(db, tournament, settled.player_id or 0)


def untaken(db: Connection, tournament: Tournament) -> list[tuple[SignUpRequest, int | None]]:
    """The sign-ups that were not taken yet, each with its position on the waiting list.

    None for who has a place; after the start nobody has, because each waits for a tap.
    """
    free = max(0, waiting_list.free_places(tournament)) if tournament.status == "planned" else 0
    before = len(waiting_list.waiting_entries(tournament)) - free + 1
    pending = sign_up_requests.pending(db, tournament.tournament_id)
    return [(request, None if number < free else before + number) for number, request in enumerate(pending)]


def place_sentence(tournament: Tournament, player_id: int) -> str:
    """The sentence that tells somebody where they stand."""
    if player_id in tournament.entrant_by_id:
        return "You are in."
    position = waiting_list.position_of(tournament, player_id)
    if position is None:
        return "You are not on the list any more. Ask the organizer."
    return position_sentence(position)


def position_sentence(position: int | None) -> str:
    """The sentence for somebody on the list; None for who has a place."""
    return "You are in." if position is None else f"You are {ordinal(position)} on the waiting list."


def ordinal(number: int) -> str:
    """The number as a place: 1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def closed_reason(tournament: Tournament, now: datetime, pending: int = 0) -> str:
    """The sentence that says why nobody can sign up; empty while they can.

    `pending`: how many have signed up and were not taken yet.
    """
    registration: Mapping[str, Any] = tournament.details["rsvp_configuration"] or {}
    opens_at, closes_at = _moment(registration, "openAtUtc"), _moment(registration, "closeAtUtc")
    if tournament.status != "planned":
        return STARTED
    if registration.get("status") != "active" or not tournament.state.dice_seed:
        return CLOSED
    if opens_at is not None and now < opens_at:
        return NOT_YET
    if closes_at is not None and now >= closes_at:
        return CLOSED
    is_full = waiting_list.free_places(tournament) <= pending
    return FULL if is_full and not registration.get("hasWaitlist") else ""


def _moment(registration: Mapping[str, Any], name: str) -> datetime | None:
    text = registration.get(name)
    return datetime.fromisoformat(text) if text else None


def load_list(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> SignUpList:
    """The sign-up list as who runs the tournament sees it. Raises NotFound, and NotAllowed for others.

    Even reading needs the ability to manage: a reading token shows nobody's payments.
    """
    users.require_director(db, tournament_id, viewer)
    if viewer is None or not viewer.may("manage"):
        raise NotAllowed
    return sign_up_list(db, snapshot.load(db, tournament_id))


def sign_up_list(db: Connection, tournament: Tournament) -> SignUpList:
    """The sign-up list of a loaded tournament in its published shape."""
    names = names_on_list(db, tournament)
    terms = tournament.sign_up_terms or SignUpTerms()
    people = [
        ListedPerson(
            player_id=entry.player_id,
            sign_up_id=None,
            name=names.get(entry.player_id, ""),
            place="out" if position is None else "waiting" if position else "in",
            position=position or None,
            signed_up_at=base.iso_or_none(entry.signed_up_at),
            checked_in_at=base.iso_or_none(entry.checked_in_at),
            late=entry.is_late,
            due=0 if position is None else waiting_list.fee_due(terms, entry),
            payment=None if entry.payment is None else _published_payment(entry.payment),
        )
        for entry, position in _entries_in_order(tournament)
    ]
    requests = untaken(db, tournament)
    numbers = {request.ifpa_id for request, _ in requests if request.ifpa_id is not None}
    holders = person_numbers.holders(db, tournament.details["organizer_id"], numbers) if numbers else {}
    people += [
        _listed_request(terms, request, position, tuple(holders.get(request.ifpa_id or 0, ())))
        for request, position in requests
    ]
    return SignUpList(
        tournament_id=tournament.tournament_id,
        code=sign_up_code(db, tournament),
        player_limit=waiting_list.player_limit(tournament),
        fee=terms.fee,
        late_fee=terms.late_fee,
        late_from=base.iso_or_none(terms.late_from),
        people=tuple(people),
        paid_total=sum(person.payment.cents for person in people if person.payment is not None),
        unpaid_players=sum(
            person.place == "in" and person.due > 0 and person.payment is None for person in people
        ),
    )


def _listed_request(
    terms: SignUpTerms, request: SignUpRequest, position: int | None, may_be: tuple[int, ...]
) -> ListedPerson:
    return ListedPerson(
        player_id=None,
        sign_up_id=request.sign_up_id,
        name=request.name,
        place="signed-up" if position is None else "waiting",
        position=position,
        signed_up_at=base.iso(request.signed_up_at),
        checked_in_at=None,
        late=request.is_late,
        due=terms.fee + (terms.late_fee if request.is_late else 0),
        payment=None,
        proposed_number=UNSET if request.ifpa_id is None else request.ifpa_id,
        may_be=UNSET if request.ifpa_id is None else may_be,
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


def _published_payment(payment: EntryPayment) -> SignUpPayment:
    return SignUpPayment(
        cents=payment.cents, how=payment.how, user_id=payment.user_id, paid_at=base.iso(payment.paid_at)
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
