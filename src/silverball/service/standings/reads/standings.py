"""Standings: stored for completed tournaments, ranked for running ones when somebody asks.

The table holds rows of completed tournaments, and of types that the registry does not know, which are
never ranked. All others are ranked from the snapshot, once for each revision; everybody reads through
this module.
"""

from collections.abc import Collection, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from operator import itemgetter
from typing import NamedTuple, cast

import msgspec
from sqlalchemy import BigInteger, ColumnElement, Connection, Text, bindparam, or_, select, true, type_coerce

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.values import decode
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import standing as ranking
from silverball.rules.registry import FORMATS
from silverball.store.database.conditions import decode_nullable, is_among, listed_nullable
from silverball.store.database.statements import Statement
from silverball.store.revisions.stamps import Revision
from silverball.store.tables import player, standing, tournament
from silverball.store.tournament import snapshot
from silverball.store.tournament.loaded import LoadedTournament
from silverball.store.types import decode_hundredths
from silverball_wire import standings as wire
from silverball_wire.base import UNSET
from silverball_wire.standings import Standing
from silverball_wire.values import Number


def wire_standing(standing: ranking.Standing, *, is_drawn: bool = False) -> wire.Standing:
    """The standing in its published shape; `is_drawn`: the player's order in a tie was drawn by lot."""
    return wire.Standing(
        player_id=standing.player_id,
        position=standing.position,
        points=_wire_value(standing.points),
        points_with_tiebreaker=_wire_value(standing.points_with_tiebreaker),
        games_played=standing.games_played,
        entries_played=standing.entries_played,
        entries_available=standing.entries_available,
        strike_count=standing.strike_count,
        cards_counted=_counted_cards(standing),
        adjustment=None if standing.adjustment is None else _number(standing.adjustment),
        frenzy_wins=standing.frenzy_wins,
        frenzy_losses=standing.frenzy_losses,
        points_list=_wire_values(standing.points_list),
        tiebreakers=_wire_values(standing.tiebreakers),
        active_games=standing.active_games,
        active_game_color=standing.active_game_color,
        on_pace_bubble=_pace_bubble(standing),
        on_cutoff_bubble=standing.bubble.on_cutoff_bubble,
        cutoff_bubble_color=standing.bubble.cutoff_bubble_color,
        on_cutoff_bubble2=standing.bubble.on_cutoff_bubble2,
        manual_tiebreaker_group=standing.manual_tiebreaker_group,
        drawn_by_lot=True if is_drawn else UNSET,
    )


def _counted_cards(standing: ranking.Standing) -> tuple[wire.CountedCard, ...] | None:
    if standing.cards_counted is None:
        return None
    return tuple(
        wire.CountedCard(card_id=card.card_id, points=_wire_value(card.points), count=card.count)
        for card in standing.cards_counted
    )


def _pace_bubble(standing: ranking.Standing) -> wire.PaceBubble | None:
    bubble = standing.pace_bubble
    if bubble is None:
        return None
    return wire.PaceBubble(target=_number(bubble.target), needed=_number(bubble.needed))


def _wire_values(values: Sequence[str | Decimal | int] | None) -> tuple[str | Number, ...] | None:
    if values is None:
        return None
    return tuple(value if isinstance(value, str) else _number(value) for value in values)


def _wire_value(value: str | Decimal | int | None) -> str | Number | None:
    return value if value is None or isinstance(value, str) else _number(value)


def _number(value: Decimal | int) -> Number:
    """A JSON number: 10, not 10.0."""
    whole = int(value)
    return whole if whole == value else float(value)


HUNDREDTH = Decimal("0.01")
_TOURNAMENT, _ST = tournament.c, standing.c
_HEAD = Statement(
    select(_TOURNAMENT.status, _TOURNAMENT.type, _TOURNAMENT.revision, _TOURNAMENT.stamp).where(
        _TOURNAMENT.tournament_id == bindparam("tournament_id")
    )
)
_ROWS = Statement(
    select(type_coerce(_ST.row, Text))
    .where(_ST.tournament_id == bindparam("tournament_id"))
    .order_by(_ST.position, _ST.player_id)
)
# Whether the table has the standings of a tournament, if there are any.
IS_STORED = or_(_TOURNAMENT.status == "completed", _TOURNAMENT.type.not_in(sorted(FORMATS)))


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
    placed = own.where(_ST.tournament_id == _TOURNAMENT.tournament_id, is_wanted).scalar_subquery()
    places: PlacesByTournament = {}
    for tournament_id, text in db.execute(
        select(_TOURNAMENT.tournament_id, placed).where(where, IS_STORED).order_by(_TOURNAMENT.tournament_id)
    ).all():
        if text is not None:
            places[tournament_id] = _decode_places(text)
    running = select(_TOURNAMENT.tournament_id, _TOURNAMENT.revision, _TOURNAMENT.stamp).where(
        where, _TOURNAMENT.status == "started", _TOURNAMENT.type.in_(sorted(FORMATS))
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
    places = places_where(db, is_among(_TOURNAMENT.tournament_id, tournament_ids), player_ids)
    return {tournament_id: next(iter(own.values())) for tournament_id, own in places.items()}


def places_of_players(
    db: Connection, tournament_id: int, player_ids: Collection[int]
) -> dict[int, StandingPlace]:
    """Player id -> place in this tournament, for players in its standings."""
    return places_where(db, _TOURNAMENT.tournament_id == tournament_id, player_ids).get(tournament_id, {})
