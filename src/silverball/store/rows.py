"""The parts of a snapshot from rows of their tables, and as values of rows: two functions for each part.

A row holds more than the snapshot (scorbit ids, data of an import). Those columns get their defaults
when a row is inserted and are left alone when it changes.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from silverball.kit.conversions import convert
from silverball.rules.model.purchases import Purchase
from silverball.rules.model.scorekeepers import Scorekeeper
from silverball.rules.model.tournament import (
    Card,
    Entrant,
    Game,
    Leg,
    LineupArena,
    QueueSpot,
    Round,
    SinglePlayerGame,
    Suggestion,
)

Values = dict[str, Any]


def status_word(is_active: bool) -> str:
    return "active" if is_active else "inactive"


def seconds_between(started_at: datetime | None, completed_at: datetime | None) -> int | None:
    """Whole seconds between two moments; None while one of them is unknown."""
    if started_at is None or completed_at is None:
        return None
    return int((completed_at - started_at).total_seconds())


def _end_time(started_at: datetime | None, seconds: int | None) -> datetime | None:
    return None if started_at is None or seconds is None else started_at + timedelta(seconds=seconds)


def _column_value(value: Any) -> Any:
    """The value in a column, which is null for what is unset."""
    return None if isinstance(value, UnsetType) else value


def to_entrant(row: Any, *, user_id: int | None, entries_bought: int) -> Entrant:
    return Entrant(
        player_id=row.player_id,
        place=row.place,
        is_active=row.status == "active",
        seed_rank=row.seed_rank,
        seed_value=row.seed,
        points_adjustment=row.points_adjustment,
        score_adjustment=row.score_adjustment,
        user_id=user_id,
        adjusted_after=row.adjusted_after,
        byes_credited=row.byes_credited or 0,
        tie_group=row.tie_group,
        tie_place=row.tie_place,
        is_tie_drawn=True if row.tie_drawn else UNSET,
        entries_bought=entries_bought,
        labels=tuple(row.labels),
        label_color=row.label_color,
        away_rounds=UNSET if row.away_rounds is None else row.away_rounds,
    )


def entrant_values(entrant: Entrant) -> Values:
    return {
        "player_id": entrant.player_id,
        "place": entrant.place,
        "status": status_word(entrant.is_active),
        "seed": entrant.seed_value,
        "seed_rank": entrant.seed_rank,
        "points_adjustment": entrant.points_adjustment,
        "score_adjustment": entrant.score_adjustment,
        "adjusted_after": entrant.adjusted_after,
        "byes_credited": entrant.byes_credited,
        "tie_group": entrant.tie_group,
        "tie_place": entrant.tie_place,
        "tie_drawn": True if entrant.is_tie_drawn else None,
        "labels": list(entrant.labels),
        "label_color": entrant.label_color,
        "away_rounds": _column_value(entrant.away_rounds),
    }


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
        "status": status_word(arena.is_active),
        "preferred": arena.is_preferred,
        "amazing_race_seed": arena.amazing_race_seed,
        "best_game_blocked": arena.is_blocked,
        "best_game_queue_closed": arena.is_queue_closed,
        "labels": list(arena.labels),
        "label_color": arena.label_color,
    }


def to_round(row: Any) -> Round:
    return Round(
        round_id=row.round_id,
        round_index=row.round_index,
        status=row.status,
        arena_id=row.arena_id,
        score=row.score,
        name=row.name,
        size=row.size,
        created_at=row.created_at,
        completed_at=row.completed_at,
    )


def round_values(round_: Round) -> Values:
    return {
        "round_id": round_.round_id,
        "round_index": round_.round_index,
        "name": round_.name,
        "status": round_.status,
        "arena_id": round_.arena_id,
        "score": round_.score,
        "size": round_.size,
        "created_at": round_.created_at,
        "completed_at": round_.completed_at,
        "duration_seconds": seconds_between(round_.created_at, round_.completed_at),
    }


def to_game(row: Any, seats: list[Any]) -> Game:
    return Game(
        game_id=row.game_id,
        round_id=row.round_id,
        status=row.status,
        player_ids=tuple([seat.player_id for seat in seats]),
        result_positions=tuple([seat.result_position for seat in seats]),
        result_points=tuple([seat.points for seat in seats]),
        result_scores=tuple([seat.score for seat in seats]),
        arena_id=row.arena_id,
        set_number=row.set_number,
        game_index=row.game_index,
        is_bye=row.bye,
        bank_id=row.bank_id,
        scorekeeper_id=row.scorekeeper_id,
        started_at=row.started_at,
        completed_at=_end_time(row.started_at, row.duration_seconds),
        advantage_id=row.player_id_advantage,
        finishing_order=tuple(row.finishing_order or ()),
        forfeited_by=row.forfeited_by,
        is_tiebreak=bool(row.is_tiebreak),
        has_mismatch=row.result_count_mismatch,
        legs=() if row.legs is None else convert(row.legs, tuple[Leg, ...]),
        waiting_since=UNSET if row.waiting_since is None else row.waiting_since,
    )


def game_values(game: Game) -> Values:
    return {
        "game_id": game.game_id,
        "round_id": game.round_id,
        "arena_id": game.arena_id,
        "bank_id": game.bank_id,
        "game_index": game.game_index,
        "set_number": game.set_number,
        "status": game.status,
        "started_at": game.started_at,
        "duration_seconds": seconds_between(game.started_at, game.completed_at),
        "bye": game.is_bye,
        "player_id_advantage": game.advantage_id,
        "scorekeeper_id": game.scorekeeper_id,
        "result_count_mismatch": game.has_mismatch,
        "finishing_order": list(game.finishing_order) or None,
        "forfeited_by": game.forfeited_by,
        "is_tiebreak": game.is_tiebreak,
        "legs": msgspec.to_builtins(game.legs) if game.legs else None,
        "waiting_since": _column_value(game.waiting_since),
    }


def seat_values(game: Game, users: dict[int, int | None]) -> list[Values]:
    """The rows of a game's seats with their results. Takes player id -> account that claimed the player."""
    results = zip(game.player_ids, game.result_positions, game.result_points, game.result_scores, strict=True)
    return [
        {
            "game_id": game.game_id,
            "slot": slot,
            "player_id": player_id,
            "user_id": users.get(player_id),
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


def to_single_player_game(row: Any) -> SinglePlayerGame:
    return SinglePlayerGame(
        single_player_game_id=row.single_player_game_id,
        player_id=row.player_id,
        status=row.status,
        arena_id=row.arena_id,
        round_id=row.round_id,
        card_id=row.card_id,
        score=row.score,
        points=row.points,
        game_index=row.game_index,
        is_voided=row.voided,
        rolls=tuple(row.rolls or ()),
        is_advanced=bool(row.is_advanced),
        scorekeeper_id=row.scorekeeper_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        started_at=row.started_at,
        duration_seconds=row.duration_seconds,
        is_best=row.best_game,
    )


def single_player_game_values(game: SinglePlayerGame) -> Values:
    return {
        "single_player_game_id": game.single_player_game_id,
        "player_id": game.player_id,
        "status": game.status,
        "arena_id": game.arena_id,
        "round_id": game.round_id,
        "card_id": game.card_id,
        "score": game.score,
        "points": game.points,
        "game_index": game.game_index,
        "voided": game.is_voided,
        "rolls": list(game.rolls) or None,
        "is_advanced": game.is_advanced,
        "scorekeeper_id": game.scorekeeper_id,
        "created_at": game.created_at,
        "updated_at": game.updated_at,
        "started_at": game.started_at,
        "duration_seconds": game.duration_seconds,
        "best_game": game.is_best,
    }


def to_card(row: Any) -> Card:
    return Card(
        card_id=row.card_id,
        player_id=row.player_id,
        status=row.status,
        is_voided=row.voided,
        created_at=row.created_at,
        updated_at=row.updated_at,
        is_best=row.best_game,
    )


def card_values(card: Card) -> Values:
    return {
        "card_id": card.card_id,
        "player_id": card.player_id,
        "status": card.status,
        "voided": card.is_voided,
        "created_at": card.created_at,
        "updated_at": card.updated_at,
        "best_game": card.is_best,
    }


def to_queue_spot(row: Any) -> QueueSpot:
    return QueueSpot(
        queue_id=row.queue_id,
        player_id=row.player_id,
        queue_index=row.queue_index,
        arena_id=row.arena_id,
        round_id=row.round_id,
        is_done=row.completed_at is not None,
        created_at=row.created_at,
        completed_at=row.completed_at,
    )


def queue_spot_values(spot: QueueSpot) -> Values:
    return {
        "queue_id": spot.queue_id,
        "player_id": spot.player_id,
        "queue_index": spot.queue_index,
        "arena_id": spot.arena_id,
        "round_id": spot.round_id,
        "created_at": spot.created_at,
        "completed_at": spot.completed_at,
    }


def to_scorekeeper(row: Any) -> Scorekeeper:
    return Scorekeeper(user_id=row.user_id, place=row.place, is_director=bool(row.is_director))


def scorekeeper_values(scorekeeper: Scorekeeper) -> Values:
    return {
        "user_id": scorekeeper.user_id,
        "place": scorekeeper.place,
        "is_director": scorekeeper.is_director,
    }


def to_purchase(row: Any) -> Purchase:
    return Purchase(
        entry_id=row.entry_id,
        player_id=row.player_id,
        type=row.type,
        quantity=row.quantity,
        amount=row.amount,
        currency=row.currency,
        created_at=row.created_at,
    )


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
