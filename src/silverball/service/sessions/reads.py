"""Passwords to compare with, and the users behind session cookies."""

from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, and_, exists, or_, select

from silverball.kit import tokens
from silverball.kit.values import WithSecret
from silverball.store.tables import known_browser, session, two_step, user

EMAIL_MAX = 254
SESSIONS_MAX = 100
# Recorded this seldom, so that reading a page is not a write.
USE_RECORDED_EVERY = timedelta(minutes=5)
# The beginning of a session's hash, which names it on its owner's page.
LABEL_LETTERS = 16


class Credentials(WithSecret, frozen=True):
    """The stored hash that a password is compared with."""

    user_id: int
    password_hash: str
    is_suspended: bool = False
    # Whether the sign-in asks for a code after the password.
    needs_code: bool = False


class SignedInUser(WithSecret, frozen=True, kw_only=True):
    """The account behind a session cookie."""

    user_id: int
    name: str
    email: str
    role: str
    # Every form posted in this session must send this back.
    csrf: str
    # When the password was last given in this session; None before an upgrade.
    proved_at: datetime | None
    # Whether this request has to be recorded as a use of the session.
    is_use_due: bool


def normalized_email(email: str) -> str:
    """An e-mail as accounts have it; empty, as no account has it, for what cannot be one."""
    email = email.strip().lower()
    # Databases reject control characters in a query, and no address contains any.
    return "" if len(email) > EMAIL_MAX or not email.isprintable() else email


def find_credentials(db: Connection, email: str) -> Credentials | None:
    """The account that signs in with this e-mail; None when there is none or it has no password."""
    is_confirmed = (two_step.c.user_id == user.c.user_id, two_step.c.confirmed_at.is_not(None))
    columns = (user.c.user_id, user.c.password_hash, user.c.suspended_at)
    rows = select(*columns, exists().where(*is_confirmed).label("needs_code"))
    row = db.execute(rows.where(user.c.email == normalized_email(email))).one_or_none()
    if row is None or row.password_hash is None:
        return None
    return Credentials(
        row.user_id,
        row.password_hash,
        is_suspended=row.suspended_at is not None,
        needs_code=bool(row.needs_code),
    )


def is_known_browser(db: Connection, user_id: int, secret: str) -> bool:
    """Whether the browser with this cookie has signed in to this account before."""
    rows = select(known_browser.c.hash).where(
        known_browser.c.hash == tokens.digest(secret), known_browser.c.user_id == user_id
    )
    return bool(secret) and db.execute(rows).first() is not None


def find_signed_in_user(
    db: Connection, secret: str, now: datetime, idle_limit: timedelta
) -> SignedInUser | None:
    """The user signed in with this cookie; None when the session is unknown or over."""
    # The lookup is by hash, so its duration reveals nothing about the secret.
    rows = (
        select(user.c.user_id, user.c.name, user.c.email, user.c.role, session.c.csrf)
        .add_columns(session.c.proved_at, session.c.seen_at)
        .join_from(session, user, session.c.user_id == user.c.user_id)
        .where(
            session.c.hash == tokens.digest(secret),
            _is_open(now, idle_limit),
            user.c.suspended_at.is_(None),
        )
    )
    row = db.execute(rows).mappings().one_or_none()
    if row is None:
        return None
    values = dict(row)
    seen_at = values.pop("seen_at")
    return SignedInUser(**values, is_use_due=seen_at is None or now - seen_at >= USE_RECORDED_EVERY)


def _is_open(now: datetime, idle_limit: timedelta) -> ColumnElement[bool]:
    seen_at = session.c.seen_at
    return and_(session.c.expires_at > now, or_(seen_at.is_(None), seen_at > now - idle_limit))


class OpenSession(Struct, frozen=True, kw_only=True):
    """A session that has not ended."""

    label: str
    created_at: datetime
    seen_at: datetime | None
    expires_at: datetime
    network: str
    browser: str
    # Whether this is the session of the current request.
    is_this: bool


def open_sessions(
    db: Connection, user_id: int, secret: str, now: datetime, idle_limit: timedelta
) -> list[OpenSession]:
    """The sessions in which the account is signed in, newest first."""
    rows = select(session).where(session.c.user_id == user_id, _is_open(now, idle_limit))
    rows = rows.order_by(session.c.created_at.desc(), session.c.hash).limit(SESSIONS_MAX)
    current_hash = tokens.digest(secret)
    return [
        OpenSession(
            label=row.hash[:LABEL_LETTERS],
            created_at=row.created_at,
            seen_at=row.seen_at,
            expires_at=row.expires_at,
            network=row.network or "",
            browser=row.browser or "",
            is_this=row.hash == current_hash,
        )
        for row in db.execute(rows)
    ]
