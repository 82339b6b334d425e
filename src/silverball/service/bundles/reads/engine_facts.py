"""Facts of a tournament that no answer shows, and from which its play goes on."""

from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    bindparam,
    or_,
    select,
    true,
    type_coerce,
)

from silverball.kit.conversions import convert
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.prizes import PrizePlan
from silverball.service.bundles.reads import sign_up_facts
from silverball.service.prizes import reads as prizes
from silverball.service.rulings import reads as rulings
from silverball.store import tables
from silverball.store.types import Hundredths, Instant, IsoText, PointsText
from silverball_wire import times
from silverball_wire.base import UNSET, Wire
from silverball_wire.bundle_facts import (
    AttemptFacts,
    EngineFacts,
    EntrantFacts,
    GameFacts,
    PrizeFacts,
    PurchaseFacts,
    ReleasedLaterPair,
    TimedRound,
    UnfinishedRound,
)
from silverball_wire.timekeeping import CalledGame, ExtendedGame

Shape = TypeVar("Shape", bound=Wire)


def _facts_of(table: Table, *names: str, where: ColumnElement[bool] | None = None) -> Select[Any]:
    """These columns of a tournament's rows, by id."""
    columns = [_fact_column(table.c[name]).label(name) for name in names]
    rows = select(*columns).where(table.c.tournament_id == bindparam("tournament_id"))
    return (rows if where is None else rows.where(where)).order_by(table.c[names[0]])


def _fact_column(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column as a bundle writes it."""
    if isinstance(column.type, Instant):
        return type_coerce(column, IsoText)
    return type_coerce(column, PointsText) if isinstance(column.type, Hundredths) else column


_GAME = tables.game.c
ENTRANT_FACTS = _facts_of(tables.entrant, *EntrantFacts.__struct_fields__)
GAME_FACTS = _facts_of(
    tables.game,
    *GameFacts.__struct_fields__,
    where=or_(
        _GAME.is_tiebreak.is_(true()), _GAME.forfeited_by.is_not(None), _GAME.finishing_order.is_not(None)
    ),
)
ATTEMPT_FACTS = _facts_of(tables.single_player_game, *AttemptFacts.__struct_fields__)
PURCHASE_FACTS = _facts_of(tables.entry, *PurchaseFacts.__struct_fields__)

_KEEPER = tables.scorekeeper.c
DIRECTORS = (
    select(_KEEPER.user_id)
    .where(_KEEPER.tournament_id == bindparam("tournament_id"), _KEEPER.is_director == true())
    .order_by(_KEEPER.user_id)
)


def load_engine_facts(db: Connection, tournament_id: int, *, with_journal: bool = False) -> EngineFacts:
    """The stored facts that no published shape has, every list by id."""
    own = tables.tournament.c
    stored = select(own.engine, own.prizes).where(own.tournament_id == tournament_id)
    engine, plan = db.execute(stored).one()
    state = convert(engine or {}, EngineState, strict=False)
    return EngineFacts(
        dice_seed=state.dice_seed,
        redraws=dict(state.redraws),
        clock_ends_at=times.iso_or_none(state.clock_ends_at),
        round_minutes=state.round_minutes,
        timed_round=None
        if state.timed_round_id is None
        else TimedRound(round_id=state.timed_round_id, ends_at=times.iso_or_none(state.timed_round_ends_at)),
        calls=tuple(
            CalledGame(game_id=game_id, called_at=times.iso(at))
            for game_id, at in sorted(state.calls.items())
        ),
        extended_games=tuple(
            ExtendedGame(game_id=game_id, ends_at=times.iso(at))
            for game_id, at in sorted(state.extended_ends.items())
        )
        or UNSET,
        director_ids=tuple(db.scalars(DIRECTORS, {"tournament_id": tournament_id})) or UNSET,
        schedule=tuple(ReleasedLaterPair(player_ids=pair) for pair in state.schedule),
        unfinished_round=None
        if state.unfinished_round is None
        else UnfinishedRound(round_index=state.unfinished_round, player_ids=state.unfinished_ids),
        entrants=_load_facts(db, ENTRANT_FACTS, tournament_id, EntrantFacts),
        games=_load_facts(db, GAME_FACTS, tournament_id, GameFacts),
        single_player_games=_load_facts(db, ATTEMPT_FACTS, tournament_id, AttemptFacts),
        purchases=_load_facts(db, PURCHASE_FACTS, tournament_id, PurchaseFacts),
        notes=rulings.notes_of_tournament(db, tournament_id, with_actions=with_journal) or UNSET,
        **sign_up_facts.load_sign_up_facts(db, tournament_id),
        prizes=UNSET if plan is None else _prize_facts(convert(plan, PrizePlan)),
    )


def _prize_facts(plan: PrizePlan) -> PrizeFacts:
    return PrizeFacts(
        entry_fee=plan.entry_fee,
        players_paid=plan.players_paid,
        extras=plan.extras,
        payments=plan.payments,
        federation_fee=plan.federation_fee,
        house_share=plan.house_share,
        shares=plan.shares,
        rounding=plan.rounding,
        currency=plan.currency,
        published=plan.is_published,
        payouts=tuple(prizes.prize_payout(payout) for payout in plan.payouts),
    )


def _load_facts(
    db: Connection, statement: Select[Any], tournament_id: int, shape: type[Shape]
) -> tuple[Shape, ...]:
    rows = db.execute(statement, {"tournament_id": tournament_id}).mappings()
    names = shape.__struct_fields__
    return tuple(shape(**{name: as_tuple(fact[name]) for name in names}) for fact in rows)


def as_tuple(value: Any) -> Any:
    """A list of a row as a tuple; anything else unchanged."""
    return tuple(value) if isinstance(value, list) else value
