"""Erase accounts, and do what changed accounts leave to do, in short transactions."""

import contextlib
import logging
import time
from datetime import datetime

from silverball.service.accounts.writes import accounts, tournaments
from silverball.store.database import slices
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.people import audit, erased_accounts, unfinished_changes

LOG = logging.getLogger("silverball.jobs")
# Nearly always one is enough; each of more does a hundred tournaments.
TRANSACTIONS_MAX = 1_000
# What is left to do is nearly always done within a tenth of it.
FINISH_SECONDS_MAX = 2.0


def erase_account(store: Store, user_id: int, now: datetime) -> None:
    """Erase an account as its person wishes. Raises NotFound and Conflict."""
    _erase_from_view(store, user_id, now)
    # The note of what is left to do has the name. Where this takes longer or fails, the duty goes on.
    until = time.monotonic() + FINISH_SECONDS_MAX
    with contextlib.suppress(DatabaseFault):
        while time.monotonic() < until and follow_accounts(store):
            pass


def _erase_from_view(store: Store, user_id: int, now: datetime) -> None:
    for _ in range(TRANSACTIONS_MAX):
        with store.write() as transaction:
            if accounts.erase_account(transaction, user_id):
                # Without the address: nothing about the person stays.
                audit.record(transaction.connection, "account-erased", at=now, user_id=user_id, source="")
                return


def erase_again(store: Store, user_id: int) -> None:
    """Erase an account that a restore has brought back."""
    for _ in range(TRANSACTIONS_MAX):
        with store.write() as transaction:
            if accounts.erase_account_again(transaction, user_id):
                return


def follow_accounts(store: Store) -> bool:
    """Do the next slice of what changed accounts have left to do: a duty of every node.

    Returns whether there was any work. Safe to be stopped at any point, and to be run twice.
    """
    with store.read() as db:
        changes = unfinished_changes.unfinished_changes(db)
        is_quiet = tournaments.are_quiet(changes)
    if not changes:
        return False
    if any(change.name is not None and change.is_untouched for change in changes):
        try:
            erased_accounts.note_beside_database(store)
        except OSError as error:
            LOG.warning("the list of erased accounts beside the database cannot be written", exc_info=error)
    return _do_slice(store, is_quiet=is_quiet)


def finish_changes(store: Store) -> None:
    """Do all of it, and note nothing beside the database."""
    while _do_slice(store, is_quiet=False):
        pass


def _do_slice(store: Store, *, is_quiet: bool) -> bool:
    began = time.monotonic()
    with store.write(quiet=is_quiet) as transaction:
        has_worked = tournaments.do_slice(transaction)
    slices.rest(store, time.monotonic() - began)
    return has_worked
