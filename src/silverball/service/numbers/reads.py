"""Federation numbers that accounts gave or claim, and those that are confirmed."""

from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    exists,
    false,
    func,
    not_,
    select,
    union,
)

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store.tables import confirmed_number, player, user
from silverball_wire import times
from silverball_wire.numbers import AccountNumber

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
    first = (query.page - 1) * PER_PAGE
    if query.status == "confirmed":
        total = db.execute(select(func.count()).select_from(confirmed_number)).scalar_one()
        rows = _number_rows(_confirmed_pairs())
    else:
        total = _count_waiting(db)
        # The first pairs of each kind hold the first pairs of all: so nobody sorts them all.
        rows = _number_rows(_waiting_pairs(first + PER_PAGE))
    listed = db.execute(rows.order_by(user.c.user_id, "ifpa_id").limit(PER_PAGE).offset(first))
    return PageRows([_account_number(row) for row in listed], total)


def find_number(db: Connection, user_id: int, ifpa_id: int) -> AccountNumber:
    """The number of this account, as in the lists. Raises NotFound for an unknown account."""
    given = _given_in_profile(), _claimed()
    for pairs in (_confirmed_pairs(), union(*given).subquery()):
        rows = _number_rows(pairs)
        row = db.execute(rows.where(pairs.c.user_id == user_id, pairs.c.ifpa_id == ifpa_id)).first()
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


def _given_in_profile() -> Select[Any]:
    """Each account with the number in its profile."""
    # Names that an import brought along are not accounts.
    return select(user.c.user_id, user.c.ifpa_id).where(
        user.c.ifpa_id.is_not(None), user.c.placeholder == false()
    )


def _claimed() -> Select[Any]:
    """Each account with each number of a player that it claims, as often as it claims one."""
    return (
        select(player.c.claimed_by.label("user_id"), player.c.ifpa_id)
        .join(user, user.c.user_id == player.c.claimed_by)
        .where(player.c.claimed_by.is_not(None), player.c.ifpa_id.is_not(None))
    )


def _waits(user_id: ColumnElement[int], ifpa_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the number is not confirmed for the account."""
    held = confirmed_number.c
    return ~exists().where(held.ifpa_id == ifpa_id, held.user_id == user_id)


def _waiting_pairs(count: int) -> Subquery:
    """At least the first pairs of account and number that wait for a confirmation, by account."""
    profile = _given_in_profile().where(_waits(user.c.user_id, user.c.ifpa_id))
    claimed = _claimed().where(_waits(player.c.claimed_by, player.c.ifpa_id)).distinct()
    firsts = (
        profile.order_by(user.c.user_id).limit(count).subquery(),
        claimed.order_by(player.c.claimed_by, player.c.ifpa_id).limit(count).subquery(),
    )
    return union(*(select(each.c.user_id, each.c.ifpa_id) for each in firsts)).subquery()


def _count_waiting(db: Connection) -> int:
    """The number of pairs that wait: of numbers in profiles, and of claimed ones that are in none."""
    profile = _given_in_profile().where(_waits(user.c.user_id, user.c.ifpa_id))
    is_in_profile = and_(user.c.placeholder == false(), func.coalesce(user.c.ifpa_id, 0) == player.c.ifpa_id)
    claimed = _claimed().where(not_(is_in_profile), _waits(player.c.claimed_by, player.c.ifpa_id)).distinct()
    counts = [db.execute(select(func.count()).select_from(each.subquery())) for each in (profile, claimed)]
    return sum(count.scalar_one() for count in counts)


def _confirmed_pairs() -> Subquery:
    return select(confirmed_number.c.user_id, confirmed_number.c.ifpa_id).subquery()


def _number_rows(pairs: Subquery) -> Select[Any]:
    """These accounts with these numbers, and whose they are confirmed to be."""
    held = confirmed_number.c
    is_given = and_(user.c.placeholder == false(), func.coalesce(user.c.ifpa_id, 0) == pairs.c.ifpa_id)
    claimed = select(func.count()).where(
        player.c.claimed_by == pairs.c.user_id, player.c.ifpa_id == pairs.c.ifpa_id
    )
    return (
        select(pairs.c.user_id, pairs.c.ifpa_id, is_given.label("in_profile"))
        .add_columns(claimed.scalar_subquery().label("players"), user.c.name, held.at)
        .add_columns(held.user_id.label("holder"))
        .join(user, user.c.user_id == pairs.c.user_id)
        .outerjoin(confirmed_number, held.ifpa_id == pairs.c.ifpa_id)
    )


def _account_number(row: Any) -> AccountNumber:
    is_own = row.holder == row.user_id
    return AccountNumber(
        user_id=row.user_id,
        name=row.name,
        ifpa_id=row.ifpa_id,
        in_profile=bool(row.in_profile),
        claimed_players=int(row.players),
        confirmed_at=times.iso(row.at) if is_own else None,
        confirmed_for=row.holder,
    )
