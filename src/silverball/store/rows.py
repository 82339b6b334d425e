"""Things of the snapshot as rows of their tables, and back. One pair of functions for each kind.

A row holds more than the snapshot (scorbit ids, what an import said): those columns keep their
defaults here and are left alone when a thing changes.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from silverball.rules.model.tournament import (
    Card,
    Entrant,
    Game,
    LineupArena,
    Purchase,
    QueueSpot,
    Round,
    Scorekeeper,
    SinglePlayerGame,
    Suggestion,
)

Values = dict[str, Any]


def status_word(is_active: bool) -> str:
    return "active" if is_active else "inactive"


def seconds_between(began: datetime | None, ended: datetime | None) -> int | None:
    """Whole seconds; None while one of the two is not known."""
    return None if began is None or ended is None else int((ended - began).total_seconds())


def _end_time(began: datetime | None, seconds: int | None) -> datetime | None:
    return None if began is None or seconds is None else began + timedelta(seconds=seconds)


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
        entries_bought=entries_bought,
        labels=tuple(row.labels),
        label_color=row.label_color,
    )


def entrant_values(one: Entrant) -> Values:
    return {
        "player_id": one.player_id,
        "place": one.place,
        "status": status_word(one.is_active),
        "seed": one.seed_value,
        "seed_rank": one.seed_rank,
        "points_adjustment": one.points_adjustment,
        "score_adjustment": one.score_adjustment,
        "adjusted_after": one.adjusted_after,
        "byes_credited": one.byes_credited,
        "tie_group": one.tie_group,
        "tie_place": one.tie_place,
        "labels": list(one.labels),
        "label_color": one.label_color,
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


def lineup_arena_values(one: LineupArena) -> Values:
    return {
        "arena_id": one.arena_id,
        "place": one.place,
        "status": status_word(one.is_active),
        "preferred": one.is_preferred,
        "amazing_race_seed": one.amazing_race_seed,
        "best_game_blocked": one.is_blocked,
        "best_game_queue_closed": one.is_queue_closed,
        "labels": list(one.labels),
        "label_color": one.label_color,
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


def round_values(one: Round) -> Values:
    return {
        "round_id": one.round_id,
        "round_index": one.round_index,
        "name": one.name,
        "status": one.status,
        "arena_id": one.arena_id,
        "score": one.score,
        "size": one.size,
        "created_at": one.created_at,
        "completed_at": one.completed_at,
        "duration_seconds": seconds_between(one.created_at, one.completed_at),
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
    )


def game_values(one: Game) -> Values:
    return {
        "game_id": one.game_id,
        "round_id": one.round_id,
        "arena_id": one.arena_id,
        "bank_id": one.bank_id,
        "game_index": one.game_index,
        "set_number": one.set_number,
        "status": one.status,
        "started_at": one.started_at,
        "duration_seconds": seconds_between(one.started_at, one.completed_at),
        "bye": one.is_bye,
        "player_id_advantage": one.advantage_id,
        "scorekeeper_id": one.scorekeeper_id,
        "result_count_mismatch": one.has_mismatch,
        "finishing_order": list(one.finishing_order) or None,
        "forfeited_by": one.forfeited_by,
        "is_tiebreak": one.is_tiebreak,
    }


def seat_values(one: Game, users: dict[int, int | None]) -> list[Values]:
    """Who sits where, and what came of it. Takes player id -> account that claimed the player."""
    results = zip(one.player_ids, one.result_positions, one.result_points, one.result_scores, strict=True)
    return [
        {
            "game_id": one.game_id,
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


def suggestion_values(one: Suggestion) -> Values:
    return {
        "suggestion_id": one.suggestion_id,
        "game_id": one.game_id,
        "player_id": one.player_id,
        "user_id": one.user_id,
        "results": list(one.results),
        "scores": {str(key): value for key, value in one.scores.items()} or None,
        "partial": None in one.results,
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


def single_player_game_values(one: SinglePlayerGame) -> Values:
    return {
        "single_player_game_id": one.single_player_game_id,
        "player_id": one.player_id,
        "status": one.status,
        "arena_id": one.arena_id,
        "round_id": one.round_id,
        "card_id": one.card_id,
        "score": one.score,
        "points": one.points,
        "game_index": one.game_index,
        "voided": one.is_voided,
        "rolls": list(one.rolls) or None,
        "is_advanced": one.is_advanced,
        "scorekeeper_id": one.scorekeeper_id,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "started_at": one.started_at,
        "duration_seconds": one.duration_seconds,
        "best_game": one.is_best,
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


def card_values(one: Card) -> Values:
    return {
        "card_id": one.card_id,
        "player_id": one.player_id,
        "status": one.status,
        "voided": one.is_voided,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "best_game": one.is_best,
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


def queue_spot_values(one: QueueSpot) -> Values:
    return {
        "queue_id": one.queue_id,
        "player_id": one.player_id,
        "queue_index": one.queue_index,
        "arena_id": one.arena_id,
        "round_id": one.round_id,
        "created_at": one.created_at,
        "completed_at": one.completed_at,
    }


def to_scorekeeper(row: Any) -> Scorekeeper:
    return Scorekeeper(user_id=row.user_id, place=row.place)


def scorekeeper_values(one: Scorekeeper) -> Values:
    return {"user_id": one.user_id, "place": one.place}


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


def purchase_values(one: Purchase) -> Values:
    return {
        "entry_id": one.entry_id,
        "player_id": one.player_id,
        "type": one.type,
        "quantity": one.quantity,
        "amount": None if one.amount is None else Decimal(one.amount),
        "currency": one.currency,
        "status": "active",
        "created_at": one.created_at,
    }
