"""The facts of a bundle that no published shape has, checked and added to the rows of its parts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from silverball.exchange.bundle import note_rows, sign_up_rows
from silverball.exchange.bundle.checks import (
    BundleCheck,
    distinct_ids,
    parse_points,
    require_moment,
    tuple_or_empty,
)
from silverball.exchange.bundle.faults import BrokenBundle
from silverball.rules.model import fields
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.prizes import Payout, PrizePlan
from silverball.rules.prizes import sharing
from silverball.service.formats.reads import is_best_game
from silverball.store import writers
from silverball_wire import times
from silverball_wire.base import UNSET, UnsetType
from silverball_wire.bundle import Bundle
from silverball_wire.bundle_facts import AttemptFacts, EngineFacts, PrizeFacts
from silverball_wire.timekeeping import ExtendedGame

PartRows = dict[str, list[dict[str, Any]]]
# Columns of a part that only these facts fill, with the values of a file without them.
PLAIN_ATTEMPT = fields.facts_without_value(fields.SINGLE_PLAYER_GAME)
PLAIN_GAME = fields.facts_without_value(fields.GAME)
PLAIN_ENTRANT = fields.facts_without_value(fields.ENTRANT)


def check_facts(check: BundleCheck) -> None:
    """Check that the facts name parts of the bundle. Raises BrokenBundle at the first fault."""
    facts = check.bundle.engine
    if isinstance(facts, UnsetType):
        return
    attempts = _attempt_ids(check.bundle)
    named: Mapping[str, tuple[Sequence[Any], str, Collection[int]]] = {
        "entrants": (facts.entrants, "player_id", check.player_ids),
        "games": (facts.games, "game_id", {game.game_id for game in check.bundle.games}),
        "singlePlayerGames": (facts.single_player_games, "single_player_game_id", attempts),
        "calls": (facts.calls, "game_id", {game.game_id for game in check.bundle.games}),
        "extendedGames": (_extended_games(facts), "game_id", {game.game_id for game in check.bundle.games}),
        "purchases": (facts.purchases, "player_id", check.player_ids),
    }
    for name, (items, key, known) in named.items():
        for n, item in enumerate(items):
            if getattr(item, key) not in known:
                sentence = f"There is no {getattr(item, key)} in the bundle."
                raise BrokenBundle(f"$.engine.{name}[{n}]", sentence)
        distinct_ids(f"$.engine.{name}", items, "entry_id" if name == "purchases" else key)
    _check_player_ids(facts, check.player_ids)
    _check_prizes(facts, check.player_ids)
    sign_up_rows.check_sign_ups(check, facts)
    note_rows.check_notes(facts, {game.game_id for game in check.bundle.games}, check.player_ids)
    require_moment("$.engine.clockEndsAt", facts.clock_ends_at)
    _check_timer(facts, check.round_ids)
    for n, attempt in enumerate(facts.single_player_games):
        require_moment(f"$.engine.singlePlayerGames[{n}].startedAt", attempt.started_at)
        parse_points(f"$.engine.singlePlayerGames[{n}].points", attempt.points)
    for n, purchase in enumerate(facts.purchases):
        require_moment(f"$.engine.purchases[{n}].createdAt", purchase.created_at)
        parse_points(f"$.engine.purchases[{n}].amount", purchase.amount)


def _check_timer(facts: EngineFacts, round_ids: Collection[int]) -> None:
    """Check the round of the timer and the times of timer and calls."""
    timed = facts.timed_round
    if timed is not None and timed.round_id not in round_ids:
        raise BrokenBundle("$.engine.timedRound", f"There is no round {timed.round_id} in the bundle.")
    require_moment("$.engine.timedRound.endsAt", None if timed is None else timed.ends_at)
    for n, called in enumerate(facts.calls):
        require_moment(f"$.engine.calls[{n}].calledAt", called.called_at)
    for n, extended in enumerate(_extended_games(facts)):
        require_moment(f"$.engine.extendedGames[{n}].endsAt", extended.ends_at)


def _extended_games(facts: EngineFacts) -> Sequence[ExtendedGame]:
    return () if isinstance(facts.extended_games, UnsetType) else facts.extended_games


def _check_player_ids(facts: EngineFacts, known: Collection[int]) -> None:
    """Check the players of a schedule, an unfinished round and a finishing order."""
    lists: dict[str, Sequence[int]] = {
        f"schedule[{n}].playerIds": pair.player_ids for n, pair in enumerate(facts.schedule)
    }
    if facts.unfinished_round is not None:
        lists["unfinishedRound.playerIds"] = facts.unfinished_round.player_ids
    for n, game in enumerate(facts.games):
        lists[f"games[{n}].finishingOrder"] = game.finishing_order or ()
        lists[f"games[{n}].forfeitedBy"] = () if game.forfeited_by is None else (game.forfeited_by,)
    for path, player_ids in lists.items():
        unknown = [player_id for player_id in player_ids if player_id not in known]
        if unknown:
            raise BrokenBundle(f"$.engine.{path}", f"There is no player {unknown[0]} in the bundle.")
    for n, pair in enumerate(facts.schedule):
        if len(set(pair.player_ids)) != 2:
            raise BrokenBundle(f"$.engine.schedule[{n}].playerIds", "A pair is two players.")


def _attempt_ids(bundle: Bundle) -> set[int]:
    listed = () if isinstance(bundle.single_player_games, UnsetType) else bundle.single_player_games
    cards = () if isinstance(bundle.cards, UnsetType) else bundle.cards
    on_cards = [attempt for card in cards for attempt in card.single_player_games]
    return {attempt.single_player_game_id for attempt in (*listed, *on_cards)}


def complete_rows(bundle: Bundle, parts: PartRows) -> None:
    """Add the facts to the rows of the parts; without them the rows get plain values."""
    facts = None if isinstance(bundle.engine, UnsetType) else bundle.engine
    parts["tournament"][0]["engine"] = None if facts is None else _stored_state(facts)
    parts["tournament"][0]["sign_up_terms"] = sign_up_rows.stored_terms(bundle)
    parts["sign_ups"] = sign_up_rows.sign_up_rows(bundle)
    parts["notes"] = note_rows.note_rows(bundle)
    parts["tournament"][0]["prizes"] = None if facts is None else _stored_prizes(facts.prizes)
    parts["entrants"] = [{**PLAIN_ENTRANT, **row} for row in parts["entrants"]]
    parts["games"] = [{**PLAIN_GAME, **row} for row in parts["games"]]
    for row in parts["single_player_games"]:
        row.update(PLAIN_ATTEMPT)
    director_ids = () if facts is None else tuple_or_empty(facts.director_ids)
    for row in parts["scorekeepers"]:
        row["is_director"] = row["user_id"] in director_ids
    parts["purchases"] = []
    if facts is None:
        return
    _update_rows(parts["entrants"], "player_id", map(msgspec.structs.asdict, facts.entrants))
    _update_rows(parts["games"], "game_id", map(msgspec.structs.asdict, facts.games))
    attempts = [_attempt_values(attempt) for attempt in facts.single_player_games]
    _update_rows(parts["single_player_games"], "single_player_game_id", attempts)
    if is_best_game(bundle.tournament.type) and bundle.tournament.status != "completed":
        # The cards show what counts now, which follows from the scores until the end.
        for row in parts["cards"]:
            row.update(best_game=False)
    tournament_id = bundle.tournament.tournament_id
    parts["purchases"] = [
        {
            **msgspec.structs.asdict(purchase),
            "tournament_id": tournament_id,
            "amount": parse_points("", purchase.amount),
            "created_at": times.parse_moment(purchase.created_at),
        }
        for purchase in facts.purchases
    ]


def _moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else times.parse_moment(text)


def _update_rows(rows: Sequence[dict[str, Any]], key: str, values: Any) -> None:
    values_by_id = {item[key]: item for item in values}
    for part in rows:
        part.update(values_by_id.get(part[key], {}))


def _attempt_values(attempt: AttemptFacts) -> dict[str, Any]:
    points: Decimal | None = parse_points("", attempt.points)
    started_at = _moment_or_none(attempt.started_at)
    return {**msgspec.structs.asdict(attempt), "points": points, "started_at": started_at}


def _check_prizes(facts: EngineFacts, known: Collection[int]) -> None:
    """Check the shares of the prize money, and the players and times of its payouts."""
    prizes = facts.prizes
    if isinstance(prizes, UnsetType):
        return
    if sum(prizes.shares) != sharing.WHOLE or min(prizes.shares) < 0:
        raise BrokenBundle("$.engine.prizes.shares", "They must sum to 10000.")
    if prizes.rounding < 1:
        raise BrokenBundle("$.engine.prizes.rounding", "It must be at least 1.")
    for name in ("entry_fee", "extras", "federation_fee", "house_share"):
        if getattr(prizes, name) < 0:
            raise BrokenBundle("$.engine.prizes", "No money is below 0.")
    if not isinstance(prizes.payments, UnsetType) and prizes.payments < 0:
        raise BrokenBundle("$.engine.prizes.payments", "No money is below 0.")
    distinct_ids("$.engine.prizes.payouts", prizes.payouts, "player_id")
    for n, payout in enumerate(prizes.payouts):
        if payout.player_id not in known:
            sentence = f"There is no player {payout.player_id} in the bundle."
            raise BrokenBundle(f"$.engine.prizes.payouts[{n}]", sentence)
        require_moment(f"$.engine.prizes.payouts[{n}].paidAt", payout.paid_at)


def _stored_prizes(prizes: PrizeFacts | UnsetType) -> dict[str, Any] | None:
    if isinstance(prizes, UnsetType):
        return None
    values = msgspec.structs.asdict(prizes)
    paid = [
        Payout(
            player_id=payout.player_id,
            cents=payout.cents,
            user_id=payout.user_id,
            paid_at=times.parse_moment(payout.paid_at),
        )
        for payout in values.pop("payouts")
    ]
    plan = PrizePlan(is_published=values.pop("published"), payouts=tuple(paid), **values)
    stored: dict[str, Any] = msgspec.to_builtins(plan)
    return stored


def _stored_state(facts: EngineFacts) -> dict[str, Any]:
    unfinished, timed = facts.unfinished_round, facts.timed_round
    state = EngineState(
        dice_seed=facts.dice_seed,
        redraws=facts.redraws,
        clock_ends_at=_moment_or_none(facts.clock_ends_at),
        round_minutes=facts.round_minutes,
        timed_round_id=None if timed is None else timed.round_id,
        timed_round_ends_at=None if timed is None else _moment_or_none(timed.ends_at),
        calls={called.game_id: times.parse_moment(called.called_at) for called in facts.calls},
        game_ends={game.game_id: times.parse_moment(game.ends_at) for game in _extended_games(facts)}
        or UNSET,
        schedule=tuple((pair.player_ids[0], pair.player_ids[1]) for pair in facts.schedule),
        unfinished_round=None if unfinished is None else unfinished.round_index,
        unfinished_ids=() if unfinished is None else unfinished.player_ids,
    )
    return writers.stored_state(state)
