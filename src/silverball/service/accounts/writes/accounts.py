"""Erase a person from their account and its players, and keep the results.

Results belong to all players of a tournament, so the account and its players become pseudonyms. Data that
only the account itself needed is deleted.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import Connection, Text, bindparam, delete, exists, or_, select, type_coerce, update

from silverball.service.accounts import reads
from silverball.service.accounts.writes import journal_labels, ratings, submissions
from silverball.service.events import feed_events
from silverball.store import (
    audit,
    book,
    chain,
    digests,
    erasures,
    hidings,
    references,
    remote_ids,
    revisions,
    tables,
)
from silverball.store.driver_statements import DriverStatement
from silverball.store.erasures import PendingErasure
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
_RENAME_PLAYER = DriverStatement(
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
_REMOVE_LABELS = DriverStatement(
    update(tables.entrant)
    .where(
        tables.entrant.c.player_id == bindparam("own_id"),
        # Most have none, and stay as they are.
        or_(type_coerce(tables.entrant.c.labels, Text) != "[]", tables.entrant.c.label_color.is_not(None)),
    )
    .values(**_NO_LABELS)
)
# The kinds of an organizer's book, ordered so that no kind is used by a later one.
BOOK_KINDS = (book.OCCASION, book.BANK, book.SERIES, book.PLAYER, book.ARENA, book.LOCATION)


def erase_account(transaction: Transaction, user_id: int) -> None:
    """Erase the person from the account, for good; slow places are left to `tidying`.

    Raises NotFound and Conflict.
    """
    reads.require_erasable(transaction.connection, user_id)
    erase_account_again(transaction, user_id)


def erase_account_again(transaction: Transaction, user_id: int) -> None:
    """Erase the person from an account that a restore has brought back, whoever depends on it."""
    db = transaction.connection
    # Tournaments are locked before the account: a write in a tournament may need the account's row.
    revisions.lock_for_users(db, [user_id])
    columns = select(_USER.name, _USER.ratings_opt_out).where(_USER.user_id == user_id)
    name, was_hidden = db.execute(columns).one()
    players = reads.claimed_players(db, user_id)
    _pseudonymize_account(db, user_id)
    _pseudonymize_players(db, players)
    _erase_mentions(db, user_id, name)
    journal_labels.erase_labels(db, players)
    _erase_code_sources(db, players)
    submissions.erase_from_submissions(db, user_id)
    ratings.erase_from_ratings(db, user_id, players, was_hidden=was_hidden)
    # The claims still link the account to its tournaments, whose announcements are dropped.
    feed_events.announce_users(transaction, [user_id], is_hiding=True)
    for column in (tables.player.c.claimed_by, tables.game_player.c.user_id, tables.suggestion.c.user_id):
        db.execute(update(column.table).where(column == user_id).values({column: None}))
    audit.forget_person(db, user_id)
    # A later import must not give the name back to them.
    remote_ids.forget_local_ids(db, "userId", [user_id])
    remote_ids.forget_local_ids(db, remote_ids.OWNER, [user_id])
    remote_ids.forget_local_ids(db, "playerId", players)
    _delete_private_rows(db, user_id)
    transaction.changed_user_ids.add(user_id)
    erasures.begin(db, PendingErasure(user_id=user_id, name=name, players=dict(players)))
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
    _REMOVE_LABELS.run_many(db, [{"own_id": player_id} for player_id in player_ids])


def _erase_mentions(db: Connection, user_id: int, name: str) -> None:
    organized = tables.occasion.c.organizer_id == user_id
    db.execute(update(tables.occasion).where(organized).values(contact_email=None))
    own = tables.tournament.c
    may_name_person = type_coerce(own.managers, Text).contains(_json_text(name), autoescape=True)
    for tournament_id, managers in db.execute(
        select(own.tournament_id, own.managers).where(may_name_person)
    ).all():
        # Imported tournaments may name their managers.
        remaining = [manager for manager in managers if manager.get("name") != name]
        row = update(tables.tournament).where(own.tournament_id == tournament_id)
        db.execute(row.values(managers=remaining))


def _erase_code_sources(db: Connection, player_ids: Collection[int]) -> None:
    """Erase the addresses from which these players' printed codes were used."""
    entry, device_use = tables.journal.c, tables.device_action.c
    with_code = device_use.player_id.in_(player_ids)
    tournaments = select(device_use.tournament_id).where(with_code)
    is_action = (device_use.tournament_id == entry.tournament_id) & (device_use.action_id == entry.action_id)
    used_codes = (entry.tournament_id.in_(tournaments), exists().where(is_action, with_code))
    db.execute(update(tables.journal).where(*used_codes).values(chain.ERASED_SOURCE))


def _delete_private_rows(db: Connection, user_id: int) -> None:
    """Delete the data that only the account needed and that no tournament uses."""
    private = (tables.token, tables.session, tables.idempotency, tables.claim, tables.shortcut)
    sign_ins = (tables.two_step, tables.recovery_code, tables.half_sign_in, tables.known_browser)
    for table in (*private, *sign_ins, tables.confirmed_number, tables.history_pull):
        db.execute(delete(table).where(table.c.user_id == user_id))
    link = tables.account_link.c
    db.execute(delete(tables.account_link).where((link.user_id == user_id) | (link.created_by == user_id)))
    organized = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    db.execute(delete(tables.webhook).where(tables.webhook.c.tournament_id.in_(organized)))
    for kind in BOOK_KINDS:
        # A player without a book: the statement looks for every kind of reference.
        if db.execute(select(kind.key).where(kind.owner == user_id).limit(1)).first() is None:
            continue
        db.execute(delete(kind.table).where(kind.owner == user_id, references.is_unreferenced(kind.key)))
    members = select(_USER.club_id).where(_USER.club_id.is_not(None))
    mine = tables.club.c.user_id == user_id
    db.execute(delete(tables.club).where(mine, tables.club.c.club_id.not_in(members)))


def _json_text(text: str) -> str:
    """The text as a JSON string."""
    return msgspec.json.encode(text).decode()
