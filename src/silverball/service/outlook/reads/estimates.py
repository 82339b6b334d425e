"""WPPR estimates from the players of a tournament, a series or a list. Source: ratings, B.2."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import ColumnElement, Connection, or_, select

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.query import Query
from silverball.kit.values import compile_copy
from silverball.rules.planning import value
from silverball.rules.planning.value import FieldPlayer, PlayerWorth
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.outlook.reads import federation as reads
from silverball.service.outlook.reads.federation import FederationPlayer
from silverball.service.series import reads as series_reads
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.federation import EstimatedPlayer, WpprEstimate
from silverball_wire.values import Number

LISTED_MAX = 1000
_T, _ST, _ENTRANT = tables.tournament.c, tables.standing.c, tables.entrant.c
_PLAYER, _USER = tables.player.c, tables.user.c


class EstimateQuery(Query, frozen=True, kw_only=True):
    """Parameters of POST /api/ifpa/wppr-estimator. Source: interface 4.8."""

    tournament_id: Id | None = None
    """Id of a tournament of which the players are taken."""
    series_id: Id | None = None
    """Id of a series of which the players are taken."""
    ifpa_ids: Annotated[tuple[Id, ...], Meta(max_length=LISTED_MAX)] = ()
    names: Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=LISTED_MAX)] = ()
    """Names of players, matched with the federation's records."""


class NotExactlyOneSelector(Invalid):
    """A query with no selector, or with several."""

    def __init__(self, field: str) -> None:
        sentence = "Give exactly one of tournamentId, seriesId, and a list (ifpaIds, names or both)."
        super().__init__({field: [sentence]})


class EstimatedField(Struct, frozen=True):
    """The players whose value is estimated."""

    ifpa_ids: frozenset[int]
    # Names of players whose federation number is unknown or hidden.
    nameless: tuple[str, ...]
    # Federation number -> the player's name.
    names: dict[int, str]
    standings_order: tuple[str, ...] | None = None


def wppr_estimate(db: Connection, query: EstimateQuery, viewer: AuthenticatedCaller | None) -> WpprEstimate:
    """The WPPR value of a field. Raises NotFound, or Invalid unless exactly one selector is given."""
    field = _selected_field(db, query, viewer)
    records = {record.ifpa_id: record for record in reads.records_by_ifpa(db, field.ifpa_ids)}
    estimate = value.estimate_value(field_player(record) for record in records.values())
    unknown = [name for ifpa_id, name in field.names.items() if ifpa_id not in records]
    return WpprEstimate(
        players=tuple(_estimated_player(worth, records[worth.ifpa_id]) for worth in estimate.players),
        unresolved_names=(*field.nameless, *unknown),
        base_value=plain_number(estimate.base),
        womens_base_value=plain_number(estimate.womens_base),
        rating_value=plain_number(estimate.rating),
        rank_value=plain_number(estimate.ranking),
        womens_rank_value=plain_number(estimate.womens_ranking),
        wppr_value=plain_number(estimate.total),
        womens_wppr_value=plain_number(estimate.womens_total),
        standings_order=field.standings_order,
        womens=_womens_flag(db, query.tournament_id),
    )


def _womens_flag(db: Connection, tournament_id: int | None) -> bool | UnsetType:
    """True for a women's tournament, UNSET for any other and for a field without one."""
    own = select(_T.womens).where(_T.tournament_id == tournament_id)
    return True if tournament_id is not None and db.execute(own).scalar_one_or_none() else UNSET


def _selected_field(
    db: Connection, query: EstimateQuery, viewer: AuthenticatedCaller | None
) -> EstimatedField:
    selectors = [name for name in ("tournament_id", "series_id") if getattr(query, name) is not None]
    selectors += ["list"] if query.ifpa_ids or query.names else []
    if len(selectors) != 1:
        raise NotExactlyOneSelector("seriesId" if "series_id" in selectors else "tournamentId")
    if query.tournament_id is not None:
        return _field_of_tournament(db, query.tournament_id, viewer)
    if query.series_id is not None:
        return _field_of_series(db, query.series_id, viewer)
    return _field_of_list(db, query)


def _field_of_list(db: Connection, query: EstimateQuery) -> EstimatedField:
    number_by_name = reads.ifpa_ids_by_name(db, query.names)
    nameless = dict.fromkeys(name for name in query.names if name not in number_by_name)
    return EstimatedField(frozenset(query.ifpa_ids) | frozenset(number_by_name.values()), tuple(nameless), {})


def _field_of_tournament(
    db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None
) -> EstimatedField:
    status = db.execute(select(_T.status).where(_T.tournament_id == tournament_id)).scalar_one_or_none()
    if status is None:
        raise NotFound("Tournament", tournament_id)
    people = participants_where(db, _ENTRANT.tournament_id == tournament_id)
    order: tuple[str, ...] | None = None
    if status == "completed":
        rows = select(_PLAYER.name).join(tables.standing, _ST.player_id == _PLAYER.player_id)
        rows = rows.where(_ST.tournament_id == tournament_id).order_by(_ST.position, _ST.player_id)
        order = tuple(db.execute(rows).scalars())
    return _field_of_players(people, order, viewer)


def _field_of_series(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> EstimatedField:
    status = series_reads.find_series(db, series_id, viewer).status
    nights = select(_T.tournament_id).where(_T.series_id == series_id)
    people = participants_where(db, is_among(_ENTRANT.tournament_id, nights))
    order: tuple[str, ...] | None = None
    if status == "completed":
        details = series_reads.series_details(db, series_id, viewer)
        names = {player.player_id: player.name for player in details.players}
        order = tuple(names[place.player_id] for place in details.standings if place.player_id in names)
    return _field_of_players(people, order, viewer)


def participants_where(db: Connection, where: ColumnElement[bool]) -> Sequence[Any]:
    """The participants by id. As in the standings, entrants who left before they played do not count."""
    # The choice is made among the entrants: between two lists of players the database would read them all.
    is_counted = or_(_ENTRANT.status == "active", _ENTRANT.player_id.in_(_placed_leavers(db, where)))
    counted = select(_ENTRANT.player_id).where(where, is_counted)
    columns = (_PLAYER.player_id, _PLAYER.name, _PLAYER.claimed_by, _USER.profile_opt_out)
    rows = (
        select(*columns, reads.IFPA_ID_OF_PLAYER.label("ifpa_id"))
        .select_from(tables.player)
        .outerjoin(tables.user, _USER.user_id == _PLAYER.claimed_by)
        .where(_PLAYER.player_id.in_(counted))
        .order_by(_PLAYER.player_id)
        .limit(series_reads.PLAYERS_MAX)
    )
    return db.execute(rows).all()


def _placed_leavers(db: Connection, where: ColumnElement[bool]) -> set[int]:
    """Ids of the entrants who left and have a place in the standings."""
    rows = select(_ENTRANT.tournament_id, _ENTRANT.player_id).where(where, _ENTRANT.status != "active")
    left = {(row.tournament_id, row.player_id) for row in db.execute(rows).all()}
    if not left:
        return set()
    own = _T.tournament_id.in_({tournament_id for tournament_id, _ in left})
    places = standings.places_where(db, own, {player_id for _, player_id in left})
    return {player_id for tournament_id, player_id in left if player_id in places.get(tournament_id, {})}


def _field_of_players(
    people: Sequence[Any], order: tuple[str, ...] | None, viewer: AuthenticatedCaller | None
) -> EstimatedField:
    """The field of these players.

    The federation number of a hidden profile is not used: a row, or even its share of the sums, would
    reveal the number.
    """
    names: dict[int, str] = {}
    nameless: list[str] = []
    for person in people:
        is_hidden = person.profile_opt_out and not access.sees_hidden_details(viewer, person.claimed_by)
        if person.ifpa_id is None or is_hidden:
            nameless.append(person.name)
        else:
            # Two players of a book who share a number are one person.
            names.setdefault(person.ifpa_id, person.name)
    return EstimatedField(frozenset(names), tuple(nameless), names, order)


# The player of a federation's record, as the formulas need them.
field_player = compile_copy(FieldPlayer)


def _estimated_player(worth: PlayerWorth, record: FederationPlayer) -> EstimatedPlayer:
    return EstimatedPlayer(
        ifpa_id=record.ifpa_id,
        name=record.name,
        rank=record.rank,
        womens_rank=record.womens_rank,
        rating=None if record.rating is None else plain_number(record.rating),
        total_events=record.total_events,
        updated_at=base.plain_z(record.updated_at),
        base_value=plain_number(worth.base),
        womens_base_value=plain_number(worth.womens_base),
        rating_value=plain_number(worth.rating),
        rating_value_included=worth.rating_included,
        rank_value=plain_number(worth.ranking),
        rank_value_included=worth.ranking_included,
        womens_rank_value=plain_number(worth.womens_ranking),
        womens_rank_value_included=worth.womens_ranking_included,
        wppr_value=plain_number(worth.total),
        womens_wppr_value=plain_number(worth.womens_total),
    )


def plain_number(exact: float) -> Number:
    """The number as existing clients know it: 6, not 6.0, and all digits of a fraction."""
    return int(exact) if exact.is_integer() else exact
