"""How much an account or a tournament may have, so that nobody fills the site.

What is counted belongs to the organizer, whoever adds it for them.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Table, func, select

from silverball.kit.errors import Conflict
from silverball.store.database.named_locks import take_lock
from silverball.store.tables import player, tournament, webhook


class AccountQuotaReached(Conflict):
    sentence = (
        "An account can have {limit} {things} on this site, and this one would have {count}. Delete some,"
        " or ask whoever runs the site."
    )


def require_room(
    db: Connection,
    table: Table,
    *is_counted: ColumnElement[bool],
    owner: str,
    limit: int,
    refusal: Callable[[int], Conflict],
    more: int = 1,
) -> None:
    """Raise the refusal, made with the count, when so many more rows of the owner would be too many.

    Of two writers who add for the same owner, the second counts after the first has committed.
    """
    take_lock(db, f"{table.name}s of {owner}")
    count = db.execute(select(func.count()).select_from(table).where(*is_counted)).scalar_one()
    if count + more > limit:
        raise refusal(count)


def require_room_for_tournament(db: Connection, organizer_id: int, limit: int) -> None:
    """Raise AccountQuotaReached when the account has as many tournaments as it may."""
    _require_at_most(db, tournament, tournament.c.organizer_id == organizer_id, organizer_id, limit, 1)


def require_room_for_players(db: Connection, organizer_id: int, limit: int, more: int = 1) -> None:
    """Raise AccountQuotaReached when the account's book has no room for so many more players."""
    if more:
        _require_at_most(db, player, player.c.organizer_id == organizer_id, organizer_id, limit, more)


def require_room_for_webhook(db: Connection, organizer_id: int, limit: int) -> None:
    """Raise AccountQuotaReached when the account's tournaments have as many webhooks as they may."""
    organized = select(tournament.c.tournament_id).where(tournament.c.organizer_id == organizer_id)
    _require_at_most(db, webhook, webhook.c.tournament_id.in_(organized), organizer_id, limit, 1)


def require_within_limits(db: Connection, organizer_id: int, *, tournaments: int, players: int) -> None:
    """Raise AccountQuotaReached when the account has more of these than it may, as after an import."""
    _require_at_most(db, tournament, tournament.c.organizer_id == organizer_id, organizer_id, tournaments)
    _require_at_most(db, player, player.c.organizer_id == organizer_id, organizer_id, players)


def _require_at_most(
    db: Connection, table: Table, is_own: ColumnElement[Any], organizer_id: int, limit: int, more: int = 0
) -> None:
    """Raise AccountQuotaReached beyond a limit that the site sets; 0 is none."""
    if not limit:
        return

    def refusal(count: int) -> Conflict:
        return AccountQuotaReached(limit=limit, things=f"{table.name}s", count=count + more)

    require_room(db, table, is_own, owner=f"account {organizer_id}", limit=limit, refusal=refusal, more=more)


# Refuse accounts that store too much in the journal or under idempotency keys.
#
# Counting at each write would cost every write. Each process counts once a minute (`measured_storage.py`)
# and refuses those that are over; what an account adds meanwhile is bounded by its allowance of requests.


# Execution option of every connection: the accounts that this process found to be full.
FULL = "silverball_full_accounts"


class JournalFull(Conflict):
    sentence = (
        "The tournaments of this organizer have a history of over {megabytes} MB, more than this site allows."
        " Ask whoever runs the site."
    )


class TooManyStoredReplies(Conflict):
    sentence = (
        "Your requests of the last 24 hours have stored replies of over {megabytes} MB, more than this site"
        " allows. Send them without Idempotency-Key, or later."
    )


class FullAccounts(Struct):
    """The accounts over a limit, and the limits in megabytes."""

    journal: frozenset[int] = frozenset()
    journal_megabytes: int = 0
    replies: frozenset[int] = frozenset()
    replies_megabytes: int = 0


def require_room_in_journal(db: Connection, organizer_id: int) -> None:
    """Raise JournalFull for an organizer whose tournaments' journal is too large."""
    full: FullAccounts = db.get_execution_options()[FULL]
    if organizer_id in full.journal:
        raise JournalFull(megabytes=full.journal_megabytes)


def require_room_for_reply(db: Connection, user_id: int) -> None:
    """Raise TooManyStoredReplies for an account with too many replies under idempotency keys."""
    full: FullAccounts = db.get_execution_options()[FULL]
    if user_id in full.replies:
        raise TooManyStoredReplies(megabytes=full.replies_megabytes)
