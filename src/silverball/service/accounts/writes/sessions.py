"""Start and end sessions."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from silverball.kit.errors import Conflict, Invalid, ServiceUnavailable
from silverball.kit.security import passwords, tokens
from silverball.kit.values import WithSecret
from silverball.service.accounts import reads
from silverball.service.accounts.reads import LABEL_LETTERS, SESSIONS_MAX
from silverball.store.people import audit, encryption, site_values
from silverball.store.tables import half_sign_in, known_browser, recovery_code, session, two_step, user

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
    """Sign the user in with a new secret, and delete expired sessions and the oldest beyond SESSIONS_MAX."""
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
    newest = select(session.c.hash).where(session.c.user_id == user_id)
    newest = newest.order_by(session.c.created_at.desc(), session.c.hash).offset(SESSIONS_MAX)
    # More than one only where many were made at the same moment.
    too_many = list(db.execute(newest.limit(SESSIONS_MAX)).scalars())
    if too_many:
        db.execute(delete(session).where(session.c.hash.in_(too_many)))
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


def renew_session(db: Connection, secret: str, *, now: datetime, dice: Random) -> NewSession:
    """Store that the password was given in this session, which gets a new secret; the old one ends.

    Forms that are open in other windows stay valid.
    """
    renewed = tokens.new_cookie_secret(dice)
    values = {"hash": tokens.digest(renewed), "proved_at": now}
    db.execute(update(session).where(session.c.hash == tokens.digest(secret)).values(**values))
    return NewSession(renewed)


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


def note_ended_others(db: Connection, user_id: int, secret: str, *, now: datetime, source: str) -> None:
    """End all other sessions of the user, and note in the security log how many there were."""
    number = end_other_sessions(db, user_id, secret)
    if number:
        audit.record(db, "sign-ins-ended", at=now, user_id=user_id, source=source, detail=str(number))


# Turn two-step sign-in on and off, and accept its codes, each once.


RECOVERY_CODES = 10
SALT_BYTES = 16
HALF_SIGN_IN_LIFETIME = timedelta(minutes=5)
_TWO_STEP = two_step.c


class TwoStepAlreadyOn(Conflict):
    sentence = "Two-step sign-in is on already. Turn it off before you use another app."


def begin(db: Connection, user_id: int, *, now: datetime, dice: Random) -> str:
    """Store a new secret, which counts once it is confirmed, and return it. Raises TwoStepAlreadyOn.

    Raises NoEncryptionKey on a server without a key.
    """
    _lock_account(db, user_id)
    confirmed_at = select(_TWO_STEP.confirmed_at).where(_TWO_STEP.user_id == user_id)
    if db.execute(confirmed_at).scalar_one_or_none() is not None:
        raise TwoStepAlreadyOn
    db.execute(delete(two_step).where(_TWO_STEP.user_id == user_id))
    secret = tokens.new_code_secret(dice)
    values = {"user_id": user_id, "secret": encryption.encrypt(db, secret), "created_at": now}
    db.execute(insert(two_step).values(**values))
    return secret


def unconfirmed_secret(db: Connection, user_id: int) -> str | None:
    """The secret that is not confirmed yet."""
    row = select(_TWO_STEP.secret).where(_TWO_STEP.user_id == user_id, _TWO_STEP.confirmed_at.is_(None))
    stored = db.execute(row).scalar_one_or_none()
    return None if stored is None else encryption.decrypt(db, stored)


class RecoveryCodes(WithSecret, frozen=True):
    """New recovery codes, and what is stored in their place."""

    codes: list[str]
    hashes: list[str]


def new_recovery_codes(dice: Random) -> RecoveryCodes:
    """New recovery codes. Takes a third of a second, so call it outside a transaction."""
    codes = [tokens.new_recovery_code(dice) for _ in range(RECOVERY_CODES)]
    # The codes of an account share it, so that one digest finds a typed code among them.
    salt = dice.randbytes(SALT_BYTES).hex()
    return RecoveryCodes(codes, [_recovery_hash(salt, code) for code in codes])


def first_step(db: Connection, user_id: int, typed: str, now: datetime) -> int:
    """The half minute of the first code of an app. Raises Invalid for a wrong one, and TwoStepAlreadyOn."""
    secret = unconfirmed_secret(db, user_id)
    if secret is None:
        raise TwoStepAlreadyOn
    step = tokens.matching_step(secret, tokens.typed_digits(typed), now)
    if step is None:
        raise Invalid({"code": ["This is not the code that the app shows now. Is the phone's clock right?"]})
    return step


def confirm(
    db: Connection, user_id: int, typed: str, recovery: RecoveryCodes, *, now: datetime, source: str
) -> None:
    """Turn two-step sign-in on with a first code. Raises Invalid and TwoStepAlreadyOn."""
    _lock_account(db, user_id)
    step = first_step(db, user_id, typed, now)
    db.execute(update(two_step).where(_TWO_STEP.user_id == user_id).values(confirmed_at=now, last_step=step))
    rows = [{"hash": hashed, "user_id": user_id} for hashed in recovery.hashes]
    db.execute(insert(recovery_code), rows)
    audit.record(db, "two-step-on", at=now, user_id=user_id, source=source)


def turn_off(db: Connection, user_id: int, *, now: datetime, source: str) -> bool:
    """Forget the secret and the recovery codes, and return whether two-step sign-in was on."""
    forgotten = delete(two_step).where(_TWO_STEP.user_id == user_id).returning(_TWO_STEP.confirmed_at)
    was_on = db.execute(forgotten).scalar_one_or_none() is not None
    for table in (recovery_code, half_sign_in):
        db.execute(delete(table).where(table.c.user_id == user_id))
    if was_on:
        audit.record(db, "two-step-off", at=now, user_id=user_id, source=source)
    return was_on


def replace_lost_secrets(db: Connection, dice: Random) -> None:
    """Put a secret that nobody knows in the place of those that no key reads; unfinished ones go."""
    lost = ~encryption.is_readable(db, _TWO_STEP.secret)
    db.execute(delete(two_step).where(lost, _TWO_STEP.confirmed_at.is_(None)))
    unknown = encryption.encrypt(db, tokens.new_code_secret(dice))
    db.execute(update(two_step).where(lost).values(secret=unknown))


class OwnTwoStepFirst(Conflict):
    sentence = "Turn two-step sign-in on for yourself first: then you know that it works on this site."


def demand_two_step(db: Connection, of: str, *, now: datetime, user_id: int, source: str) -> None:
    """Demand two-step sign-in of nobody, administrators or everybody; `user_id` is who demands it.

    Raises Invalid, and OwnTwoStepFirst for who has it off themselves.
    """
    if of not in reads.DEMANDED_OF:
        raise Invalid({"of": ["Choose nobody, administrators or everybody."]})
    if of != reads.DEMANDED_OF[0] and reads.find_two_step(db, user_id) is None:
        raise OwnTwoStepFirst
    site_values.note_site_value(db, reads.TWO_STEP_DEMAND, of)
    audit.record(db, "two-step-demanded", at=now, user_id=user_id, source=source, detail=of)


def recovery_hash_of(db: Connection, user_id: int, typed: str) -> Callable[[], str]:
    """A function that computes the stored form of a typed recovery code; empty for a code of the app.

    Call it outside a transaction, since it is slow by design.
    """
    digits = tokens.typed_digits(typed)
    own = select(recovery_code.c.hash).where(recovery_code.c.user_id == user_id).limit(1)
    stored = db.execute(own).scalar_one_or_none() if len(digits) == tokens.RECOVERY_DIGITS else None
    if stored is None:
        return str
    salt, has_salt, _ = stored.partition("$")
    if not has_salt:
        # Made by 0.2.0.
        return lambda: tokens.digest(f"recovery {user_id} {digits}")
    return lambda: _recovery_hash(salt, digits)


def accept_code(
    db: Connection, user_id: int, typed: str, recovery_hash: str, *, now: datetime, source: str
) -> bool:
    """Use up a code of the app or a recovery code, and return whether it was right.

    A right one ends the sign-ins of this account that wait for one. Raises AppCodesUnreadable.
    """
    digits = tokens.typed_digits(typed)
    if len(digits) == tokens.RECOVERY_DIGITS:
        is_right = _use_recovery_code(db, user_id, recovery_hash, now=now, source=source)
    else:
        is_right = _use_app_code(db, user_id, digits, now)
    if is_right:
        db.execute(delete(half_sign_in).where(half_sign_in.c.user_id == user_id))
    return is_right


def begin_half_sign_in(db: Connection, user_id: int, *, now: datetime, dice: Random) -> str:
    """Remember that the password was given, and return the secret for the form that asks for the code."""
    db.execute(delete(half_sign_in).where(half_sign_in.c.expires_at <= now))
    secret = tokens.new_cookie_secret(dice)
    values = {"hash": tokens.digest(secret), "user_id": user_id, "expires_at": now + HALF_SIGN_IN_LIFETIME}
    db.execute(insert(half_sign_in).values(**values))
    return secret


def _lock_account(db: Connection, user_id: int) -> None:
    # The same form sent twice at once waits for the first.
    db.execute(select(user.c.user_id).where(user.c.user_id == user_id).with_for_update())


class AppCodesUnreadable(ServiceUnavailable):
    sentence = (
        "Codes of the app cannot be checked at the moment, because the server lacks the key for them. Enter a"
        " recovery code, or ask whoever runs this site."
    )


def _use_app_code(db: Connection, user_id: int, digits: str, now: datetime) -> bool:
    row = select(_TWO_STEP.secret).where(_TWO_STEP.user_id == user_id, _TWO_STEP.confirmed_at.is_not(None))
    stored = db.execute(row).scalar_one_or_none()
    if stored is None:
        return False
    try:
        secret = encryption.decrypt(db, stored)
    except ServiceUnavailable as error:
        raise AppCodesUnreadable from error
    step = tokens.matching_step(secret, digits, now)
    if step is None:
        return False
    # Of two equal codes at the same moment, the second finds the first one's step.
    is_unused = or_(_TWO_STEP.last_step.is_(None), _TWO_STEP.last_step < step)
    used = update(two_step).where(_TWO_STEP.user_id == user_id, is_unused).values(last_step=step)
    return db.execute(used).rowcount == 1


def _use_recovery_code(db: Connection, user_id: int, hashed: str, *, now: datetime, source: str) -> bool:
    own = recovery_code.c.user_id == user_id
    used = delete(recovery_code).where(own, recovery_code.c.hash == hashed)
    if db.execute(used).rowcount == 0:
        return False
    left = db.execute(select(func.count()).select_from(recovery_code).where(own)).scalar_one()
    audit.record(db, "recovery-code-used", at=now, user_id=user_id, source=source, detail=f"{left} left")
    return True


def _recovery_hash(salt: str, code: str) -> str:
    digest = passwords.digest_with_salt(tokens.typed_digits(code), bytes.fromhex(salt))
    return f"{salt}${digest}"
