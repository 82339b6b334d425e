"""Refuse accounts that store too much in the journal or under idempotency keys.

Counting at each write would cost every write. Each process counts once a minute (`measured_storage.py`)
and refuses those that are over; what an account adds meanwhile is bounded by its allowance of requests.
"""

from msgspec import Struct
from sqlalchemy import Connection

from silverball.kit.errors import Conflict

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
