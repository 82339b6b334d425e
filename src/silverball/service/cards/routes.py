"""GET cards: a list and one card."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service import pages
from silverball.service.cards import reads
from silverball.service.cards.reads import CardsQuery
from silverball.wire.cards import Card
from silverball.wire.pages import Data, Page


@get("/api/tournaments/{tournament_id}/cards", query=CardsQuery, access=Access.OPENABLE)
def list_cards(call: Call[CardsQuery]) -> Page[Card]:
    """Cards of a tournament, with their games."""
    with call.read() as db:
        found = reads.page(db, call.ids["tournament_id"], call.query)
    return pages.page(call, found, per_page=call.query.limit)


@get("/api/tournaments/{tournament_id}/cards/{card_id}", access=Access.OPENABLE)
def show_card(call: Call[Query]) -> Data[Card]:
    """One card, with its games."""
    with call.read() as db:
        return Data(data=reads.one(db, call.ids["tournament_id"], call.ids["card_id"]))
