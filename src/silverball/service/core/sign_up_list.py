"""Changes of the sign-up list that follow from those of an action."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from silverball.rules.commands import sign_ups
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service.roster import reads as roster_reads


def following_changes(
    db: Connection, before: Tournament, changes: Sequence[Change], now: datetime
) -> list[Change]:
    """The changes of the sign-up list, and those who move up from the waiting list."""
    if sign_ups.MOVING_CHANGES.isdisjoint(map(type, changes)):
        return []
    after = apply_changes(before, changes)
    if not after.sign_ups and after.sign_up_terms is None:
        return []
    claimed: dict[int, int | None] = {}
    waiting = waiting_list.waiting_entries(after)
    if waiting and after.status == "planned" and waiting_list.free_places(after) > 0:
        ids = [entry.player_id for entry in waiting]
        claimed = roster_reads.book_players(db, after.details["organizer_id"], ids)
    return sign_ups.follow_list(after, changes, claimed, now)
