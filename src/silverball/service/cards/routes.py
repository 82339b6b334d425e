"""Cards over HTTP: the list, one card, and its changes."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, post
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.cards import reads, writes
from silverball.service.cards.reads import CardsQuery
from silverball_wire.cards import Card
from silverball_wire.pages import Data, Page

LIST = "/api/tournaments/{tournament_id}/cards"
ONE = LIST + "/{card_id}"


@get(LIST, query=CardsQuery, access=Access.OPENABLE)
def list_cards(call: Call[CardsQuery]) -> Page[Card]:
    """Cards of a tournament, with their games."""
    with call.read() as db:
        rows = reads.cards_page(db, call.ids["tournament_id"], call.query)
    return pages.full_page(call, rows, per_page=call.query.limit)


@get(ONE, access=Access.OPENABLE)
def show_card(call: Call[Query]) -> Data[Card]:
    """One card, with its games."""
    with call.read() as db:
        return Data(data=reads.find_card(db, call.ids["tournament_id"], call.ids["card_id"]))


@post(ONE + "/void", ability="score")
def void_card(call: Write[Body]) -> Data[Card]:
    """Void a card and its games; it still uses up its entry."""
    return _card_data(call, writes.void_card(call))


@post(ONE + "/unvoid", ability="manage")
def unvoid_card(call: Write[Body]) -> Data[Card]:
    """Count a voided card again."""
    return _card_data(call, writes.unvoid_card(call))


@delete(ONE, ability="manage")
def delete_card(call: Write[Body]) -> Data[Card]:
    """Delete a card with its games; answers its last state."""
    removed = _card_data(call, call.ids["card_id"])
    writes.delete_card(call)
    return removed


def _card_data(call: Write[Body], card_id: int) -> Data[Card]:
    return Data(data=reads.find_card(call.db, call.ids[TOURNAMENT], card_id))
