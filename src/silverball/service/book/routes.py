"""A book as a whole over HTTP: merges of machines, and what can be undone."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, get, post
from silverball.kit.http.query import Query
from silverball.service.book import reads, writes
from silverball.service.core.calls import Write
from silverball.service.venues import reads as venues_reads
from silverball_wire.arenas import Arena
from silverball_wire.book import BookAction
from silverball_wire.pages import Data


@post("/api/arenas/{arena_id}/merge", body=writes.ArenaMergeTarget, ability="manage")
def merge_arena(call: Write[writes.ArenaMergeTarget]) -> Data[Arena]:
    """Merge two entries of one machine; the named one takes over all games."""
    return Data(data=venues_reads.find_arena(call.db, writes.merge_arenas(call)))


@get("/api/book/actions", access=Access.OWN)
def list_book_actions(call: Call[Query]) -> Data[tuple[BookAction, ...]]:
    """Actions of the caller's book as a whole, newest first."""
    with call.read() as db:
        return Data(data=reads.actions_of(db, call.caller))


@post("/api/book/actions/{book_action_id}/undo", ability="manage")
def undo_book_action(call: Write[Body]) -> Data[BookAction]:
    """Undo a merge of machines or a list that only filled the book."""
    return Data(data=reads.find_action(call.db, writes.undo_book_action(call)))
