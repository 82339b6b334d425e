"""The sign-up list is changed: by players on the public page, and by who runs the tournament."""

import hmac
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, UnsetType
from sqlalchemy import Connection

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Name
from silverball.kit.values import convert, replace
from silverball.rules.commands import sign_ups
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Entrant, EntryPayment, SignUpTerms, Tournament
from silverball.service.core import commands, enact, loaded
from silverball.service.core.calls import Write
from silverball.service.core.enact import ActionContext
from silverball.service.money import bodies as money_bodies
from silverball.service.money import reads
from silverball.service.money.bodies import PaidMark, PrizeSettings
from silverball.service.money.reads import PrizeSheet
from silverball.service.players import reads as players
from silverball.service.roster import reads as roster_reads
from silverball.service.standings.reads import standings
from silverball.store.counts import quotas
from silverball.store.database.transaction import Transaction
from silverball.store.people import book
from silverball.store.tournament import chain

PLAYER = "player_id"


class SignUpClosed(Conflict):
    sentence = "{reason}"


class SignUpCodeWrong(NotAllowed):
    sentence = "This code is not the one of the door. Scan it once more."


class AlreadySignedUp(Conflict):
    sentence = "{name} is on the list already. If that is somebody else, add an initial to your name."


class NameNotUnique(Conflict):
    sentence = "The organizer knows several people called {name}. Ask them to add you."


class SignUp(Struct, frozen=True, kw_only=True):
    """A name and the code of the door, as they were sent."""

    name: str
    code: str


class SignedUp(Struct, frozen=True, kw_only=True):
    """A person on the list: name, code of their own page, and position if they wait."""

    player_id: int
    name: str
    code: str
    position: int | None
    # As it is with them.
    tournament: Tournament


def sign_up(
    transaction: Transaction,
    tournament_id: int,
    sent: SignUp,
    *,
    players_max: int,
    source: str,
    now: datetime,
) -> SignedUp:
    """Add the sender to the planned tournament or to its waiting list. `players_max`: of the book.

    Raises Conflict while nobody can sign up and for a name that is taken, NotAllowed for a wrong code.
    """
    before = loaded.load_for_change(transaction, tournament_id)
    tournament = before.tournament
    if reason := reads.closed_reason(tournament, now):
        raise SignUpClosed(reason=reason)
    own_code = reads.sign_up_code(transaction.connection, tournament)
    if not hmac.compare_digest(sent.code.strip().encode(), own_code.encode()):
        raise SignUpCodeWrong
    quotas.require_room_in_journal(transaction.connection, tournament.details["organizer_id"])
    name = _valid_name(sent.name)
    entrant = _entrant(transaction.connection, tournament, name, players_max)
    decision = commands.decide_by_draw(
        tournament, "roster", lambda dice: sign_ups.sign_up(tournament, entrant, dice, now)
    )
    context = ActionContext(actor_id=None, source=source, now=now)
    after = enact.enact(
        transaction,
        tournament_id,
        decision.changes,
        context,
        dice_seed=decision.dice_seed,
        before=before,
    )
    return SignedUp(
        player_id=entrant.player_id,
        name=name,
        code=reads.personal_code(transaction.connection, tournament, entrant.player_id),
        position=waiting_list.position_of(after, entrant.player_id),
        tournament=after,
    )


def _valid_name(text: str) -> str:
    # PostgreSQL stores no NUL.
    words = text.replace("\x00", " ").split()
    try:
        return convert(" ".join(words), Name)
    except msgspec.ValidationError as error:
        raise Invalid({"name": ["Enter your name, in at most 100 letters."]}) from error


def _entrant(db: Connection, tournament: Tournament, name: str, players_max: int) -> Entrant:
    """The player of this name in the organizer's book, who is added to it first if need be."""
    organizer_id = tournament.details["organizer_id"]
    known_ids = players.ids_by_name(db, organizer_id, [name])[name]
    waiting = {entry.player_id for entry in waiting_list.waiting_entries(tournament)}
    listed = waiting | tournament.entrant_by_id.keys()
    free_ids = [player_id for player_id in known_ids if player_id not in listed]
    if known_ids and not free_ids:
        raise AlreadySignedUp(name=name)
    if len(free_ids) > 1:
        raise NameNotUnique(name=name)
    if free_ids:
        claimed = roster_reads.book_players(db, organizer_id, free_ids)
        return Entrant(player_id=free_ids[0], user_id=claimed[free_ids[0]])
    quotas.require_room_for_players(db, organizer_id, players_max, 1)
    row = chain.with_name_digest({"name": name, "ifpa_id": None, "status": "active", "labels": []})
    return Entrant(player_id=book.add(db, book.PLAYER, organizer_id, row))


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
    player_id, body = call.ids[PLAYER], call.body

    def rule(tournament: Tournament) -> list[Change]:
        changes: list[Change] = []
        current = tournament
        if not isinstance(body.here, UnsetType):
            changes = sign_ups.check_in(tournament, player_id, call.now, is_here=body.here)
            current = apply_changes(tournament, changes)
        if body.payment is None:
            changes += sign_ups.refund_payment(current, player_id)
        elif not isinstance(body.payment, UnsetType):
            payment = EntryPayment(
                cents=body.payment.cents, how=body.payment.how, user_id=call.actor_id, paid_at=call.now
            )
            changes += sign_ups.record_payment(current, player_id, payment)
        return changes

    return commands.run_command(call, rule)


def remove_absent(call: Write[Body]) -> Tournament:
    """Remove the players who are not checked in."""

    def rule(tournament: Tournament) -> commands.Decision:
        return commands.decide_by_draw(
            tournament, "roster", lambda dice: sign_ups.remove_absent(tournament, dice, call.now)
        )

    return commands.run_command(call, rule)


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
