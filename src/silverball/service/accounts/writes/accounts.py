"""Erase a person from their account and its players, and keep the results.

Results belong to all players of a tournament, so the account and its players become pseudonyms. Data that
only the account itself needed is deleted, here or later (`following`).
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Text, bindparam, delete, func, or_, select, type_coerce, update

from silverball.kit.errors import Conflict, NotAllowed, NotFound
from silverball.service.accounts import reads
from silverball.service.accounts.writes import tournaments
from silverball.service.core import feed_events
from silverball.store import tables
from silverball.store.database.named_locks import take_lock
from silverball.store.database.statements import Statement
from silverball.store.database.transaction import Transaction
from silverball.store.people import audit, book, book_actions, merging, names, rating_days, unfinished_changes
from silverball.store.people.unfinished_changes import UnfinishedChange
from silverball.store.revisions import revisions
from silverball.store.tournament import chain, imports
from silverball_wire import base
from silverball_wire.users import Suspension

_USER, _RATING = tables.user.c, tables.rating.c
_PLAYER, _DOCUMENT = tables.submission_player.c, tables.submission_document.c

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
_RENAME_RATING = Statement(
    update(tables.rating)
    .where(_RATING.organizer_id == bindparam("own_organizer"), _RATING.name_key == bindparam("own_key"))
    .values(
        name=bindparam("new_name"),
        name_folded=bindparam("new_folded"),
        name_key=bindparam("new_key"),
        ifpa_id=None,
    )
)


def erase_account(transaction: Transaction, user_id: int) -> bool:
    """Erase the person from the account, for good, and leave what nobody is shown to a job.

    False where labels and managers name them in too many tournaments for one transaction: some of these are
    done, and the account stays as it is until this is called in another transaction.

    Raises NotFound and Conflict.
    """
    lock_administrators(transaction.connection)
    reads.require_erasable(transaction.connection, user_id)
    return erase_account_again(transaction, user_id)


def erase_account_again(transaction: Transaction, user_id: int) -> bool:
    """Erase the person from an account that a restore has brought back, whoever depends on it."""
    db = transaction.connection
    name = db.execute(select(_USER.name).where(_USER.user_id == user_id)).scalar_one()
    players = reads.claimed_players(db, user_id)
    merged = tournaments.with_merged_players(db, players) - players.keys()
    change = UnfinishedChange(
        user_id=user_id, is_hiding=True, name=name, players=dict(players), merged_ids=sorted(merged)
    )
    traced = tournaments.traced_tournaments(db, change)
    at_once = sorted(traced | tournaments.tournaments_shown_in(db, change))
    if len(at_once) > feed_events.TOURNAMENTS_AT_ONCE:
        # The job comes to the others later; there, only numbers show the account.
        at_once = sorted(traced)
    if len(at_once) > feed_events.TOURNAMENTS_AT_ONCE:
        tournaments.change_tournaments(transaction, change, at_once[: feed_events.TOURNAMENTS_AT_ONCE])
        return False
    transaction.hides = True
    unfinished_changes.begin(db, change)
    # Tournaments are locked before the account: a write in a tournament may need the account's row.
    revisions.lock_tournaments(db, at_once)
    _pseudonymize_account(db, user_id)
    _pseudonymize_players(db, players)
    _erase_contacts(db, user_id)
    _erase_from_submissions(db, user_id)
    _erase_from_ratings(db, user_id, players)
    claimed_by = tables.player.c.claimed_by
    db.execute(update(tables.player).where(claimed_by == user_id).values(claimed_by=None))
    audit.forget_person(db, user_id)
    # A later import must not give the name back to them.
    imports.forget_local_ids(db, "userId", [user_id])
    imports.forget_local_ids(db, imports.OWNER, [user_id])
    imports.forget_local_ids(db, "playerId", players)
    book_actions.forget_players(db, players)
    _delete_private_rows(db, user_id)
    transaction.changed_user_ids.add(user_id)
    tournaments.change_tournaments(transaction, change, at_once)
    rating_days.settle_rank(db, user_id)
    return True


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
            {"own_id": player_id, "new_name": name, "new_digest": chain.name_digest(name)}
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
    db.execute(delete(tables.director_link).where(tables.director_link.c.created_by == user_id))
    organized = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    db.execute(delete(tables.webhook).where(tables.webhook.c.tournament_id.in_(organized)))


# Ratings: games stay rated, under a pseudonym that is not listed


def _erase_from_ratings(db: Connection, user_id: int, players: Mapping[int, str]) -> None:
    """Erase the user and the names of their players from all ratings, while they are still linked.

    By then the account has its pseudonym and hides its rating.
    """
    rating_days.update_name(db, user_id)
    own = select(_RATING.rating_id).where(_RATING.user_id == user_id).scalar_subquery()
    # Ratings merged into the user's rating stay as references, by number or by name.
    theirs = or_(_RATING.user_id == user_id, _RATING.merged_into == own)
    pseudonym = f"Player {user_id}"
    shown = {"name": pseudonym, "name_folded": names.fold(pseudonym)}
    hidden = dict.fromkeys(("ifpa_id", "organizer_id", "name_key"))
    db.execute(update(tables.rating).where(theirs).values(**shown, **hidden))
    owners = select(tables.player.c.player_id, tables.player.c.organizer_id).where(
        tables.player.c.player_id.in_(players)
    )
    renamed = [
        _renamed(player_id, owner_id, players[player_id]) for player_id, owner_id in db.execute(owners)
    ]
    _RENAME_RATING.run_many(db, renamed)


def _renamed(player_id: int, organizer_id: int, name: str) -> dict[str, Any]:
    """The rating that is known by this name, and the pseudonym by which the next run finds the player."""
    pseudonym = f"Player {player_id}"
    return {
        "own_organizer": organizer_id,
        "own_key": names.name_key(name),
        "new_name": pseudonym,
        "new_folded": names.fold(pseudonym),
        "new_key": names.name_key(pseudonym),
    }


# Submitted results: these stay, too


def _erase_from_submissions(db: Connection, user_id: int) -> None:
    """Erase the user from all submissions and their documents."""
    mine = select(_PLAYER.rating_submission_id, _PLAYER.place).where(_PLAYER.user_id == user_id)
    for submission_id, place in db.execute(mine).all():
        own = (_PLAYER.rating_submission_id == submission_id, _PLAYER.place == place)
        values: dict[str, Any] = {
            "name": f"Player {place + 1}",
            "ifpa_id": None,
            "user_id": None,
            "candidates": [],
        }
        # A settled player is not asked about again.
        db.execute(update(tables.submission_player).where(*own).values(**values, settled=True))
        _rewrite_document(db, submission_id, place)
    # In other submissions the user is only a candidate for a name.
    naming = type_coerce(_PLAYER.candidates, Text).contains(str(user_id))
    matching = select(_PLAYER.rating_submission_id, _PLAYER.place, _PLAYER.candidates).where(naming)
    for submission_id, place, candidates in db.execute(matching).all():
        remaining = [candidate for candidate in candidates if candidate.get("user_id") != user_id]
        own = (_PLAYER.rating_submission_id == submission_id, _PLAYER.place == place)
        db.execute(update(tables.submission_player).where(*own).values(candidates=remaining))


def _rewrite_document(db: Connection, submission_id: int, place: int) -> None:
    """Replace the player at this place of the stored document by a pseudonym."""
    is_document = _DOCUMENT.rating_submission_id == submission_id
    body = db.execute(select(_DOCUMENT.body).where(is_document)).scalar_one_or_none()
    if body is None:
        return
    document: Any = msgspec.json.decode(body)
    known = document["players"][place]
    document["players"][place] = {"id": known["id"], "name": f"Player {place + 1}"}
    text = msgspec.json.encode(document).decode()
    db.execute(update(tables.submission_document).where(is_document).values(body=text))


# There is always an administrator who can sign in: who takes this from an account holds one lock.


def lock_administrators(db: Connection, by_user_id: int | None = None) -> None:
    """Let one transaction at a time change roles, suspensions, or delete accounts.

    Raises NotAllowed when the account that acts is no administrator any more; None is the command line.
    """
    take_lock(db, "administrators")
    if by_user_id is None:
        return
    is_acting = (_USER.user_id == by_user_id, _USER.role == "admin", _USER.suspended_at.is_(None))
    if db.execute(select(_USER.user_id).where(*is_acting)).first() is None:
        raise NotAllowed


# Suspend an account: its tokens, sessions, devices and webhooks do nothing from then on.


WEBHOOK_STOPPED = "The account of the organizer was suspended."


class OwnAccountNotSuspended(Conflict):
    sentence = "You cannot suspend your own account. Another administrator can."


def suspend(
    transaction: Transaction,
    user_id: int,
    *,
    now: datetime,
    by_user_id: int | None = None,
    source: str = audit.COMMAND_LINE,
    is_forced: bool = False,
) -> Suspension:
    """Suspend the account at once; a suspended one stays as it is. Raises NotFound.

    Raises OwnAccountNotSuspended for the account of who suspends, and LastAdmin unless it is forced.
    """
    if user_id == by_user_id:
        raise OwnAccountNotSuspended
    db, own = transaction.connection, tables.user.c.user_id == user_id
    lock_administrators(db, by_user_id)
    suspended_at = _suspended_at(transaction, user_id)
    if suspended_at is not None:
        return Suspension(user_id=user_id, suspended_at=base.iso(suspended_at))
    if not is_forced:
        reads.require_other_administrator(db, user_id)
    db.execute(update(tables.user).where(own).values(suspended_at=now))
    end_sign_ins(db, user_id)
    for table in (tables.token, tables.account_link):
        db.execute(delete(table).where(table.c.user_id == user_id))
    end_handed_out(db, user_id, now)
    organized = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    is_sending = (tables.webhook.c.tournament_id.in_(organized), tables.webhook.c.is_active)
    values = {"is_active": False, "stopped_reason": WEBHOOK_STOPPED, "updated_at": now}
    db.execute(update(tables.webhook).where(*is_sending).values(**values))
    transaction.changed_user_ids.add(user_id)
    detail = "" if by_user_id is None else f"by {by_user_id}"
    audit.record(db, "account-suspended", at=now, user_id=user_id, source=source, detail=detail)
    return Suspension(user_id=user_id, suspended_at=base.iso(now))


def end_sign_ins(db: Connection, user_id: int) -> None:
    """Sign the account out everywhere."""
    for table in (tables.session, tables.half_sign_in):
        db.execute(delete(table).where(table.c.user_id == user_id))


def end_handed_out(db: Connection, user_id: int, now: datetime) -> None:
    """End for good what the account gave to others, because its right to give that has ended.

    Their own tournaments keep what serves them.
    """
    for table in (tables.account_link, tables.director_link):
        db.execute(delete(table).where(table.c.created_by == user_id))
    organized = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    device = tables.device.c
    given = (device.created_by == user_id, device.tournament_id.not_in(organized))
    db.execute(update(tables.device).where(*given, device.revoked_at.is_(None)).values(revoked_at=now))


def unsuspend(
    transaction: Transaction,
    user_id: int,
    *,
    now: datetime,
    by_user_id: int | None = None,
    source: str = audit.COMMAND_LINE,
) -> Suspension:
    """Let a suspended account sign in again; tokens are gone, webhooks stay off. Raises NotFound."""
    lock_administrators(transaction.connection, by_user_id)
    if _suspended_at(transaction, user_id) is not None:
        db, own = transaction.connection, tables.user.c.user_id == user_id
        db.execute(update(tables.user).where(own).values(suspended_at=None))
        transaction.changed_user_ids.add(user_id)
        detail = "" if by_user_id is None else f"by {by_user_id}"
        audit.record(db, "account-unsuspended", at=now, user_id=user_id, source=source, detail=detail)
    return Suspension(user_id=user_id, suspended_at=None)


def _suspended_at(transaction: Transaction, user_id: int) -> datetime | None:
    row = select(tables.user.c.suspended_at).where(tables.user.c.user_id == user_id).with_for_update()
    found = transaction.connection.execute(row).one_or_none()
    if found is None:
        raise NotFound("User", user_id)
    suspended_at: datetime | None = found.suspended_at
    return suspended_at


# Find and delete what an account made, for whoever cleans up after a spammer.


# Ordered so that no kind is used by a later one.
BOOK_KINDS = (book.OCCASION, book.BANK, book.SERIES, book.PLAYER, book.ARENA, book.LOCATION)


def made_tournaments(db: Connection, user_id: int) -> list[int]:
    """Ids of the account's tournaments, newest first: playoffs come before what they belong to."""
    own = tables.tournament.c
    rows = select(own.tournament_id).where(own.organizer_id == user_id)
    return list(db.execute(rows.order_by(own.tournament_id.desc())).scalars())


def sent_submissions(db: Connection, user_id: int) -> list[int]:
    """Ids of the account's rating submissions, oldest first."""
    own = tables.rating_submission.c
    rows = select(own.rating_submission_id).where(own.submitter_id == user_id)
    return list(db.execute(rows.order_by(own.rating_submission_id)).scalars())


def count_book(db: Connection, user_id: int) -> int:
    """The number of rows in the account's book."""
    return sum(
        db.execute(select(func.count()).where(kind.owner == user_id)).scalar_one() for kind in BOOK_KINDS
    )


def remove_links(db: Connection, tournament_id: int, user_id: int) -> None:
    """Remove the links to a tournament from others of the same account."""
    own = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    link = tables.tournament_link.c
    is_to_it = (link.linked_tournament_id == tournament_id, link.tournament_id.in_(own))
    db.execute(delete(tables.tournament_link).where(*is_to_it))


def delete_book(transaction: Transaction, user_id: int) -> int:
    """Delete the account's book, clubs and pending claims, and return the number of rows of the book.

    A row that somebody else's tournament uses stays.
    """
    db, deleted = transaction.connection, 0
    for kind in BOOK_KINDS:
        is_free = (kind.owner == user_id, merging.is_unreferenced(kind.key))
        deleted += db.execute(delete(kind.table).where(*is_free)).rowcount
    db.execute(delete(tables.claim).where(tables.claim.c.user_id == user_id))
    clubs, users = tables.club.c, tables.user.c
    own = select(clubs.club_id).where(clubs.user_id == user_id)
    members = db.execute(select(users.user_id).where(users.club_id.in_(own))).scalars().all()
    db.execute(update(tables.user).where(users.club_id.in_(own)).values(club_id=None))
    db.execute(delete(tables.club).where(clubs.user_id == user_id))
    feed_events.announce_users(transaction, members)
    return deleted


def record_cleaning(db: Connection, user_id: int, *, now: datetime, tournaments: int, rows: int) -> None:
    """Record that what the account made was deleted."""
    detail = f"{tournaments} tournaments, {rows} rows"
    audit.record(db, "account-cleaned", at=now, user_id=user_id, source=audit.COMMAND_LINE, detail=detail)
