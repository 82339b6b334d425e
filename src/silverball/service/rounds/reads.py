"""Rounds of a tournament."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound
from silverball.kit.values import compile_builder
from silverball.rules.model import fields
from silverball.service.tournaments.reads import tournaments
from silverball.store.tables import round_
from silverball_wire import times
from silverball_wire.rounds import Round

_round_item: Callable[[Any], Round] = compile_builder(
    Round, fields.published_sources(fields.ROUND, {"moment": times.plain_z_or_none})
)


def rounds_in_tournament(db: Connection, tournament_id: int) -> tuple[Round, ...]:
    """All rounds, newest first. Raises NotFound for an unknown tournament."""
    rows = (
        select(round_)
        .where(round_.c.tournament_id == tournament_id)
        .order_by(round_.c.round_index.desc(), round_.c.round_id.desc())
    )
    rounds = db.execute(rows).all()
    if not rounds:
        tournaments.require_tournament(db, tournament_id)
    return tuple(_round_item(row) for row in rounds)


def find_round(db: Connection, tournament_id: int, round_id: int) -> Round:
    """A round of the tournament. Raises NotFound."""
    conditions = (round_.c.tournament_id == tournament_id, round_.c.round_id == round_id)
    row = db.execute(select(round_).where(*conditions)).one_or_none()
    if row is None:
        raise NotFound("Round", round_id)
    return _round_item(row)


def rounds_by_id(db: Connection, tournament_id: int, round_ids: Sequence[int]) -> dict[int, Round]:
    """Round id -> round, for those of the given rounds that are in the tournament."""
    conditions = (round_.c.tournament_id == tournament_id, round_.c.round_id.in_(round_ids))
    return {row.round_id: _round_item(row) for row in db.execute(select(round_).where(*conditions))}
