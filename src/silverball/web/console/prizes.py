"""Prize money in the console: the form, who gets how much, who was paid, and the file."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET
from starlette.responses import Response

from silverball.kit.errors import NotAllowed, NotFound
from silverball.rules.model.tournament import PrizePlan
from silverball.rules.ranking import prizes as ranking_prizes
from silverball.service.money import reads as money_reads
from silverball.service.money.reads import money_text
from silverball.service.tables import sheet
from silverball.service.users import reads as user_reads
from silverball.web import exports, site
from silverball.web.forms import FormData, hundredths, number_fields
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.tournament_night import TournamentNight

AMOUNTS = ("entryFee", "extras", "federationFee", "houseShare", "rounding")


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The prize money with the names of those who ticked payouts, and the values of the form."""
    tournament = night.tournament
    with request.site.store.read() as db:
        prizes = money_reads.prize_sheet(tournament, money_reads.placed_players(db, night.id))
        user_ids = [] if prizes is None else [paid.user_id for paid in prizes.plan.payouts if paid.user_id]
        tickers = user_reads.existing_users(db, user_ids, request.caller)
    return {
        "prizes": prizes,
        "paid": {} if prizes is None else {paid.player_id: paid for paid in prizes.plan.payouts},
        "tickers": {user.user_id: user.name for user in tickers},
        "money": money_text,
        "paid_at_door": sum(
            entry.payment.cents for entry in tournament.sign_ups if entry.payment is not None
        ),
        "prize_values": form_values(tournament.prizes),
        "places_max": max(ranking_prizes.STANDARD_SHARES),
    }


def form_values(plan: PrizePlan | None) -> Mapping[str, Any]:
    """The values of the form; those of no prize money are those that nights usually have."""
    plan = plan or PrizePlan(shares=ranking_prizes.STANDARD_SHARES[3], rounding=100)
    return {
        "entryFee": money_text(plan.entry_fee),
        "playersPaid": "" if plan.players_paid is None else plan.players_paid,
        "extras": money_text(plan.extras),
        "federationFee": money_text(plan.federation_fee),
        "houseShare": _percent(plan.house_share),
        "shares": "\n".join(_percent(share) for share in plan.shares),
        "rounding": money_text(plan.rounding),
        "currency": plan.currency or "",
        "published": plan.is_published,
        "fromPayments": plan.payments is not UNSET,
    }


def _percent(hundredths: int) -> str:
    return money_text(hundredths).removesuffix(".00")


def settings_body(form: FormData) -> Mapping[str, Any]:
    """The body that sets the prize money: amounts in units of the currency, shares in percent."""
    shares = form.value("shares").replace("%", " ").split()
    body: dict[str, Any] = {
        **{name: hundredths(form.value(name)) for name in AMOUNTS if form.value(name).strip()},
        **number_fields(form, "playersPaid"),
        "published": bool(form.value("published")),
        "fromPayments": bool(form.value("fromPayments")),
        "currency": form.value("currency").strip().upper() or None,
    }
    places = number_fields(form, "places")
    return body | places if places else body | {"shares": [hundredths(share) for share in shares]}


def paid_body(form: FormData) -> Mapping[str, Any]:
    """The body that ticks a payout, or takes the tick back."""
    return {"paid": form.value("paid") == "on"}


@page("GET", "/t/{tournament_id}/run/prizes/csv")
def prizes_file(request: PageRequest) -> Response:
    """Prizes and payouts as CSV, for the organizer. Raises NotFound."""
    tournament_id = request.path_id("tournament_id")
    try:
        with request.site.store.read() as db:
            prizes = money_reads.load_sheet(db, tournament_id, request.caller)
            rows = money_reads.payout_rows(prizes, money_reads.names_in(db, prizes, request.caller))
    except NotFound as refusal:
        if refusal.facts["model"] == "Tournament":
            raise
        # There is no prize money yet; its page has the form.
        return redirect(f"/t/{tournament_id}/run/prizes")
    except NotAllowed:
        return site.message_page(403, "This page is the organizer's", "Only the organizer can see payouts.")
    file = sheet.csv_file(f"prizes-{tournament_id}.csv", money_reads.HEADER, rows)
    return exports.file_response(file)
