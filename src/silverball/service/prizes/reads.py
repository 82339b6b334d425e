"""Prize money: all of it for organizers, the table for everybody once it is published."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.kit.conversions import convert
from silverball.kit.errors import NotAllowed, NotFound
from silverball.rules.model.prizes import Payout, PrizePlan
from silverball.rules.model.tournament import Tournament
from silverball.rules.prizes import sharing
from silverball.rules.prizes.sharing import Prize, Purse
from silverball.service.access import AuthenticatedCaller
from silverball.service.directors import reads as directors
from silverball.service.exports.sheet import Cell, VerbatimText
from silverball.service.players import reads as players
from silverball.service.standings import reads as standings
from silverball.store import tables
from silverball_wire import times
from silverball_wire.prizes import PlacePrize, PrizeMoney, PrizePayout, PrizeTable

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
        return sharing.remainder_of(self.purse, self.prizes)

    @property
    def total(self) -> int:
        """All prizes together."""
        return self.purse.shared - self.remainder


def placed_players(db: Connection, tournament_id: int) -> dict[int, int]:
    """Player id -> place in the standings; empty before the start."""
    return {row.player_id: row.position for row in standings.decoded_standings(db, tournament_id)}


def prize_sheet(tournament: Tournament, placed: Mapping[int, int]) -> PrizeSheet | None:
    """The prize money of a loaded tournament with these places; None where there is none."""
    plan = tournament.prizes
    if plan is None:
        return None
    purse = sharing.purse_of(plan, len(tournament.entrants))
    return PrizeSheet(
        tournament_id=tournament.tournament_id,
        is_final=tournament.status == "completed",
        plan=plan,
        purse=purse,
        prizes=sharing.prizes_of(plan, purse, placed),
    )


def load_sheet(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> PrizeSheet:
    """The prize money as who runs the tournament sees it. Raises NotFound, and NotAllowed for others.

    Even reading needs the ability to manage: a reading token shows nobody's payments.
    """
    directors.require_director(db, tournament_id, viewer)
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
        prizes=_place_prizes(sheet),
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
    purse = sharing.purse_of(plan, row.players)
    return PrizeSheet(
        tournament_id=tournament_id,
        is_final=row.status == "completed",
        plan=plan,
        purse=purse,
        prizes=sharing.prizes_of(plan, purse, placed_players(db, tournament_id)),
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
        prizes=_place_prizes(sheet),
        prizes_total=sheet.total,
        remainder=sheet.remainder,
        payouts=tuple(prize_payout(paid) for paid in plan.payouts),
        paid_total=sum(paid.cents for paid in plan.payouts),
    )


def prize_payout(paid: Payout) -> PrizePayout:
    """The payout in its published shape."""
    return PrizePayout(
        player_id=paid.player_id, cents=paid.cents, user_id=paid.user_id, paid_at=times.iso(paid.paid_at)
    )


def _place_prizes(sheet: PrizeSheet) -> tuple[PlacePrize, ...]:
    return tuple(
        PlacePrize(
            position=prize.position,
            last_position=prize.last_position,
            player_ids=prize.player_ids,
            share=prize.share,
            cents=prize.cents,
        )
        for prize in sheet.prizes
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
                None if payout is None else VerbatimText(times.iso(payout.paid_at)),
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
