"""Accounts whose sign-in asks for a code of an app, and sign-ins that wait for theirs."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.kit import tokens
from silverball.store.tables import half_sign_in, recovery_code, two_step, user


class TwoStepSignIn(Struct, frozen=True):
    """Since when the account asks for a code, and the number of its unused recovery codes."""

    confirmed_at: datetime
    recovery_codes_left: int


class HalfSignIn(Struct, frozen=True):
    """The account whose password was given, and whose code is asked for."""

    user_id: int
    email: str


def find_two_step(db: Connection, user_id: int) -> TwoStepSignIn | None:
    """The two-step sign-in of the account; None while it is off."""
    row = select(two_step.c.confirmed_at).where(two_step.c.user_id == user_id)
    confirmed_at = db.execute(row).scalar_one_or_none()
    if confirmed_at is None:
        return None
    unused = select(func.count()).select_from(recovery_code).where(recovery_code.c.user_id == user_id)
    return TwoStepSignIn(confirmed_at, db.execute(unused).scalar_one())


def find_half_sign_in(db: Connection, secret: str, now: datetime) -> HalfSignIn | None:
    """The account that this form signs in to; None when it is too late or the account is suspended."""
    row = (
        select(user.c.user_id, user.c.email)
        .join_from(half_sign_in, user, half_sign_in.c.user_id == user.c.user_id)
        .where(half_sign_in.c.hash == tokens.digest(secret), half_sign_in.c.expires_at > now)
        .where(user.c.suspended_at.is_(None), user.c.email.is_not(None))
    )
    found = db.execute(row).one_or_none()
    return None if found is None else HalfSignIn(found.user_id, found.email)


def account_with_email(db: Connection, email: str) -> int | None:
    """The id of the account with this e-mail."""
    row = select(user.c.user_id).where(user.c.email == email.strip().lower())
    return db.execute(row).scalar_one_or_none()
