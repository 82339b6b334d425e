"""Commands of the sign-up list: sign up, wait, move up, check in, pay.

`follow_list` is run after every action, so that a place that becomes free goes to the first who waits,
whatever made it free. Source: pages, section 3.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random

from silverball.kit.errors import Conflict, Invalid, NotFound, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import best_game
from silverball.rules.format import PlayKind
from silverball.rules.mechanics import attempts, waiting_list
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    EntrantAdded,
    EntrantChanged,
    EntrantRemoved,
    EntriesBought,
    PrizePaid,
    PrizesChanged,
    SignUpAdded,
    SignUpChanged,
    SignUpRemoved,
    SignUpTermsSet,
    TournamentEdited,
    changes_between,
    tournament_changes,
)
from silverball.rules.model.refusals import NotABestGame, TournamentIsCompleted
from silverball.rules.model.tournament import (
    Card,
    Entrant,
    EntryPayment,
    Payout,
    PrizePlan,
    Purchase,
    SignUpEntry,
    SignUpTerms,
    SinglePlayerGame,
    Tournament,
)
from silverball.rules.ranking import prizes as ranking_prizes

WAITING_MAX = 1000
# An action of another kind frees no place and adds nobody.
MOVING_CHANGES = frozenset({EntrantAdded, EntrantChanged, EntrantRemoved, SignUpAdded, TournamentEdited})


class AlreadyOnList(Conflict):
    sentence = "{player} is on the list already."


class WaitingListFull(Conflict):
    sentence = "The waiting list is full. Ask the organizer."


class NotOnList(Conflict):
    sentence = "{player} is neither in the tournament nor on the waiting list. Add them first."


class EntryAlreadyPaid(Conflict):
    sentence = "{player} has paid already. Take the payment back before you record another one."


class NobodyCheckedIn(Conflict):
    sentence = "Nobody is checked in yet. Check in who is here first."


class CheckInIsOver(Conflict):
    sentence = "The tournament has started. Drop players who are not here one by one."


def take(
    tournament: Tournament, entrant: Entrant, entry: SignUpEntry, dice: Random, now: datetime
) -> list[Change]:
    """Let somebody in who signed up themselves; the entry has the time at which they did.

    Raises Conflict for who is on the list, and where nobody can join any more.
    """
    require_not_listed(tournament, entrant.player_id)
    changes = roster.add_entrants(tournament, [entrant], dice, now)
    return [*changes, *_listed(apply_changes(tournament, changes), entry)]


def wait(tournament: Tournament, player_id: int, now: datetime) -> list[Change]:
    """Put a player of the book at the end of the waiting list.

    Raises Conflict for who is on the list, and for a full waiting list.
    """
    _require_not_completed(tournament)
    require_not_listed(tournament, player_id)
    entry = _new_entry(tournament, player_id, now)
    return _listed(tournament, _last_waiting(tournament, entry))


def require_not_listed(tournament: Tournament, player_id: int) -> None:
    """Refuse a player who is in the tournament or waits for a place. Raises Conflict."""
    entry = waiting_list.entry_of(tournament, player_id)
    is_waiting = entry is not None and entry.waiting_place is not None
    if player_id in tournament.entrant_by_id or is_waiting:
        raise AlreadyOnList(player=player_id)


def _new_entry(tournament: Tournament, player_id: int, now: datetime) -> SignUpEntry:
    is_late = waiting_list.is_late(tournament, now)
    return SignUpEntry(player_id=player_id, signed_up_at=now, is_late=is_late)


def _last_waiting(tournament: Tournament, entry: SignUpEntry) -> SignUpEntry:
    waiting = waiting_list.waiting_entries(tournament)
    if len(waiting) >= WAITING_MAX:
        raise WaitingListFull
    last = waiting[-1].waiting_place if waiting else None
    return replace(entry, waiting_place=1 if last is None else last + 1)


def _listed(tournament: Tournament, entry: SignUpEntry) -> list[Change]:
    """The entry on the list; who left and had paid keeps the payment."""
    known = waiting_list.entry_of(tournament, entry.player_id)
    if known is None:
        return [SignUpAdded(entry)]
    return changes_between(SignUpChanged, known, replace(entry, payment=known.payment))


def follow_list(
    tournament: Tournament,
    changes: Sequence[Change],
    claimed: Mapping[int, int | None],
    now: datetime,
) -> list[Change]:
    """The changes that follow from these, which are applied already: free places go to those who wait.

    `claimed` is player id -> account, for those who wait and are in the organizer's book still. Who was
    added is on the list with the time, and who was removed is on it no longer, unless they have paid.
    """
    if MOVING_CHANGES.isdisjoint(map(type, changes)):
        return []
    followed: list[Change] = []
    for change in changes:
        current = apply_changes(tournament, followed)
        if isinstance(change, EntrantAdded):
            followed += _follow_added(current, change.subject.player_id, now)
        elif isinstance(change, EntrantRemoved):
            followed += _follow_removed(current, change.subject.player_id)
    current = apply_changes(tournament, followed)
    return [*followed, *_fill_places(current, claimed)]


def _follow_added(tournament: Tournament, player_id: int, now: datetime) -> list[Change]:
    if player_id not in tournament.entrant_by_id:
        return []
    entry = waiting_list.entry_of(tournament, player_id)
    if entry is not None:
        return changes_between(SignUpChanged, entry, replace(entry, waiting_place=None))
    if tournament.sign_up_terms is None:
        return []
    return [SignUpAdded(_new_entry(tournament, player_id, now))]


def _follow_removed(tournament: Tournament, player_id: int) -> list[Change]:
    entry = waiting_list.entry_of(tournament, player_id)
    if entry is None or player_id in tournament.entrant_by_id or entry.waiting_place is not None:
        return []
    if entry.payment is None:
        return [SignUpRemoved(entry)]
    return changes_between(SignUpChanged, entry, replace(entry, checked_in_at=None))


def _fill_places(tournament: Tournament, claimed: Mapping[int, int | None]) -> list[Change]:
    """Before the start, the first who wait in the places that are free."""
    if tournament.status != "planned":
        return []
    changes: list[Change] = []
    free = waiting_list.free_places(tournament)
    place = max((other.place for other in tournament.entrants), default=-1) + 1
    for entry in waiting_list.waiting_entries(tournament):
        if free <= 0:
            break
        if entry.player_id not in claimed:
            changes.append(SignUpRemoved(entry))
            continue
        user_id = claimed[entry.player_id]
        changes.append(EntrantAdded(Entrant(player_id=entry.player_id, user_id=user_id, place=place)))
        changes.append(SignUpChanged(entry, replace(entry, waiting_place=None)))
        place, free = place + 1, free - 1
    return changes


def move_waiting(tournament: Tournament, player_id: int, position: int) -> list[Change]:
    """Move somebody to this position of the waiting list, from 1. Raises NotFound and Invalid."""
    entry = _waiting_entry(tournament, player_id)
    waiting = [each for each in waiting_list.waiting_entries(tournament) if each != entry]
    if position > len(waiting) + 1:
        raise Invalid({"position": [f"The waiting list has {len(waiting) + 1} positions."]})
    waiting.insert(position - 1, entry)
    places = sorted(each.waiting_place for each in waiting if each.waiting_place is not None)
    changes: list[Change] = []
    for each, place in zip(waiting, places, strict=True):
        changes += changes_between(SignUpChanged, each, replace(each, waiting_place=place))
    return changes


def admit(
    tournament: Tournament, player_id: int, user_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Put somebody from the waiting list into the tournament, also when it is full or has started.

    Raises NotFound for who does not wait, and Conflict where nobody can join any more.
    """
    entry = _waiting_entry(tournament, player_id)
    # The list is corrected first: a late player may be drawn into a game.
    changes: list[Change] = [SignUpChanged(entry, replace(entry, waiting_place=None))]
    entrant = Entrant(player_id=player_id, user_id=user_id)
    return [*changes, *roster.add_entrants(apply_changes(tournament, changes), [entrant], dice, now)]


def remove_waiting(tournament: Tournament, player_id: int) -> list[Change]:
    """Take somebody off the waiting list. Raises NotFound for who does not wait."""
    entry = _waiting_entry(tournament, player_id)
    if entry.payment is None:
        return [SignUpRemoved(entry)]
    return [SignUpChanged(entry, replace(entry, waiting_place=None))]


def _waiting_entry(tournament: Tournament, player_id: int) -> SignUpEntry:
    _require_not_completed(tournament)
    entry = waiting_list.entry_of(tournament, player_id)
    if entry is None or entry.waiting_place is None:
        raise NotFound("Player", player_id)
    return entry


def check_in(tournament: Tournament, player_id: int, now: datetime, *, is_here: bool) -> list[Change]:
    """Tick that somebody is here, or take the tick back. Raises Conflict for who is not on the list."""
    entry = _entry_on_list(tournament, player_id)
    if is_here and entry.checked_in_at is not None:
        return []
    return _stored(tournament, replace(entry, checked_in_at=now if is_here else None))


def record_payment(tournament: Tournament, player_id: int, payment: EntryPayment) -> list[Change]:
    """Record what somebody paid at the door; no change when the same was recorded already.

    Raises Conflict for who is not on the list and for a second payment.
    """
    entry = _entry_on_list(tournament, player_id)
    if entry.payment is None:
        return _stored(tournament, replace(entry, payment=payment))
    if (entry.payment.cents, entry.payment.how) == (payment.cents, payment.how):
        return []
    raise EntryAlreadyPaid(player=player_id)


def refund_payment(tournament: Tournament, player_id: int) -> list[Change]:
    """Take a payment back, also of somebody who has left since. Raises Conflict for a stranger."""
    entry = waiting_list.entry_of(tournament, player_id)
    if entry is None or entry.payment is None:
        _entry_on_list(tournament, player_id)
        return []
    if player_id not in tournament.entrant_by_id and entry.waiting_place is None:
        return [SignUpRemoved(entry)]
    return [SignUpChanged(entry, replace(entry, payment=None))]


def _entry_on_list(tournament: Tournament, player_id: int) -> SignUpEntry:
    """The entry of an entrant or of somebody who waits; a new one for an entrant without any."""
    entry = waiting_list.entry_of(tournament, player_id)
    if player_id in tournament.entrant_by_id:
        return entry or SignUpEntry(player_id=player_id)
    if entry is None or entry.waiting_place is None:
        raise NotOnList(player=player_id)
    return entry


def _stored(tournament: Tournament, entry: SignUpEntry) -> list[Change]:
    known = waiting_list.entry_of(tournament, entry.player_id)
    if known is not None:
        return changes_between(SignUpChanged, known, entry)
    return [] if entry == SignUpEntry(player_id=entry.player_id) else [SignUpAdded(entry)]


def set_terms(tournament: Tournament, terms: SignUpTerms) -> list[Change]:
    """Set the fees; who has signed up before owes what was due then."""
    _require_not_completed(tournament)
    return tournament_changes(SignUpTermsSet, tournament, sign_up_terms=terms)


def remove_absent(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Remove the entrants who are not checked in, before the start. Raises Conflict where all are."""
    if tournament.status != "planned":
        raise CheckInIsOver
    here = {entry.player_id for entry in tournament.sign_ups if entry.checked_in_at is not None}
    if here.isdisjoint(tournament.entrant_by_id):
        raise NobodyCheckedIn
    changes: list[Change] = []
    for entrant in tournament.entrants:
        if entrant.player_id not in here:
            current = apply_changes(tournament, changes)
            changes += tournament_commands.remove_entrant(current, entrant.player_id, dice=dice, now=now)
    return changes


def _require_not_completed(tournament: Tournament) -> None:
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its sign-up list")


# Entries that players buy, are given or get refunded. Source: formats, section 19.


class EntriesClosed(Conflict):
    sentence = "The tournament is completed. Reopen it before you change entries."


class TooFewUnusedEntries(Conflict):
    sentence = "{player} has {left} unused entries. Refund no more than that."


def record_purchase(tournament: Tournament, purchase: Purchase) -> list[Change]:
    """Entries that a player buys or is given, or gets back as a refund, with a negative quantity.

    Raises WrongFormat, NotFound and Conflict. Source: formats, section 19.
    """
    if tournament_commands.format_of(tournament).play is not PlayKind.SCORES:
        raise NotABestGame
    if tournament.status == "completed":
        raise EntriesClosed
    entrant = tournament.entrant_by_id.get(purchase.player_id)
    if entrant is None:
        raise NotFound("Player", purchase.player_id)
    after = replace(entrant, entries_bought=entrant.entries_bought + purchase.quantity)
    used = len(_used_entries(tournament, entrant.player_id))
    if purchase.type == "refund" and after.entries_bought < used:
        left = max(0, entrant.entries_bought - used)
        raise TooFewUnusedEntries(player=entrant.player_id, left=left)
    return [EntriesBought(purchase), EntrantChanged(entrant, after)]


def _used_entries(tournament: Tournament, player_id: int) -> Sequence[Card] | Sequence[SinglePlayerGame]:
    """The cards of the player, or the games where there are no cards."""
    if tournament_commands.format_of(tournament).has_cards:
        return best_game.cards_of_player(tournament, player_id)
    return attempts.attempts_of_player(tournament, player_id)


# Commands of prize money: set the plan, and tick who was paid.


class PrizesArePaid(Conflict):
    sentence = "Prizes are paid out ({count}). Take that back before you change the prize money."


class PrizesNotFinal(Conflict):
    sentence = "Finish the tournament before you pay out prizes: places can still change."


class PlayerWithoutPrize(Conflict):
    sentence = "{player} has no prize."


def set_plan(tournament: Tournament, plan: PrizePlan) -> list[Change]:
    """Set the prize money, or replace it; the payouts stay.

    Raises Invalid for shares that do not sum to 100 % and for fees above the pot, Conflict when money would
    change after a prize was paid out.
    """
    _require_whole_shares(plan)
    purse = ranking_prizes.purse_of(plan, len(tournament.entrants))
    if plan.federation_fee * purse.players > purse.pot:
        sentence = "The federation's fees are more than the pot."
        raise Invalid({"federationFee": [sentence]})
    before = tournament.prizes
    if before is not None:
        plan = replace(plan, payouts=before.payouts)
        unpublished = replace(before, is_published=plan.is_published, currency=plan.currency)
        if before.payouts and unpublished != plan:
            raise PrizesArePaid(count=len(before.payouts))
    return tournament_changes(PrizesChanged, tournament, prizes=plan)


def filled_from_payments(tournament: Tournament, plan: PrizePlan) -> PrizePlan:
    """The plan with the payments of the sign-up list in place of fees."""
    paid = [entry.payment.cents for entry in tournament.sign_ups if entry.payment is not None]
    return replace(plan, entry_fee=0, players_paid=len(paid), payments=sum(paid))


def _require_whole_shares(plan: PrizePlan) -> None:
    total = sum(plan.shares)
    if total != ranking_prizes.WHOLE:
        sentence = Sentence("The shares sum to {percent} %. They must sum to 100 %.", percent=percent(total))
        raise Invalid({"shares": [sentence]})


def percent(hundredths: int) -> str:
    """Hundredths of a percent as text: 3750 is 37.5."""
    return f"{hundredths // 100}.{hundredths % 100:02d}".rstrip("0").rstrip(".")


def set_paid(
    tournament: Tournament,
    player_id: int,
    placed: Mapping[int, int],
    *,
    is_paid: bool,
    user_id: int | None,
    now: datetime,
) -> list[Change]:
    """Tick that a player was given their prize, or take the tick back.

    `placed` is player id -> position. Raises NotFound without a plan, Conflict before the end and for
    players without a prize.
    """
    plan = tournament.prizes
    if plan is None:
        raise NotFound("PrizePlan", tournament.tournament_id)
    if player_id not in tournament.entrant_by_id:
        raise NotFound("Player", player_id)
    others = tuple(payout for payout in plan.payouts if payout.player_id != player_id)
    if not is_paid:
        return tournament_changes(PrizePaid, tournament, prizes=replace(plan, payouts=others))
    if len(others) < len(plan.payouts):
        return []
    if tournament.status != "completed":
        raise PrizesNotFinal
    purse = ranking_prizes.purse_of(plan, len(tournament.entrants))
    prizes = ranking_prizes.prizes_of(plan, purse, placed)
    cents = next((prize.cents for prize in prizes if player_id in prize.player_ids), 0)
    if not cents:
        raise PlayerWithoutPrize(player=player_id)
    payout = Payout(player_id=player_id, cents=cents, user_id=user_id, paid_at=now)
    payouts = tuple(sorted((*others, payout), key=lambda paid: paid.player_id))
    return tournament_changes(PrizePaid, tournament, prizes=replace(plan, payouts=payouts))
