"""Create, revoke and use API tokens."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Annotated, Literal

from msgspec import Meta, Struct
from sqlalchemy import Connection, delete, func, insert, or_, select, update

from silverball.kit import texts, tokens
from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Name
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.tokens.reads import USE_RECORDED_EVERY, Token
from silverball.store import audit
from silverball.store.tables import token, user
from silverball.store.transaction import Transaction

NAME_MAX = 100
EXPIRES_DAYS_MAX = 3650
TOKENS_MAX = 100


class IssuedToken(Struct, frozen=True):
    """A created token. Its text is shown once and stored nowhere."""

    token_id: int
    text: str


class TokenRequest(Body, frozen=True, kw_only=True):
    """A new token of the caller."""

    name: Name
    """Name by which the token is listed."""
    # Each ability includes those before it in the list.
    ability: Literal["read", "score", "manage", "admin"] = "read"
    expires_days: Annotated[int, Meta(ge=1, le=EXPIRES_DAYS_MAX)] | None = None
    """Days until the token expires; null for never."""


class TooManyTokens(Conflict):
    sentence = "An account can have {limit} tokens. Revoke one that is no longer used first."


class AccountCannotHaveTokens(Conflict):
    sentence = "User {user_id} is only a name from an import and cannot have tokens."


class TokenTooStrongToRevoke(NotAllowed):
    sentence = "A token cannot revoke one that can do more than itself."


class TokenTooStrongToRotate(NotAllowed):
    sentence = "A token can rotate itself, and with `score` those that can do no more than itself."


def create_token(
    db: Connection,
    user_id: int,
    name: str,
    *,
    abilities: Sequence[str] = ("read",),
    expires_days: int | None = None,
    now: datetime,
    dice: Random,
    source: str = audit.COMMAND_LINE,
) -> IssuedToken:
    """Create a token of this user. Raises NotFound, Invalid, TooManyTokens or AccountCannotHaveTokens."""
    owner = db.execute(select(user.c.role, user.c.placeholder).where(user.c.user_id == user_id)).one_or_none()
    if owner is None:
        raise NotFound("User", user_id)
    if owner.placeholder:
        raise AccountCannotHaveTokens(user_id=user_id)
    _require_valid_request(owner.role, name.strip(), abilities, expires_days)
    count = db.execute(select(func.count()).select_from(token).where(token.c.user_id == user_id)).scalar_one()
    if count >= TOKENS_MAX:
        raise TooManyTokens(limit=TOKENS_MAX)
    secret = tokens.new_secret(dice)
    values = {
        "user_id": user_id,
        "name": name.strip(),
        "hash": tokens.digest(secret),
        "abilities": sorted(set(abilities), key=access.ABILITIES.index),
        "created_at": now,
        "expires_at": None if expires_days is None else now + timedelta(days=expires_days),
    }
    token_id = db.execute(insert(token).values(**values).returning(token.c.token_id)).scalar_one()
    made = f"{token_id} {access.highest_ability(owner.role, abilities)}"
    audit.record(db, "token-made", at=now, user_id=user_id, source=source, detail=made)
    return IssuedToken(token_id, tokens.full_token(token_id, secret))


def create_token_for_caller(call: Write[TokenRequest], dice: Random) -> IssuedToken:
    """Create a token of the caller. Raises Invalid if it could do more than the caller's own."""
    body = call.body
    if not call.caller.may(body.ability):
        raise Invalid({"ability": ["A token cannot create one that can do more than itself."]})
    return create_token(
        call.db,
        call.user_id,
        body.name,
        abilities=[body.ability],
        expires_days=body.expires_days,
        now=call.now,
        dice=dice,
        source=call.source,
    )


def revoke_for_caller(call: Write[Body], token_to_revoke: Token) -> None:
    """Revoke a token of the caller. Raises NotAllowed if it can do more than the caller's own."""
    if not call.caller.may(token_to_revoke.ability):
        raise TokenTooStrongToRevoke
    token_id = token_to_revoke.token_id
    revoke_token(call.transaction, token_id, user_id=call.user_id, now=call.now, source=call.source)


def revoke_token(
    transaction: Transaction,
    token_id: int,
    *,
    now: datetime,
    user_id: int | None = None,
    source: str = audit.COMMAND_LINE,
) -> None:
    """Revoke a token at once; with a user id, only a token of that user. Raises NotFound."""
    rows = delete(token).where(token.c.token_id == token_id)
    if user_id is not None:
        rows = rows.where(token.c.user_id == user_id)
    owner_id = transaction.connection.execute(rows.returning(token.c.user_id)).scalar_one_or_none()
    if owner_id is None:
        raise NotFound("Token", token_id)
    transaction.changed_user_ids.add(owner_id)
    db = transaction.connection
    audit.record(db, "token-revoked", at=now, user_id=owner_id, source=source, detail=str(token_id))


def rotate_token(
    transaction: Transaction,
    token_id: int,
    *,
    user_id: int,
    now: datetime,
    dice: Random,
    source: str,
    renews: bool = True,
) -> IssuedToken:
    """Give a token of this user a new secret; the old secret works no longer. Raises NotFound.

    `renews` lets a token that expires have as many days as it had, as if it had been made now.
    """
    db, own = transaction.connection, (token.c.token_id == token_id, token.c.user_id == user_id)
    row = db.execute(select(token.c.created_at, token.c.expires_at).where(*own)).one_or_none()
    if row is None:
        raise NotFound("Token", token_id)
    secret = tokens.new_secret(dice)
    values: dict[str, object] = {"hash": tokens.digest(secret), "last_used_at": None}
    if renews:
        values["created_at"] = now
        values["expires_at"] = None if row.expires_at is None else now + (row.expires_at - row.created_at)
    db.execute(update(token).where(*own).values(**values))
    transaction.changed_user_ids.add(user_id)
    audit.record(db, "token-rotated", at=now, user_id=user_id, source=source, detail=str(token_id))
    return IssuedToken(token_id, tokens.full_token(token_id, secret))


def rotate_for_caller(call: Write[Body], token_to_rotate: Token, dice: Random) -> IssuedToken:
    """Rotate a token of the caller, which expires when it did. Raises NotAllowed for one that can do more."""
    token_id = token_to_rotate.token_id
    may_rotate_others = call.caller.may("score") and call.caller.may(token_to_rotate.ability)
    if call.caller.token_id != token_id and not may_rotate_others:
        raise TokenTooStrongToRotate
    return rotate_token(
        call.transaction,
        token_id,
        user_id=call.user_id,
        now=call.now,
        dice=dice,
        source=call.source,
        renews=False,
    )


def record_use(db: Connection, token_id: int, now: datetime) -> None:
    """Store that the token was used, at most once a minute."""
    is_due = or_(token.c.last_used_at.is_(None), token.c.last_used_at <= now - USE_RECORDED_EVERY)
    db.execute(update(token).where(token.c.token_id == token_id, is_due).values(last_used_at=now))


def _require_valid_request(role: str, name: str, abilities: Sequence[str], expires_days: int | None) -> None:
    name_fault = texts.name_fault(name, NAME_MAX)
    faults: dict[str, list[str]] = {} if name_fault is None else {"name": [name_fault]}
    allowed = access.abilities_for(role)
    if not abilities or any(ability not in access.ABILITIES for ability in abilities):
        faults["ability"] = ["The selected ability is invalid."]
    elif any(ability not in allowed for ability in abilities):
        faults["ability"] = [f"A token of a {role} can have: {', '.join(allowed)}."]
    if expires_days is not None and not 1 <= expires_days <= EXPIRES_DAYS_MAX:
        faults["expires"] = [f"The expires field must be between 1 and {EXPIRES_DAYS_MAX} days."]
    if faults:
        raise Invalid(faults)
