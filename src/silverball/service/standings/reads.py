"""Standings as they were stored with the last result."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

import msgspec
from sqlalchemy import Connection, Text, bindparam, select, type_coerce

from silverball.kit.errors import NotFound
from silverball.store.named_rows import PreparedStatement
from silverball.store.tables import player, standing, tournament
from silverball.wire.standings import Standing

_ROWS = PreparedStatement(
    select(tournament.c.status, type_coerce(standing.c.row, Text))
    .select_from(tournament.outerjoin(standing, standing.c.tournament_id == tournament.c.tournament_id))
    .where(tournament.c.tournament_id == bindparam("tournament_id"))
    .order_by(standing.c.position, standing.c.player_id)
)


@dataclass(frozen=True)
class StandingPlace:
    """A place in the standings, with its points."""

    position: int
    points: Decimal | None


def tournament_standings(db: Connection, tournament_id: int) -> tuple[tuple[Standing, ...], bool]:
    """The standings by place, then player id, and whether they may still change. Raises NotFound."""
    stored = _ROWS.rows(db, tournament_id=tournament_id)
    if not stored:
        raise NotFound("Tournament", tournament_id)
    # The stored text is sent as it is and never decoded, so each text stands for a Standing.
    texts = tuple([msgspec.Raw(row.row) for row in stored if row.row is not None])
    return cast("tuple[Standing, ...]", texts), stored[0].status == "started"


def places_of_user(db: Connection, user_id: int, tournament_ids: Sequence[int]) -> dict[int, StandingPlace]:
    """Tournament id -> the best place there of the user's claimed players."""
    columns = (standing.c.tournament_id, standing.c.position, standing.c.points)
    rows = (
        select(*columns)
        .join(player, player.c.player_id == standing.c.player_id)
        .where(player.c.claimed_by == user_id, standing.c.tournament_id.in_(tournament_ids))
        .order_by(standing.c.tournament_id, standing.c.position.desc())
    )
    return {
        tournament_id: StandingPlace(position, points) for tournament_id, position, points in db.execute(rows)
    }


def places_of_players(
    db: Connection, tournament_id: int, player_ids: Sequence[int]
) -> dict[int, StandingPlace]:
    """Player id -> place in this tournament, for players in its standings."""
    rows = select(standing.c.player_id, standing.c.position, standing.c.points).where(
        standing.c.tournament_id == tournament_id, standing.c.player_id.in_(player_ids)
    )
    return {player_id: StandingPlace(position, points) for player_id, position, points in db.execute(rows)}
