"""Start and end sessions."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from sqlalchemy import Connection, delete, insert

from silverball.kit import tokens
from silverball.store.tables import session

SESSION_LIFETIME = timedelta(days=14)


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


def end_session(db: Connection, secret: str) -> None:
    """Sign out. Ending an unknown session does nothing."""
    db.execute(delete(session).where(session.c.hash == tokens.digest(secret)))


def end_other_sessions(db: Connection, user_id: int, secret: str) -> int:
    """End all other sessions of the user, and return their number."""
    others = (session.c.user_id == user_id, session.c.hash != tokens.digest(secret))
    return int(db.execute(delete(session).where(*others)).rowcount)
