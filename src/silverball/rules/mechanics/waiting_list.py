"""Answers about the sign-up list: free places, who waits, who is late, and what is due. Money is cents."""

from datetime import datetime

from silverball.rules.model.tournament import SignUpEntry, SignUpTerms, Tournament

UNLIMITED = 1_000_000


def entry_of(tournament: Tournament, player_id: int) -> SignUpEntry | None:
    """The player's entry on the sign-up list; None for who is not on it."""
    return next((entry for entry in tournament.sign_ups if entry.player_id == player_id), None)


def waiting_entries(tournament: Tournament) -> list[SignUpEntry]:
    """The entries of the waiting list, first to last."""
    waiting = [entry for entry in tournament.sign_ups if entry.waiting_place is not None]
    return sorted(waiting, key=lambda entry: (entry.waiting_place or 0, entry.player_id))


def position_of(tournament: Tournament, player_id: int) -> int | None:
    """The player's position on the waiting list, from 1; None for who does not wait."""
    ids = [entry.player_id for entry in waiting_entries(tournament)]
    return ids.index(player_id) + 1 if player_id in ids else None


def player_limit(tournament: Tournament) -> int | None:
    """The number of players at most; None without a limit."""
    registration = tournament.details.get("rsvp_configuration") or {}
    limit: int | None = registration.get("playerLimit")
    return limit


def free_places(tournament: Tournament) -> int:
    """The number of places that are free; below 0 where there are more players than the limit."""
    limit = player_limit(tournament)
    return UNLIMITED if limit is None else limit - len(tournament.active_ids)


def is_late(tournament: Tournament, now: datetime) -> bool:
    """Whether who signs up now owes the late fee."""
    terms = tournament.sign_up_terms
    if terms is None:
        return False
    return tournament.status != "planned" or (terms.late_from is not None and now >= terms.late_from)


def fee_due(terms: SignUpTerms | None, entry: SignUpEntry | None) -> int:
    """The fee of a person in cents, whether it was paid or not."""
    if terms is None:
        return 0
    return terms.fee + (terms.late_fee if entry is not None and entry.is_late else 0)
