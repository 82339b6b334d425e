"""What the pages do for a suspended account."""

import build
from silverball.service.accounts.writes import accounts
from silverball.store.database.engine import Store
from web.visitor import Visitor, an_account


def test_a_suspended_account_is_signed_out_and_learns_why_with_its_password(
    store: Store, visitor: Visitor
) -> None:
    user_id = an_account(store)
    visitor.sign_in()
    assert visitor.get("/account").status_code == 200
    with store.write() as transaction:
        accounts.suspend(transaction, user_id, now=build.NOW)
    assert visitor.get("/account").status_code == 303
    visitor.cookies.clear()
    wrong = visitor.sign_in(password="wrong wrong")
    assert (wrong.status_code, "suspended" in wrong.text) == (422, False)
    right = visitor.sign_in()
    assert (right.status_code, "This account is suspended" in right.text) == (403, True)
    with store.write() as transaction:
        accounts.unsuspend(transaction, user_id, now=build.NOW)
    assert visitor.sign_in().status_code == 303
