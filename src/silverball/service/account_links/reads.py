"""Links that make an account or set a new password: made by an administrator, or mailed to the owner."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, and_, select

from silverball.kit import tokens
from silverball.store.tables import account_link, user

LABEL_LETTERS = 16
LISTED_MAX = 100
_L = account_link.c
# A mailed link was asked for by the account itself; the others are an administrator's.
IS_MAILED = and_(_L.user_id.is_not(None), _L.user_id == _L.created_by)


class AccountLink(Struct, frozen=True, kw_only=True):
    """A link that can still be used."""

    # The first letters of its hash, which name it on a page.
    label: str
    # The account that gets a new password, with its name and e-mail; None in an invitation.
    user_id: int | None
    name: str | None
    email: str | None
    # The role of the account that an invitation makes; None in a recovery.
    role: str | None
    expires_at: datetime


_ROWS = select(_L.hash, _L.user_id, user.c.name, user.c.email, _L.role, _L.expires_at).select_from(
    account_link.outerjoin(user, user.c.user_id == _L.user_id)
)


def find_link(db: Connection, secret: str, now: datetime) -> AccountLink | None:
    """The link with this secret; None when it was used or withdrawn, or has expired."""
    is_found = (_L.hash == tokens.digest(secret), _L.expires_at > now, user.c.suspended_at.is_(None))
    row = db.execute(_ROWS.where(*is_found)).mappings().one_or_none()
    return None if row is None else _account_link(dict(row))


def open_links(db: Connection, now: datetime) -> list[AccountLink]:
    """The links that can still be used, the next to expire first, and mailed ones last."""
    in_order = _ROWS.where(_L.expires_at > now).order_by(IS_MAILED, _L.expires_at, _L.hash)
    rows = db.execute(in_order.limit(LISTED_MAX))
    return [_account_link(dict(row)) for row in rows.mappings()]


def _account_link(row: dict[str, object]) -> AccountLink:
    label = str(row.pop("hash"))[:LABEL_LETTERS]
    return AccountLink(label=label, **row)  # type: ignore[arg-type]  # the columns of the query
