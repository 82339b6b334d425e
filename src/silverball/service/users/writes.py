"""Create accounts, change profiles, set passwords."""

import hmac
import re
from datetime import datetime
from random import Random
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import Connection, delete, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from silverball.kit import texts
from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.service import access
from silverball.service.events import feed_events
from silverball.service.users import reads
from silverball.store import audit, rating_days
from silverball.store.tables import (
    OPT_OUTS,
    account_link,
    half_sign_in,
    known_browser,
    session,
    site_value,
    user,
)
from silverball.store.transaction import Transaction

NAME_MAX = 100
EMAIL_MAX = 254
# Without the letters and digits that look alike; twelve of them are 59 bits.
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 12
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


class ChangedProfile(Body, frozen=True, kw_only=True):
    """The fields that users may change about themselves; all others are prohibited."""

    name: Name | UnsetType = UNSET
    initials: Annotated[str, Meta(max_length=4, pattern=texts.ONE_LINE)] | UnsetType | None = UNSET
    pronouns: Annotated[str, Meta(max_length=40, pattern=texts.ONE_LINE)] | UnsetType | None = UNSET
    # A region's code in lower case: `se`, `us-ca`.
    flag: Annotated[str, Meta(pattern=r"^[a-z]{2}(-[a-z0-9]{1,3})?$")] | UnsetType | None = UNSET
    location: Annotated[str, Meta(max_length=100, pattern=texts.ONE_LINE)] | UnsetType | None = UNSET
    ifpa_id: Id | UnsetType | None = UNSET
    """Federation number of the person; null to remove it."""
    ratings_opt_out: bool | UnsetType = UNSET
    stats_opt_out: bool | UnsetType = UNSET
    video_opt_out: bool | UnsetType = UNSET
    profile_opt_out: bool | UnsetType = UNSET
    history_opt_out: bool | UnsetType = UNSET
    history_only_completed: bool | UnsetType = UNSET


class AccountCannotSignIn(Conflict):
    sentence = "User {user_id} has no e-mail address and cannot sign in, so a password is of no use."


class SiteAlreadyHasAccount(Conflict):
    sentence = "This site has an account already."


class FirstCodeWrong(NotAllowed):
    sentence = (
        "This is not the code of this server. It is in the server's log,"
        " and `silverball user first-code` prints it."
    )


def create_user(
    db: Connection, *, name: str, email: str, role: str, now: datetime, source: str = audit.COMMAND_LINE
) -> int:
    """Create an account without a password, and return its id. Raises Invalid, also for a taken e-mail."""
    name, email = name.strip(), email.strip().lower()
    _require_valid_account(name, email, role)
    values = {
        "name": name,
        "email": email,
        "role": role,
        "placeholder": False,
        **dict.fromkeys(OPT_OUTS, False),
        "created_at": now,
    }
    try:
        user_id = db.execute(insert(user).values(**values).returning(user.c.user_id)).scalar_one()
    except IntegrityError as error:
        # Only the e-mail can collide, and only the database detects a concurrent insert.
        raise Invalid({"email": ["The email has already been taken."]}) from error
    audit.record(db, "account-made", at=now, user_id=user_id, source=source, detail=role)
    return int(user_id)


def find_or_make_first_code(db: Connection, dice: Random) -> str:
    """The code that the first account of this site is made with. Raises SiteAlreadyHasAccount.

    `dice` is a `secrets.SystemRandom` outside tests. All nodes of one database get the same code.
    """
    if not reads.is_new_site(db):
        raise SiteAlreadyHasAccount
    known = reads.first_code(db)
    if known is not None:
        return known
    letters = dice.choices(CODE_LETTERS, k=CODE_LENGTH)
    code = "-".join("".join(letters[start : start + 4]) for start in range(0, CODE_LENGTH, 4))
    row = insert(site_value).values(name=reads.FIRST_CODE, value=code)
    try:
        with db.begin_nested():
            db.execute(row)
    except IntegrityError:
        # Another node was faster.
        return str(reads.first_code(db))
    return code


def create_first_admin(
    db: Connection,
    *,
    code: str,
    name: str,
    email: str,
    password_hash: str,
    now: datetime,
    source: str = audit.COMMAND_LINE,
) -> int:
    """Create the admin of a new site, and return the id. The code works once.

    Raises Invalid, SiteAlreadyHasAccount and FirstCodeWrong.
    """
    if db.dialect.name == "postgresql":
        # SQLite has one writer at a time; in PostgreSQL two could both find no account.
        db.execute(text('LOCK TABLE "user" IN SHARE ROW EXCLUSIVE MODE'))
    if not reads.is_new_site(db):
        raise SiteAlreadyHasAccount
    known = reads.first_code(db)
    if known is None or not hmac.compare_digest(_plain_code(known), _plain_code(code)):
        raise FirstCodeWrong
    db.execute(delete(site_value).where(site_value.c.name == reads.FIRST_CODE))
    user_id = create_user(db, name=name, email=email, role="admin", now=now, source=source)
    set_password(db, user_id, password_hash)
    return user_id


def _plain_code(code: str) -> bytes:
    """A code without its hyphens and spaces, as people type it."""
    return "".join(code.upper().replace("-", "").split()).encode("utf-8", "replace")


def change_profile(transaction: Transaction, user_id: int, profile: ChangedProfile) -> None:
    """Change the user's profile, in all tournaments that show it."""
    db = transaction.connection
    values = {name: value for name, value in msgspec.structs.asdict(profile).items() if value is not UNSET}
    if values:
        columns = [user.c[name] for name in OPT_OUTS]
        before = db.execute(select(*columns).where(user.c.user_id == user_id)).mappings().one()
        db.execute(update(user).where(user.c.user_id == user_id).values(**values))
        transaction.changed_user_ids.add(user_id)
        is_hiding = any(values.get(name) is True and not before[name] for name in OPT_OUTS)
        feed_events.announce_users(transaction, [user_id], is_hiding=is_hiding)
        rating_days.update_user(db, user_id, was_hidden=before[user.c.ratings_opt_out.name])


def set_password(db: Connection, user_id: int, password_hash: str) -> None:
    """Set a new password, and end all sessions of the user.

    Raises NotFound or AccountCannotSignIn.
    """
    rows = update(user).where(user.c.user_id == user_id).values(password_hash=password_hash)
    email = db.execute(rows.returning(user.c.email)).one_or_none()
    if email is None:
        raise NotFound("User", user_id)
    if email[0] is None:
        raise AccountCannotSignIn(user_id=user_id)
    for table in (session, half_sign_in, known_browser, account_link):
        db.execute(delete(table).where(table.c.user_id == user_id))


def rehash_password(db: Connection, user_id: int, *, old: str, new: str) -> None:
    """Rehash the same password with current parameters, unless it was changed in the meantime."""
    is_same = (user.c.user_id == user_id) & (user.c.password_hash == old)
    db.execute(update(user).where(is_same).values(password_hash=new))


def _require_valid_account(name: str, email: str, role: str) -> None:
    name_fault = texts.name_fault(name, NAME_MAX)
    faults: dict[str, list[str]] = {} if name_fault is None else {"name": [name_fault]}
    if len(email) > EMAIL_MAX:
        faults["email"] = [f"The email field must not be greater than {EMAIL_MAX} characters."]
    elif not EMAIL.fullmatch(email) or not email.isprintable():
        faults["email"] = ["The email field must be a valid email address."]
    if role not in access.ROLES:
        faults["role"] = ["The selected role is invalid."]
    if faults:
        raise Invalid(faults)
