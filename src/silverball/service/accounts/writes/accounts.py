"""Erase a person from their account and its players, and keep the results.

Results belong to all players of a tournament, so the account and its players become pseudonyms. Data that
only the account itself needed is deleted.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from silverball.service.accounts import reads
from silverball.service.accounts.writes import ratings, remains, submissions, tournaments
from silverball.store import (
    announcements,
    audit,
    digests,
    erasures,
    hidings,
    pending_announcements,
    rating_days,
    remote_ids,
    revisions,
    tables,
)
from silverball.store.batches import ascending_batches
from silverball.store.erasures import PendingErasure
from silverball.store.pending_announcements import PendingAnnouncement
from silverball.store.statements import Statement
from silverball.store.transaction import Transaction

_USER = tables.user.c

# Columns that are empty in a deleted account.
ERASED_COLUMNS = (
    "first_name",
    "last_name",
    "email",
    "password_hash",
    "ifpa_id",
    "flag",
    "location",
    "pronouns",
    "initials",
    "avatar",
    "banner",
    "tournament_avatar",
    "club_id",
    "business_profile_id",
)
_NO_LABELS: dict[str, Any] = {"labels": [], "label_color": None}
_RENAME_PLAYER = Statement(
    update(tables.player)
    .where(tables.player.c.player_id == bindparam("own_id"))
    .values(
        name=bindparam("new_name"),
        name_digest=bindparam("new_digest"),
        ifpa_id=None,
        status="inactive",
        **_NO_LABELS,
    )
)


def erase_account(transaction: Transaction, user_id: int) -> None:
    """Erase the person from the account, for good; slow places are left to `tidying`.

    The tournaments of somebody who is in many follow in transactions of their own.

    Raises NotFound and Conflict.
    """
    reads.require_erasable(transaction.connection, user_id)
    erase_account_again(transaction, user_id)


def erase_account_again(transaction: Transaction, user_id: int) -> None:
    """Erase the person from an account that a restore has brought back, whoever depends on it."""
    db = transaction.connection
    name = db.execute(select(_USER.name).where(_USER.user_id == user_id)).scalar_one()
    players = reads.claimed_players(db, user_id)
    pending = PendingAnnouncement(
        user_id=user_id, is_hiding=True, erased_name=name, player_ids=sorted(players)
    )
    shown_in = revisions.tournaments_of_users(db, [user_id])
    is_deferred = pending_announcements.are_many(transaction, shown_in)
    waiting = None if is_deferred else tournaments.find_waiting(db, pending)
    # Tournaments are locked before the account: a write in a tournament may need the account's row.
    if waiting is None:
        pending_announcements.defer(transaction, pending)
        announcements.restart_announced(transaction, shown_in)
    else:
        revisions.lock_tournaments(db, waiting.tournament_ids)
    _pseudonymize_account(db, user_id)
    _pseudonymize_players(db, players)
    _erase_contacts(db, user_id)
    submissions.erase_from_submissions(db, user_id)
    ratings.erase_from_ratings(db, user_id, players)
    claimed_by = tables.player.c.claimed_by
    db.execute(update(tables.player).where(claimed_by == user_id).values(claimed_by=None))
    audit.forget_person(db, user_id)
    # A later import must not give the name back to them.
    remote_ids.forget_local_ids(db, "userId", [user_id])
    remote_ids.forget_local_ids(db, remote_ids.OWNER, [user_id])
    remote_ids.forget_local_ids(db, "playerId", players)
    _delete_private_rows(db, user_id)
    transaction.changed_user_ids.add(user_id)
    erasures.begin(db, PendingErasure(user_id=user_id, name=name, players=dict(players)))
    if waiting is not None:
        for batch in ascending_batches(waiting.tournament_ids):
            tournaments.change_tournaments(transaction, waiting, batch)
        remains.erase_remains(db, user_id, waiting.player_ids)
        rating_days.settle_rank(db, user_id)
    hidings.note_hiding(transaction)


def _pseudonymize_account(db: Connection, user_id: int) -> None:
    values = {
        **dict.fromkeys(ERASED_COLUMNS),
        "name": f"Player {user_id}",
        "role": "player",
        "placeholder": True,
    }
    # A pseudonym is not listed among the ratings.
    values["ratings_opt_out"] = True
    db.execute(update(tables.user).where(_USER.user_id == user_id).values(**values))


def _pseudonymize_players(db: Connection, player_ids: Collection[int]) -> None:
    """Give each player a pseudonym of their own, so that books do not reveal a common person."""
    names = {player_id: f"Player {player_id}" for player_id in player_ids}
    _RENAME_PLAYER.run_many(
        db,
        [
            {"own_id": player_id, "new_name": name, "new_digest": digests.name_digest(name)}
            for player_id, name in names.items()
        ],
    )


def _erase_contacts(db: Connection, user_id: int) -> None:
    organized = tables.occasion.c.organizer_id == user_id
    db.execute(update(tables.occasion).where(organized).values(contact_email=None))


def _delete_private_rows(db: Connection, user_id: int) -> None:
    """Delete what the account signed in with, and what shows it to others."""
    private = (tables.token, tables.session, tables.shortcut, tables.confirmed_number)
    sign_ins = (tables.two_step, tables.recovery_code, tables.half_sign_in, tables.known_browser)
    for table in (*private, *sign_ins):
        db.execute(delete(table).where(table.c.user_id == user_id))
    link = tables.account_link.c
    db.execute(delete(tables.account_link).where((link.user_id == user_id) | (link.created_by == user_id)))
    organized = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    db.execute(delete(tables.webhook).where(tables.webhook.c.tournament_id.in_(organized)))
