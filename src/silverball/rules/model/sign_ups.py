"""The sign-up list of a tournament: who asked to play, who waits, who is here, who paid. Money is cents."""

from datetime import datetime

from msgspec import Struct


class SignUpEntry(Struct, frozen=True, kw_only=True):
    """A person on the sign-up list: an entrant, or somebody who waits for a place."""

    player_id: int
    # Order on the waiting list, ascending and not always without gaps; None for who does not wait.
    waiting_place: int | None = None
    # None when it is not known: they were added before the list was used.
    signed_up_at: datetime | None = None
    # They owe the late fee.
    is_late: bool = False
    checked_in_at: datetime | None = None
    payment: "EntryPayment | None" = None


class EntryPayment(Struct, frozen=True, kw_only=True):
    """The fee that somebody paid at the door."""

    cents: int
    # Cash, card, or other words of a director.
    how: str
    # The account that took it; None for the service itself.
    user_id: int | None
    paid_at: datetime


class SignUpTerms(Struct, frozen=True, kw_only=True):
    """Fees of the sign-up list, and how often the code of the door was replaced."""

    fee: int = 0
    # Due beside the fee from `late_from` on, and in any case after the start.
    late_fee: int = 0
    late_from: datetime | None = None
    code_number: int = 0
