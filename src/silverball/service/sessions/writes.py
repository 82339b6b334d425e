"""Start and end sessions."""

from datetime import datetime, timedelta
from random import Random

from sqlalchemy import Connection, delete, insert, select, update

from silverball.kit import tokens
from silverball.kit.values import WithSecret
from silverball.service.sessions.reads import LABEL_LETTERS
from silverball.store.tables import known_browser, session

BROWSERS_MAX = 20


class NewSession(WithSecret, frozen=True):
    """The session's secret for the cookie, which is stored nowhere."""

    secret: str


def start_session(
    db: Connection,
    user_id: int,
    *,
    now: datetime,
    lifetime: timedelta,
    dice: Random,
    network: str = "",
    browser: str = "",
) -> NewSession:
    """Sign the user in with a new secret, and delete expired sessions."""
    db.execute(delete(session).where(session.c.expires_at <= now))
    secret = tokens.new_cookie_secret(dice)
    values = {
        "hash": tokens.digest(secret),
        "user_id": user_id,
        "csrf": tokens.new_cookie_secret(dice),
        "created_at": now,
        "expires_at": now + lifetime,
        "seen_at": now,
        "proved_at": now,
        "network": network,
        "browser": browser,
    }
    db.execute(insert(session).values(**values))
    return NewSession(secret)


def remember_browser(db: Connection, user_id: int, *, now: datetime, dice: Random) -> str:
    """Remember that a browser signed in to this account, and return the secret for its cookie.

    The oldest browsers beyond BROWSERS_MAX are forgotten.
    """
    secret = tokens.new_cookie_secret(dice)
    values = {"hash": tokens.digest(secret), "user_id": user_id, "created_at": now}
    db.execute(insert(known_browser).values(**values))
    newest = (
        select(known_browser.c.hash)
        .where(known_browser.c.user_id == user_id)
        .order_by(known_browser.c.created_at.desc(), known_browser.c.hash)
        .offset(BROWSERS_MAX)
        .limit(BROWSERS_MAX)
    )
    forgotten = [row.hash for row in db.execute(newest)]
    db.execute(delete(known_browser).where(known_browser.c.hash.in_(forgotten)))
    return secret


def end_session(db: Connection, secret: str) -> None:
    """Sign out. Ending an unknown session does nothing."""
    db.execute(delete(session).where(session.c.hash == tokens.digest(secret)))


def record_use(db: Connection, secret: str, now: datetime) -> None:
    """Store that the session was used."""
    db.execute(update(session).where(session.c.hash == tokens.digest(secret)).values(seen_at=now))


def record_proof(db: Connection, secret: str, now: datetime) -> None:
    """Store that the password was given in this session."""
    db.execute(update(session).where(session.c.hash == tokens.digest(secret)).values(proved_at=now))


def end_named_session(db: Connection, user_id: int, label: str) -> str | None:
    """End the session of this user that the page lists by this label; return the hash of its secret."""
    # A shorter label would begin several hashes.
    own = (session.c.user_id == user_id, session.c.hash.startswith(label, autoescape=True))
    if len(label) != LABEL_LETTERS or not label.isalnum():
        return None
    return db.execute(delete(session).where(*own).returning(session.c.hash)).scalar_one_or_none()


def end_other_sessions(db: Connection, user_id: int, secret: str) -> int:
    """End all other sessions of the user, and return their number."""
    others = (session.c.user_id == user_id, session.c.hash != tokens.digest(secret))
    return int(db.execute(delete(session).where(*others)).rowcount)
