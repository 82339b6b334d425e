"""Sentences and short lines about changes of the sign-up list. Payments are in cents."""

from collections.abc import Callable, Mapping
from typing import Any

ChangeData = Mapping[str, Any]
# Player id -> name.
PlayerName = Callable[[int | None], str]


def added_sentence(entry: ChangeData, player: PlayerName) -> str:
    """The sentence about a new entry of the list."""
    name = player(entry["player_id"])
    if entry.get("payment"):
        return f"{name} paid {_paid_text(entry['payment'])}."
    if entry.get("waiting_place") is not None:
        return f"{name} is on the waiting list."
    return f"{name} is {'here' if entry.get('checked_in_at') else 'on the sign-up list'}."


def removed_sentence(entry: ChangeData, player: PlayerName) -> str:
    """The sentence about an entry that is on the list no longer."""
    name = player(entry["player_id"])
    if entry.get("payment"):
        return f"{name} got {_paid_text(entry['payment'])} back."
    waited = entry.get("waiting_place") is not None
    return f"{name} is {'not on the waiting list' if waited else 'off the sign-up list'} any more."


def changed_sentence(before: ChangeData, after: ChangeData, player: PlayerName) -> str:
    """The sentence about an entry that changed."""
    name = player(after["player_id"])
    old, new = before.get("payment"), after.get("payment")
    if new and not old:
        return f"{name} paid {_paid_text(new)}."
    if old and not new:
        return f"{name} got {_paid_text(old)} back."
    waited, waits = before.get("waiting_place"), after.get("waiting_place")
    if waits is None and waited is not None:
        return f"{name} waits no longer."
    if waits != waited:
        return f"{name} moved on the waiting list."
    if before.get("checked_in_at") != after.get("checked_in_at"):
        return f"{name} is {'here' if after.get('checked_in_at') else 'not here'}."
    return f"{name}'s sign-up changed."


def terms_sentence(before: ChangeData | None, after: ChangeData | None) -> str:
    """The sentence about fees or a code that changed."""
    if (before or {}).get("code_number", 0) != (after or {}).get("code_number", 0):
        return "The code of the sign-up was replaced."
    fee, late = (after or {}).get("fee", 0), (after or {}).get("late_fee", 0)
    return f"Fee set to {_amount(fee)}, late fee to {_amount(late)}."


def _paid_text(payment: ChangeData) -> str:
    return f"{_amount(payment['cents'])} ({payment['how']})"


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
