"""The sign-up list as rows."""

from typing import Any

from silverball.rules.model.sign_ups import EntryPayment, SignUpEntry


def to_sign_up(row: Any) -> SignUpEntry:
    return SignUpEntry(
        player_id=row.player_id,
        waiting_place=row.waiting_place,
        signed_up_at=row.signed_up_at,
        is_late=bool(row.is_late),
        checked_in_at=row.checked_in_at,
        payment=None
        if row.paid_cents is None
        else EntryPayment(
            cents=row.paid_cents, how=row.paid_how or "", user_id=row.paid_to, paid_at=row.paid_at
        ),
    )


def sign_up_values(entry: SignUpEntry) -> dict[str, Any]:
    payment = entry.payment
    return {
        "player_id": entry.player_id,
        "waiting_place": entry.waiting_place,
        "signed_up_at": entry.signed_up_at,
        "is_late": entry.is_late,
        "checked_in_at": entry.checked_in_at,
        "paid_cents": None if payment is None else payment.cents,
        "paid_how": None if payment is None else payment.how,
        "paid_to": None if payment is None else payment.user_id,
        "paid_at": None if payment is None else payment.paid_at,
    }
