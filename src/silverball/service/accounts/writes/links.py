"""Roles of accounts, invitations, and links to a new password, made by administrators or mailed."""

from datetime import datetime, timedelta
from random import Random

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.security import tokens
from silverball.kit.values import WithSecret
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import accounts
from silverball.service.core import access, feed_events
from silverball.store.counts import quotas
from silverball.store.database.transaction import Transaction
from silverball.store.people import audit
from silverball.store.tables import account_link, token, user

INVITATION_LIFETIME = timedelta(days=7)
RECOVERY_LIFETIME = timedelta(days=1)
LINKS_MAX = 100
# Anybody may ask for a mail, so these are few, short-lived, and apart from the links of administrators.
MAILED_LIFETIME = timedelta(hours=1)
MAILED_PER_ACCOUNT_MAX = 3
MAILED_MAX = 1_000
_L = account_link.c


class OwnRoleNotChanged(Conflict):
    sentence = "You cannot change your own role. Another administrator can."


class AccountWithoutSignIn(Conflict):
    sentence = "User {user_id} has no e-mail address and cannot sign in."


class AccountSuspended(Conflict):
    sentence = "The account is suspended. Lift the suspension first."


class LinkUsedUp(Conflict):
    sentence = "This link was used, withdrawn, or has expired. Ask whoever gave it to you for a new one."


class TooManyAccountLinks(Conflict):
    sentence = "There are {limit} links already. Withdraw those that nobody waits for."


class NewAccountLink(WithSecret, frozen=True):
    """The secret of a link, which is stored nowhere, and the end of the link."""

    expires_at: datetime
    secret: str


class LinkToMail(Struct, frozen=True):
    """A link to a new password, and the address of its account."""

    email: str
    link: NewAccountLink


class AdminAct(Struct, frozen=True, kw_only=True):
    """The administrator who acts, the address and the moment."""

    user_id: int
    source: str
    now: datetime


def change_role(transaction: Transaction, user_id: int, role: str, act: AdminAct) -> None:
    """Give the account another role; with a lower one, all that could do more than the role ends.

    Raises NotFound, NotAllowed, OwnRoleNotChanged, and LastAdmin.
    """
    if role not in access.ROLES:
        raise Invalid({"role": ["The selected role is invalid."]})
    if user_id == act.user_id:
        raise OwnRoleNotChanged
    db = transaction.connection
    accounts.lock_administrators(db, act.user_id)
    before = db.execute(
        select(user.c.role).where(user.c.user_id == user_id).with_for_update()
    ).scalar_one_or_none()
    if before is None:
        raise NotFound("User", user_id)
    if before == role:
        return
    accounts_reads.require_other_administrator(db, user_id)
    db.execute(update(user).where(user.c.user_id == user_id).values(role=role))
    if access.ROLES.index(role) < access.ROLES.index(before):
        # What could do more ends for good: it does not come back with another change.
        accounts.end_handed_out(db, user_id, act.now)
        accounts.end_sign_ins(db, user_id)
        _limit_tokens(db, user_id, role)
    transaction.changed_user_ids.add(user_id)
    feed_events.announce_users(transaction, [user_id], is_hiding=False)
    detail = f"{before} to {role}, by {act.user_id}"
    audit.record(db, "role-changed", at=act.now, user_id=user_id, source=act.source, detail=detail)


def _limit_tokens(db: Connection, user_id: int, role: str) -> None:
    """Take from the account's tokens, for good, what the role does not allow."""
    allowed = access.abilities_for(role)
    rows = select(token.c.token_id, token.c.abilities).where(token.c.user_id == user_id)
    for row in db.execute(rows).all():
        left = [ability for ability in row.abilities if ability in allowed]
        # The highest that the role allows is what the token could do until now.
        left = left if len(left) == len(row.abilities) else [*left, allowed[-1]]
        own = token.c.token_id == row.token_id
        db.execute(update(token).where(own).values(abilities=sorted(set(left), key=access.ABILITIES.index)))


def invite(db: Connection, role: str, act: AdminAct, dice: Random) -> NewAccountLink:
    """Make a link with which somebody makes an account of this role."""
    if role not in access.ROLES:
        raise Invalid({"role": ["The selected role is invalid."]})
    audit.record(db, "invitation-made", at=act.now, user_id=act.user_id, source=act.source, detail=role)
    return _insert_link(db, act, INVITATION_LIFETIME, dice, role=role)


def make_recovery(db: Connection, user_id: int, act: AdminAct, dice: Random) -> NewAccountLink:
    """Make a link with which the person of the account sets a new password; earlier ones work no more.

    Raises NotFound, and Conflict for an account that cannot sign in.
    """
    row = select(user.c.email, user.c.suspended_at).where(user.c.user_id == user_id).with_for_update()
    found = db.execute(row).one_or_none()
    if found is None:
        raise NotFound("User", user_id)
    if found.email is None:
        raise AccountWithoutSignIn(user_id=user_id)
    if found.suspended_at is not None:
        raise AccountSuspended
    db.execute(delete(account_link).where(_L.user_id == user_id))
    detail = f"by {act.user_id}"
    audit.record(db, "recovery-link-made", at=act.now, user_id=user_id, source=act.source, detail=detail)
    return _insert_link(db, act, RECOVERY_LIFETIME, dice, user_id=user_id)


def make_mailed_recovery(
    db: Connection, email: str, source: str, now: datetime, dice: Random
) -> LinkToMail | None:
    """Make a link to a new password for the owner of this address; None when nothing is to be mailed.

    Earlier links stay, so that strangers who ask cannot end the one that the owner has just got.
    """
    row = select(user.c.user_id, user.c.email, user.c.suspended_at).where(
        user.c.email == accounts_reads.normalized_email(email)
    )
    found = db.execute(row.with_for_update()).one_or_none()
    user_id = None if found is None else found.user_id
    if found is None or found.suspended_at is not None or not _has_room_to_mail(db, found.user_id, now):
        audit.count(db, "recovery-mail-refused", at=now, source=source, user_id=user_id)
        return None
    audit.record(db, "recovery-mailed", at=now, user_id=user_id, source=source)
    link = _store_link(db, found.user_id, MAILED_LIFETIME, now, dice, user_id=found.user_id)
    return LinkToMail(found.email, link)


def _has_room_to_mail(db: Connection, user_id: int, now: datetime) -> bool:
    db.execute(delete(account_link).where(_L.expires_at <= now))
    is_own = (accounts_reads.IS_MAILED, _L.user_id == user_id)
    try:
        for is_counted, limit in ((is_own, MAILED_PER_ACCOUNT_MAX), (is_own[:1], MAILED_MAX)):
            _require_room(db, *is_counted, limit=limit)
    except TooManyAccountLinks:
        return False
    return True


def _require_room(db: Connection, *is_counted: ColumnElement[bool], limit: int) -> None:
    quotas.require_room(
        db,
        account_link,
        *is_counted,
        owner="the site",
        limit=limit,
        refusal=lambda _: TooManyAccountLinks(limit=limit),
    )


def _insert_link(
    db: Connection,
    act: AdminAct,
    lifetime: timedelta,
    dice: Random,
    *,
    user_id: int | None = None,
    role: str | None = None,
) -> NewAccountLink:
    db.execute(delete(account_link).where(_L.expires_at <= act.now))
    _require_room(db, ~accounts_reads.IS_MAILED, limit=LINKS_MAX)
    return _store_link(db, act.user_id, lifetime, act.now, dice, user_id=user_id, role=role)


def _store_link(
    db: Connection,
    created_by: int,
    lifetime: timedelta,
    now: datetime,
    dice: Random,
    *,
    user_id: int | None = None,
    role: str | None = None,
) -> NewAccountLink:
    secret, expires_at = tokens.new_link_secret(dice), now + lifetime
    values = {
        "hash": tokens.digest(secret),
        "user_id": user_id,
        "role": role,
        "created_by": created_by,
        "created_at": now,
        "expires_at": expires_at,
    }
    db.execute(insert(account_link).values(**values))
    return NewAccountLink(expires_at, secret)


def withdraw(db: Connection, label: str, act: AdminAct) -> None:
    """Withdraw the link that the page lists by this label; an unknown one does nothing."""
    # A shorter label would begin several hashes.
    if len(label) != accounts_reads.LABEL_LETTERS or not label.isalnum():
        return
    is_named = _L.hash.startswith(label, autoescape=True)
    gone = db.execute(delete(account_link).where(is_named).returning(_L.role)).one_or_none()
    if gone is not None:
        audit.record(
            db,
            "invitation-withdrawn",
            at=act.now,
            user_id=act.user_id,
            source=act.source,
            detail=gone.role or "recovery",
        )


def use_invitation(db: Connection, secret: str, now: datetime) -> str:
    """Use up an invitation, and return the role of the account to make. Raises LinkUsedUp."""
    role = _use(db, secret, now).role
    if role is None:
        raise LinkUsedUp
    return role


def use_recovery(db: Connection, secret: str, now: datetime) -> int:
    """Use up a link to a new password, and return the id of its account. Raises LinkUsedUp."""
    user_id = _use(db, secret, now).user_id
    if user_id is None:
        raise LinkUsedUp
    return user_id


def _use(db: Connection, secret: str, now: datetime) -> accounts_reads.AccountLink:
    """The link, which is gone from now on. Of two forms sent at once the second finds none."""
    link = accounts_reads.find_link(db, secret, now)
    row = delete(account_link).where(_L.hash == tokens.digest(secret))
    if link is None or db.execute(row).rowcount != 1:
        raise LinkUsedUp
    return link
