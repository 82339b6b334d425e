"""Standings: stored for completed tournaments, ranked for running ones when somebody asks.

The table holds rows of completed tournaments, and of types that the registry does not know, which are
never ranked. All others are ranked from the snapshot, once for each revision; everybody reads through
this module.
"""

from collections.abc import Collection
from decimal import ROUND_HALF_EVEN, Decimal
from operator import itemgetter
from typing import NamedTuple, cast

import msgspec
from sqlalchemy import BigInteger, ColumnElement, Connection, Text, bindparam, or_, select, true, type_coerce

from silverball.kit.conversions import decode
from silverball.kit.errors import Invalid, NotFound
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.standings.shapes import wire_standing
from silverball.store import snapshot
from silverball.store.among import is_among
from silverball.store.listed import decode_nullable, listed_nullable
from silverball.store.loaded import LoadedTournament
from silverball.store.stamps import Revision
from silverball.store.statements import Statement
from silverball.store.tables import player, standing, tournament
from silverball.store.types import decode_hundredths
from silverball_wire.standings import Standing

HUNDREDTH = Decimal("0.01")
_T, _ST = tournament.c, standing.c
_HEAD = Statement(
    select(_T.status, _T.type, _T.revision, _T.stamp).where(_T.tournament_id == bindparam("tournament_id"))
)
_ROWS = Statement(
    select(type_coerce(_ST.row, Text))
    .where(_ST.tournament_id == bindparam("tournament_id"))
    .order_by(_ST.position, _ST.player_id)
)
# Whether the table has the standings of a tournament, if there are any.
IS_STORED = or_(_T.status == "completed", _T.type.not_in(sorted(FORMATS)))


class StandingPlace(NamedTuple):
    """A place in the standings, with its points."""

    position: int
    points: Decimal | None


# Tournament id -> player id -> place, by position and then by player id.
PlacesByTournament = dict[int, dict[int, StandingPlace]]


def ranked_rows(ranked: Tournament) -> tuple[Standing, ...]:
    """The standings of a snapshot, by place, then player id; none before the start.

    Raises Invalid when it cannot be ranked.
    """
    if ranked.status == "planned":
        return ()
    drawn_ids = {entrant.player_id for entrant in ranked.entrants if entrant.is_tie_drawn}
    rows = [
        wire_standing(row, is_drawn=row.player_id in drawn_ids) for row in FORMATS[ranked.type].rank(ranked)
    ]
    return tuple(sorted(rows, key=lambda row: (row.position, row.player_id)))


def standings_of(loaded: LoadedTournament) -> tuple[Standing, ...]:
    """The standings of a tournament that is not completed, ranked once however many ask.

    None for one that its format cannot rank: it came with an import into an earlier version.
    """
    rows: tuple[Standing, ...] = loaded.ranking.get(lambda: _rows_or_none(loaded.tournament))
    return rows


def _rows_or_none(ranked: Tournament) -> tuple[Standing, ...]:
    try:
        return ranked_rows(ranked)
    except Invalid:
        return ()


def tournament_standings(db: Connection, tournament_id: int) -> tuple[tuple[Standing, ...], bool]:
    """The standings by place, then player id, and whether they may still change. Raises NotFound."""
    heads = _HEAD.rows(db, tournament_id=tournament_id)
    if not heads:
        raise NotFound("Tournament", tournament_id)
    (head,) = heads
    if head.status == "completed" or head.type not in FORMATS:
        # The stored text is sent as it is and never decoded, so each text stands for a Standing.
        texts = tuple([msgspec.Raw(row.row) for row in _ROWS.rows(db, tournament_id=tournament_id)])
        return cast("tuple[Standing, ...]", texts), head.status == "started"
    if head.status == "planned":
        return (), False
    revision = Revision(head.revision, head.stamp)
    return standings_of(snapshot.load_at_revision(db, tournament_id, revision)), True


def decoded_standings(db: Connection, tournament_id: int) -> tuple[Standing, ...]:
    """The same standings, each as a Standing."""
    rows, _ = tournament_standings(db, tournament_id)
    return decode(msgspec.json.encode(rows), tuple[Standing, ...])


def places_where(
    db: Connection, where: ColumnElement[bool], player_ids: Collection[int] | None = None
) -> PlacesByTournament:
    """The places in tournaments that meet a condition on their row, of these players or of all.

    Tournaments without standings are left out.
    """
    is_wanted = true() if player_ids is None else is_among(_ST.player_id, player_ids)
    own = select(listed_nullable(_ST.position, _ST.player_id, type_coerce(_ST.points, BigInteger)))
    placed = own.where(_ST.tournament_id == _T.tournament_id, is_wanted).scalar_subquery()
    places: PlacesByTournament = {}
    for tournament_id, text in db.execute(
        select(_T.tournament_id, placed).where(where, IS_STORED).order_by(_T.tournament_id)
    ).all():
        if text is not None:
            places[tournament_id] = _decode_places(text)
    running = select(_T.tournament_id, _T.revision, _T.stamp).where(
        where, _T.status == "started", _T.type.in_(sorted(FORMATS))
    )
    for tournament_id, number, stamp in db.execute(running).all():
        loaded = snapshot.load_at_revision(db, tournament_id, Revision(number, stamp))
        found = {
            row.player_id: StandingPlace(row.position, stored_points(row))
            for row in standings_of(loaded)
            if player_ids is None or row.player_id in player_ids
        }
        if found:
            places[tournament_id] = found
    return places


def _decode_places(text: str) -> dict[int, StandingPlace]:
    """Player id -> place, by position and then by player id."""
    numbers = iter(decode_nullable(text))
    # Three numbers a row, all from the same iterator.
    rows = sorted(zip(numbers, numbers, numbers, strict=True), key=itemgetter(0, 1))
    return {
        player_id: StandingPlace(position, decode_hundredths(points)) for position, player_id, points in rows
    }


def stored_points(row: Standing) -> Decimal | None:
    """The points of a row to two decimals, for sorting and search; the row keeps those that it was given.

    Raises ValueError when they are a text that is no number.
    """
    if row.points is None:
        return None
    try:
        return Decimal(str(row.points)).quantize(HUNDREDTH, ROUND_HALF_EVEN)
    except ArithmeticError as error:
        raise ValueError(f"{row.points!r} is not a number of points") from error


def places_of_user(db: Connection, user_id: int, tournament_ids: Collection[int]) -> dict[int, StandingPlace]:
    """Tournament id -> the best place there of the user's claimed players."""
    claimed = select(player.c.player_id).where(player.c.claimed_by == user_id)
    player_ids = frozenset(db.execute(claimed).scalars())
    places = places_where(db, is_among(_T.tournament_id, tournament_ids), player_ids)
    return {tournament_id: next(iter(own.values())) for tournament_id, own in places.items()}


def places_of_players(
    db: Connection, tournament_id: int, player_ids: Collection[int]
) -> dict[int, StandingPlace]:
    """Player id -> place in this tournament, for players in its standings."""
    return places_where(db, _T.tournament_id == tournament_id, player_ids).get(tournament_id, {})
