"""Standings, as they were stored with the last result."""

from typing import cast

import msgspec
from sqlalchemy import Connection, Text, bindparam, select, type_coerce

from silverball.kit.errors import NotFound
from silverball.store.prepared import Prepared
from silverball.store.tables import standing, tournament
from silverball.wire.standings import Standing

_ROWS = Prepared(
    select(tournament.c.status, type_coerce(standing.c.row, Text))
    .select_from(tournament.outerjoin(standing, standing.c.tournament_id == tournament.c.tournament_id))
    .where(tournament.c.tournament_id == bindparam("tournament_id"))
    .order_by(standing.c.position, standing.c.player_id)
)


def of_tournament(db: Connection, tournament_id: int) -> tuple[tuple[Standing, ...], bool]:
    """The standings by position, then player id, and whether they still change. Raises NotFound."""
    found = _ROWS.rows(db, tournament_id=tournament_id)
    if not found:
        raise NotFound("Tournament", tournament_id)
    # The stored text is the answer: nothing is decoded, so each text stands for its Standing.
    texts = tuple([msgspec.Raw(text) for _, text in found if text is not None])
    return cast("tuple[Standing, ...]", texts), found[0][0] == "started"
