"""Delete what an account made, in transactions of one tournament each: a server may run meanwhile."""

import contextlib
from datetime import datetime

from msgspec import Struct

from silverball.kit.errors import Conflict
from silverball.service.accounts.writes import spam, suspension
from silverball.service.submissions.writes import moving
from silverball.service.tournaments.reads import belongings
from silverball.service.tournaments.writes import tournaments
from silverball.store import rating_days
from silverball.store.engine import Store

REJECTED = "The account that sent it was suspended."


class CleanedAccount(Struct, frozen=True):
    """The counts of what was deleted, and of what stays because others use it."""

    tournaments: int
    rows: int
    tournaments_kept: tuple[int, ...]
    rows_kept: int


def clean_account(store: Store, user_id: int, now: datetime) -> CleanedAccount:
    """Suspend the account, and delete what it made. Raises NotFound.

    A command that was cut off can be given again. Tournaments that others link to stay.
    """
    with store.write() as transaction:
        suspension.suspend(transaction, user_id, now=now)
    with store.read() as db:
        made, sent = spam.made_tournaments(db, user_id), spam.sent_submissions(db, user_id)
    kept = [tournament_id for tournament_id in made if not _remove(store, tournament_id, user_id)]
    for submission_id in sent:
        with contextlib.suppress(Conflict), store.write() as transaction:
            moving.reject_submission(transaction.connection, submission_id, REJECTED, now)
    with store.write() as transaction:
        db = transaction.connection
        rows = spam.delete_book(transaction, user_id)
        count = len(made) - len(kept)
        spam.record_cleaning(db, user_id, now=now, tournaments=count, rows=rows)
        rows_kept = spam.count_book(db, user_id)
    return CleanedAccount(count, rows, tuple(kept), rows_kept)


def _remove(store: Store, tournament_id: int, user_id: int) -> bool:
    with store.write(tournament_id) as transaction:
        db = transaction.connection
        spam.remove_links(db, tournament_id, user_id)
        if belongings.linking_tournaments(db, tournament_id):
            return False
        # The results of that day are rated again without it.
        rating_days.mark_tournament(db, tournament_id)
        tournaments.remove_tournament(transaction, tournament_id)
    return True
