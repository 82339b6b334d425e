"""Whether players may sign themselves up, and the code that the door hands out for it."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from silverball.rules.model.tournament import Tournament

CODE_LETTERS = 12
CLOSED = "Sign-up is closed. Ask the organizer to add you."
NOT_YET = "Sign-up is not open yet. Come back later."
STARTED = "The tournament has started. Ask the organizer whether you can still join."
FULL = "The tournament is full. Ask the organizer."


def sign_up_code(tournament: Tournament) -> str:
    """The code of the tournament's sign-up link; empty when it can have none.

    It follows from the seed of the draws, which is secret until the end, and does not reveal it.
    """
    seed = tournament.state.dice_seed
    text = f"sign-up {tournament.tournament_id} {seed}"
    return hashlib.sha256(text.encode()).hexdigest()[:CODE_LETTERS] if seed else ""


def closed_reason(tournament: Tournament, now: datetime) -> str:
    """The sentence that says why nobody can sign up; empty while they can."""
    registration: Mapping[str, Any] = tournament.details["rsvp_configuration"] or {}
    opens_at, closes_at = _moment(registration, "openAtUtc"), _moment(registration, "closeAtUtc")
    limit = registration.get("playerLimit")
    if tournament.status != "planned":
        return STARTED
    if registration.get("status") != "active" or not sign_up_code(tournament):
        return CLOSED
    if opens_at is not None and now < opens_at:
        return NOT_YET
    if closes_at is not None and now >= closes_at:
        return CLOSED
    return FULL if limit is not None and len(tournament.active_ids) >= limit else ""


def _moment(registration: Mapping[str, Any], name: str) -> datetime | None:
    text = registration.get(name)
    return datetime.fromisoformat(text) if text else None
