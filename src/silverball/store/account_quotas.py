"""How much an account may have, so that nobody fills the site: a limit of 0 is none.

What is counted belongs to the organizer, whoever adds it for them.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from silverball.kit.errors import Conflict
from silverball.store.tables import player, tournament, webhook


class AccountQuotaReached(Conflict):
    sentence = (
        "An account can have {limit} {things} on this site, and this one would have {count}. Delete some,"
        " or ask whoever runs the site."
    )


def require_room_for_tournament(db: Connection, organizer_id: int, limit: int) -> None:
    """Raise AccountQuotaReached when the account has as many tournaments as it may."""
    _require_room(db, "tournaments", tournament.c.organizer_id == organizer_id, limit)


def require_room_for_players(db: Connection, organizer_id: int, limit: int, more: int = 1) -> None:
    """Raise AccountQuotaReached when the account's book has no room for so many more players."""
    if more:
        _require_at_most(db, "players", player.c.organizer_id == organizer_id, limit, more)


def require_room_for_webhook(db: Connection, organizer_id: int, limit: int) -> None:
    """Raise AccountQuotaReached when the account's tournaments have as many webhooks as they may."""
    organized = select(tournament.c.tournament_id).where(tournament.c.organizer_id == organizer_id)
    _require_room(db, "webhooks", webhook.c.tournament_id.in_(organized), limit)


def require_within_limits(db: Connection, organizer_id: int, *, tournaments: int, players: int) -> None:
    """Raise AccountQuotaReached when the account has more of these than it may, as after an import."""
    _require_at_most(db, "tournaments", tournament.c.organizer_id == organizer_id, tournaments)
    _require_at_most(db, "players", player.c.organizer_id == organizer_id, players)


def _require_room(db: Connection, things: str, is_own: ColumnElement[Any], limit: int) -> None:
    _require_at_most(db, things, is_own, limit, 1)


def _require_at_most(
    db: Connection, things: str, is_own: ColumnElement[Any], limit: int, more: int = 0
) -> None:
    if not limit:
        return
    count = db.execute(select(func.count()).where(is_own)).scalar_one() + more
    if count > limit:
        raise AccountQuotaReached(limit=limit, things=things, count=count)
