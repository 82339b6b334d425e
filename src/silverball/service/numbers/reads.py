"""Federation numbers of accounts: which of them wait, what speaks for each, and what stands in its way.

Anybody can type a number, and an organizer can pull players from a server of their own. So evidence never
confirms a number by itself: an administrator does.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    union,
)

from silverball.kit.errors import NotAllowed
from silverball.kit.http.query import PageNumber, Query
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.people import names
from silverball.store.tables import confirmed_number, player, user
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.ratings import AccountNumber, NumberEvidence, NumberObstacle

PER_PAGE = 25
PER_PAGE_MAX = 100
# An account and a number.
Pair = tuple[int, int]
# The claimed players that are listed as evidence on one page; each row counts all of its own.
PLAYERS_LISTED_MAX = 2_000
PORTION = 500
_HELD, _RECORD = confirmed_number.c, tables.federation_player.c


class NumberQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/federation-numbers."""

    status: Literal["waiting", "confirmed"] = "waiting"
    """Numbers that wait for a confirmation, or those that have one."""
    batch_id: Id | None = None
    """Only numbers that were confirmed in this batch."""
    limit: Annotated[int, Meta(ge=1, le=PER_PAGE_MAX)] = PER_PAGE
    page: PageNumber = 1


def numbers_page(
    db: Connection, query: NumberQuery, viewer: AuthenticatedCaller | None
) -> PageRows[AccountNumber]:
    """Return a page of the list, by account. Raises NotAllowed for all but administrators."""
    if viewer is None or not viewer.is_admin:
        raise NotAllowed
    refuse_deep_pagination(query.page, query.limit)
    first = (query.page - 1) * query.limit
    if query.status == "confirmed" or query.batch_id is not None:
        pairs = _confirmed(query.batch_id)
        total = db.execute(select(func.count()).select_from(pairs.subquery())).scalar_one()
    else:
        total = _count_waiting(db)
        # The first pairs of each kind hold the first pairs of all: so nobody sorts them all.
        pairs = _waiting(first + query.limit)
    listed = pairs.subquery().c
    rows = select(listed.user_id, listed.ifpa_id).order_by(listed.user_id, listed.ifpa_id)
    page = db.execute(rows.limit(query.limit).offset(first))
    return PageRows(describe_numbers(db, [(row.user_id, row.ifpa_id) for row in page]), total)


def waiting_numbers(db: Connection) -> Iterator[AccountNumber]:
    """Every number that waits, by account."""
    pairs = _waiting(None).subquery().c
    rows = db.execute(select(pairs.user_id, pairs.ifpa_id).order_by(pairs.user_id, pairs.ifpa_id))
    every_pair = [(row.user_id, row.ifpa_id) for row in rows]
    for start in range(0, len(every_pair), PORTION):
        yield from describe_numbers(db, every_pair[start : start + PORTION])


def describe_numbers(db: Connection, pairs: Sequence[Pair]) -> list[AccountNumber]:
    """These accounts with these numbers, in the same order; unknown accounts are left out."""
    facts = _read_facts(db, pairs)
    return [_account_number(pair, facts) for pair in pairs if pair[0] in facts.accounts]


def confirmed_in_batch(db: Connection, batch_id: int) -> list[Pair]:
    """The accounts and numbers that this batch confirmed, as far as they still are."""
    rows = _confirmed(batch_id).order_by(_HELD.user_id)
    return [(row.user_id, row.ifpa_id) for row in db.execute(rows)]


# Which numbers wait


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


def _asked_for() -> Select[Any]:
    """Each account with each number of a player that it asks an organizer for."""
    asked = tables.claim.c
    return (
        select(asked.user_id, player.c.ifpa_id)
        .join(player, player.c.player_id == asked.player_id)
        .where(player.c.ifpa_id.is_not(None))
    )


def _waits(user_id: ColumnElement[int], ifpa_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the number is not confirmed for the account."""
    return ~exists().where(_HELD.ifpa_id == ifpa_id, _HELD.user_id == user_id)


def _waiting(count: int | None) -> Select[Any]:
    """At least the first pairs of account and number that wait for a confirmation, by account."""
    profile = _given_in_profile().where(_waits(user.c.user_id, user.c.ifpa_id))
    claimed = _claimed().where(_waits(player.c.claimed_by, player.c.ifpa_id)).distinct()
    firsts = (
        profile.order_by(user.c.user_id).limit(count).subquery(),
        claimed.order_by(player.c.claimed_by, player.c.ifpa_id).limit(count).subquery(),
    )
    both = union(*(select(each.c.user_id, each.c.ifpa_id) for each in firsts)).subquery()
    return select(both.c.user_id, both.c.ifpa_id)


def _count_waiting(db: Connection) -> int:
    """The number of pairs that wait: of numbers in profiles, and of claimed ones that are in none."""
    profile = _given_in_profile().where(_waits(user.c.user_id, user.c.ifpa_id))
    is_in_profile = and_(user.c.placeholder == false(), func.coalesce(user.c.ifpa_id, 0) == player.c.ifpa_id)
    claimed = _claimed().where(not_(is_in_profile), _waits(player.c.claimed_by, player.c.ifpa_id)).distinct()
    counts = [db.execute(select(func.count()).select_from(each.subquery())) for each in (profile, claimed)]
    return sum(count.scalar_one() for count in counts)


def _confirmed(batch_id: int | None) -> Select[Any]:
    rows = select(_HELD.user_id, _HELD.ifpa_id)
    return rows if batch_id is None else rows.where(_HELD.batch_id == batch_id)


# What speaks for a number, and what against


class _NumberFacts(Struct):
    """The accounts, names, confirmations and claims that some numbers are judged by."""

    accounts: dict[int, Any]
    # Number -> name in the federation's file.
    listed_names: dict[int, str]
    # Account or number -> the row of its confirmation.
    held_by_user: dict[int, Any]
    held_by_number: dict[int, Any]
    # Every account with a number that it gave, claims or asks for.
    claims: set[Pair]
    players: dict[Pair, list[Any]]
    player_counts: dict[Pair, int]


def _read_facts(db: Connection, pairs: Sequence[Pair]) -> _NumberFacts:
    users, numbers = {user_id for user_id, _ in pairs}, {number for _, number in pairs}
    accounts = select(
        user.c.user_id, user.c.name, user.c.ifpa_id, user.c.placeholder, user.c.suspended_at
    ).where(is_among(user.c.user_id, users))
    listed = select(_RECORD.ifpa_id, _RECORD.name).where(is_among(_RECORD.ifpa_id, numbers))
    held = select(confirmed_number).where(
        or_(is_among(_HELD.user_id, users), is_among(_HELD.ifpa_id, numbers))
    )
    held_rows = db.execute(held).all()
    counted = (
        select(player.c.claimed_by, player.c.ifpa_id, func.count())
        .where(is_among(player.c.claimed_by, users), player.c.ifpa_id.is_not(None))
        .group_by(player.c.claimed_by, player.c.ifpa_id)
    )
    return _NumberFacts(
        accounts={row.user_id: row for row in db.execute(accounts)},
        listed_names={row.ifpa_id: row.name for row in db.execute(listed)},
        held_by_user={row.user_id: row for row in held_rows},
        held_by_number={row.ifpa_id: row for row in held_rows},
        claims=_claims_about(db, users, numbers),
        players=_claimed_players(db, users, numbers),
        player_counts={(user_id, number): count for user_id, number, count in db.execute(counted)},
    )


def _claims_about(db: Connection, users: Collection[int], numbers: Collection[int]) -> set[Pair]:
    """Every account and number with one of these accounts or one of these numbers."""
    found: set[Pair] = set()
    for source in (_given_in_profile(), _claimed(), _asked_for()):
        pairs = source.subquery().c
        rows = select(pairs.user_id, pairs.ifpa_id).distinct()
        rows = rows.where(or_(is_among(pairs.user_id, users), is_among(pairs.ifpa_id, numbers)))
        found.update((row.user_id, row.ifpa_id) for row in db.execute(rows))
    return found


def _claimed_players(
    db: Connection, users: Collection[int], numbers: Collection[int]
) -> dict[Pair, list[Any]]:
    organizer, origin = user.alias("organizer"), tables.remote_id.c
    came_from = (
        select(func.min(origin.source))
        .where(origin.kind == "playerId", origin.local_id == player.c.player_id)
        .scalar_subquery()
    )
    rows = (
        select(player.c.player_id, player.c.name, player.c.ifpa_id, player.c.claimed_by)
        .add_columns(player.c.organizer_id, organizer.c.name.label("organizer_name"))
        .add_columns(came_from.label("imported_from"))
        .join(organizer, organizer.c.user_id == player.c.organizer_id)
        .where(is_among(player.c.claimed_by, users), is_among(player.c.ifpa_id, numbers))
    )
    found: dict[Pair, list[Any]] = {}
    for row in db.execute(rows.order_by(player.c.player_id).limit(PLAYERS_LISTED_MAX)):
        found.setdefault((row.claimed_by, row.ifpa_id), []).append(row)
    return found


def _account_number(pair: Pair, facts: _NumberFacts) -> AccountNumber:
    user_id, ifpa_id = pair
    account, held = facts.accounts[user_id], facts.held_by_number.get(ifpa_id)
    is_own = held is not None and held.user_id == user_id
    return AccountNumber(
        user_id=user_id,
        name=account.name,
        ifpa_id=ifpa_id,
        in_profile=_is_in_profile(account, ifpa_id),
        claimed_players=facts.player_counts.get(pair, 0),
        confirmed_at=base.iso(held.at) if held is not None and is_own else None,
        confirmed_for=None if held is None else held.user_id,
        batch_id=held.batch_id if held is not None and is_own else None,
        evidence=tuple(_evidence(pair, facts)),
        obstacles=tuple(_obstacles(pair, facts)),
    )


def _is_in_profile(account: Any, ifpa_id: int) -> bool:
    return not account.placeholder and account.ifpa_id == ifpa_id


def _evidence(pair: Pair, facts: _NumberFacts) -> Iterator[NumberEvidence]:
    user_id, ifpa_id = pair
    account = facts.accounts[user_id]
    blank = {"player_id": None, "organizer_id": None, "imported_from": None}
    if _is_in_profile(account, ifpa_id):
        yield NumberEvidence(kind="profile", source=account.name, name=account.name, **blank)
    for row in facts.players.get(pair, ()):
        yield NumberEvidence(
            kind="player",
            source=row.organizer_name,
            name=row.name,
            player_id=row.player_id,
            organizer_id=row.organizer_id,
            imported_from=row.imported_from,
        )
    if ifpa_id in facts.listed_names:
        name = facts.listed_names[ifpa_id]
        yield NumberEvidence(kind="federation", source="federation", name=name, **blank)


def _obstacles(pair: Pair, facts: _NumberFacts) -> Iterator[NumberObstacle]:
    user_id, ifpa_id = pair
    account, listed_name = facts.accounts[user_id], facts.listed_names.get(ifpa_id)
    if user_id in facts.held_by_user or ifpa_id in facts.held_by_number:
        yield "confirmed"
    if pair not in facts.claims:
        yield "not-claimed"
    if any(number == ifpa_id and other != user_id for other, number in facts.claims):
        yield "other-account"
    if any(other == user_id and number != ifpa_id for other, number in facts.claims):
        yield "other-number"
    if listed_name is None:
        yield "not-in-file"
    elif names.name_key(listed_name) != names.name_key(account.name):
        yield "other-name"
    if account.suspended_at is not None:
        yield "suspended"
