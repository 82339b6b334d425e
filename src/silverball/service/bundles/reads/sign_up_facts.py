"""The sign-up list as a bundle has it."""

from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.conversions import convert
from silverball.rules.model.sign_ups import SignUpTerms
from silverball.store import sign_up_rows, tables
from silverball_wire import times
from silverball_wire.bundle_facts import SignUpFacts, SignUpTermsFacts
from silverball_wire.sign_ups import SignUpPayment

_S, _E = tables.sign_up.c, tables.entrant.c


def load_sign_up_facts(db: Connection, tournament_id: int) -> dict[str, Any]:
    """The facts of the list by their names in EngineFacts; empty without a list."""
    rows = select(tables.sign_up).where(_S.tournament_id == tournament_id).order_by(_S.player_id)
    own = tables.tournament.c
    stored = db.execute(select(own.sign_up_terms).where(own.tournament_id == tournament_id)).scalar_one()
    entries = tuple(_fact(row) for row in db.execute(rows))
    facts: dict[str, Any] = {"sign_ups": entries} if entries else {}
    if stored is not None:
        terms = convert(stored, SignUpTerms)
        facts["sign_up_terms"] = SignUpTermsFacts(
            fee=terms.fee,
            late_fee=terms.late_fee,
            late_from=times.iso_or_none(terms.late_from),
            code_number=terms.code_number,
        )
    return facts


def _fact(row: Any) -> SignUpFacts:
    entry = sign_up_rows.to_sign_up(row)
    payment = entry.payment
    return SignUpFacts(
        player_id=entry.player_id,
        waiting_place=entry.waiting_place,
        signed_up_at=times.iso_or_none(entry.signed_up_at),
        is_late=entry.is_late,
        checked_in_at=times.iso_or_none(entry.checked_in_at),
        payment=None
        if payment is None
        else SignUpPayment(
            cents=payment.cents, how=payment.how, user_id=payment.user_id, paid_at=times.iso(payment.paid_at)
        ),
    )


def ids_beside_tournament(db: Connection, tournament_id: int) -> set[int]:
    """Ids of the people on the list who are not in the tournament."""
    entered = select(_E.player_id).where(_E.tournament_id == tournament_id)
    listed = select(_S.player_id).where(_S.tournament_id == tournament_id, _S.player_id.not_in(entered))
    return set(db.execute(listed).scalars())
