"""Federation numbers of accounts over HTTP: what waits, confirm, withdraw."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, UncachedResult, delete, get, put
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.numbers import reads
from silverball.service.periods.writes import numbers
from silverball_wire.base import Id
from silverball_wire.numbers import AccountNumber
from silverball_wire.pages import Data, Page


class NumberToConfirm(Body, frozen=True, kw_only=True):
    """The federation number that is this account's."""

    ifpa_id: Id


# Tokens of one administrator differ in what they may see, so these answers are not cached.
@get("/api/federation-numbers", query=reads.NumberQuery, access=Access.OWN)
def list_federation_numbers(call: Call[reads.NumberQuery]) -> UncachedResult[Page[AccountNumber]]:
    """List the numbers that wait for a confirmation, or those confirmed; for administrators only."""
    with call.read() as db:
        page = reads.numbers_page(db, call.query, call.caller)
    return UncachedResult(pages.full_page(call, page, per_page=reads.PER_PAGE))


@put("/api/users/{user_id}/federation-number", body=NumberToConfirm, ability="admin")
def confirm_federation_number(call: Write[NumberToConfirm]) -> Data[AccountNumber]:
    """Confirm that a federation number is this account's: only then its rating is theirs."""
    user_id, number = call.ids["user_id"], call.body.ifpa_id
    numbers.confirm_number(
        call.transaction, user_id, number, now=call.now, source=call.source, by_user_id=call.user_id
    )
    return Data(data=reads.find_number(call.db, user_id, number))


@delete("/api/users/{user_id}/federation-number", ability="admin")
def withdraw_federation_number(call: Write[Body]) -> Data[AccountNumber]:
    """Withdraw the confirmed number of an account; the next rating run parts the two ratings."""
    user_id = call.ids["user_id"]
    number = numbers.withdraw_number(
        call.transaction, user_id, now=call.now, source=call.source, by_user_id=call.user_id
    )
    return Data(data=reads.find_number(call.db, user_id, number))
