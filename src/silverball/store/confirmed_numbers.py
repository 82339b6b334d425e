"""Federation numbers that an administrator has confirmed for an account.

Only these join a number's rating with an account's: everybody can type a number.
"""

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.store.tables import confirmed_number, user

_C = confirmed_number.c


class ConfirmedNumbers(Struct, frozen=True):
    """Confirmed numbers and their accounts, in both directions."""

    number_by_user: dict[int, int] = msgspec.field(default_factory=dict)
    user_by_number: dict[int, int] = msgspec.field(default_factory=dict)
    name_by_user: dict[int, str] = msgspec.field(default_factory=dict)


def all_confirmed(db: Connection) -> ConfirmedNumbers:
    """Every confirmed number."""
    rows = select(_C.ifpa_id, _C.user_id, user.c.name).join(user, user.c.user_id == _C.user_id)
    confirmed = ConfirmedNumbers()
    for ifpa_id, user_id, name in db.execute(rows):
        confirmed.number_by_user[user_id] = ifpa_id
        confirmed.user_by_number[ifpa_id] = user_id
        confirmed.name_by_user[user_id] = name
    return confirmed


def number_of(db: Connection, user_id: int) -> int | None:
    """The number that is confirmed for this account."""
    return db.execute(select(_C.ifpa_id).where(_C.user_id == user_id)).scalar_one_or_none()


def holder_of(db: Connection, ifpa_id: int) -> int | None:
    """The account that this number is confirmed for."""
    return db.execute(select(_C.user_id).where(_C.ifpa_id == ifpa_id)).scalar_one_or_none()
