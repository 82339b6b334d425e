"""People who signed themselves up and were not taken yet: names, no players, outside of the journal."""

from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, func, insert, select, update

from silverball.store.tables import sign_up_request

PENDING, TAKEN, REMOVED = "pending", "taken", "removed"
# More than a tournament ever takes.
PENDING_MAX = 2_000
_REQUEST = sign_up_request.c


class SignUpRequest(Struct, frozen=True, kw_only=True):
    """A sign-up that waits to be taken."""

    sign_up_id: int
    name: str
    signed_up_at: datetime
    # They owe the late fee.
    is_late: bool
    # The federation number that they proposed.
    ifpa_id: int | None = None


class SettledRequest(Struct, frozen=True, kw_only=True):
    """The outcome of a sign-up: pending, taken as a player, or removed."""

    status: str
    player_id: int | None


def pending(db: Connection, tournament_id: int) -> list[SignUpRequest]:
    """The sign-ups that were not taken yet, in their order."""
    columns = [_REQUEST[name] for name in SignUpRequest.__struct_fields__]
    rows = select(*columns).where(_REQUEST.tournament_id == tournament_id, _REQUEST.status == PENDING)
    ordered = rows.order_by(_REQUEST.sign_up_id).limit(PENDING_MAX)
    return [SignUpRequest(**row._mapping) for row in db.execute(ordered)]


def find(db: Connection, tournament_id: int, sign_up_id: int) -> SettledRequest | None:
    """The outcome of a sign-up of this tournament; None for an unknown one."""
    rows = select(_REQUEST.status, _REQUEST.player_id).where(
        _REQUEST.tournament_id == tournament_id, _REQUEST.sign_up_id == sign_up_id
    )
    row = db.execute(rows).one_or_none()
    return None if row is None else SettledRequest(status=row.status, player_id=row.player_id)


def add(db: Connection, values: dict[str, Any]) -> int:
    """Insert a pending sign-up and return its id."""
    row = insert(sign_up_request).values(status=PENDING, **values).returning(_REQUEST.sign_up_id)
    return int(db.execute(row).scalar_one())


def settle(db: Connection, tournament_id: int, sign_up_id: int, player_id: int | None) -> bool:
    """Note that a pending sign-up became this player, or was removed; name and number are kept no longer."""
    own = (_REQUEST.tournament_id == tournament_id, _REQUEST.sign_up_id == sign_up_id)
    status = REMOVED if player_id is None else TAKEN
    values = {"status": status, "player_id": player_id, "name": "", "ifpa_id": None}
    settled = update(sign_up_request).where(*own, _REQUEST.status == PENDING).values(**values)
    return db.execute(settled).rowcount == 1


def forget(db: Connection, tournament_id: int) -> None:
    """Delete the sign-ups that were never taken."""
    own = (_REQUEST.tournament_id == tournament_id, _REQUEST.status == PENDING)
    db.execute(delete(sign_up_request).where(*own))


def count_from(db: Connection, source: str, now: datetime, within: timedelta) -> int:
    """The number of sign-ups from an address, for any tournament, in this time."""
    is_recent = (_REQUEST.source == source, _REQUEST.signed_up_at > now - within)
    return int(db.execute(select(func.count()).select_from(sign_up_request).where(*is_recent)).scalar_one())


def count_of_browser(db: Connection, tournament_id: int, browser: str) -> int:
    """The number of sign-ups for a tournament from one browser."""
    own = (_REQUEST.tournament_id == tournament_id, _REQUEST.browser == browser)
    return int(db.execute(select(func.count()).select_from(sign_up_request).where(*own)).scalar_one())
