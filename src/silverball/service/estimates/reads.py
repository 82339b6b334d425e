"""What the players of a tournament, a series or a list make a tournament worth. Source: ratings, B.2."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, or_, select

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.query import Query
from silverball.rules.wppr import value
from silverball.rules.wppr.value import FieldPlayer, PlayerWorth
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.federation.reads import records as reads
from silverball.service.federation.reads.records import FederationPlayer
from silverball.service.series.reads import results, series
from silverball.store import tables
from silverball.wire import times
from silverball.wire.base import Id
from silverball.wire.federation import EstimatedPlayer, WpprEstimate
from silverball.wire.values import Number

LISTED_MAX = 1000
_T, _ST, _ENTRANT = tables.tournament.c, tables.standing.c, tables.entrant.c
_PLAYER, _USER = tables.player.c, tables.user.c


class EstimateQuery(Query, frozen=True, kw_only=True):
    """Parameters of POST /api/ifpa/wppr-estimator. Source: interface 4.8."""

    tournament_id: Id | None = None
    series_id: Id | None = None
    ifpa_ids: Annotated[tuple[Id, ...], Meta(max_length=LISTED_MAX)] = ()
    names: Annotated[tuple[Annotated[str, Meta(max_length=100)], ...], Meta(max_length=LISTED_MAX)] = ()


class NotExactlyOneSelector(Invalid):
    def __init__(self, field: str) -> None:
        sentence = "Give exactly one of tournamentId, seriesId, and a list (ifpaIds, names or both)."
        super().__init__({field: [sentence]})


@dataclass(frozen=True)
class EstimatedField:
    """Who is to be counted."""

    ifpa_ids: frozenset[int]
    # Of whom no federation number is known: their names, as they are to be shown.
    nameless: tuple[str, ...]
    # Federation number -> the name it was found by.
    names: dict[int, str]
    standings_order: tuple[str, ...] | None = None


def wppr_estimate(db: Connection, query: EstimateQuery, viewer: AuthenticatedCaller | None) -> WpprEstimate:
    """The value of a field. Raises NotFound, or Invalid unless exactly one selector is given."""
    field = _selected_field(db, query, viewer)
    records = {one.ifpa_id: one for one in reads.records_by_ifpa(db, field.ifpa_ids)}
    found = value.estimate_value(_field_player(one) for one in records.values())
    unknown = [name for ifpa_id, name in field.names.items() if ifpa_id not in records]
    return WpprEstimate(
        players=tuple(_estimated_player(one, records[one.ifpa_id]) for one in found.players),
        unresolved_names=(*field.nameless, *unknown),
        base_value=_number(found.base),
        womens_base_value=_number(found.womens_base),
        rating_value=_number(found.rating),
        rank_value=_number(found.ranking),
        womens_rank_value=_number(found.womens_ranking),
        wppr_value=_number(found.total),
        womens_wppr_value=_number(found.womens_total),
        standings_order=field.standings_order,
    )


def _selected_field(
    db: Connection, query: EstimateQuery, viewer: AuthenticatedCaller | None
) -> EstimatedField:
    given = [name for name in ("tournament_id", "series_id") if getattr(query, name) is not None]
    given += ["list"] if query.ifpa_ids or query.names else []
    if len(given) != 1:
        raise NotExactlyOneSelector("seriesId" if "series_id" in given else "tournamentId")
    if query.tournament_id is not None:
        return _field_of_tournament(db, query.tournament_id, viewer)
    if query.series_id is not None:
        return _field_of_series(db, query.series_id, viewer)
    return _field_of_list(db, query)


def _field_of_list(db: Connection, query: EstimateQuery) -> EstimatedField:
    found = reads.ifpa_ids_by_name(db, query.names)
    nameless = dict.fromkeys(name for name in query.names if name not in found)
    return EstimatedField(frozenset(query.ifpa_ids) | frozenset(found.values()), tuple(nameless), {})


def _field_of_tournament(
    db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None
) -> EstimatedField:
    status = db.execute(select(_T.status).where(_T.tournament_id == tournament_id)).scalar_one_or_none()
    if status is None:
        raise NotFound("Tournament", tournament_id)
    people = _participants(db, _ENTRANT.tournament_id == tournament_id)
    order: tuple[str, ...] | None = None
    if status == "completed":
        rows = select(_PLAYER.name).join(tables.standing, _ST.player_id == _PLAYER.player_id)
        rows = rows.where(_ST.tournament_id == tournament_id).order_by(_ST.position, _ST.player_id)
        order = tuple(db.execute(rows).scalars())
    return _field_of_players(people, order, viewer)


def _field_of_series(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> EstimatedField:
    status = series.find_series(db, series_id, viewer).status
    nights = select(_T.tournament_id).where(_T.series_id == series_id)
    people = _participants(db, _ENTRANT.tournament_id.in_(nights))
    order: tuple[str, ...] | None = None
    if status == "completed":
        details = results.series_details(db, series_id, viewer)
        names = {one.player_id: one.name for one in details.players}
        order = tuple(names[one.player_id] for one in details.standings if one.player_id in names)
    return _field_of_players(people, order, viewer)


def _participants(db: Connection, where: ColumnElement[bool]) -> Sequence[Any]:
    """Who takes part, by id. Who left before he played anything does not count, as in the standings."""
    taking_part = (
        select(_ENTRANT.player_id)
        .outerjoin(
            tables.standing,
            (_ST.tournament_id == _ENTRANT.tournament_id) & (_ST.player_id == _ENTRANT.player_id),
        )
        .where(where, or_(_ENTRANT.status == "active", _ST.position.is_not(None)))
    )
    columns = (_PLAYER.name, _PLAYER.claimed_by, _USER.profile_opt_out)
    rows = (
        select(*columns, reads.IFPA_ID_OF_PLAYER.label("ifpa_id"))
        .select_from(tables.player)
        .outerjoin(tables.user, _USER.user_id == _PLAYER.claimed_by)
        .where(_PLAYER.player_id.in_(taking_part))
        .order_by(_PLAYER.player_id)
        .limit(results.PLAYERS_MAX)
    )
    return db.execute(rows).all()


def _field_of_players(
    people: Sequence[Any], order: tuple[str, ...] | None, viewer: AuthenticatedCaller | None
) -> EstimatedField:
    """The field of these players. Who hides his profile has no federation number for others: a row, and
    even a share of the sums, would tell it."""
    names: dict[int, str] = {}
    nameless: list[str] = []
    for one in people:
        is_hidden = one.profile_opt_out and not access.sees_hidden_details(viewer, one.claimed_by)
        if one.ifpa_id is None or is_hidden:
            nameless.append(one.name)
        else:
            # Two players of the book with one number are one person.
            names.setdefault(one.ifpa_id, one.name)
    return EstimatedField(frozenset(names), tuple(nameless), names, order)


def _field_player(one: FederationPlayer) -> FieldPlayer:
    return FieldPlayer(
        ifpa_id=one.ifpa_id,
        rank=one.rank,
        womens_rank=one.womens_rank,
        rating=one.rating,
        total_events=one.total_events,
    )


def _estimated_player(worth: PlayerWorth, record: FederationPlayer) -> EstimatedPlayer:
    return EstimatedPlayer(
        ifpa_id=record.ifpa_id,
        name=record.name,
        rank=record.rank,
        womens_rank=record.womens_rank,
        rating=None if record.rating is None else _number(record.rating),
        total_events=record.total_events,
        updated_at=times.plain_z(record.updated_at),
        base_value=_number(worth.base),
        womens_base_value=_number(worth.womens_base),
        rating_value=_number(worth.rating),
        rating_value_included=worth.rating_included,
        rank_value=_number(worth.ranking),
        rank_value_included=worth.ranking_included,
        womens_rank_value=_number(worth.womens_ranking),
        womens_rank_value_included=worth.womens_ranking_included,
        wppr_value=_number(worth.total),
        womens_wppr_value=_number(worth.womens_total),
    )


def _number(exact: float) -> Number:
    """As existing clients know it: 6, not 6.0, and every digit of a fraction."""
    return int(exact) if exact.is_integer() else exact
