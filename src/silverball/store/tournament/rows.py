"""The parts of a snapshot from rows of their tables, and as values of rows: two functions for each part.

Those of entrants, rounds, games, single player games, cards and queue places are made from their fields.
A row holds more than the snapshot (scorbit ids, data of an import). Those columns get their defaults
when a row is inserted and are left alone when it changes.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from silverball.kit.values import compile_builder, compile_copy
from silverball.rules.model import fields
from silverball.rules.model.fields import PartField
from silverball.rules.model.tournament import (
    Card,
    Entrant,
    EntryPayment,
    Game,
    LineupArena,
    Purchase,
    QueueSpot,
    Round,
    Scorekeeper,
    SignUpEntry,
    SinglePlayerGame,
    Suggestion,
)

Values = dict[str, Any]
P = TypeVar("P")


def seconds_between(started_at: datetime | None, completed_at: datetime | None) -> int | None:
    """Whole seconds between two moments; None while one of them is unknown."""
    if started_at is None or completed_at is None:
        return None
    return int((completed_at - started_at).total_seconds())


def _end_time(started_at: datetime | None, seconds: int | None) -> datetime | None:
    return None if started_at is None or seconds is None else started_at + timedelta(seconds=seconds)


def _compile_reader(part: type[P], part_fields: Sequence[PartField], *others: str) -> Callable[..., P]:
    """The function from a row to the part; it takes what is looked up elsewhere as keywords."""
    own = _stored_attributes(part_fields)
    sources = {field.name: (field.stored_in, field.form.read) for field in own}
    return compile_builder(part, sources, others=others)


def _compile_writer(part_fields: Sequence[PartField]) -> Callable[[Any], Values]:
    """The function from a part to the values of its row."""
    own = _stored_attributes(part_fields)
    return compile_builder(dict, {field.stored_in: (field.name, field.form.write) for field in own})


def _stored_attributes(part_fields: Sequence[PartField]) -> list[PartField]:
    return [field for field in part_fields if field.kind is not None and field.place == "attribute"]


SEAT_LISTS = ("player_ids", "result_positions", "result_points", "result_scores")
to_entrant = _compile_reader(Entrant, fields.ENTRANT, "user_id", "entries_bought")
entrant_values = _compile_writer(fields.ENTRANT)
to_round = _compile_reader(Round, fields.ROUND)
to_single_player_game = _compile_reader(SinglePlayerGame, fields.SINGLE_PLAYER_GAME)
single_player_game_values = _compile_writer(fields.SINGLE_PLAYER_GAME)
to_card = _compile_reader(Card, fields.CARD)
card_values = _compile_writer(fields.CARD)
queue_spot_values = _compile_writer(fields.QUEUE_PLACE)
_read_game = _compile_reader(Game, fields.GAME, *SEAT_LISTS, "completed_at")
_stored_game = _compile_writer(fields.GAME)
_stored_round = _compile_writer(fields.ROUND)
_read_queue_spot = _compile_reader(QueueSpot, fields.QUEUE_PLACE, "is_done")


def round_values(round_: Round) -> Values:
    values = _stored_round(round_)
    values["duration_seconds"] = seconds_between(round_.created_at, round_.completed_at)
    return values


def to_game(row: Any, seats: list[Any]) -> Game:
    return _read_game(
        row,
        player_ids=tuple([seat.player_id for seat in seats]),
        result_positions=tuple([seat.result_position for seat in seats]),
        result_points=tuple([seat.points for seat in seats]),
        result_scores=tuple([seat.score for seat in seats]),
        completed_at=_end_time(row.started_at, row.duration_seconds),
    )


def game_values(game: Game) -> Values:
    values = _stored_game(game)
    values["duration_seconds"] = seconds_between(game.started_at, game.completed_at)
    return values


def to_queue_spot(row: Any) -> QueueSpot:
    return _read_queue_spot(row, is_done=row.completed_at is not None)


def to_lineup_arena(row: Any) -> LineupArena:
    return LineupArena(
        arena_id=row.arena_id,
        place=row.place,
        is_active=row.status == "active",
        is_preferred=bool(row.preferred),
        category_id=row.category_id,
        amazing_race_seed=row.amazing_race_seed,
        is_blocked=bool(row.best_game_blocked),
        is_queue_closed=bool(row.best_game_queue_closed),
        labels=tuple(row.labels),
        label_color=row.label_color,
    )


def lineup_arena_values(arena: LineupArena) -> Values:
    return {
        "arena_id": arena.arena_id,
        "place": arena.place,
        "status": ("active" if arena.is_active else "inactive"),
        "preferred": arena.is_preferred,
        "amazing_race_seed": arena.amazing_race_seed,
        "best_game_blocked": arena.is_blocked,
        "best_game_queue_closed": arena.is_queue_closed,
        "labels": list(arena.labels),
        "label_color": arena.label_color,
    }


def seat_values(game: Game) -> list[Values]:
    """The rows of a game's seats with their results."""
    results = zip(game.player_ids, game.result_positions, game.result_points, game.result_scores, strict=True)
    return [
        {
            "game_id": game.game_id,
            "slot": slot,
            "player_id": player_id,
            "result_position": position,
            "points": points,
            "score": score,
        }
        for slot, (player_id, position, points, score) in enumerate(results)
    ]


def to_suggestion(row: Any) -> Suggestion:
    return Suggestion(
        suggestion_id=row.suggestion_id,
        game_id=row.game_id,
        player_id=row.player_id,
        user_id=row.user_id,
        results=tuple(row.results),
        scores={int(key): value for key, value in (row.scores or {}).items() if value is not None},
    )


def suggestion_values(suggestion: Suggestion) -> Values:
    return {
        "suggestion_id": suggestion.suggestion_id,
        "game_id": suggestion.game_id,
        "player_id": suggestion.player_id,
        "user_id": suggestion.user_id,
        "results": list(suggestion.results),
        "scores": {str(key): value for key, value in suggestion.scores.items()} or None,
        "partial": None in suggestion.results,
    }


def to_scorekeeper(row: Any) -> Scorekeeper:
    return Scorekeeper(user_id=row.user_id, place=row.place, is_director=bool(row.is_director))


def scorekeeper_values(scorekeeper: Scorekeeper) -> Values:
    return {
        "user_id": scorekeeper.user_id,
        "place": scorekeeper.place,
        "is_director": scorekeeper.is_director,
    }


to_purchase = compile_copy(Purchase)


def purchase_values(purchase: Purchase) -> Values:
    return {
        "entry_id": purchase.entry_id,
        "player_id": purchase.player_id,
        "type": purchase.type,
        "quantity": purchase.quantity,
        "amount": None if purchase.amount is None else Decimal(purchase.amount),
        "currency": purchase.currency,
        "status": "active",
        "created_at": purchase.created_at,
    }


def to_sign_up(row: Any) -> SignUpEntry:
    return SignUpEntry(
        player_id=row.player_id,
        waiting_place=row.waiting_place,
        signed_up_at=row.signed_up_at,
        is_late=bool(row.is_late),
        checked_in_at=row.checked_in_at,
        payment=None
        if row.paid_cents is None
        else EntryPayment(
            cents=row.paid_cents, how=row.paid_how or "", user_id=row.paid_to, paid_at=row.paid_at
        ),
    )


def sign_up_values(entry: SignUpEntry) -> dict[str, Any]:
    payment = entry.payment
    return {
        "player_id": entry.player_id,
        "waiting_place": entry.waiting_place,
        "signed_up_at": entry.signed_up_at,
        "is_late": entry.is_late,
        "checked_in_at": entry.checked_in_at,
        "paid_cents": None if payment is None else payment.cents,
        "paid_how": None if payment is None else payment.how,
        "paid_to": None if payment is None else payment.user_id,
        "paid_at": None if payment is None else payment.paid_at,
    }
