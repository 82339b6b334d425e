"""Federation numbers of accounts over HTTP; for administrators only."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.errors import NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, UncachedResult, delete, get, post, put
from silverball.service.core import calls
from silverball.service.core.calls import Write
from silverball.service.numbers import reads, writes
from silverball.service.numbers.writes import BATCH_MAX, Actor
from silverball_wire.base import Id
from silverball_wire.pages import Data, Page
from silverball_wire.ratings import AccountNumber, NumberBatch

BATCHES = "/api/federation-numbers/batches"


class NumberToConfirm(Body, frozen=True, kw_only=True):
    """The federation number that is this account's."""

    ifpa_id: Id


class ShownNumber(Body, frozen=True, kw_only=True):
    """An account with a number, as the list showed them."""

    user_id: Id
    ifpa_id: Id


class NumbersToConfirm(Body, frozen=True, kw_only=True):
    """The numbers to confirm together."""

    numbers: Annotated[tuple[ShownNumber, ...], Meta(min_length=1, max_length=BATCH_MAX)]
    """Accounts with their numbers, as the list showed them."""


# Tokens of one administrator differ in what they may see, so these answers are not cached.
@get("/api/federation-numbers", query=reads.NumberQuery, access=Access.OWN)
def list_federation_numbers(call: Call[reads.NumberQuery]) -> UncachedResult[Page[AccountNumber]]:
    """List the numbers that wait, or those confirmed; for administrators."""
    with call.read() as db:
        page = reads.numbers_page(db, call.query, call.caller)
    return UncachedResult(calls.full_page(call, page, per_page=call.query.limit))


@post(BATCHES, body=NumbersToConfirm, ability="admin")
def confirm_federation_numbers(call: Write[NumbersToConfirm]) -> Data[NumberBatch]:
    """Confirm those of these that have no obstacles."""
    pairs = [(shown.user_id, shown.ifpa_id) for shown in call.body.numbers]
    done = writes.confirm_ready_numbers(call.transaction, pairs, _actor(call))
    return Data(
        data=NumberBatch(
            batch_id=done.batch_id,
            numbers=tuple(reads.describe_numbers(call.db, done.confirmed)),
            left_out=tuple(reads.describe_numbers(call.db, done.left_out)),
        )
    )


@delete(BATCHES + "/{batch_id}", ability="admin")
def withdraw_federation_numbers(call: Write[Body]) -> Data[NumberBatch]:
    """Take back a batch."""
    batch_id = call.ids["batch_id"]
    pairs = writes.withdraw_batch(call.transaction, batch_id, _actor(call))
    numbers = tuple(reads.describe_numbers(call.db, pairs))
    return Data(data=NumberBatch(batch_id=batch_id, numbers=numbers, left_out=()))


@put("/api/users/{user_id}/federation-number", body=NumberToConfirm, ability="admin")
def confirm_federation_number(call: Write[NumberToConfirm]) -> Data[AccountNumber]:
    """Confirm a number of this account: only then its rating is theirs."""
    user_id, number = call.ids["user_id"], call.body.ifpa_id
    writes.confirm_number(
        call.transaction, user_id, number, now=call.now, source=call.source, by_user_id=call.user_id
    )
    return _show_number(call, user_id, number)


@delete("/api/users/{user_id}/federation-number", ability="admin")
def withdraw_federation_number(call: Write[Body]) -> Data[AccountNumber]:
    """Withdraw the confirmed number of this account."""
    user_id = call.ids["user_id"]
    number = writes.withdraw_number(
        call.transaction, user_id, now=call.now, source=call.source, by_user_id=call.user_id
    )
    return _show_number(call, user_id, number)


def _show_number(call: Write[Body], user_id: int, number: int) -> Data[AccountNumber]:
    for described in reads.describe_numbers(call.db, [(user_id, number)]):
        return Data(data=described)
    raise NotFound("User", user_id)


def _actor(call: Write[Body]) -> Actor:
    return Actor(call.now, call.source, call.user_id)
