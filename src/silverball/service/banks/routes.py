"""Banks over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post
from silverball.service import pages
from silverball.service.banks import reads, writes
from silverball.service.calls import Write
from silverball.store import book
from silverball_wire.banks import Bank
from silverball_wire.pages import Data, Page


@get("/api/banks", query=reads.BankQuery, access=Access.OWN)
def list_banks(call: Call[reads.BankQuery]) -> Page[Bank]:
    """The caller's banks."""
    with call.read() as db:
        rows = reads.owned_by(db, call.user_id, call.query)
    return pages.full_page(call, rows, per_page=reads.PER_PAGE)


@post("/api/banks", body=writes.NewBank, ability="manage", status=201)
def add_bank(call: Write[writes.NewBank]) -> Data[Bank]:
    """Add a bank to the caller's book."""
    return Data(data=reads.find_bank(call.db, writes.add_bank(call)))


@patch("/api/banks/{bank_id}", body=writes.ChangedBank, ability="manage")
def change_bank(call: Write[writes.ChangedBank]) -> Data[Bank]:
    """Change a bank of the caller's book; its tournaments show the change."""
    return Data(data=reads.find_bank(call.db, writes.change_bank(call)))


@delete("/api/banks/{bank_id}", ability="manage")
def delete_bank(call: Write[Body]) -> Data[Bank]:
    """Delete an unused bank from the book; answers its last state."""
    bank_id = writes.require_removable(call)
    removed = reads.find_bank(call.db, bank_id)
    book.remove(call.db, book.BANK, bank_id)
    return Data(data=removed)
