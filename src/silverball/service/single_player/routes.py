"""Single player games, cards, queues and entries over HTTP."""

from typing import Any

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, patch, post
from silverball.kit.http.query import Query
from silverball.service.core import calls, loaded
from silverball.service.core.calls import Write
from silverball.service.single_player import reads, writes
from silverball.service.single_player.reads import CardsQuery, SinglePlayerGamesQuery
from silverball_wire import base
from silverball_wire.pages import Data, Page
from silverball_wire.queues import ArenaQueues, QueueEntry
from silverball_wire.singleplayer import Card, EntryPurchase, RecordedSinglePlayerGame, SinglePlayerGame

LIST = "/api/tournaments/{tournament_id}/single-player-games"
ONE = LIST + "/{single_player_game_id}"


@get(LIST, query=SinglePlayerGamesQuery, access=Access.OPENABLE)
def list_single_player_games(call: Call[SinglePlayerGamesQuery]) -> Page[SinglePlayerGame]:
    """Single player games of a tournament."""
    with call.read() as db:
        rows = reads.single_player_games_page(db, call.ids["tournament_id"], call.query)
    return calls.full_page(call, rows, per_page=call.query.limit)


@get(LIST + "/top-scores", access=Access.OPENABLE)
def list_top_scores(call: Call[Query]) -> Data[tuple[SinglePlayerGame, ...]]:
    """The five best scores on each arena."""
    with call.read() as db:
        return Data(data=reads.top_scores(db, call.ids["tournament_id"]))


@get(ONE, access=Access.OPENABLE)
def show_single_player_game(call: Call[Query]) -> Data[SinglePlayerGame]:
    """One single player game."""
    with call.read() as db:
        return Data(
            data=reads.find_single_player_game(
                db, call.ids["tournament_id"], call.ids["single_player_game_id"]
            )
        )


@post(LIST, body=writes.NewSinglePlayerGame, ability="score", status=201)
def add_single_player_game(call: Write[writes.NewSinglePlayerGame]) -> Data[SinglePlayerGame]:
    """Record a player's score on an arena; without a result the game starts."""
    return _single_player_game_data(call, writes.add_single_player_game(call))


@patch(ONE, body=writes.ReplacedAttemptResult, ability="score")
def record_single_player_game(
    call: Write[writes.ReplacedAttemptResult],
) -> RecordedSinglePlayerGame:
    """Record or correct the result of a single player game."""
    correction = writes.record_single_player_game(call)
    game = _single_player_game_data(call, call.ids[writes.SINGLE_PLAYER_GAME]).data
    return RecordedSinglePlayerGame(data=game, correction=correction)


@post(ONE + "/void", ability="score")
def void_single_player_game(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Void a single player game; it still uses up its entry."""
    return _single_player_game_data(call, writes.void_single_player_game(call))


@post(ONE + "/unvoid", ability="manage")
def unvoid_single_player_game(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Count a voided single player game again."""
    return _single_player_game_data(call, writes.unvoid_single_player_game(call))


@delete(ONE, ability="manage")
def delete_single_player_game(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Delete a single player game, or its result where the format made the game; answers the game."""
    game_id = call.ids[writes.SINGLE_PLAYER_GAME]
    before = _single_player_game_data(call, game_id)
    return _single_player_game_data(call, game_id) if writes.delete_single_player_game(call) else before


@post("/api/tournaments/{tournament_id}/amazing-race/{player_id}/advance", ability="score")
def advance_in_amazing_race(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Advance a player of an amazing race who is above the bar, without an exact score."""
    return _single_player_game_data(call, writes.advance_player(call))


def _single_player_game_data(call: Write[Any], single_player_game_id: int) -> Data[SinglePlayerGame]:
    tournament_id = call.ids[TOURNAMENT]
    changed = call.transaction.loaded.get(tournament_id)
    return Data(
        data=reads.find_single_player_game(call.db, tournament_id, single_player_game_id, changed=changed)
    )


CARDS_LIST = "/api/tournaments/{tournament_id}/cards"
CARDS_ONE = CARDS_LIST + "/{card_id}"


@get(CARDS_LIST, query=CardsQuery, access=Access.OPENABLE)
def list_cards(call: Call[CardsQuery]) -> Page[Card]:
    """Cards of a tournament, with their games."""
    with call.read() as db:
        rows = reads.cards_page(db, call.ids["tournament_id"], call.query)
    return calls.full_page(call, rows, per_page=call.query.limit)


@get(CARDS_ONE, access=Access.OPENABLE)
def show_card(call: Call[Query]) -> Data[Card]:
    """One card, with its games."""
    with call.read() as db:
        return Data(data=reads.find_card(db, call.ids["tournament_id"], call.ids["card_id"]))


@post(CARDS_ONE + "/void", ability="score")
def void_card(call: Write[Body]) -> Data[Card]:
    """Void a card and its games; it still uses up its entry."""
    return _card_data(call, writes.void_card(call))


@post(CARDS_ONE + "/unvoid", ability="manage")
def unvoid_card(call: Write[Body]) -> Data[Card]:
    """Count a voided card again."""
    return _card_data(call, writes.unvoid_card(call))


@delete(CARDS_ONE, ability="manage")
def delete_card(call: Write[Body]) -> Data[Card]:
    """Delete a card with its games; answers its last state."""
    removed = _card_data(call, call.ids["card_id"])
    writes.delete_card(call)
    return removed


def _card_data(call: Write[Body], card_id: int) -> Data[Card]:
    return Data(data=reads.find_card(call.db, call.ids[TOURNAMENT], card_id))


QUEUES_LIST = "/api/tournaments/{tournament_id}/queues"
QUEUES_ONE = QUEUES_LIST + "/{queue_id}"


@get(QUEUES_LIST, access=Access.OPENABLE)
def show_queues(call: Call[Query]) -> ArenaQueues:
    """Queues of a best game, by arena."""
    with call.read() as db:
        tournament_id = call.ids[TOURNAMENT]
        return reads.queues_by_arena(db, tournament_id, loaded.busy_player_ids(db, tournament_id))


@post(QUEUES_LIST, body=writes.NewQueueSpot, ability="score", status=201)
def join_queue(call: Write[writes.NewQueueSpot]) -> Data[QueueEntry]:
    """Add a player to the end of an arena's queue."""
    return Data(data=reads.find_spot(call.db, call.ids[TOURNAMENT], writes.join_queue(call)))


@delete(QUEUES_ONE, ability="score")
def leave_queue(call: Write[Body]) -> Data[QueueEntry]:
    """Remove a spot from a queue; answers its last state."""
    left = reads.find_spot(call.db, call.ids[TOURNAMENT], call.ids["queue_id"])
    writes.leave_queue(call)
    return Data(data=left)


@post(QUEUES_ONE + "/move", ability="score")
def move_in_queue(call: Write[Body]) -> Data[QueueEntry]:
    """Swap an absent player with the next one in line."""
    return Data(data=reads.find_spot(call.db, call.ids[TOURNAMENT], writes.move_in_queue(call)))


@post(QUEUES_ONE + "/start", ability="score")
def start_from_queue(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Start the game of the first player in line."""
    return Data(
        data=reads.find_single_player_game(call.db, call.ids[TOURNAMENT], writes.start_from_queue(call))
    )


ENTRIES = "/api/tournaments/{tournament_id}/players/{player_id}/entries"


@post(ENTRIES, body=writes.NewEntries, ability="manage", status=201)
def add_entries(call: Write[writes.NewEntries]) -> Data[EntryPurchase]:
    """Record entries that a player bought, got free of charge or returned."""
    purchase = writes.add_entries(call)
    return Data(
        data=EntryPurchase(
            entry_id=purchase.entry_id,
            tournament_id=call.ids[TOURNAMENT],
            player_id=purchase.player_id,
            type=purchase.type,
            quantity=purchase.quantity,
            amount=None if purchase.amount is None else float(purchase.amount),
            currency=purchase.currency,
            created_at=base.iso(call.now),
        )
    )
