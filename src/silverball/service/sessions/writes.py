"""Start and end sessions."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from sqlalchemy import Connection, delete, insert, select

from silverball.kit import tokens
from silverball.store.tables import known_browser, session

SESSION_LIFETIME = timedelta(days=14)
BROWSERS_MAX = 20


@dataclass(frozen=True)
class NewSession:
    """The session's secret for the cookie, which is stored nowhere."""

    secret: str = field(repr=False)


def start_session(db: Connection, user_id: int, *, now: datetime, dice: Random) -> NewSession:
    """Sign the user in with a new secret, and delete expired sessions."""
    db.execute(delete(session).where(session.c.expires_at <= now))
    secret = tokens.new_cookie_secret(dice)
    values = {
        "hash": tokens.digest(secret),
        "user_id": user_id,
        "csrf": tokens.new_cookie_secret(dice),
        "created_at": now,
        "expires_at": now + SESSION_LIFETIME,
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


def end_other_sessions(db: Connection, user_id: int, secret: str) -> int:
    """End all other sessions of the user, and return their number."""
    others = (session.c.user_id == user_id, session.c.hash != tokens.digest(secret))
    return int(db.execute(delete(session).where(*others)).rowcount)
