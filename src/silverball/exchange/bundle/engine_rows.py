"""The facts of a bundle that no published shape has, checked and added to the rows of its parts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import UnsetType

from silverball.exchange.bundle.checks import (
    BrokenBundle,
    BundleCheck,
    distinct_ids,
    parse_points,
    require_moment,
    tuple_or_empty,
)
from silverball.kit.values import replace
from silverball.rules.model import fields
from silverball.rules.model.changes import TournamentImported
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.tournament import (
    EngineState,
    Payout,
    PrizePlan,
    Reopening,
    ResultIds,
    SentPlace,
    SentResults,
    SignUpTerms,
)
from silverball.rules.ranking import prizes as ranking_prizes
from silverball.service.tournaments.reads.tournaments import is_best_game
from silverball.store.tournament import writers
from silverball_wire import base
from silverball_wire.base import UNSET
from silverball_wire.bundle import (
    AttemptFacts,
    Bundle,
    EngineFacts,
    FinalSourceFacts,
    FinalStepFacts,
    PrizeFacts,
    ReopeningFacts,
    SentResultsFacts,
    SignUpFacts,
)
from silverball_wire.rounds import ExtendedGame

PATH = "$.engine.signUps"


def check_sign_ups(check: BundleCheck, facts: EngineFacts) -> None:
    """Check people, places, times and money of the list. Raises BrokenBundle at the first fault."""
    entries = tuple_or_empty(facts.sign_ups)
    others = tuple_or_empty(check.bundle.sign_up_players)
    beside = distinct_ids("$.signUpPlayers", others, "player_id")
    for n, player_id in enumerate(player.player_id for player in others):
        if player_id in check.player_ids:
            raise BrokenBundle(f"$.signUpPlayers[{n}]", "They are in the tournament already.")
    distinct_ids(PATH, entries, "player_id")
    waiting = [entry.waiting_place for entry in entries if entry.waiting_place is not None]
    if len(waiting) != len(set(waiting)):
        raise BrokenBundle(PATH, "Two people have the same waitingPlace.")
    for n, entry in enumerate(entries):
        _check_entry(f"{PATH}[{n}]", entry, check.player_ids, beside)
    terms = facts.sign_up_terms
    if not isinstance(terms, UnsetType):
        require_moment("$.engine.signUpTerms.lateFrom", terms.late_from)
        if min(terms.fee, terms.late_fee, terms.code_number) < 0:
            raise BrokenBundle("$.engine.signUpTerms", "No money is below 0.")


def _check_entry(path: str, entry: SignUpFacts, entered: Any, beside: Any) -> None:
    if entry.player_id not in entered and entry.player_id not in beside:
        raise BrokenBundle(path, f"There is no player {entry.player_id} in the bundle.")
    if entry.waiting_place is not None and entry.player_id in entered:
        raise BrokenBundle(path, "Who is in the tournament does not wait.")
    require_moment(f"{path}.signedUpAt", entry.signed_up_at)
    require_moment(f"{path}.checkedInAt", entry.checked_in_at)
    if entry.payment is not None:
        require_moment(f"{path}.payment.paidAt", entry.payment.paid_at)
        if entry.payment.cents <= 0:
            raise BrokenBundle(f"{path}.payment.cents", "A payment is above 0.")


def sign_up_rows(bundle: Bundle) -> list[dict[str, Any]]:
    """The rows of the list."""
    facts = bundle.engine
    entries = () if isinstance(facts, UnsetType) else tuple_or_empty(facts.sign_ups)
    return [_row(bundle.tournament.tournament_id, entry) for entry in entries]


def _row(tournament_id: int, entry: SignUpFacts) -> dict[str, Any]:
    payment = entry.payment
    return {
        "tournament_id": tournament_id,
        "player_id": entry.player_id,
        "waiting_place": entry.waiting_place,
        "signed_up_at": _moment_or_none(entry.signed_up_at),
        "is_late": entry.is_late,
        "checked_in_at": _moment_or_none(entry.checked_in_at),
        "paid_cents": None if payment is None else payment.cents,
        "paid_how": None if payment is None else payment.how,
        "paid_to": None if payment is None else payment.user_id,
        "paid_at": None if payment is None else base.parse_moment(payment.paid_at),
    }


def stored_terms(bundle: Bundle) -> dict[str, Any] | None:
    """The fees and the number of the code, as they are stored; None without any."""
    facts = bundle.engine
    if isinstance(facts, UnsetType) or isinstance(facts.sign_up_terms, UnsetType):
        return None
    values = msgspec.structs.asdict(facts.sign_up_terms)
    values["late_from"] = _moment_or_none(values["late_from"])
    stored: dict[str, Any] = msgspec.to_builtins(SignUpTerms(**values))
    return stored


def _moment_or_none(text: str | None) -> Any:
    return None if text is None else base.parse_moment(text)


TEXT_CHARACTERS_MAX = 1_000
# The action of a note whose journal was left behind.
NO_ACTION = 0


def check_notes(facts: EngineFacts, game_ids: Collection[int], player_ids: Collection[int]) -> None:
    """Check games, players, texts and times of the notes. Raises BrokenBundle at the first fault."""
    for n, note in enumerate(tuple_or_empty(facts.notes)):
        path = f"$.engine.notes[{n}]"
        if note.game_id not in game_ids:
            raise BrokenBundle(f"{path}.gameId", f"There is no game {note.game_id} in the bundle.")
        if note.player_id is not None and note.player_id not in player_ids:
            raise BrokenBundle(f"{path}.playerId", f"There is no player {note.player_id} in the bundle.")
        if len(note.text) > TEXT_CHARACTERS_MAX:
            raise BrokenBundle(f"{path}.text", f"Write at most {TEXT_CHARACTERS_MAX} characters.")
        require_moment(f"{path}.createdAt", note.created_at)


def without_actions(change: TournamentImported) -> TournamentImported:
    """The import with notes that name no action, because their journal is not taken."""
    notes = [{**row, "action_id": NO_ACTION} for row in change.parts["notes"]]
    return replace(change, parts={**change.parts, "notes": notes})


def note_rows(bundle: Bundle) -> list[dict[str, Any]]:
    """The rows of the notes."""
    facts = bundle.engine
    has_journal = not isinstance(bundle.journal, UnsetType)
    return [
        {
            "tournament_id": bundle.tournament.tournament_id,
            "game_id": note.game_id,
            "action_id": note.action_id
            if has_journal and not isinstance(note.action_id, UnsetType)
            else NO_ACTION,
            "player_id": note.player_id,
            "kind": note.kind,
            "text": note.text,
            "author_id": note.user_id,
            "written_at": base.parse_moment(note.created_at),
        }
        for note in (() if isinstance(facts, UnsetType) else tuple_or_empty(facts.notes))
    ]


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
    check_sign_ups(check, facts)
    check_notes(facts, {game.game_id for game in check.bundle.games}, check.player_ids)
    require_moment("$.engine.clockEndsAt", facts.clock_ends_at)
    if not isinstance(facts.reopening, UnsetType):
        require_moment("$.engine.reopening.firstCompletedAt", facts.reopening.first_completed_at)
        require_moment("$.engine.reopening.completedAt", facts.reopening.completed_at)
        require_moment("$.engine.reopening.playedUntil", facts.reopening.played_until)
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
    if not isinstance(facts.results_sent, UnsetType):
        require_moment("$.engine.resultsSent.sentAt", facts.results_sent.sent_at)
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
    lists["leftIds"] = () if isinstance(facts.left_ids, UnsetType) else facts.left_ids
    for n, game in enumerate(facts.games):
        lists[f"games[{n}].finishingOrder"] = game.finishing_order or ()
        lists[f"games[{n}].gaveUp"] = game.gave_up or ()
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
    parts["tournament"][0]["sign_up_terms"] = stored_terms(bundle)
    parts["tournament"][0]["reopening"] = None if facts is None else _stored_reopening(facts.reopening)
    parts["sign_ups"] = sign_up_rows(bundle)
    parts["notes"] = note_rows(bundle)
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
            "created_at": base.parse_moment(purchase.created_at),
        }
        for purchase in facts.purchases
    ]


def _instant_or_none(text: str | None) -> datetime | None:
    return None if text is None else base.parse_moment(text)


def _update_rows(rows: Sequence[dict[str, Any]], key: str, values: Any) -> None:
    values_by_id = {
        item[key]: {name: value for name, value in item.items() if value is not UNSET} for item in values
    }
    for part in rows:
        part.update(values_by_id.get(part[key], {}))


def _attempt_values(attempt: AttemptFacts) -> dict[str, Any]:
    points: Decimal | None = parse_points("", attempt.points)
    started_at = _instant_or_none(attempt.started_at)
    return {**msgspec.structs.asdict(attempt), "points": points, "started_at": started_at}


def _check_prizes(facts: EngineFacts, known: Collection[int]) -> None:
    """Check the shares of the prize money, and the players and times of its payouts."""
    prizes = facts.prizes
    if isinstance(prizes, UnsetType):
        return
    if sum(prizes.shares) != ranking_prizes.WHOLE or min(prizes.shares) < 0:
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
            paid_at=base.parse_moment(payout.paid_at),
        )
        for payout in values.pop("payouts")
    ]
    plan = PrizePlan(is_published=values.pop("published"), payouts=tuple(paid), **values)
    stored: dict[str, Any] = msgspec.to_builtins(plan)
    return stored


def _stored_reopening(facts: ReopeningFacts | UnsetType) -> dict[str, Any] | None:
    if isinstance(facts, UnsetType):
        return None
    values = msgspec.to_builtins(
        Reopening(
            first_completed_at=base.parse_moment(facts.first_completed_at),
            completed_at=base.parse_moment(facts.completed_at),
            played_until=base.parse_moment(facts.played_until),
            results=ResultIds(**msgspec.structs.asdict(facts.results)),
            late=ResultIds(**msgspec.structs.asdict(facts.late)),
        )
    )
    stored: dict[str, Any] = values
    return stored


def _final_step(facts: FinalStepFacts) -> FinalStep:
    within = None if facts.within is None else Decimal(facts.within)
    return FinalStep(**{**msgspec.structs.asdict(facts), "within": within})


def _final_source(facts: FinalSourceFacts | UnsetType) -> FinalSource | UnsetType:
    if isinstance(facts, UnsetType):
        return UNSET
    return FinalSource(
        tournament_id=facts.source_tournament,
        series_id=facts.source_series,
        nights_min=facts.nights_min,
        steps=tuple(map(_final_step, facts.steps)),
        given=facts.given_ids,
        seeded=facts.seeded_ids,
        fills_up=facts.fills_up,
    )


def _sent_results(facts: SentResultsFacts | UnsetType) -> SentResults | UnsetType:
    if isinstance(facts, UnsetType):
        return UNSET
    places = tuple(SentPlace(place.player_id, place.position) for place in facts.places)
    return SentResults(sent_at=base.parse_moment(facts.sent_at), places=places)


def _stored_state(facts: EngineFacts) -> dict[str, Any]:
    unfinished, timed = facts.unfinished_round, facts.timed_round
    state = EngineState(
        dice_seed=facts.dice_seed or "",
        redraws=facts.redraws,
        clock_ends_at=_instant_or_none(facts.clock_ends_at),
        round_minutes=facts.round_minutes,
        timed_round_id=None if timed is None else timed.round_id,
        timed_round_ends_at=None if timed is None else _instant_or_none(timed.ends_at),
        calls={called.game_id: base.parse_moment(called.called_at) for called in facts.calls},
        game_ends={game.game_id: base.parse_moment(game.ends_at) for game in _extended_games(facts)} or UNSET,
        schedule=tuple((pair.player_ids[0], pair.player_ids[1]) for pair in facts.schedule),
        unfinished_round=None if unfinished is None else unfinished.round_index,
        unfinished_ids=() if unfinished is None else unfinished.player_ids,
        left_ids=facts.left_ids,
        finals=UNSET if isinstance(facts.finals, UnsetType) else tuple(map(_final_step, facts.finals)),
        final_source=_final_source(facts.final_source),
        results_sent=_sent_results(facts.results_sent),
    )
    return writers.stored_state(state)
