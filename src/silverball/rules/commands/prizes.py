"""Commands of prize money: set the plan, and tick who was paid. Each returns changes or refuses."""

from collections.abc import Mapping
from datetime import datetime

from silverball.kit.errors import Conflict, Invalid, NotFound, Sentence
from silverball.kit.values import replace
from silverball.rules.model.changes import Change, PrizePaid, PrizesChanged, tournament_changes
from silverball.rules.model.prizes import Payout, PrizePlan
from silverball.rules.model.tournament import Tournament
from silverball.rules.prizes import sharing


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
    purse = sharing.purse_of(plan, len(tournament.entrants))
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
    if total != sharing.WHOLE:
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
    purse = sharing.purse_of(plan, len(tournament.entrants))
    prizes = sharing.prizes_of(plan, purse, placed)
    cents = next((prize.cents for prize in prizes if player_id in prize.player_ids), 0)
    if not cents:
        raise PlayerWithoutPrize(player=player_id)
    payout = Payout(player_id=player_id, cents=cents, user_id=user_id, paid_at=now)
    payouts = tuple(sorted((*others, payout), key=lambda paid: paid.player_id))
    return tournament_changes(PrizePaid, tournament, prizes=replace(plan, payouts=payouts))
