"""API tokens: the caller behind a request, and the lists that owners see."""

import hmac
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Connection, RowMapping, Select, select

from silverball.kit import tokens
from silverball.kit.errors import NotFound
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.store.tables import OPT_OUTS, token, user
from silverball_wire import times
from silverball_wire.tokens import ApiToken

USE_RECORDED_EVERY = timedelta(minutes=1)
HEADER_BYTES_MAX = 200
TOKENS_LISTED_MAX = 1000


class Token(Struct, frozen=True, kw_only=True):
    """A token as its owner sees it: without the secret."""

    token_id: int
    user_id: int
    name: str
    ability: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


def find_caller(db: Connection, authorization: bytes, now: datetime) -> AuthenticatedCaller | None:
    """The caller whose token is in this Authorization header; None without a valid token."""
    presented = _presented_token(authorization)
    if presented is None:
        return None
    row = db.execute(_token_query(presented)).one_or_none()
    if row is None or not hmac.compare_digest(row.hash, presented.hash):
        return None
    if row.expires_at is not None and row.expires_at <= now:
        return None
    is_use_due = row.last_used_at is None or now - row.last_used_at >= USE_RECORDED_EVERY
    return AuthenticatedCaller(
        user_id=row.user_id,
        role=row.role,
        ability=access.highest_ability(row.role, row.abilities),
        has_opt_outs=any(getattr(row, name) for name in OPT_OUTS),
        token_id=row.token_id,
        token_to_note=row.token_id if is_use_due else None,
    )


def owned_by(db: Connection, user_id: int) -> list[Token]:
    """The user's tokens, newest first."""
    rows = _token_rows().where(token.c.user_id == user_id).order_by(token.c.token_id.desc())
    return [_token_from_row(row) for row in db.execute(rows.limit(TOKENS_LISTED_MAX)).mappings()]


def find_token(db: Connection, user_id: int, token_id: int) -> Token:
    """A token of this user. Raises NotFound, also for another user's token."""
    rows = _token_rows().where(token.c.user_id == user_id, token.c.token_id == token_id)
    row = db.execute(rows).mappings().one_or_none()
    if row is None:
        raise NotFound("Token", token_id)
    return _token_from_row(row)


def api_token(token: Token) -> ApiToken:
    """The token in its published shape."""
    return ApiToken(
        token_id=token.token_id,
        name=token.name,
        ability=token.ability,
        created_at=times.iso(token.created_at),
        last_used_at=times.iso_or_none(token.last_used_at),
        expires_at=times.iso_or_none(token.expires_at),
    )


def newest_tokens(db: Connection) -> list[Token]:
    """The newest tokens of the whole site, newest first."""
    rows = _token_rows().order_by(token.c.token_id.desc())
    return [_token_from_row(row) for row in db.execute(rows.limit(TOKENS_LISTED_MAX)).mappings()]


def _presented_token(authorization: bytes) -> tokens.ParsedToken | None:
    if len(authorization) > HEADER_BYTES_MAX:
        return None
    scheme, _, text = authorization.decode("latin-1").strip().partition(" ")
    return tokens.parse_token(text.strip()) if scheme.lower() == "bearer" else None


def _token_query(presented: tokens.ParsedToken) -> Select[tuple[object, ...]]:
    columns = (
        token.c.token_id,
        token.c.hash,
        token.c.abilities,
        token.c.last_used_at,
        token.c.expires_at,
        user.c.user_id,
        user.c.role,
    )
    owner = (token.c.user_id == user.c.user_id) & user.c.suspended_at.is_(None)
    rows = select(*columns, *(user.c[name] for name in OPT_OUTS)).join_from(token, user, owner)
    if presented.token_id is None:
        return rows.where(token.c.hash == presented.hash)
    return rows.where(token.c.token_id == presented.token_id)


def _token_rows() -> Select[tuple[object, ...]]:
    return select(
        token.c.token_id,
        token.c.user_id,
        token.c.name,
        token.c.abilities,
        token.c.created_at,
        token.c.last_used_at,
        token.c.expires_at,
        user.c.role,
    ).join_from(token, user, token.c.user_id == user.c.user_id)


def _token_from_row(row: RowMapping) -> Token:
    values = dict(row)
    ability = access.highest_ability(values.pop("role"), values.pop("abilities"))
    return Token(ability=ability, **values)
