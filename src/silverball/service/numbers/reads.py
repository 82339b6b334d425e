"""Federation numbers that accounts gave or claim, and those that are confirmed."""

from typing import Any, Literal

from sqlalchemy import Connection, Select, and_, false, func, literal, or_, select, union_all

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store.tables import confirmed_number, player, user
from silverball.wire import times
from silverball.wire.numbers import AccountNumber

PER_PAGE = 25


class NumberQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/federation-numbers."""

    status: Literal["waiting", "confirmed"] = "waiting"
    """Numbers that wait for a confirmation, or those that have one."""
    page: PageNumber = 1


def numbers_page(
    db: Connection, query: NumberQuery, viewer: AuthenticatedCaller | None
) -> PageRows[AccountNumber]:
    """Return a page of the list, by account. Raises NotAllowed for all but administrators."""
    if viewer is None or not viewer.is_admin:
        raise NotAllowed
    refuse_deep_pagination(query.page, PER_PAGE)
    rows = _number_rows(is_confirmed=query.status == "confirmed")
    total = db.execute(select(func.count()).select_from(rows.subquery())).scalar_one()
    rows = rows.order_by(user.c.user_id, "ifpa_id")
    listed = db.execute(rows.limit(PER_PAGE).offset((query.page - 1) * PER_PAGE))
    return PageRows([_account_number(row) for row in listed], total)


def find_number(db: Connection, user_id: int, ifpa_id: int) -> AccountNumber:
    """The number of this account, as in the lists. Raises NotFound for an unknown account."""
    for is_confirmed in (True, False):
        rows = _number_rows(is_confirmed=is_confirmed)
        row = db.execute(
            rows.where(user.c.user_id == user_id, rows.selected_columns.ifpa_id == ifpa_id)
        ).first()
        if row is not None:
            return _account_number(row)
    return _unused_number(db, user_id, ifpa_id)


def _unused_number(db: Connection, user_id: int, ifpa_id: int) -> AccountNumber:
    """A number that the account neither gave nor claims, and that is not confirmed for it."""
    name = db.execute(select(user.c.name).where(user.c.user_id == user_id)).scalar_one_or_none()
    if name is None:
        raise NotFound("User", user_id)
    holder = select(confirmed_number.c.user_id).where(confirmed_number.c.ifpa_id == ifpa_id)
    return AccountNumber(
        user_id=user_id,
        name=name,
        ifpa_id=ifpa_id,
        in_profile=False,
        claimed_players=0,
        confirmed_at=None,
        confirmed_for=db.execute(holder).scalar_one_or_none(),
    )


def _number_rows(*, is_confirmed: bool) -> Select[Any]:
    """Each account with each number that it gave, claims, or has confirmed."""
    in_profile = select(
        user.c.user_id, user.c.ifpa_id, literal(1).label("profile"), literal(0).label("players")
    )
    claimed = select(player.c.claimed_by, player.c.ifpa_id, literal(0), literal(1))
    # Names that an import brought along are not accounts.
    sources = [
        in_profile.where(user.c.ifpa_id.is_not(None), user.c.placeholder == false()),
        claimed.where(player.c.claimed_by.is_not(None), player.c.ifpa_id.is_not(None)),
    ]
    if is_confirmed:
        held = confirmed_number.c
        sources.append(select(held.user_id, held.ifpa_id, literal(0), literal(0)))
    given = union_all(*sources).subquery()
    numbers = (
        select(given.c.user_id, given.c.ifpa_id)
        .add_columns(func.max(given.c.profile).label("profile"), func.sum(given.c.players).label("players"))
        .group_by(given.c.user_id, given.c.ifpa_id)
        .subquery()
    )
    held = confirmed_number.c
    is_own = and_(held.user_id == numbers.c.user_id, held.ifpa_id == numbers.c.ifpa_id)
    return (
        select(numbers, user.c.name, held.at, held.user_id.label("holder"))
        .join(user, user.c.user_id == numbers.c.user_id)
        .outerjoin(confirmed_number, held.ifpa_id == numbers.c.ifpa_id)
        .where(is_own if is_confirmed else or_(held.user_id.is_(None), held.user_id != numbers.c.user_id))
    )


def _account_number(row: Any) -> AccountNumber:
    is_own = row.holder == row.user_id
    return AccountNumber(
        user_id=row.user_id,
        name=row.name,
        ifpa_id=row.ifpa_id,
        in_profile=bool(row.profile),
        claimed_players=int(row.players),
        confirmed_at=times.iso(row.at) if is_own else None,
        confirmed_for=row.holder,
    )
